// SPDX-License-Identifier: Apache-2.0
// A job that ends by an error, or well after one.
//   ending uncaught|out_of_scope|own_handler|late|first_refused|without_a_call|without_a_world

#include <chorus/chorus.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Rank 1 has one element too many.
void disagree(const chorus::Communicator& comm) {
  std::vector<double> data(comm.rank() == 1 ? 11 : 10, 1);
  chorus::allreduce(comm, data, chorus::ReduceOp::sum);
}

/// Rank 1 calls after the others have given it up.
void come_late(const chorus::Communicator& comm) {
  chorus::barrier(comm);
  if (comm.rank() == 1) std::this_thread::sleep_for(1s);
  try {
    chorus::barrier(comm, {.timeout = 300ms});
  } catch (const chorus::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

/// Rank 1 is refused in the first call, or makes none, and ends; the others are told.
int end_before(const chorus::Communicator& comm, bool refused) {
  if (comm.rank() == 1 && !refused) return 1;
  std::vector<double> in(4);
  std::vector<double> out(comm.rank() == 1 ? 5 : 4);
  try {
    chorus::allreduce(comm, in, out, chorus::ReduceOp::sum);
  } catch (const chorus::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

/// Rank 1 does not come to the world, and rank 0 gives it up.
int wait_for_the_world() {
  setenv("CHORUS_TIMEOUT", "0.3", 1);
  const chorus::Environment environment;
  if (chorus::Environment::world_rank() == 1) {
    std::this_thread::sleep_for(2s);
    std::_Exit(1);
  }
  try {
    static_cast<void>(chorus::Communicator::world());
  } catch (const chorus::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::this_thread::sleep_for(100ms);  // launchers lose what comes at the last moment
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string_view how = argv[1];
  if (how == "own_handler") {
    std::set_terminate([] {
      std::fputs("the program's own handler\n", stderr);
      std::this_thread::sleep_for(100ms);  // launchers lose what comes at the last moment
      std::_Exit(3);
    });
  }
  if (how == "uncaught" || how == "own_handler") {
    const chorus::Environment environment;
    disagree(chorus::Communicator::world());
  }
  if (how == "first_refused" || how == "without_a_call") {
    const chorus::Environment environment;
    return end_before(chorus::Communicator::world(), how == "first_refused");
  }
  if (how == "without_a_world") return wait_for_the_world();
  try {
    const chorus::Environment environment;
    (how == "late" ? come_late : disagree)(chorus::Communicator::world());
  } catch (const std::exception& /*error*/) {
    std::fputs("not reached\n", stderr);
  }
  return 0;
}
