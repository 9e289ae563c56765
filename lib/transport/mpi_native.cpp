// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_native.hpp"

#include "base/names.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_requests.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

namespace chorus {
namespace {

// In the order of DataType; MPI has no portable names for float16 and bfloat16.
const MPI_Datatype mpi_types[data_type_count] = {
    MPI_C_BOOL,   MPI_INT8_T,      MPI_INT16_T,         MPI_INT32_T,          MPI_INT64_T,       MPI_UINT8_T,
    MPI_UINT16_T, MPI_UINT32_T,    MPI_UINT64_T,        MPI_DATATYPE_NULL,    MPI_DATATYPE_NULL, MPI_FLOAT,
    MPI_DOUBLE,   MPI_LONG_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_DATATYPE_NULL};
// In the order of ReduceOp; an average is a sum here, which is divided when the call is finished.
const MPI_Op mpi_ops[reduce_op_count] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_SUM, MPI_LAND,
                                         MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};

MPI_Datatype mpi_type(DataType type) noexcept { return mpi_types[static_cast<int>(type)]; }
MPI_Op mpi_op(ReduceOp op) noexcept { return mpi_ops[static_cast<int>(op)]; }

bool is_complex(DataType type) noexcept { return type == DataType::complex64 || type == DataType::complex128; }
bool is_integer(DataType type) noexcept { return type >= DataType::int8 && type <= DataType::uint64; }

bool is_logical(ReduceOp op) noexcept { return op >= ReduceOp::logical_and && op <= ReduceOp::logical_xor; }
bool is_bitwise(ReduceOp op) noexcept { return op >= ReduceOp::bitwise_and; }
bool adds(ReduceOp op) noexcept { return op == ReduceOp::sum || op == ReduceOp::average; }

/// MPICH 4.0 gives another result of 32 KB and more on 3 hosts with 1, 2 and 1 ranks.
#ifdef MPICH_VERSION
constexpr bool reduces_wrongly_on_uneven_hosts = true;
#else
constexpr bool reduces_wrongly_on_uneven_hosts = false;
#endif

/// Open MPI 4.1 saturates sums of 8- and 16-bit integers on processors with AVX instead of letting them wrap.
bool adds_wrongly([[maybe_unused]] DataType type, [[maybe_unused]] ReduceOp op) noexcept {
#ifdef OMPI_MAJOR_VERSION
  return adds(op) && is_integer(type) && size_of(type) <= 2;
#else
  return false;
#endif
}

bool reduces_rightly(DataType type, ReduceOp op) noexcept {
  if (static_cast<int>(op) >= reduce_op_count) return false;  // a function of the caller's
  if (mpi_type(type) == MPI_DATATYPE_NULL || adds_wrongly(type, op)) return false;
  if (type == DataType::boolean) return is_logical(op);
  if (is_complex(type)) return adds(op) || op == ReduceOp::product;
  return is_integer(type) || (!is_logical(op) && !is_bitwise(op));
}

/// Of one block of `bytes`, by its address.
MPI_Datatype type_of(const std::byte* block, int bytes) {
  MPI_Aint address = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Get_address(block, &address), "MPI_Get_address");
  check_mpi(MPI_Type_create_hindexed(1, &bytes, &address, MPI_BYTE, &type), "MPI_Type_create_hindexed");
  check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

/// The arguments of an MPI collective. What only moves goes as bytes, so that every type can.
struct Translated {
  const void* in = nullptr;
  void* out = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
};

Translated translate(const Call& call, const Native::Buffers& buffers, MPI_Comm comm) {
  Translated result{.in = buffers.in, .out = buffers.out, .count = static_cast<int>(call.bytes())};
  if (has_op(call.collective)) {
    result.count = static_cast<int>(call.count);
    result.type = mpi_type(call.type);
    result.op = mpi_op(call.op);
  }
  if (buffers.in != buffers.out || call.collective == Collective::bcast) return result;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (has_root(call.collective) && rank != call.root) return result;
  if (call.collective == Collective::scatter) {
    result.out = MPI_IN_PLACE;
  } else {
    result.in = MPI_IN_PLACE;
  }
  return result;
}

}  // namespace

MpiNative::~MpiNative() {
  if (!idle()) static_cast<void>(new Started(std::move(started_)));  // never freed
}

