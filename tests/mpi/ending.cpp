// SPDX-License-Identifier: Apache-2.0
// A job that ends by an error, or well after one.
//   ending uncaught|out_of_scope|own_handler|late

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
  try {
    const chorus::Environment environment;
    (how == "late" ? come_late : disagree)(chorus::Communicator::world());
  } catch (const std::exception& /*error*/) {
    std::fputs("not reached\n", stderr);
  }
  return 0;
}
