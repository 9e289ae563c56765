// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/detail/component_owners.hpp>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace chorus::detail {
namespace {

struct Owners {
  std::mutex mutex;
  std::vector<ComponentOwner> all;
  std::size_t room = 64;  // when there are as many, those that are gone are left out
};

Owners& owners() {
  static Owners instance;
  return instance;
}

}  // namespace

void remember_owner(ComponentOwner owner) {
  Owners& known = owners();
  const std::scoped_lock lock(known.mutex);
  if (known.all.size() >= known.room) {
    std::erase_if(known.all, [](const ComponentOwner& each) { return each.variable.expired(); });
    known.room = 2 * known.all.size() + 64;
  }
  known.all.push_back(std::move(owner));
}

std::shared_ptr<void> owner_of(const void* component, const std::type_info& type) {
  Owners& known = owners();
  const std::scoped_lock lock(known.mutex);
  for (const ComponentOwner& each : known.all) {
    if (*each.type != type) continue;
    const std::shared_ptr<void> variable = each.variable.lock();
    if (variable && each.has(variable.get(), component)) return variable;
  }
  return nullptr;
}

}  // namespace chorus::detail
