// SPDX-License-Identifier: Apache-2.0
#include "loss_curve.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace train_digits {
namespace {

std::string lines_of(const std::vector<double>& losses) {
  std::string lines;
  for (std::size_t step = 0; step < losses.size(); ++step) lines += fmt::format("{} {:.17g}\n", step + 1, losses[step]);
  return lines;
}

/// `text` as a string of gnuplot's, in which nothing has a meaning of its own.
std::string quoted(const std::string& text) {
  std::string quote = "'";
  for (const char letter : text) quote += letter == '\'' ? "''" : std::string(1, letter);
  return quote + "'";
}

}  // namespace

void write_curve(const std::vector<double>& losses, const std::string& path) {
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  if (!file || std::fputs(lines_of(losses).c_str(), file.get()) < 0 || std::fflush(file.get()) != 0) {
    throw std::runtime_error(path + ": cannot be written");
  }
}

bool plot_curve(const std::vector<double>& losses, const std::string& path, const std::string& title) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) return false;
  std::FILE* const gnuplot = popen("gnuplot >/dev/null 2>&1", "w");
  if (gnuplot == nullptr) return false;
  const char* const terminal = path.ends_with(".png") ? "png" : "svg";
  const std::string program = fmt::format(
      "set terminal {} size 800,500 noenhanced\nset output {}\nset title {}\nset xlabel 'step'\nset ylabel 'loss'\n"
      "set logscale y\nset grid\nplot '-' with lines title 'loss of the batch'\n{}e\n",
      terminal, quoted(path), quoted(title), lines_of(losses));
  const bool written = std::fputs(program.c_str(), gnuplot) >= 0;
  return pclose(gnuplot) == 0 && written;
}

ProgressBar::ProgressBar(std::size_t steps, bool shown) : steps_(steps), shown_(shown && isatty(STDERR_FILENO) == 1) {}

void ProgressBar::advance(double loss) {
  constexpr std::size_t width = 40;
  ++done_;
  if (!shown_ || steps_ == 0) return;
  const std::size_t filled = width * done_ / steps_;
  fmt::print(stderr, "\r[{}{}] {:3} %  loss {:.4f}", std::string(filled, '#'), std::string(width - filled, ' '),
             100 * done_ / steps_, loss);
}

void ProgressBar::clear() const {
  if (shown_) fmt::print(stderr, "\r{}\r", std::string(70, ' '));
}

}  // namespace train_digits
