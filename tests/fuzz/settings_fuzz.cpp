// SPDX-License-Identifier: Apache-2.0
// The environment: one entry a line. Whatever stands there, it is read or rejected, and what is read travels.
#include "base/settings.hpp"

#include "fuzz.hpp"

#include <chorus/error.hpp>

#include <string>
#include <vector>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<const char*> environment = {text.c_str()};
  for (char& character : text) {
    if (character != '\n') continue;
    character = '\0';
    environment.push_back(&character + 1);
  }
  environment.push_back(nullptr);
  try {
    const chorus::Settings settings = chorus::Settings::parse(environment.data());
    chorus::fuzz::require(settings.timeout.count() >= 0 && settings.stall_warning.count() >= 0, "a time below 0");
    chorus::fuzz::require(settings.slot_bytes >= 1024 && settings.slot_bytes % 64 == 0, "a slot of a wrong length");
    chorus::fuzz::require(settings.node_ranks >= 0, "ranks below 0");
    const chorus::Settings other = chorus::Settings::from_json(settings.to_json());
    chorus::fuzz::require(other.to_json() == settings.to_json(), "settings that do not travel");
  } catch (const chorus::Error& error) {
    chorus::fuzz::require(error.code() == chorus::ErrorCode::invalid_environment, error.what());
  }
  return 0;
}
