// SPDX-License-Identifier: Apache-2.0
#include "base/shared_object.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <dlfcn.h>

#include <cstdlib>

namespace chorus {

const char* SharedObject::file(const char* variable, const char* name) noexcept {
  const char* const wish = std::getenv(variable);
  return wish != nullptr && *wish != '\0' ? wish : name;
}

SharedObject::SharedObject(const char* file, const char* variable, const std::string& purpose) : name_(file) {
  handle_ = dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const char* const why = dlerror();
  throw Error(ErrorCode::not_supported,
              fmt::format("{} cannot be loaded, which {} needs ({}); install it, or name its "
                          "file in {}",
                          name_, purpose, why != nullptr ? why : "no reason given", variable));
}

void* SharedObject::address_of(const char* symbol) const {
  void* const address = look_up(symbol);
  if (address != nullptr) return address;
  throw Error(ErrorCode::not_supported,
              fmt::format("{} has no {}; it is too old, and a newer one is needed", name_, symbol));
}

void* SharedObject::look_up(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

}  // namespace chorus
