// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <memory>
#include <typeinfo>

namespace chorus::detail {

/// A variable of this process, to be found by its components.
struct ComponentOwner {
  std::weak_ptr<void> variable;
  const std::type_info* type;  ///< of the components
  bool (*has)(const void* variable, const void* component);
};

/// Any thread may call these.
CHORUS_API void remember_owner(ComponentOwner owner);
/// The variable that has `component`; null where none does.
[[nodiscard]] CHORUS_API std::shared_ptr<void> owner_of(const void* component, const std::type_info& type);

}  // namespace chorus::detail
