// SPDX-License-Identifier: Apache-2.0
// What cannot be saved leaves nothing behind, and what cannot be restored changes nothing.
#include "strategies/checkpoint/folder.hpp"
#include "strategies/core/replicas.hpp"

#include <chorus/strategies/checkpoint.hpp>
#include <chorus/strategies/checkpoint_index.hpp>
#include <chorus/strategies/npy.hpp>

#include <sys/resource.h>
#include <csignal>
#include <cstdint>
#include <functional>
#include <vector>

namespace chorus::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string rejection(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// Two variables, saved in the folder "saved".
class SavedCheckpoint : public testing::Test {
 protected:
  SavedCheckpoint() {
    checkpoint.save(folder, 3);
    first.assign({-1, -2});
    second.assign(-3);
  }
  /// That the variables still are what they were before a restore that failed.
  void expect_unchanged() const {
    EXPECT_THAT(first.value(), ElementsAre(-1, -2));
    EXPECT_EQ(second.value(), -3);
  }
  [[nodiscard]] std::string restoring() {
    const std::string text = rejection([&] { checkpoint.restore(folder); });
    expect_unchanged();
    return text;
  }

  TemporaryFolder scratch;
  std::string folder = scratch.path("saved");
  Variable<std::vector<float>> first{{1, 2}, {.name = "first"}};
  Variable<double> second{3, {.name = "second"}};
  Checkpoint checkpoint{first, second};
};

TEST_F(SavedCheckpoint, ItsIndexSaysWhatIsThere) {
  EXPECT_THAT(names_in(folder), ElementsAre("first.npy", "index.json", "second.npy"));
  const CheckpointIndex index = read_checkpoint_index(folder);
  EXPECT_EQ(index.step, 3);
  EXPECT_EQ(index.workers, 1);
  EXPECT_EQ(index.replicas, 1);
  ASSERT_EQ(index.tensors.size(), 2U);
  const CheckpointTensor expected{.name = "first",
                                  .type = DataType::float32,
                                  .shape = {2},
                                  .synchronization = "on_write",
                                  .aggregation = "none",
                                  .file = "first.npy",
                                  .bytes = 136,
                                  .crc32 = index.tensors[0].crc32};
  EXPECT_EQ(index.tensors[0], expected);
  EXPECT_THAT((read_npy<float, 1>(folder + "/first.npy")), ElementsAre(1, 2));
}

TEST(CheckpointFormat, IsWhatItWas) {
  const TemporaryFolder scratch;
  std::vector<double> three = {1, 2, 3};
  float four = 4;
  Checkpoint{{"\u00e4/x", three}, {"b", four}}.save(scratch.path("saved"), 5);
  // The checksums are those that Python's zlib and json give.
  EXPECT_EQ(contents(scratch.path("saved/index.json")), R"({
 "crc32": "9ccc299d",
 "format": "chorus checkpoint",
 "replicas": 1,
 "step": 5,
 "tensors": [
  {
   "aggregation": "none",
   "bytes": 152,
   "crc32": "441dc12a",
   "file": "__.x.npy",
   "name": "ä/x",
   "shape": [
    3
   ],
   "synchronization": "none",
   "type": "float64"
  },
  {
   "aggregation": "none",
   "bytes": 132,
   "crc32": "6d25308d",
   "file": "b.npy",
   "name": "b",
   "shape": [],
   "synchronization": "none",
   "type": "float32"
  }
 ],
 "version": 1,
 "workers": 1
}
)");
}

TEST_F(SavedCheckpoint, IsNotOverwritten) {
  EXPECT_THAT(rejection([&] { checkpoint.save(folder); }), HasSubstr("is there already"));
  EXPECT_EQ(checkpoint.restore(folder), 3);
  EXPECT_EQ(second.value(), 3);
  EXPECT_THAT(names_in(scratch.path("")), ElementsAre("saved"));
}

TEST_F(SavedCheckpoint, SaysAllThatDiffersAtOnce) {
  const Variable<std::vector<float>> longer({0, 0, 0}, {.name = "first"});
  const Variable<float> added(4, {.name = "added"});
  const Checkpoint other{longer, added};
  EXPECT_THAT(rejection([&] { other.restore(folder); }),
              AllOf(HasSubstr("\"first\" is float32 (2) there and float32 (3) in the program"),
                    HasSubstr("\"added\" of the program is not there"),
                    HasSubstr("\"second\" is there and not in the program"), HasSubstr("RestoreOptions::partial")));
  const Checkpoint type{first, {"second", Variable<float>(0)}};
  EXPECT_THAT(rejection([&] { type.restore(folder); }), HasSubstr("\"second\" is float64 () there and float32 () in"));
  const Checkpoint rank{second, {"first", Variable<Tensor<float, 2>>(Tensor<float, 2>({1, 2}))}};
  EXPECT_THAT(rejection([&] { rank.restore(folder, {.partial = true}); }), HasSubstr("float32 (1, 2) in the program"));
  EXPECT_EQ(added.value(), 4);
  expect_unchanged();
}

