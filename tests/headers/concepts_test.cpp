// SPDX-License-Identifier: Apache-2.0
// What must not compile, and its nearest neighbours that must. The assertions hold or fail when this file is compiled;
// the tests are what can be asked of the same declarations at run time.
#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {
namespace {

template <class In, class Out>
concept Allreduces = requires(const Communicator& comm, In in, Out out) {
  allreduce(comm, in, out, ReduceOp::sum);
};
template <class InOut>
concept AllreducesInPlace = requires(const Communicator& comm, InOut inout) {
  allreduce(comm, inout, ReduceOp::sum);
};
template <class Data>
concept Broadcasts = requires(const Communicator& comm, Data data) {
  bcast(comm, data, 0);
};
template <class In, class Out>
concept Gathers = requires(const Communicator& comm, In in, Out out) {
  allgather(comm, in, out);
};
template <class In, class Out>
concept ReducesTo = requires(const Communicator& comm, In in, Out out) {
  reduce(comm, in, out, ReduceOp::sum, 0);
};
template <class In, class Out>
concept ReducesAndScatters = requires(const Communicator& comm, In in, Out out) {
  reduce_scatter_block(comm, in, out, ReduceOp::sum);
};
template <class In, class Out>
concept Exchanges = requires(const Communicator& comm, In in, Out out) {
  alltoall(comm, in, out);
  gather(comm, in, out, 0);
  scatter(comm, in, out, 0);
};
template <class In, class Out>
concept Scans = requires(const Communicator& comm, In in, Out out) {
  scan(comm, in, out, ReduceOp::sum);
  exscan(comm, in, out, ReduceOp::sum);
};
template <class Op>
concept AllreducesBy = requires(const Communicator& comm, std::span<int> data, Op op) {
  allreduce(comm, data, op);
};
template <class Root>
concept BroadcastsFrom = requires(const Communicator& comm, std::span<int> data, Root root) {
  bcast(comm, data, root);
};

struct Point {  // moves, but no ReduceOp joins it
  float x;
  double y;
};
using Points = std::vector<Point>;
constexpr auto maximum = [](int left, int right) { return left < right ? right : left; };

using Floats = std::vector<float>;
using Nodes = std::list<int>;
using Chunks = std::deque<int>;
using Bits = std::vector<bool>;

// What is meant to work: any contiguous range of any element.
static_assert(Allreduces<Floats, Floats&>);
static_assert(Allreduces<const Floats&, std::span<float>>);
static_assert(Allreduces<std::array<double, 3>, std::span<double, 3>>);
static_assert(Allreduces<const int (&)[4], int (&)[4]>);
static_assert(Allreduces<std::span<const bfloat16_t>, std::span<bfloat16_t>>);
static_assert(Allreduces<std::string, std::string&>, "characters are integers");
static_assert(AllreducesInPlace<Floats&> && AllreducesInPlace<std::span<long double>>);
static_assert(AllreducesInPlace<int> && AllreducesInPlace<float16_t>, "one value");
static_assert(AllreducesInPlace<bool>);
static_assert(Broadcasts<Floats&> && Broadcasts<std::string&> && Broadcasts<int&> && Broadcasts<Point&>);
static_assert(Gathers<int, std::vector<int>&> && Gathers<Point, Points&> && !Gathers<int, Floats&>);
static_assert(Allreduces<std::vector<std::complex<float>>, std::vector<std::complex<float>>&>);
static_assert(Gathers<const Floats&, Floats&> && ReducesTo<Floats, Floats&> && ReducesAndScatters<Floats, Floats&>);
static_assert(Exchanges<const Floats&, Floats&> && Scans<Floats, Floats&>);

// Elements that are no numbers move, and are joined by functions alone.
static_assert(Broadcasts<Points&> && Gathers<Points, Points&> && Broadcasts<std::vector<std::byte>&>);
static_assert(!Allreduces<Points, Points&> && !ReducesTo<Points, Points&>);
__extension__ using Wide = __int128;
static_assert(Element<Wide> && !Number<Wide> && data_type_of<Wide>() == DataType::opaque, "longer than what is added");
static_assert(Element<ValueIndex<double>> && ReduceFunction<decltype(minloc), ValueIndex<double>>);
static_assert(!ReduceFunction<decltype(minloc), double> && !ReduceFunction<ReduceOp, double>);

// Elements that are none.
static_assert(!Allreduces<std::vector<std::string>, std::vector<std::string>&>);
static_assert(!Allreduces<std::vector<int*>, std::vector<int*>&>);
static_assert(!Broadcasts<std::vector<int*>&> && !Broadcasts<std::vector<std::pair<int, std::string>>&>);
static_assert(!Allreduces<std::vector<std::byte>, std::vector<std::byte>&>);
static_assert(!Allreduces<std::vector<ReduceOp>, std::vector<ReduceOp>&>);
static_assert(!AllreducesInPlace<std::vector<std::string>&>);
static_assert(!AllreducesInPlace<ReduceOp> && !AllreducesInPlace<int*> && !AllreducesInPlace<std::nullptr_t>);
static_assert(!Broadcasts<std::vector<std::string>&> && !Broadcasts<std::vector<std::unique_ptr<int>>&>);
static_assert(!Broadcasts<std::span<volatile int>>);

// Elements that do not lie side by side.
static_assert(!Allreduces<Nodes, Nodes&> && !Allreduces<Chunks, Chunks&> && !Allreduces<Bits, Bits&>);
static_assert(!Allreduces<Floats, std::list<float>&> && !AllreducesInPlace<Nodes&> && !AllreducesInPlace<Bits&>);
static_assert(!Broadcasts<Nodes&> && !Broadcasts<Bits&> && !Broadcasts<int*> && !Broadcasts<int*&>);

// Outputs that cannot be written.
static_assert(!Allreduces<Floats, const Floats&> && !Allreduces<Floats, std::span<const float>>);
static_assert(!AllreducesInPlace<const Floats&> && !AllreducesInPlace<std::span<const int>>);
static_assert(!AllreducesInPlace<const std::array<int, 2>&>);
static_assert(!Broadcasts<const Floats&> && !Broadcasts<std::span<const double>> && !Broadcasts<const int&>);
static_assert(!Gathers<Floats, const Floats&> && !ReducesTo<Floats, const Floats&>);
static_assert(!ReducesAndScatters<Floats, std::span<const float>>);
static_assert(!Exchanges<Floats, const Floats&> && !Scans<Floats, std::span<const float>>);

// Two types of element.
static_assert(!Allreduces<Floats, std::vector<double>&> && !Allreduces<std::vector<int>, std::vector<unsigned>&>);
static_assert(!Allreduces<std::vector<float16_t>, std::vector<bfloat16_t>&>);
static_assert(!Gathers<Floats, std::vector<int>&> && !ReducesTo<Floats, std::vector<double>&>);
static_assert(!Exchanges<Floats, std::vector<int>&> && !Scans<Floats, std::vector<double>&>);
static_assert(!ReducesAndScatters<std::vector<char>, std::vector<bool>&>);

// Operations and roots that are none.
static_assert(AllreducesBy<ReduceOp> && !AllreducesBy<int> && !AllreducesBy<const char*> && !AllreducesBy<Floats&>);
static_assert(AllreducesBy<std::plus<>> && AllreducesBy<int (*)(int, int)> && AllreducesBy<decltype(maximum)>);
static_assert(AllreducesBy<Commutative<decltype(maximum)>> && !AllreducesBy<std::vector<int> (*)(int, int)>);
static_assert(BroadcastsFrom<int> && !BroadcastsFrom<const char*> && !BroadcastsFrom<ReduceOp>);

// A communicator is had from world() or from_mpi; a request and the environment are no one else's.
static_assert(!std::is_default_constructible_v<Communicator> && std::is_copy_constructible_v<Communicator>);
static_assert(!std::is_copy_constructible_v<Request> && !std::is_copy_assignable_v<Request>);
static_assert(std::is_nothrow_move_constructible_v<Request>);
static_assert(!std::is_copy_constructible_v<Environment> && !std::is_move_constructible_v<Environment>);

// A half is a value that is stored: it is not made from a number unasked.
static_assert(!std::is_convertible_v<float, float16_t> && !std::is_convertible_v<double, bfloat16_t>);
static_assert(std::is_convertible_v<float16_t, float> && sizeof(float16_t) == 2 && sizeof(bfloat16_t) == 2);

TEST(Headers, GiveEveryElementItsType) {
  EXPECT_EQ(data_type_of<bool>(), DataType::boolean);
  EXPECT_EQ(data_type_of<signed char>(), DataType::int8);
  EXPECT_EQ(data_type_of<unsigned char>(), DataType::uint8);
  EXPECT_EQ(data_type_of<char>(), std::is_signed_v<char> ? DataType::int8 : DataType::uint8);
  EXPECT_EQ(data_type_of<char8_t>(), DataType::uint8);
  EXPECT_EQ(data_type_of<short>(), DataType::int16);
  EXPECT_EQ(data_type_of<char16_t>(), DataType::uint16);
  EXPECT_EQ(data_type_of<unsigned>(), DataType::uint32);
  EXPECT_EQ(data_type_of<long>(), sizeof(long) == 8 ? DataType::int64 : DataType::int32);
  EXPECT_EQ(data_type_of<long long>(), DataType::int64);
  EXPECT_EQ(data_type_of<unsigned long long>(), DataType::uint64);
  EXPECT_EQ(data_type_of<float16_t>(), DataType::float16);
  EXPECT_EQ(data_type_of<bfloat16_t>(), DataType::bfloat16);
  EXPECT_EQ(data_type_of<float>(), DataType::float32);
  EXPECT_EQ(data_type_of<double>(), DataType::float64);
  EXPECT_EQ(data_type_of<long double>(), DataType::long_double);
}

TEST(Headers, KnowTheLengthOfEveryType) {
  EXPECT_EQ(size_of(data_type_of<bool>()), sizeof(bool));
  EXPECT_EQ(size_of(data_type_of<short>()), sizeof(short));
  EXPECT_EQ(size_of(data_type_of<long>()), sizeof(long));
  EXPECT_EQ(size_of(data_type_of<wchar_t>()), sizeof(wchar_t));
  EXPECT_EQ(size_of(data_type_of<bfloat16_t>()), sizeof(bfloat16_t));
  EXPECT_EQ(size_of(data_type_of<double>()), sizeof(double));
  EXPECT_EQ(size_of(data_type_of<long double>()), sizeof(long double));
}

TEST(Headers, ARequestThatWasNotStartedIsComplete) {
  Request request;
  EXPECT_TRUE(request.test());
  EXPECT_NO_THROW(request.wait());
  Request moved = std::move(request);
  EXPECT_TRUE(moved.test());
}

}  // namespace
}  // namespace chorus
