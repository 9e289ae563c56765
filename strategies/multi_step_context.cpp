// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/multi_step_context.hpp>

#include <chorus/error.hpp>

#include <fmt/format.h>

namespace chorus {

void MultiStepContext::check_outside(const std::string& name) {
  if (current_context().replica == nullptr) return;
  throw Error(ErrorCode::wrong_context,
              fmt::format("MultiStepContext::set_last_step_output: \"{}\" is set in a replica, where every replica has "
                          "its own: give its value and the ReduceOp that joins them",
                          name));
}

void MultiStepContext::reject(const char* function, const std::string& name, bool set) {
  throw Error(
      ErrorCode::invalid_argument,
      set ? fmt::format("MultiStepContext::{}: \"{}\" has another type: name the one that was set", function, name)
          : fmt::format("MultiStepContext::{}: \"{}\" has not been set in any step: set it in the function given "
                        "to run_steps, or name one of {}s()",
                        function, name, function));
}

std::vector<std::string> MultiStepContext::names(const Outputs& outputs) {
  std::vector<std::string> names;
  for (const auto& [name, value] : outputs) names.push_back(name);
  return names;
}

}  // namespace chorus