bool MpiNative::supports(const Call& call) const noexcept {
  if (call.bytes() > INT_MAX) return false;
  if (reduces_wrongly_on_uneven_hosts && uneven_hosts_ && call.collective == Collective::reduce) return false;
  return !has_op(call.collective) || reduces_rightly(call.type, call.op);
}

MpiNative::BlockLists::~BlockLists() {
  for (MPI_Datatype& type : types) {
    if (type != MPI_BYTE) MPI_Type_free(&type);
  }
}

void MpiNative::BlockLists::add(int count, int offset, MPI_Datatype type) {
  counts.push_back(count);
  offsets.push_back(offset);
  types.push_back(type);
}

MpiNative::Lengths MpiNative::lengths_of(const Call& call, const Buffers& buffers) {
  const std::size_t unit = has_op(call.collective) ? call.element_bytes() : 1;
  const auto number = [&](std::size_t bytes) {
    if (bytes / unit <= INT_MAX) return static_cast<int>(bytes / unit);
    throw Error(ErrorCode::not_supported,
                fmt::format("MPI's own {} takes counts and displacements up to {}, not {}; name another algorithm",
                            name(call.collective), INT_MAX, bytes / unit));
  };
  const auto lists_of = [&](std::span<const Section> sections, const std::byte* base) {
    BlockLists lists;
    for (const Section& section : sections) {
      const int length = number(section.bytes);
      if (call.collective != Collective::alltoallw || length == 0) {
        lists.add(length, length == 0 ? 0 : number(section.offset), MPI_BYTE);
      } else {
        lists.add(1, 0, type_of(base + section.offset, length));
      }
    }
    return lists;
  };
  Lengths lengths{lists_of(buffers.in_sections, buffers.in), lists_of(buffers.out_sections, buffers.out), {}};
  if (call.collective == Collective::alltoallw && buffers.in == buffers.out) copy_input_of_alltoallw(buffers, lengths);
  return lengths;
}

bool MpiNative::wants_copy_in_place(const Call& call, [[maybe_unused]] bool blocking) noexcept {
  // Here each rank says whether it exchanges in place, and to MPI all do, or none.
  if (call.collective == Collective::alltoall || call.collective == Collective::alltoallv) return true;
#ifdef MPICH_VERSION
  // MPICH 4.0 crashes in a blocking reduce to another root than rank 0, and where the block of reduce_scatter that a
  // rank gets overlaps the place it is moved to.
  return (call.collective == Collective::reduce && blocking && call.root != 0) ||
         call.collective == Collective::reduce_scatter;
#else
  return false;
#endif
}

std::vector<std::byte> MpiNative::copy_of_input(const Call& call, const Buffers& buffers) const {
  int blocks = 1;
  if (call.collective == Collective::alltoall) MPI_Comm_size(comm_, &blocks);
  std::size_t end = buffers.in_sections.empty() ? call.bytes() * static_cast<std::size_t>(blocks) : 0;
  for (const Section& section : buffers.in_sections) end = std::max(end, section.offset + section.bytes);
  return {buffers.in, buffers.in + end};
}

// A copy of the input, and the types of that.
void MpiNative::copy_input_of_alltoallw(const Buffers& buffers, Lengths& lengths) {
  std::size_t bytes = 0;
  for (const Section& section : buffers.in_sections) bytes += section.bytes;
  lengths.copy.resize(bytes);
  BlockLists copies;
  std::byte* end = lengths.copy.data();
  for (const Section& section : buffers.in_sections) {
    const bool none = section.bytes == 0;
    if (!none) std::memcpy(end, buffers.in + section.offset, section.bytes);
    copies.add(none ? 0 : 1, 0, none ? MPI_BYTE : type_of(end, static_cast<int>(section.bytes)));
    end += section.bytes;
  }
  std::swap(lengths.in, copies);
}

void MpiNative::check_life() const {
  if (!life_.over()) return;
  throw Error(ErrorCode::invalid_argument,
              "the communicator of MPI that was given to from_mpi has been freed; keep it as long as chorus's is used");
}

