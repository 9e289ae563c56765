// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace chorus::bench {
namespace {

// Open MPI gives a rank pipes and pseudo terminals, wherever its own output goes: that of mpirun, the parent, decides.
bool is_terminal(int stream) {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return isatty(stream) == 1;
  const std::string of_launcher = fmt::format("/proc/{}/fd/{}", getppid(), stream);
  const int file = open(of_launcher.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool terminal = isatty(file) == 1;
  close(file);
  return terminal;
}

}  // namespace

Progress::Progress(bool shown) {
  if (!shown) return;
  if (is_terminal(STDOUT_FILENO))
    stream_ = stdout;
  else if (is_terminal(STDERR_FILENO))
    stream_ = stderr;
}

void Progress::show(const std::string& text) {
  if (stream_ == nullptr) return;
  fmt::print(stream_, "\r\033[K{}", text);
  std::fflush(stream_);
  visible_ = true;
}

void Progress::clear() {
  if (!visible_) return;
  fmt::print(stream_, "\r\033[K");
  std::fflush(stream_);
  visible_ = false;
}

}  // namespace chorus::bench
