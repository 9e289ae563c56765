// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace chorus {

/// A library that is loaded when it is first needed, and stays.
class SharedObject {
 public:
  /// The file that the environment variable `variable` names, or else `name` where the system finds libraries.
  [[nodiscard]] static const char* file(const char* variable, const char* name) noexcept;

  /// Throws Error{not_supported} where `file` cannot be loaded: `purpose` says what for, `variable` may name another.
  SharedObject(const char* file, const char* variable, const std::string& purpose);

  /// Looks up `symbol`. Throws Error{not_supported} where the library has none.
  template <class Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }

  /// The same; null where the library has none.
  template <class Function>
  void find_if_there(Function*& function, const char* symbol) const noexcept {
    function = reinterpret_cast<Function*>(look_up(symbol));
  }

 private:
  [[nodiscard]] void* address_of(const char* symbol) const;
  [[nodiscard]] void* look_up(const char* symbol) const noexcept;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace chorus
