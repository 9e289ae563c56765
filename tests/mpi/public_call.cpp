// SPDX-License-Identifier: Apache-2.0
#include "mpi/public_call.hpp"

#include "collectives/oracle.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>

namespace chorus::test {
namespace {

/// The buffers of a call as the public functions take them.
template <class T>
struct Views {
  std::span<const T> in;
  std::span<T> out;
  std::span<T> inout;

  Views(const PreparedCall& prepared, const Arguments& arguments, int rank)
      : in(reinterpret_cast<const T*>(arguments.in), prepared.in_count(rank)),
        out(reinterpret_cast<T*>(arguments.out), prepared.out_count(rank)),
        inout(out.data(), std::max(in.size(), out.size())) {}
};

template <class T>
void call_in_place(const Communicator& comm, const Call& call, const std::span<T>& inout,
                   const CollectiveOptions& options) {
  switch (call.collective) {
    case Collective::barrier:
      return barrier(comm, options);
    case Collective::bcast:
      return bcast(comm, inout, call.root, options);
    case Collective::reduce:
      return reduce(comm, inout, call.op, call.root, options);
    case Collective::allreduce:
      return allreduce(comm, inout, call.op, options);
    case Collective::allgather:
      return allgather(comm, inout, options);
    case Collective::reduce_scatter_block:
      return reduce_scatter_block(comm, inout, call.op, options);
    case Collective::alltoall:
      return alltoall(comm, inout, options);
    case Collective::gather:
      return gather(comm, inout, call.root, options);
    case Collective::scatter:
      return scatter(comm, inout, call.root, options);
    case Collective::scan:
      return scan(comm, inout, call.op, options);
    case Collective::exscan:
      return exscan(comm, inout, call.op, options);
    default:
      throw std::logic_error("a collective the test does not know");
  }
}

template <class T>
void call_out_of_place(const Communicator& comm, const Call& call, const Views<T>& views,
                       const CollectiveOptions& options) {
  switch (call.collective) {
    case Collective::barrier:
      return barrier(comm, options);
    case Collective::bcast:
      throw std::logic_error("bcast has one buffer");
    case Collective::reduce:
      return reduce(comm, views.in, views.out, call.op, call.root, options);
    case Collective::allreduce:
      return allreduce(comm, views.in, views.out, call.op, options);
    case Collective::allgather:
      return allgather(comm, views.in, views.out, options);
    case Collective::reduce_scatter_block:
      return reduce_scatter_block(comm, views.in, views.out, call.op, options);
    case Collective::alltoall:
      return alltoall(comm, views.in, views.out, options);
    case Collective::gather:
      return gather(comm, views.in, views.out, call.root, options);
    case Collective::scatter:
      return scatter(comm, views.in, views.out, call.root, options);
    case Collective::scan:
      return scan(comm, views.in, views.out, call.op, options);
    case Collective::exscan:
      return exscan(comm, views.in, views.out, call.op, options);
    default:
      throw std::logic_error("a collective the test does not know");
  }
}

template <class T>
Request start_in_place(const Communicator& comm, const Call& call, const std::span<T>& inout,
                       const CollectiveOptions& options) {
  switch (call.collective) {
    case Collective::barrier:
      return ibarrier(comm, options);
    case Collective::bcast:
      return ibcast(comm, inout, call.root, options);
    case Collective::reduce:
      return ireduce(comm, inout, call.op, call.root, options);
    case Collective::allreduce:
      return iallreduce(comm, inout, call.op, options);
    case Collective::allgather:
      return iallgather(comm, inout, options);
    case Collective::reduce_scatter_block:
      return ireduce_scatter_block(comm, inout, call.op, options);
    case Collective::alltoall:
      return ialltoall(comm, inout, options);
    case Collective::gather:
      return igather(comm, inout, call.root, options);
    case Collective::scatter:
      return iscatter(comm, inout, call.root, options);
    case Collective::scan:
      return iscan(comm, inout, call.op, options);
    case Collective::exscan:
      return iexscan(comm, inout, call.op, options);
    default:
      break;
  }
  throw std::logic_error("a collective the test does not know");
}

template <class T>
Request start_out_of_place(const Communicator& comm, const Call& call, const Views<T>& views,
                           const CollectiveOptions& options) {
  switch (call.collective) {
    case Collective::barrier:
      return ibarrier(comm, options);
    case Collective::bcast:
      break;
    case Collective::reduce:
      return ireduce(comm, views.in, views.out, call.op, call.root, options);
    case Collective::allreduce:
      return iallreduce(comm, views.in, views.out, call.op, options);
    case Collective::allgather:
      return iallgather(comm, views.in, views.out, options);
    case Collective::reduce_scatter_block:
      return ireduce_scatter_block(comm, views.in, views.out, call.op, options);
    case Collective::alltoall:
      return ialltoall(comm, views.in, views.out, options);
    case Collective::gather:
      return igather(comm, views.in, views.out, call.root, options);
    case Collective::scatter:
      return iscatter(comm, views.in, views.out, call.root, options);
    case Collective::scan:
      return iscan(comm, views.in, views.out, call.op, options);
    case Collective::exscan:
      return iexscan(comm, views.in, views.out, call.op, options);
    default:
      break;
  }
  throw std::logic_error("bcast has one buffer");
}

}  // namespace

void call(const Communicator& comm, const PreparedCall& prepared, const Arguments& arguments,
          const CollectiveOptions& options) {
  with_type(prepared.call().type, [&]<class T>(T) {
    const Views<T> views(prepared, arguments, comm.rank());
    if (prepared.placement().in_place) {
      call_in_place(comm, prepared.call(), views.inout, options);
    } else {
      call_out_of_place(comm, prepared.call(), views, options);
    }
  });
}

Request start(const Communicator& comm, const PreparedCall& prepared, const Arguments& arguments,
              const CollectiveOptions& options) {
  return with_type(prepared.call().type, [&]<class T>(T) {
    const Views<T> views(prepared, arguments, comm.rank());
    return prepared.placement().in_place ? start_in_place(comm, prepared.call(), views.inout, options)
                                         : start_out_of_place(comm, prepared.call(), views, options);
  });
}

void expect_result(const RankBuffers& buffers, const std::string& context) {
  try {
    buffers.check();
  } catch (const std::runtime_error& error) {
    if (!testing::Test::HasFailure()) ADD_FAILURE() << context << ": " << error.what();
  }
}

}  // namespace chorus::test
