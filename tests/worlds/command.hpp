// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <cstddef>
#include <cstdio>
#include <string>

namespace chorus::test {

/// How a command of the shell ended, and what it wrote to its standard output.
struct CommandOutcome {
  int exit_code = -1;
  std::string output;
};

[[nodiscard]] inline CommandOutcome run_command(const std::string& command) {
  CommandOutcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t length = 0; (length = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, length);
  }
  outcome.exit_code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

}  // namespace chorus::test
