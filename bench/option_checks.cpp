// SPDX-License-Identifier: Apache-2.0
#include "option_checks.hpp"

#include "algorithm_names.hpp"
#include "base/names.hpp"
#include "device_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {
namespace {

std::string listed(std::span<const Row> rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  return joined(names);
}

bool has(std::span<const Row> rows, std::string_view name) {
  return std::ranges::find(rows, name, &Row::name) != rows.end();
}

}  // namespace

CLI::Validator whole_number() {
  const auto check = [](const std::string& text) {
    const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const bool digits = text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos;
    return digits ? std::string() : fmt::format("a whole number is wanted, not {}", text);
  };
  return {check, ""};
}

CLI::Validator file_name() {
  return {[](const std::string& text) { return std::string(text.empty() ? "an empty name is no file" : ""); }, ""};
}

CLI::Validator some_size() {
  return {[](const std::string& text) { return std::string(text.empty() ? "an empty text is no size" : ""); }, ""};
}

Refusal refusal(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);  // in the order typed, as CLI11's own text is not
  if (unknown.empty()) return Refusal(fmt::format("{} (see --help)", error.what()));
  const std::vector<CLI::App*> subcommands = app.get_subcommands();
  if (!subcommands.empty() && unknown.front().starts_with('-')) {
    const std::string option = unknown.front().substr(0, unknown.front().find('='));
    if (app.get_option_no_throw(option) != nullptr) {
      return Refusal(fmt::format("{0} takes no {1} (see {0} --help)", subcommands.front()->get_name(), option));
    }
  }
  std::vector<std::string> known;
  const CLI::App& named = subcommands.empty() ? app : *subcommands.front();
  for (const CLI::Option* const option : named.get_options()) known.push_back(option->get_name());
  return Refusal(fmt::format("{} (see --help)", not_understood(unknown, known)));
}

void interpret_device(Options& options) {
  if (options.memory != Memory::device) {
    if (options.compare == Peer::nccl) throw Refusal("--compare nccl is of memory of GPUs: add --memory device");
    return;
  }
  if (options.measurement == Measurement::floor) {
    throw Refusal("floor is of memory of the host: leave out --memory device, or measure the latency");
  }
  if (options.measurement == Measurement::overlap) {
    throw Refusal(
        "overlap is of nonblocking and persistent calls, which take memory of the host: leave out --memory device");
  }
  const bool beside_nccl = options.compare == Peer::nccl;
  const std::span<const Row> able = beside_nccl ? nccl_rows() : device_rows();
  if (options.rows.size() > 1) {
    options.rows = able;
  } else if (const std::string_view name = options.rows[0].name; !has(device_rows(), name)) {
    throw Refusal(
        fmt::format("--memory device: {} takes memory of the host alone; name one of {}", name, listed(device_rows())));
  } else if (beside_nccl && !has(able, name)) {
    throw Refusal(fmt::format("--compare nccl: NCCL has no {}, whose blocks may differ in length; name one of {}", name,
                              listed(able)));
  }
}

void check_place(const Options& options, const Row& row) {
  const bool on_device = options.memory == Memory::device;
  const auto others = algorithm_names(row.name, on_device ? chorus::Memory::host : chorus::Memory::device);
  if (std::ranges::find(others, options.algorithm) == others.end()) return;
  if (!on_device) {
    throw Refusal(fmt::format("--algorithm {} is for memory of GPUs: add --memory device", options.algorithm));
  }
  throw Refusal(fmt::format("--algorithm {} is for memory of the host; with --memory device there are {}",
                            options.algorithm, joined(algorithm_names(row.name, chorus::Memory::device))));
}

}  // namespace chorus::bench
