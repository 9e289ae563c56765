// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"
#include "shared.hpp"

#include <mutex>
#include <string>
#include <vector>

// The failures that a test has asked for.
namespace chorus::test {
namespace doubles {
namespace {

std::vector<Failure>& failures() {
  static auto& all = *[] {
    at_clear([] { failures().clear(); });
    return new std::vector<Failure>;
  }();
  return all;
}

}  // namespace

int injected_failure(const std::string& function, int device) {
  int result = 0;
  for (Failure& failure : failures()) {
    if (failure.function != function || (failure.device >= 0 && failure.device != device)) continue;
    if (failure.times == 0 || --failure.nth > 0) continue;
    --failure.times;
    if (result == 0) result = failure.result;
  }
  return result;
}

}  // namespace doubles

void inject(const Failure& failure) {
  const doubles::Lock lock(doubles::guard());
  doubles::failures().push_back(failure);
}

}  // namespace chorus::test
