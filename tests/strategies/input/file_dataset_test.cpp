// SPDX-License-Identifier: Apache-2.0
#include "strategies/input/collect.hpp"
#include "strategies/input/temporary_folder.hpp"
#include "strategies/input/workers.hpp"

#include <chorus/strategies/distributed_dataset.hpp>
#include <chorus/strategies/file_dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace chorus {
namespace {

using test::collect;
using test::rejection;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
concept Csv = requires(std::vector<std::string> files) {
  make_csv_dataset<T>(files);
};
static_assert(Csv<float> && Csv<std::int8_t> && Csv<bfloat16_t> && !Csv<bool> && !Csv<std::complex<float>>);

TEST(FileDataset, GivesLinesFileByFile) {
  const test::TemporaryFolder folder;
  const auto lines =
      make_text_dataset({folder.write("a", "one\ntwo\r\n\nfour"), folder.write("b", ""), folder.write("c", "five\n")});
  EXPECT_THAT(collect(lines), ElementsAre("one", "two", "", "four", "five"));
  EXPECT_THAT(collect(lines), ElementsAre("one", "two", "", "four", "five"));
  EXPECT_THAT(collect(lines.skip(3)), ElementsAre("four", "five"));
  EXPECT_EQ(lines.cardinality(), Cardinality::unknown());
}

TEST(FileDataset, NamesFilesThatAreNotThere) {
  const test::TemporaryFolder folder;
  const auto lines = make_text_dataset({folder.path("absent")});
  EXPECT_THAT(rejection([&] { collect(lines); }), AllOf(HasSubstr("absent"), HasSubstr("No such file")));
}

TEST(FileDataset, ReadsNumbersOfAnyType) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("a.csv", "x,y\n1, -2\n\n+3\t,4\r\n");
  EXPECT_THAT(collect(make_csv_dataset<int>({file}, {.header = true})),
              ElementsAre(std::vector{1, -2}, std::vector{3, 4}));
  const std::string other = folder.write("b.csv", "0.5;1e-3\ninf;-7");
  const auto rows = collect(make_csv_dataset<double>({other}, {.separator = ';'}));
  EXPECT_THAT(rows, ElementsAre(std::vector{0.5, 1e-3}, std::vector{std::numeric_limits<double>::infinity(), -7.0}));
  const auto halves = collect(make_csv_dataset<float16_t>({other}, {.separator = ';'}));
  EXPECT_EQ(static_cast<float>(halves[0][0]), 0.5F);
  EXPECT_EQ(collect(make_csv_dataset<float>({other}, {.separator = ';'}).batch(2))[0].shape(), (Shape{2, 2}));
}

TEST(FileDataset, NamesFileLineAndColumnOfWhatIsNoNumber) {
  const test::TemporaryFolder folder;
  const auto complaint = [&](const std::string& text, const CsvOptions& options = {}) {
    const std::string file = folder.write("bad.csv", text);
    return rejection([&] { collect(make_csv_dataset<std::int8_t>({file}, options)); });
  };
  EXPECT_THAT(complaint("1,2\n3, four\n"), HasSubstr("bad.csv, line 2, column 4: \"four\" is no number"));
  EXPECT_THAT(complaint("a,b\n1,x\n", {.header = true}), HasSubstr("line 2, column 3"));
  EXPECT_THAT(complaint("1\n\n128\n"), HasSubstr("line 3, column 1: \"128\" does not fit"));
  EXPECT_THAT(complaint("1\n99999999999999999999\n"), HasSubstr("line 2, column 1"));
  EXPECT_THAT(complaint("1,2\n3\n"), HasSubstr("line 2 has 1 columns, those before it 2"));
  EXPECT_THAT(complaint("1,,2\n"), HasSubstr("column 3: \"\" is no number"));
  EXPECT_THAT(complaint("1,+-2\n"), HasSubstr("\"+-2\""));
  EXPECT_THAT(complaint("1,2,\n"), HasSubstr("column 5"));
  EXPECT_THAT(complaint(std::string(100, '7') + "\n"), HasSubstr(std::string(40, '7') + "...\""));
}

/// `count` files of two rows each, with rows numbered from 0.
std::vector<std::string> numbered_files(const test::TemporaryFolder& folder, int count) {
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i) {
    files.push_back(folder.write(std::to_string(i), std::to_string(2 * i) + "\n" + std::to_string(2 * i + 1) + "\n"));
  }
  return files;
}