void MpiNative::run(const Call& call, const Buffers& buffers) {
  check_life();
  Translated t = translate(call, buffers, comm_);
  std::vector<std::byte> copy;
  if (t.in == MPI_IN_PLACE && wants_copy_in_place(call, true)) {
    copy = copy_of_input(call, buffers);
    t.in = copy.data();
  }
  switch (call.collective) {
    case Collective::barrier:
      return check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
    case Collective::bcast:
      return check_mpi(MPI_Bcast(t.out, t.count, t.type, call.root, comm_), "MPI_Bcast");
    case Collective::reduce:
      return check_mpi(MPI_Reduce(t.in, t.out, t.count, t.type, t.op, call.root, comm_), "MPI_Reduce");
    case Collective::allreduce:
      return check_mpi(MPI_Allreduce(t.in, t.out, t.count, t.type, t.op, comm_), "MPI_Allreduce");
    case Collective::allgather:
      return check_mpi(MPI_Allgather(t.in, t.count, t.type, t.out, t.count, t.type, comm_), "MPI_Allgather");
    case Collective::reduce_scatter_block:
      return check_mpi(MPI_Reduce_scatter_block(t.in, t.out, t.count, t.type, t.op, comm_), "MPI_Reduce_scatter_block");
    case Collective::alltoall:
      return check_mpi(MPI_Alltoall(t.in, t.count, t.type, t.out, t.count, t.type, comm_), "MPI_Alltoall");
    case Collective::gather:
      return check_mpi(MPI_Gather(t.in, t.count, t.type, t.out, t.count, t.type, call.root, comm_), "MPI_Gather");
    case Collective::scatter:
      return check_mpi(MPI_Scatter(t.in, t.count, t.type, t.out, t.count, t.type, call.root, comm_), "MPI_Scatter");
    case Collective::scan:
      return check_mpi(MPI_Scan(t.in, t.out, t.count, t.type, t.op, comm_), "MPI_Scan");
    case Collective::exscan:
      return check_mpi(MPI_Exscan(t.in, t.out, t.count, t.type, t.op, comm_), "MPI_Exscan");
    default:
      return run_sections(call, buffers, t.in);
  }
}

void MpiNative::run_sections(const Call& call, const Buffers& buffers, const void* in) {
  const Lengths l = lengths_of(call, buffers);
  void* const out = buffers.out;
  const auto root = static_cast<std::size_t>(call.root);
  switch (call.collective) {
    case Collective::allgatherv:
      return check_mpi(
          MPI_Allgatherv(in, l.in.counts[0], MPI_BYTE, out, l.out.counts.data(), l.out.offsets.data(), MPI_BYTE, comm_),
          "MPI_Allgatherv");
    case Collective::gatherv:
      return check_mpi(MPI_Gatherv(in, l.in.counts[root], MPI_BYTE, out, l.out.counts.data(), l.out.offsets.data(),
                                   MPI_BYTE, call.root, comm_),
                       "MPI_Gatherv");
    case Collective::scatterv:
      return check_mpi(
          MPI_Scatterv(buffers.in, l.in.counts.data(), l.in.offsets.data(), MPI_BYTE,
                       in == MPI_IN_PLACE ? MPI_IN_PLACE : out, l.out.counts[root], MPI_BYTE, call.root, comm_),
          "MPI_Scatterv");
    case Collective::alltoallv:
      return check_mpi(MPI_Alltoallv(in, l.in.counts.data(), l.in.offsets.data(), MPI_BYTE, out, l.out.counts.data(),
                                     l.out.offsets.data(), MPI_BYTE, comm_),
                       "MPI_Alltoallv");
    case Collective::alltoallw:
      return check_mpi(MPI_Alltoallw(MPI_BOTTOM, l.in.counts.data(), l.in.offsets.data(), l.in.types.data(), MPI_BOTTOM,
                                     l.out.counts.data(), l.out.offsets.data(), l.out.types.data(), comm_),
                       "MPI_Alltoallw");
    default:
      return check_mpi(MPI_Reduce_scatter(in, out, l.in.counts.data(), mpi_type(call.type), mpi_op(call.op), comm_),
                       "MPI_Reduce_scatter");
  }
}

