// SPDX-License-Identifier: Apache-2.0
#include "preload/next.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace chorus::preload {
namespace {

#ifdef OMPI_MAJOR_VERSION
constexpr bool for_openmpi = true;
#else
constexpr bool for_openmpi = false;
#endif

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "chorus: libchorus-mpi.so, built for %s, %s\n", for_openmpi ? "Open MPI" : "MPICH", why);
  _exit(1);
}

/// The beginning in memory of the library that `address` lies in.
const void* library_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// That of MPI: no tool defines this function under this name.
const void* mpi_library() {
  static const void* const library = [] {
    void* const version = dlsym(RTLD_NEXT, "PMPI_Get_library_version");
    if (version == nullptr) refuse("finds no MPI library behind it; load it with LD_PRELOAD");
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    reinterpret_cast<decltype(&PMPI_Get_library_version)>(version)(text, &length);
    // Those with the binary interface of MPICH name themselves in many ways: CRAY MPICH, Intel(R) MPI Library, MVAPICH.
    if (std::string_view(text).starts_with("Open MPI") != for_openmpi) {
      refuse("does not fit the MPI library of this program; chorus-run picks the one that does");
    }
    return library_of(version);
  }();
  return library;
}

}  // namespace

thread_local constinit bool Inside::here_ = false;

void* next_definition(const char* name) {
  if (mpi_library() == nullptr) refuse("cannot tell where the MPI library lies");
  void* const next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) refuse("misses a function of the MPI library; load it with LD_PRELOAD");
  return next;
}

void* next_tool(const char* name) {
  void* const next = next_definition(name);
  return library_of(next) == mpi_library() ? nullptr : next;
}

}  // namespace chorus::preload