TEST(FileDataset, WorkersReadTheirOwnFiles) {
  const test::TemporaryFolder folder;
  const auto batches = make_csv_dataset<int>(numbered_files(folder, 5)).batch(4);
  for (const AutoShardPolicy policy : {AutoShardPolicy::automatic, AutoShardPolicy::file}) {
    const auto epochs = test::epochs_of(batches, 2, 1, {.shard_policy = policy});
    const auto row = [](std::vector<int> values) {
      const std::size_t rows = values.size();
      return Tensor<int, 2>({rows, 1}, std::move(values));
    };
    ASSERT_EQ(epochs[0].steps.size(), 3U);
    EXPECT_EQ(epochs[0].steps[0][0], row({0, 1}));
    EXPECT_EQ(epochs[0].steps[1][0], row({4, 5}));
    EXPECT_EQ(epochs[0].steps[2][0], row({8, 9}));
    EXPECT_EQ(epochs[1].steps[1][0], row({6, 7}));
    EXPECT_EQ(epochs[1].steps[2][0].shape(), (Shape{0, 1}));
    EXPECT_THAT(epochs[1].global_sizes, ElementsAre(4, 4, 2));
  }
}

TEST(FileDataset, Case103TooFewFilesAreAnErrorInAnyCase) {
  const test::TemporaryFolder folder;
  const auto batches = make_csv_dataset<int>(numbered_files(folder, 3)).batch(4);
  for (const AutoShardPolicy policy : {AutoShardPolicy::automatic, AutoShardPolicy::file}) {
    EXPECT_THAT(rejection([&] { test::epochs_of(batches, 4, 1, {.shard_policy = policy}); }),
                AllOf(HasSubstr("3 < 4"), HasSubstr("AutoShardPolicy::data or AutoShardPolicy::off")));
  }
  EXPECT_EQ(test::epochs_of(batches, 4, 1, {.shard_policy = AutoShardPolicy::data})[0].steps.size(), 2U);
}

TEST(FileDataset, EveryRowOfEveryFileComesOnce) {
  const test::TemporaryFolder folder;
  for (const int files : {3, 4, 7}) {
    const auto batches = make_csv_dataset<int>(numbered_files(folder, files)).batch(3);
    for (int workers = 1; workers <= 3; ++workers) {
      std::multiset<int> rows;
      for (const auto& epoch : test::epochs_of(batches, workers, 2)) {
        for (const auto& step : epoch.steps) {
          for (const auto& batch : step) rows.insert(batch.values().begin(), batch.values().end());
        }
      }
      EXPECT_EQ(rows.size(), static_cast<std::size_t>(2 * files));
      EXPECT_EQ(std::set<int>(rows.begin(), rows.end()).size(), rows.size());
    }
  }
}

TEST(FileDataset, AFileThatIsMissingOnOneWorkerIsNamedToAll) {
  const test::TemporaryFolder folder;
  auto files = numbered_files(folder, 4);
  files[3] = folder.path("absent");
  const auto texts = test::on_workers(2, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    const DistributedDataset<Tensor<int, 2>> data(make_csv_dataset<int>(files).batch(2), layout, comm);
    return rejection([&] { test::epoch_of(data.iterate()); });
  });
  EXPECT_THAT(texts[0], HasSubstr("worker 1 could not read its data: make_csv_dataset: cannot open"));
  EXPECT_THAT(texts[1], AllOf(HasSubstr("make_csv_dataset: cannot open " + files[3] + ": No such file or directory"),
                              HasSubstr("give files that this worker can read")));
}

TEST(FileDataset, AWorkerWithoutRowsNeedsNoFilesOfTheOthers) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> here = {folder.write("0", "1,2\n3,4\n"), folder.write("1", "")};
  const std::vector<std::string> elsewhere = {folder.path("absent"), here[1]};
  const auto shapes = test::on_workers(2, 2, [&](const ReplicaLayout& layout, const auto& comm) {
    const auto batches = make_csv_dataset<int>(layout.worker == 0 ? here : elsewhere).batch(4);
    const auto epoch = test::epoch_of(DistributedDataset<Tensor<int, 2>>(batches, layout, comm).iterate());
    return epoch.steps.at(0).at(1).shape();
  });
  EXPECT_THAT(shapes, ElementsAre(Shape{1, 2}, Shape{0, 2}));
}

}  // namespace
}  // namespace chorus
