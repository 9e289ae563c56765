// SPDX-License-Identifier: Apache-2.0
// Buffers of chorus::allocate in every collective that reads them where they lie, on communicators of 1 to 4 ranks, of
// which no, some or all ranks have them. The results are compared with formulas; results of others that were changed
// too early would show, as every call is repeated with other data at once.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t count = 40'003;  // of a block

/// Elements in registered memory or not, some way into what was allocated.
class Elements {
 public:
  Elements(std::size_t elements, bool registered, std::size_t offset) {
    if (registered) {
      registered_.resize(elements + offset);
      elements_ = std::span(registered_).subspan(offset);
    } else {
      ordinary_.resize(elements + offset);
      elements_ = std::span(ordinary_).subspan(offset);
    }
  }
  [[nodiscard]] std::span<int> get() const { return elements_; }

 private:
  std::vector<int> ordinary_;
  std::vector<int, Allocator<int>> registered_;
  std::span<int> elements_;
};

enum class Whose { nobodys, odd_ranks, root, everybodys };

class RegisteredMemory : public testing::TestWithParam<std::tuple<int, Whose>> {
 protected:
  RegisteredMemory() : mpi_(job_rank() < std::get<0>(GetParam()) ? 0 : 1, job_rank()), comm_(from_mpi(mpi_.get())) {}

  [[nodiscard]] int me() const { return comm_.rank(); }
  [[nodiscard]] int ranks() const { return comm_.size(); }
  [[nodiscard]] int root() const { return comm_.size() / 2; }
  [[nodiscard]] std::size_t blocks() const { return static_cast<std::size_t>(comm_.size()); }
  [[nodiscard]] bool registered() const {
    switch (std::get<1>(GetParam())) {
      case Whose::nobodys:
        return false;
      case Whose::odd_ranks:
        return me() % 2 == 1;
      case Whose::root:
        return me() == root();
      default:
        return true;
    }
  }
  [[nodiscard]] Elements elements(std::size_t length, std::size_t offset = 0) const {
    return {length, registered(), offset};
  }

  /// What `giver` gives in the call with that number.
  static int given(int number, int giver, std::size_t index) {
    return number * 1'000 + giver * 100 + static_cast<int>(index % 97);
  }
  void fill(int number, std::span<int> data) const {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = given(number, me(), i);
  }
  [[nodiscard]] int sum(int number, std::size_t index) const {
    int all = 0;
    for (int giver = 0; giver < ranks(); ++giver) all += given(number, giver, index);
    return all;
  }

  /// Runs `call(number, options)` some times by each of the algorithms, those that do not apply here on no rank.
  template <class Call>
  void by_each(std::initializer_list<const char*> algorithms, Call call) {
    int number = 0;
    for (const char* algorithm : algorithms) {
      SCOPED_TRACE(std::string("by ") + algorithm);
      for (int again = 0; again < 3; ++again) {
        try {
          call(++number, CollectiveOptions{.algorithm = algorithm});
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), ErrorCode::not_supported) << error.what();
        }
      }
    }
  }

  OwnedComm mpi_;
  Communicator comm_;
};

TEST_P(RegisteredMemory, Bcast) {
  const Elements data = elements(count, 3);
  by_each({"", "shared", "single_copy"}, [&](int number, const CollectiveOptions& options) {
    fill(number, data.get());
    bcast(comm_, data.get(), root(), options);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data.get()[i], given(number, root(), i));
  });
}

TEST_P(RegisteredMemory, Allreduce) {
  const Elements in = elements(count, 1);
  const Elements out = elements(count, 5);
  by_each({"", "shared"}, [&](int number, const CollectiveOptions& options) {
    fill(number, in.get());
    allreduce(comm_, std::span<const int>(in.get()), out.get(), ReduceOp::sum, options);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out.get()[i], sum(number, i));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(in.get()[i], given(number, me(), i));
  });
}

TEST_P(RegisteredMemory, AllreduceInPlace) {
  const Elements data = elements(count);
  by_each({"", "shared"}, [&](int number, const CollectiveOptions& options) {
    fill(number, data.get());
    allreduce(comm_, data.get(), ReduceOp::sum, options);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data.get()[i], sum(number, i));
  });
}

TEST_P(RegisteredMemory, AllreduceOfAnInputThatIsAndAResultThatIsNot) {
  const Elements in = elements(count);
  std::vector<int> out(count);
  by_each({"", "shared"}, [&](int number, const CollectiveOptions& options) {
    fill(number, in.get());
    allreduce(comm_, std::span<const int>(in.get()), out, ReduceOp::sum, options);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], sum(number, i));
    fill(number, out);
    allreduce(comm_, std::span<const int>(out), in.get(), ReduceOp::sum, options);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(in.get()[i], sum(number, i));
  });
}

TEST_P(RegisteredMemory, Reduce) {
  const Elements in = elements(count);
  const Elements out = elements(count, 2);
  by_each({"", "shared"}, [&](int number, const CollectiveOptions& options) {
    fill(number, in.get());
    reduce(comm_, std::span<const int>(in.get()), me() == root() ? out.get() : std::span<int>(), ReduceOp::sum, root(),
           options);
    for (std::size_t i = 0; i < count && me() == root(); ++i) ASSERT_EQ(out.get()[i], sum(number, i));
  });
}

TEST_P(RegisteredMemory, ReduceScatterBlock) {
  const Elements in = elements(blocks() * count, 1);
  const Elements out = elements(count);
  by_each({"", "shared"}, [&](int number, const CollectiveOptions& options) {
    fill(number, in.get());
    reduce_scatter_block(comm_, std::span<const int>(in.get()), out.get(), ReduceOp::sum, options);
    const std::size_t first = static_cast<std::size_t>(me()) * count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out.get()[i], sum(number, first + i));
  });
}

