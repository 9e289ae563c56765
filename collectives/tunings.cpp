// SPDX-License-Identifier: Apache-2.0
#include "tunings.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace chorus {
namespace {

/// As the message of an Error of Tuning::parse begins.
constexpr std::string_view subject = "the tuning file";

/// What is wrong with `file` as it is told: with its name, and a remedy.
std::string told_of(const TuningFile& file, const std::string& why) {
  if (file.path.empty() || !why.starts_with(subject)) return why;
  return fmt::format("{} {}{}; make one here with chorus-tune{}, or name another one by CHORUS_TUNING_FILE", subject,
                     file.path, why.substr(subject.size()), file.installed ? ", remove it" : "");
}

}  // namespace

Tunings::Tunings(const TuningFile& file, const Pace& pace, const NetworkPace& network, bool crowded,
                 const DevicePace& devices)
    : measured_{.links = LinkModel::of(pace, crowded, network, devices), .measured = {}, .machine = {}},
      built_in_{.links = LinkModel::of({}, crowded), .measured = {}, .machine = {}} {
  try {
    Tuning tuning = Tuning::parse(file.text, measured_.links, crowded);
    if (const std::string why = difference(tuning.machine.site, file.here); !why.empty()) {
      throw Error(ErrorCode::invalid_environment, fmt::format("{} is not used: {}", subject, why));
    }
    built_in_ = Tuning::parse(file.text, built_in_.links, crowded);
    if (network.known()) tuning.links.take(network);
    measured_ = std::move(tuning);
  } catch (const Error& error) {
    const std::string why = told_of(file, error.message());
    if (!file.installed) throw Error(error.code(), why);
    warning_ = why;
  }
}

std::shared_ptr<const Tunings> Tunings::shared(const TuningFile& file, const Pace& pace, const NetworkPace& network,
                                               bool crowded, const DevicePace& devices) {
  struct Last {
    TuningFile file;
    Pace pace;
    NetworkPace network;
    bool crowded = false;
    DevicePace devices;
    std::shared_ptr<const Tunings> tunings;
  };
  static std::mutex mutex;
  static Last last;
  const std::scoped_lock lock(mutex);
  const bool same = last.tunings && last.file == file && last.pace == pace && last.network == network &&
                    last.crowded == crowded && last.devices == devices;
  if (!same) {
    last = {file,    pace,    network,
            crowded, devices, std::make_shared<const Tunings>(file, pace, network, crowded, devices)};
  }
  return last.tunings;
}

}  // namespace chorus
