// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace chorus::installation {

// The folders that meson was told to install into; those that are no absolute paths are below the prefix.
extern const char* const prefix;
extern const char* const libdir;
extern const char* const bindir;
extern const char* const sysconfdir;

}  // namespace chorus::installation
