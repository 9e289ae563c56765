// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/checkpoint_manager.hpp>

#include "checkpoint/chief.hpp"
#include "checkpoint/durable_file.hpp"
#include "checkpoint/writer.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace chorus {
namespace {

constexpr std::string_view prefix = "step-";

/// The step in a folder's name; none where it is another's.
std::optional<std::int64_t> step_in(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool whole = error == std::errc() && end == name.data() + name.size() && name == std::to_string(step);
  return whole && step >= 0 ? std::optional(step) : std::nullopt;
}

/// The names of what is in `folder`; none where it is not there.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  std::filesystem::directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  if (failure && failure != std::errc::no_such_file_or_directory) reject_file(folder, "read", failure.value());
  return names;
}

std::vector<std::int64_t> steps_in(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(folder)) {
    std::error_code failure;
    const std::optional<std::int64_t> step = step_in(name);
    if (step && std::filesystem::exists(folder / name / "index.json", failure)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

void remove_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::remove_all(folder, failure);
  if (failure) reject_file(folder, "removed", failure.value());
}

/// A job that is killed meanwhile leaves no half of a checkpoint, as it loses its name first.
void remove_checkpoint(const std::filesystem::path& folder) {
  remove_folder(unfinished_folder(folder));
  rename_folder(folder, unfinished_folder(folder));
  remove_folder(unfinished_folder(folder));
}

/// Removes what jobs have left that were killed while they wrote or removed a checkpoint.
void remove_unfinished(const std::filesystem::path& folder) {
  for (const std::string& name : names_in(folder)) {
    const std::size_t dot = name.find('.', 1);
    if (!name.starts_with('.') || dot == std::string::npos) continue;
    const std::string finished = name.substr(1, dot - 1);
    if (step_in(finished) && unfinished_folder(finished) == name) remove_folder(folder / name);
  }
}

}  // namespace

CheckpointManager::CheckpointManager(Checkpoint checkpoint, std::string folder, const CheckpointManagerOptions& options)
    : checkpoint_(std::move(checkpoint)), folder_(std::move(folder)), options_(options) {}

std::string CheckpointManager::save(std::int64_t step) const {
  Chief chief(checkpoint_.strategy(), {.function = StrategyFunction::manager_save, .number = step});
  std::vector<std::int64_t> before;  // on worker 0
  chief.attempt([&] {
    before = steps_in(folder_);
    if (before.empty() || step > before.back()) return;
    throw Error(ErrorCode::invalid_argument, fmt::format("there is a checkpoint of step {} in {}, and this is step {}: "
                                                         "restore it first, remove it, or choose another folder",
                                                         before.back(), folder_, step));
  });
  chief.settle();
  std::string saved = step_folder(step);
  checkpoint_.save(saved, step);
  chief.attempt([&] {
    const std::size_t keep = options_.max_to_keep == 0 ? before.size() : options_.max_to_keep - 1;
    for (std::size_t i = 0; i + keep < before.size(); ++i) remove_checkpoint(step_folder(before[i]));
    remove_unfinished(folder_);
  });
  chief.settle();
  return saved;
}

std::optional<std::int64_t> CheckpointManager::restore_latest(const RestoreOptions& options) const {
  const std::optional<std::string> folder = latest();
  return folder ? std::optional(checkpoint_.restore(*folder, options)) : std::nullopt;
}

std::vector<std::int64_t> CheckpointManager::steps() const {
  Chief chief(checkpoint_.strategy(), {.function = StrategyFunction::manager_steps});
  std::vector<std::int64_t> steps;
  chief.attempt([&] { steps = steps_in(folder_); });
  chief.settle();
  chief.go_on([&] { chief.share(steps); });
  return steps;
}

std::optional<std::string> CheckpointManager::latest() const {
  const std::vector<std::int64_t> all = steps();
  return all.empty() ? std::nullopt : std::optional(step_folder(all.back()));
}

std::string CheckpointManager::step_folder(std::int64_t step) const {
  return (std::filesystem::path(folder_) / fmt::format("{}{}", prefix, step)).string();
}

}  // namespace chorus