TEST_P(RegisteredMemory, ReduceScatterBlockInPlace) {
  const Elements data = elements(blocks() * count, 1);
  by_each({"", "shared"}, [&](int number, const CollectiveOptions& options) {
    fill(number, data.get());
    reduce_scatter_block(comm_, data.get(), ReduceOp::sum, options);
    const std::size_t first = static_cast<std::size_t>(me()) * count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data.get()[i], sum(number, first + i));
  });
}

TEST_P(RegisteredMemory, Allgather) {
  const Elements in = elements(count, 3);
  const Elements out = elements(blocks() * count);
  by_each({"", "shared", "single_copy"}, [&](int number, const CollectiveOptions& options) {
    fill(number, in.get());
    allgather(comm_, std::span<const int>(in.get()), out.get(), options);
    for (std::size_t i = 0; i < blocks() * count; ++i) {
      ASSERT_EQ(out.get()[i], given(number, static_cast<int>(i / count), i % count));
    }
  });
}

TEST_P(RegisteredMemory, Alltoall) {
  const Elements in = elements(blocks() * count, 3);
  const Elements out = elements(blocks() * count);
  by_each({"", "shared", "single_copy"}, [&](int number, const CollectiveOptions& options) {
    for (const bool in_place : {false, true}) {
      fill(number, in_place ? out.get() : in.get());
      if (in_place) {
        alltoall(comm_, out.get(), options);
      } else {
        alltoall(comm_, std::span<const int>(in.get()), out.get(), options);
      }
      const std::size_t mine = static_cast<std::size_t>(me()) * count;
      for (std::size_t i = 0; i < blocks() * count; ++i) {
        ASSERT_EQ(out.get()[i], given(number, static_cast<int>(i / count), mine + i % count)) << in_place;
      }
    }
  });
}

TEST_P(RegisteredMemory, GatherAndScatter) {
  const Elements one = elements(count, 3);
  const Elements all = elements(blocks() * count);
  const std::span<int> roots = me() == root() ? all.get() : std::span<int>();
  by_each({"", "shared", "single_copy"}, [&](int number, const CollectiveOptions& options) {
    fill(number, one.get());
    gather(comm_, std::span<const int>(one.get()), roots, root(), options);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      ASSERT_EQ(roots[i], given(number, static_cast<int>(i / count), i % count));
    }
    fill(number, roots);
    scatter(comm_, std::span<const int>(roots), one.get(), root(), options);
    const std::size_t mine = static_cast<std::size_t>(me()) * count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(one.get()[i], given(number, root(), mine + i));
  });
}

TEST_P(RegisteredMemory, ComesAndGoesWhileCommunicatorsDo) {
  std::optional<Communicator> other;
  for (int number = 0; number < 15; ++number) {
    const Elements data = elements(count + static_cast<std::size_t>(number % 7) * 5'000);
    if (number % 3 == 0) other = comm_.dup();
    fill(number, data.get());
    allreduce(number % 2 == 0 ? comm_ : *other, data.get(), ReduceOp::sum);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data.get()[i], sum(number, i));
    const Elements longer = elements(data.get().size() * blocks());
    allgather(*other, std::span<const int>(data.get()), longer.get());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(longer.get()[(blocks() - 1) * data.get().size() + i], sum(number, i));
  }
}

/// A rank that lends gives up and changes its data before another, who comes late, has read it.
TEST_P(RegisteredMemory, IsNotTakenFromARankThatHasGivenUp) {
  if (ranks() != 3) return;
  const bool late = me() == ranks() - 1;
  const int lender = 0;
  for (const bool from_root : {true, false}) {
    MPI_Comm own = MPI_COMM_NULL;  // never freed, as its chorus communicator breaks
    MPI_Comm_dup(mpi_.get(), &own);
    const Communicator broken = from_mpi(own);
    barrier(broken);
    const Elements data = elements(count);
    const Elements gathered = elements(count * blocks());
    for (int& element : data.get()) element = me() == lender ? 7 : 0;
    const auto call = [&](const CollectiveOptions& options) {
      if (from_root) return bcast(broken, data.get(), lender, options);
      gather(broken, std::span<const int>(data.get()), gathered.get(), ranks() - 1, options);
    };
    if (late) std::this_thread::sleep_for(300ms);
    const CollectiveOptions options{.algorithm = "shared", .timeout = me() == lender ? 100ms : 5000ms};
    const Outcome outcome = outcome_of([&] { call(options); });
    if (late && !outcome.code) {
      const std::span<int> got = (from_root ? data : gathered).get().first(count);
      EXPECT_EQ(std::ranges::count(got, 7), static_cast<std::ptrdiff_t>(count));
    }
    for (int& element : data.get()) element = -1;
    MPI_Barrier(mpi_.get());
  }
}

INSTANTIATE_TEST_SUITE_P(OfRanks, RegisteredMemory,
                         testing::Combine(testing::Range(1, 5), testing::Values(Whose::nobodys, Whose::odd_ranks,
                                                                                Whose::root, Whose::everybodys)));

TEST(RegisteredMemoryHere, IsOrdinaryWhereTheEnvironmentSaysSo) {
  const char* const shared = std::getenv("CHORUS_SHARED_MEMORY");
  const std::vector<int, Allocator<int>> numbers(count);
  EXPECT_EQ(is_registered(numbers.data(), 1), shared == nullptr || std::string(shared) == "memfd");
}

}  // namespace
}  // namespace chorus::test
