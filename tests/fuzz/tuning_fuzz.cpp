// SPDX-License-Identifier: Apache-2.0
// The tuning file. Whatever stands there, it is rejected, or an algorithm can be chosen by it.
#include "choose.hpp"
#include "fuzz.hpp"
#include "tuning.hpp"

#include <chorus/error.hpp>

#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chorus;
  try {
    const Tuning tuning = Tuning::parse(std::string(reinterpret_cast<const char*>(data), size));
    Problem problem{.call = {Collective::allreduce, DataType::float64, ReduceOp::sum, 0, 128},
                    .ranks = 4,
                    .nodes = 1,
                    .largest_node = 4,
                    .shared = true,
                    .slot_bytes = 65536,
                    .native = true};
    fuzz::require(Tuning::parse(tuning.to_json()).to_json() == tuning.to_json(), "another one than was written");
    for (const int nodes : {1, 2, 4}) {
      problem.nodes = nodes;
      problem.largest_node = problem.ranks / nodes;
      problem.shared = nodes == 1;
      fuzz::require(choose(problem, {}, tuning).algorithm->applies(problem), "an algorithm that does not apply");
    }
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::invalid_environment, error.what());
  }
  return 0;
}