TEST_F(SavedCheckpoint, InPartGivesWhatBothHave) {
  const Variable<float> added(4, {.name = "added"});
  EXPECT_EQ((Checkpoint{second, added}.restore(folder, {.partial = true})), 3);
  EXPECT_EQ(second.value(), 3);
  EXPECT_EQ(added.value(), 4);
  EXPECT_THAT(first.value(), ElementsAre(-1, -2));
}

TEST_F(SavedCheckpoint, ValuesOfTheProgramTakeAnyLengthButNoOtherType) {
  std::vector<float> any = {1, 2, 3, 4};
  Checkpoint{{"first", any}}.restore(folder, {.partial = true});
  EXPECT_THAT(any, ElementsAre(1, 2));
  Tensor<float, 2> matrix({1, 1});
  EXPECT_THAT(rejection([&] {
                Checkpoint{{"first", matrix}}.restore(folder, {.partial = true});
              }),
              HasSubstr("\"first\" is float32 (2) there and float32 (1, 1) in the program"));
}

TEST_F(SavedCheckpoint, EveryDamagedByteOfAFileIsFound) {
  for (const char* const name : {"/first.npy", "/second.npy"}) {
    const std::string good = contents(folder + name);
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 4);
      overwrite(folder + name, bad);
      EXPECT_THAT(restoring(),
                  AllOf(HasSubstr(name + 1), HasSubstr("its checksum is"), HasSubstr("another checkpoint")));
    }
    overwrite(folder + name, good.substr(0, good.size() - 1));
    EXPECT_THAT(restoring(), HasSubstr(" bytes instead of "));
    overwrite(folder + name, good + "x");
    EXPECT_THAT(restoring(), HasSubstr(" bytes instead of "));
    overwrite(folder + name, good);
  }
  std::filesystem::remove(folder + "/second.npy");
  overwrite(folder + "/first.npy", "");
  EXPECT_THAT(restoring(), AllOf(HasSubstr("second.npy cannot be opened: No such file or directory"),
                                 HasSubstr("first.npy is damaged: it has 0 bytes")));
}

TEST_F(SavedCheckpoint, EveryDamagedByteOfTheIndexIsFoundOrMeansTheSame) {
  const std::string good = contents(folder + "/index.json");
  const CheckpointIndex expected = read_checkpoint_index(folder);
  std::size_t found = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int bit : {0, 2, 5}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      overwrite(folder + "/index.json", bad);
      try {
        EXPECT_EQ(read_checkpoint_index(folder), expected) << bad;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("index.json"));
        ++found;
      }
    }
    overwrite(folder + "/index.json", good.substr(0, at));
    if (at + 1 < good.size()) {
      EXPECT_NE(restoring(), "");
    }
  }
  EXPECT_GT(found, 2 * good.size());
}

TEST_F(SavedCheckpoint, AnIndexOfAnotherVersionOrFormatIsRefused) {
  const std::string good = contents(folder + "/index.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    overwrite(folder + "/index.json", text);
    return restoring();
  };
  EXPECT_THAT(with("\"version\": 1", "\"version\": 2"), HasSubstr("has version 2 of the format, and only version 1"));
  EXPECT_THAT(with("chorus checkpoint", "another format"), HasSubstr("is no index of a checkpoint"));
  EXPECT_THAT(with("\"step\": 3", "\"step\": 4"), HasSubstr("index.json is damaged: its checksum is"));
  EXPECT_THAT(with("\"first.npy\"", "\"../first.npy\""), HasSubstr("no name of a .npy file in the folder"));
  EXPECT_THAT(with("\"second.npy\"", "\"first.npy\""), HasSubstr("it names \"first.npy\" twice"));
  std::filesystem::remove(folder + "/index.json");
  EXPECT_THAT(restoring(),
              AllOf(HasSubstr("Checkpoint::restore: "), HasSubstr("index.json cannot be opened: No such file")));
}