int MpiNative::start_sections(const Call& call, const Buffers& buffers, const void* in, const Lengths& l,
                              MPI_Request& request) const {
  void* const out = buffers.out;
  const auto root = static_cast<std::size_t>(call.root);
  switch (call.collective) {
    case Collective::allgatherv:
      return MPI_Iallgatherv(in, l.in.counts[0], MPI_BYTE, out, l.out.counts.data(), l.out.offsets.data(), MPI_BYTE,
                             comm_, &request);
    case Collective::gatherv:
      return MPI_Igatherv(in, l.in.counts[root], MPI_BYTE, out, l.out.counts.data(), l.out.offsets.data(), MPI_BYTE,
                          call.root, comm_, &request);
    case Collective::scatterv:
      return MPI_Iscatterv(buffers.in, l.in.counts.data(), l.in.offsets.data(), MPI_BYTE,
                           in == MPI_IN_PLACE ? MPI_IN_PLACE : out, l.out.counts[root], MPI_BYTE, call.root, comm_,
                           &request);
    case Collective::alltoallv:
      return MPI_Ialltoallv(in, l.in.counts.data(), l.in.offsets.data(), MPI_BYTE, out, l.out.counts.data(),
                            l.out.offsets.data(), MPI_BYTE, comm_, &request);
    case Collective::alltoallw:
      return MPI_Ialltoallw(MPI_BOTTOM, l.in.counts.data(), l.in.offsets.data(), l.in.types.data(), MPI_BOTTOM,
                            l.out.counts.data(), l.out.offsets.data(), l.out.types.data(), comm_, &request);
    default:
      return MPI_Ireduce_scatter(in, out, l.in.counts.data(), mpi_type(call.type), mpi_op(call.op), comm_, &request);
  }
}

std::uint64_t MpiNative::start(const Call& call, const Buffers& buffers) {
  check_life();
  Translated t = translate(call, buffers, comm_);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  Lengths lengths = lengths_of(call, buffers);
  if (t.in == MPI_IN_PLACE && wants_copy_in_place(call, false)) {
    lengths.copy = copy_of_input(call, buffers);
    t.in = lengths.copy.data();
  }
  const MpiCaller::Call in_mpi(caller_);
  switch (call.collective) {
    case Collective::barrier:
      code = MPI_Ibarrier(comm_, &request);
      break;
    case Collective::bcast:
      code = MPI_Ibcast(t.out, t.count, t.type, call.root, comm_, &request);
      break;
    case Collective::reduce:
      code = MPI_Ireduce(t.in, t.out, t.count, t.type, t.op, call.root, comm_, &request);
      break;
    case Collective::allreduce:
      code = MPI_Iallreduce(t.in, t.out, t.count, t.type, t.op, comm_, &request);
      break;
    case Collective::allgather:
      code = MPI_Iallgather(t.in, t.count, t.type, t.out, t.count, t.type, comm_, &request);
      break;
    case Collective::reduce_scatter_block:
      code = MPI_Ireduce_scatter_block(t.in, t.out, t.count, t.type, t.op, comm_, &request);
      break;
    case Collective::alltoall:
      code = MPI_Ialltoall(t.in, t.count, t.type, t.out, t.count, t.type, comm_, &request);
      break;
    case Collective::gather:
      code = MPI_Igather(t.in, t.count, t.type, t.out, t.count, t.type, call.root, comm_, &request);
      break;
    case Collective::scatter:
      code = MPI_Iscatter(t.in, t.count, t.type, t.out, t.count, t.type, call.root, comm_, &request);
      break;
    case Collective::scan:
      code = MPI_Iscan(t.in, t.out, t.count, t.type, t.op, comm_, &request);
      break;
    case Collective::exscan:
      code = MPI_Iexscan(t.in, t.out, t.count, t.type, t.op, comm_, &request);
      break;
    default:
      code = start_sections(call, buffers, t.in, lengths, request);
  }
  check_mpi(code, "a nonblocking collective of MPI");
  ++under_way_;
  const std::uint64_t ticket = ticket_of(request);
  if (!lengths.in.counts.empty() || !lengths.copy.empty()) started_[ticket] = std::move(lengths);
  return ticket;
}

bool MpiNative::test(std::uint64_t& ticket) {
  const MpiCaller::Call in_mpi(caller_);
  MPI_Request request = request_of(ticket);
  int done = 0;
  check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) --under_way_;
  if (done != 0 && !started_.empty()) started_.erase(ticket);
  ticket = ticket_of(request);
  return done != 0;
}

}  // namespace chorus
