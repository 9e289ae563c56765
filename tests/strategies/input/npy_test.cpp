// SPDX-License-Identifier: Apache-2.0
#include "strategies/input/collect.hpp"
#include "strategies/input/temporary_folder.hpp"

#include <chorus/strategies/file_dataset.hpp>
#include <chorus/strategies/npy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using test::rejection;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// The bytes of a file in `version` of the format.
template <class T>
std::string file_of(const std::string& dictionary, const std::vector<T>& elements, int version = 1) {
  std::string header = dictionary;
  const std::size_t before = version == 1 ? 10 : 12;
  while ((before + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T, int Rank>
auto parse(const std::string& bytes) {
  std::istringstream stream(bytes);
  return read_npy<T, Rank>(stream, "x.npy");
}

TEST(Npy, ReadsEveryVersionAndOrder) {
  const std::vector<double> elements = {0, 1, 2, 3, 4, 5};
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ((parse<double, 2>(file_of(dictionary("<f8", "(2, 3)"), elements, version))),
              (Tensor<double, 2>({2, 3}, elements)));
  }
  const Tensor<double, 2> turned({2, 3}, {0, 2, 4, 1, 3, 5});
  EXPECT_EQ((parse<double, 2>(file_of(dictionary("<f8", "(2, 3)", true), elements))), turned);
  EXPECT_EQ((parse<double, 3>(file_of(dictionary("<f8", "(1, 2, 3)", true), elements))),
            (Tensor<double, 3>({1, 2, 3}, {0, 2, 4, 1, 3, 5})));
  EXPECT_EQ((parse<double, 1>(file_of(dictionary("<f8", "(6,)", true), elements))), elements);
  EXPECT_EQ((parse<double, 0>(file_of(dictionary("<f8", "()"), std::vector{2.5}))), 2.5);
  EXPECT_EQ((parse<double, 2>(file_of(dictionary("<f8", "(3, 0)"), std::vector<double>{})).shape()), (Shape{3, 0}));
}

template <class T>
void reads(const char* descr) {
  std::vector<T> elements(3);
  for (std::size_t i = 0; i < 3; ++i) elements[i] = static_cast<T>(static_cast<float>(i + 1));
  const std::vector<T> read = parse<T, 1>(file_of(dictionary(descr, "(3,)"), elements));
  EXPECT_EQ(std::memcmp(read.data(), elements.data(), 3 * (sizeof(T) == 16 ? 10 : sizeof(T))), 0) << descr;
}

TEST(Npy, ReadsEveryTypeOfNumbers) {
  reads<std::int8_t>("|i1");
  reads<std::int16_t>("<i2");
  reads<std::int32_t>("<i4");
  reads<std::int64_t>("<i8");
  reads<std::uint8_t>("|u1");
  reads<std::uint8_t>("|b1");
  reads<std::uint16_t>("<u2");
  reads<std::uint32_t>("<u4");
  reads<std::uint64_t>("<u8");
  reads<float16_t>("<f2");
  reads<bfloat16_t>("|V2");
  reads<float>("<f4");
  reads<double>("<f8");
  reads<long double>("<f16");
  reads<std::complex<float>>("<c8");
  reads<std::complex<double>>("<c16");
}

template <class Leaf>
std::string written(const Leaf& array) {
  std::ostringstream stream;
  write_npy(stream, array, "x.npy");
  return stream.str();
}

TEST(Npy, WritesWhatNumpySaves) {
  EXPECT_EQ(written(std::vector<float>{1, 2}), file_of(dictionary("<f4", "(2,)"), std::vector<float>{1, 2}));
  EXPECT_EQ(written(2.5), file_of(dictionary("<f8", "()"), std::vector{2.5}));
  const std::vector<std::int16_t> elements = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(written(Tensor<std::int16_t, 2>({2, 3}, elements)), file_of(dictionary("<i2", "(2, 3)"), elements));
  EXPECT_EQ(written(Tensor<std::int16_t, 3>({0, 3, 1})), file_of(dictionary("<i2", "(0, 3, 1)"), std::vector<char>()));
}

template <class T>
void writes() {
  std::vector<T> elements(3);
  for (std::size_t i = 0; i < 3; ++i) elements[i] = static_cast<T>(static_cast<float>(i + 1));
  const std::vector<T> read = parse<T, 1>(written(elements));
  EXPECT_EQ(std::memcmp(read.data(), elements.data(), 3 * (sizeof(T) == 16 ? 10 : sizeof(T))), 0) << sizeof(T);
}

TEST(Npy, ReadsWhatItWritesOfEveryType) {
  writes<std::int8_t>();
  writes<std::int16_t>();
  writes<std::int32_t>();
  writes<std::int64_t>();
  writes<std::uint8_t>();
  writes<std::uint16_t>();
  writes<std::uint32_t>();
  writes<std::uint64_t>();
  writes<float16_t>();
  writes<bfloat16_t>();
  writes<float>();
  writes<double>();
  writes<long double>();
  writes<std::complex<float>>();
  writes<std::complex<double>>();
  EXPECT_EQ((parse<std::uint8_t, 0>(written(true))), 1);
}

TEST(Npy, HeadersOfEveryLengthEndWhereElementsBegin) {
  for (std::size_t length = 1; length < 1000000000000; length *= 3) {
    Shape shape = {0, length, length + 1};
    EXPECT_EQ(written(Tensor<float, 3>(shape)).size() % 64, 0U);
    EXPECT_EQ((parse<float, 3>(written(Tensor<float, 3>(shape))).shape()), shape);
  }
}

TEST(Npy, SaysWhichFileCannotBeWritten) {
  const test::TemporaryFolder folder;
  write_npy(folder.path("x.npy"), std::vector<double>{1, 2, 3});
  write_npy(folder.path("x.npy"), std::vector<double>{4});
  EXPECT_THAT((read_npy<double, 1>(folder.path("x.npy"))), ElementsAre(4));
  EXPECT_THAT(rejection([&] { write_npy(folder.path("no/x.npy"), 1.0); }),
              AllOf(HasSubstr("no/x.npy: No such file"), HasSubstr("give a file in a folder")));
  EXPECT_THAT(rejection([&] { write_npy("/dev/full", 1.0); }), HasSubstr("/dev/full cannot be written"));
}

TEST(Npy, UnderstandsDictionariesHoweverTheyAreWritten) {
  const std::vector<float> elements = {1, 2};
  for (const char* const text : {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
                                 "{\"descr\":\"<f4\",\"shape\":(2,),\"fortran_order\":True}",
                                 " { 'descr' : '<f4' ,\n'fortran_order' : False , 'shape' : ( 2 , ) , } "}) {
    EXPECT_THAT((parse<float, 1>(file_of(text, elements))), ElementsAre(1, 2));
  }
}

/// What is said of a file with this dictionary and two floats.
std::string complaint(const std::string& text) {
  return rejection([&] { static_cast<void>(parse<float, 1>(file_of(text, std::vector<float>{1, 2}))); });
}

TEST(Npy, SaysWhatAFileHolds) {
  EXPECT_THAT(complaint(dictionary("<f8", "(1,)")), HasSubstr("x.npy holds float64, not float32"));
  EXPECT_THAT(complaint(dictionary("<f4", "(2, 1)")), HasSubstr("shape (2, 1): read it with 2 dimensions, not 1"));
  EXPECT_THAT(complaint(dictionary(">f4", "(2,)")), AllOf(HasSubstr("'>f4'"), HasSubstr("array.astype")));
  EXPECT_THAT(complaint(dictionary("<U3", "(2,)")), HasSubstr("'<U3'"));
  EXPECT_THAT(complaint(dictionary("<f4", "(3,)")), HasSubstr("8 bytes after its header, and should have 12"));
}

TEST(Npy, RejectsHeadersThatAreNone) {
  EXPECT_THAT(rejection([] { static_cast<void>(parse<float, 1>("not a file of arrays")); }), HasSubstr("no .npy file"));
  EXPECT_THAT(rejection([] { static_cast<void>(parse<float, 1>("")); }), HasSubstr("no .npy file"));
  const std::string good = file_of(dictionary("<f4", "(2,)"), std::vector<float>{1, 2});
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(rejection([&] { static_cast<void>(parse<float, 1>(good.substr(0, length))); }), "");
  }
  std::string version = good;
  version[6] = 4;
  EXPECT_THAT(rejection([&] { static_cast<void>(parse<float, 1>(version)); }), HasSubstr("version 4"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("shape is not there"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("'descr'"));
  EXPECT_THAT(complaint("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}"), HasSubstr("expected \""));
  EXPECT_THAT(complaint(dictionary("<f4", "(-2,)")), HasSubstr("expected a length"));
  EXPECT_THAT(complaint(dictionary("<f4", "(99999999999999999999,)")), HasSubstr("expected a length"));
  EXPECT_THAT(complaint(dictionary("<f4", "(9999999999, 9999999999)")),
              AllOf(HasSubstr("too long"), HasSubstr("save it again")));
  EXPECT_THAT(complaint(dictionary("<f4", "(2,)") + "x"), HasSubstr("something is left"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}"), HasSubstr("True or False"));
}

/// It cannot seek, as a pipe.
class Pipe : public std::streambuf {
 public:
  explicit Pipe(std::string bytes) : bytes_(std::move(bytes)) {
    setg(bytes_.data(), bytes_.data(), bytes_.data() + bytes_.size());
  }

 private:
  std::string bytes_;
};

TEST(Npy, ReadsFromAPipe) {
  const std::string array = written(std::vector<float>{1, 2});
  Pipe pipe(array + array);
  std::istream stream(&pipe);
  EXPECT_THAT((read_npy<float, 1>(stream, "x.npy")), ElementsAre(1, 2));
  EXPECT_THAT((read_npy<float, 1>(stream, "x.npy")), ElementsAre(1, 2)) << "one after the other";
  Pipe short_pipe(array.substr(0, array.size() - 1));
  std::istream short_stream(&short_pipe);
  EXPECT_THAT(rejection([&] { static_cast<void>(read_npy<float, 1>(short_stream, "x.npy")); }),
              HasSubstr("x.npy cannot be read to its end: save it again"));
}

TEST(Npy, FilesMakeADatasetOfTheirRows) {
  const test::TemporaryFolder folder;
  std::vector<float> elements(8);
  std::iota(elements.begin(), elements.end(), 0.0F);
  const std::string two = folder.write("two.npy", file_of(dictionary("<f4", "(4, 2)"), elements));
  const std::string turned = folder.write("turned.npy", file_of(dictionary("<f4", "(1, 2)", true), elements));
  const Dataset<Tensor<float, 2>> batches = make_npy_dataset<float, 2>({two, turned}).batch(3);
  const auto all = test::collect(batches);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1], (Tensor<float, 2>({2, 2}, {6, 7, 0, 1})));
  EXPECT_THAT(rejection([&] { test::collect(make_npy_dataset<double, 2>({two})); }),
              HasSubstr("two.npy holds float32"));
  EXPECT_THAT(rejection([&] { test::collect(make_npy_dataset<float, 2>({folder.path("absent")})); }),
              HasSubstr("absent"));
}

}  // namespace
}  // namespace chorus