TEST_F(SavedCheckpoint, AFileThatIsAnotherArrayIsRefused) {
  write_npy(folder + "/first.npy", std::vector<float>{8, 9, 10});
  CheckpointIndex index = read_checkpoint_index(folder);
  Checkpoint{{"first", Variable<std::vector<float>>({8, 9, 10})}, second}.save(scratch.path("other"));
  index.tensors[0].bytes = read_checkpoint_index(scratch.path("other")).tensors[0].bytes;
  index.tensors[0].crc32 = read_checkpoint_index(scratch.path("other")).tensors[0].crc32;
  overwrite(folder + "/index.json", detail::checkpoint_index_text(index));
  EXPECT_THAT(restoring(), HasSubstr("first.npy is damaged: it is float32 (3), and float32 (2) by the index"));
}

TEST_F(SavedCheckpoint, WhereNoFolderCanBeMadeNothingIs) {
  overwrite(scratch.path("file"), "");
  EXPECT_THAT(rejection([&] { checkpoint.save(scratch.path("file/saved")); }), HasSubstr("Not a directory"));
  EXPECT_THAT(
      rejection([&] { checkpoint.save("/proc/chorus/saved"); }),
      HasSubstr("Checkpoint::save: /proc/chorus cannot be made: No such file or directory: choose another folder"));
  EXPECT_THAT(rejection([&] { checkpoint.save(""); }), HasSubstr("has no name of its own"));
  EXPECT_THAT(rejection([&] { checkpoint.save("/"); }), HasSubstr("has no name of its own"));
  EXPECT_THAT(rejection([&] { checkpoint.save(".."); }), HasSubstr("has no name of its own"));
  EXPECT_THAT(names_in(scratch.path("")), ElementsAre("file", "saved"));
}

TEST_F(SavedCheckpoint, FoldersOnTheWayAreMadeAndASlashAtTheEndIsNone) {
  checkpoint.save(scratch.path("a/b/c/"));
  EXPECT_THAT(names_in(scratch.path("a/b")), ElementsAre("c"));
  EXPECT_EQ(checkpoint.restore(scratch.path("a/b/c/")), 0);
}

/// As long as it lives no file gets longer than `bytes`: what a full disk does, too.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t bytes) : signal_before_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ShortFiles(const ShortFiles&) = delete;
  ShortFiles& operator=(const ShortFiles&) = delete;
  ~ShortFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    static_cast<void>(std::signal(SIGXFSZ, signal_before_));
  }

 private:
  void (*signal_before_)(int);
  rlimit before_{};
};

TEST_F(SavedCheckpoint, WhereThereIsNoRoomTheEarlierOneStays) {
  const Variable<std::vector<double>> large(std::vector<double>(100000, 1), {.name = "large"});
  const Checkpoint other{second, large};
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{100}, rlim_t{1000}, rlim_t{500000}}) {
    std::string text;
    {
      const ShortFiles limit(bytes);
      text = rejection([&] { other.save(scratch.path("other")); });
    }
    EXPECT_THAT(text, AllOf(HasSubstr("File too large"), HasSubstr("make room"), HasSubstr(".npy")));
    EXPECT_THAT(names_in(scratch.path("")), ElementsAre("saved")) << "after " << bytes << " bytes";
  }
  other.save(scratch.path("other"));
  EXPECT_EQ(checkpoint.restore(folder), 3);
}

TEST_F(SavedCheckpoint, FilesOfNamesLikeEachOtherAreDifferent) {
  std::vector<double> values = {1, 2, 3, 4, 5, 6, 7};
  const std::string long_name(300, 'n');
  const std::vector<CheckpointEntry> entries = {{"a b", values[0]},    {"a_b", values[1]},    {"A_b", values[2]},
                                                {"../up", values[3]},  {"\u00e4", values[4]}, {long_name, values[5]},
                                                {".hidden", values[6]}};
  const Checkpoint names(entries);
  names.save(scratch.path("names"));
  EXPECT_THAT(names_in(scratch.path("names")),
              ElementsAre("A_b-3.npy", "_..up.npy", "__.npy", "_hidden.npy", "a_b-2.npy", "a_b.npy", "index.json",
                          long_name.substr(0, 200) + ".npy"));
  std::ranges::fill(values, 0);
  names.restore(scratch.path("names"));
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  const Checkpoint not_unicode{{"\xff", values[0]}};
  EXPECT_THAT(rejection([&] { not_unicode.save(scratch.path("no")); }), HasSubstr("not in UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("no")));
}

}  // namespace
}  // namespace chorus::test
