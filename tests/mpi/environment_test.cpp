// SPDX-License-Identifier: Apache-2.0
// Wrong environment variables and tuning files: rank 0 has them, every rank is told.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

struct Variable {
  std::string name;
  std::string value;
};

/// With the variable set on rank 0 alone, calls on a new communicator fail on every rank with `words`; without it the
/// next communicator works. The words of the call and of this rank are expected too.
void expect_refused(const Variable& variable, std::vector<std::string> words) {
  SCOPED_TRACE(variable.name + "=" + variable.value);
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  words.push_back(fmt::format("barrier on rank {}: ", comm.rank()));
  {
    std::optional<ScopedVariable> set;
    if (comm.rank() == 0) set.emplace(variable.name, variable.value);
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::invalid_environment, words);
    Request request = ibarrier(comm);
    expect_error(outcome_of([&] { request.wait(); }), ErrorCode::invalid_environment, words);
  }
  const Communicator next = from_mpi(mpi_comm.get());
  EXPECT_EQ(allreduce(next, 1, ReduceOp::sum), next.size());
}

TEST(Environment, RefusesValuesThatDoNotParse) {
  const std::vector<std::pair<Variable, std::string>> wrong = {
      {{"CHORUS_TIMEOUT", "soon"}, "number of seconds"},
      {{"CHORUS_TIMEOUT", "-1"}, "number of seconds"},
      {{"CHORUS_TIMEOUT", "5s"}, "number of seconds"},
      {{"CHORUS_STALL_WARNING", "nan"}, "number of seconds"},
      {{"CHORUS_SHARED_MEMORY", "of"}, "did you mean \"off\"?"},
      {{"CHORUS_SLOT_BYTES", "1000"}, "from 1k to 64M"},
      {{"CHORUS_SLOT_BYTES", "64"}, "from 1k to 64M"},
      {{"CHORUS_SLOT_BYTES", "large"}, "from 1k to 64M"},
      {{"CHORUS_NODE_RANKS", "0"}, "1 or more"},
      {{"CHORUS_NODE_RANKS", "two"}, "1 or more"},
      {{"CHORUS_LOG", "yes"}, "expected info or off"},
      {{"CHORUS_CHECK", "yes"}, "expected collective or off"},
  };
  for (const auto& [variable, remedy] : wrong) {
    expect_refused(variable, {fmt::format("{}={}", variable.name, variable.value), remedy});
  }
}

TEST(Environment, RefusesNamesItDoesNotKnow) {
  expect_refused({"CHORUS_TIMEOUTS", "1"}, {"CHORUS_TIMEOUTS", "did you mean CHORUS_TIMEOUT?"});
  expect_refused({"CHORUS_ALLREDUC", "ring"}, {"CHORUS_ALLREDUC", "did you mean CHORUS_ALLREDUCE?"});
}

TEST(Environment, RefusesAlgorithmsItDoesNotKnow) {
  expect_refused({"CHORUS_ALLREDUCE", "rign"},
                 {"CHORUS_ALLREDUCE names no algorithm of allreduce: \"rign\"", "did you mean \"ring\"?"});
}

TEST(Environment, TakesTheAlgorithmWhereItApplies) {
  std::optional<ScopedVariable> set;
  if (job_rank() == 0) set.emplace("CHORUS_ALLREDUCE", "line");
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), comm.size());
  std::vector<int> many(1000, 1);
  allreduce(comm, many, ReduceOp::sum);
  EXPECT_EQ(many, std::vector<int>(1000, comm.size()));
}

TEST(Environment, SaysWhereTheAlgorithmDoesNotApply) {
  const ScopedVariable algorithm("CHORUS_ALLREDUCE", "nccl");
  const ScopedVariable log("CHORUS_LOG", "info");
  const OwnedComm mpi_comm(0, job_rank());
  const Communicator comm = from_mpi(mpi_comm.get());
  testing::internal::CaptureStderr();
  for (int repetition = 0; repetition < 2; ++repetition) {
    std::vector<float> data(7 + static_cast<std::size_t>(repetition));
    allreduce(comm, data, ReduceOp::sum);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  const std::size_t found = text.find("CHORUS_ALLREDUCE=nccl does not apply to this call");
  EXPECT_EQ(found == std::string::npos, job_rank() != 0) << text;
  if (found == std::string::npos) return;
  EXPECT_NE(text.find("allreduce of 7 float32 by sum: "), std::string::npos) << text;
  EXPECT_EQ(text.find("does not apply", found + 40), std::string::npos) << "said twice: " << text;
}

/// Rank 0 writes `text` into a file and names it as the tuning file.
void expect_tuning_refused(const std::string& text, const std::vector<std::string>& words) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("chorus_tuning_{}", getpid());
  if (job_rank() == 0) std::ofstream(path) << text;
  expect_refused({"CHORUS_TUNING_FILE", path.string()}, words);
  if (job_rank() == 0) std::filesystem::remove(path);
}

TEST(Environment, RefusesTuningFiles) {
  expect_refused(
      {"CHORUS_TUNING_FILE", "/nowhere/tuning.json"},
      {"CHORUS_TUNING_FILE=/nowhere/tuning.json", "there is no such file; name a file that rank 0 can read"});
  expect_refused({"CHORUS_TUNING_FILE", "/"}, {"CHORUS_TUNING_FILE=/: it is a folder; name a file"});
  expect_tuning_refused("{\"schema\": 1,\n \"links\": }", {"line 2, column 11"});
  expect_tuning_refused("{\"schema\": 1, \"link\": {}}", {"unknown name \"link\"", "did you mean \"links\"?"});
  expect_tuning_refused("{\"schema\": 2}", {" is not used: ", "\"schema\" must be 1"});
  expect_tuning_refused("", {"the file is empty"});
}

}  // namespace
}  // namespace chorus::test
