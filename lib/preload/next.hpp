// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a call goes on to when it leaves this library.
//
// A program calls MPI_X, which is another tool's if that one is loaded before this library, else ours. Ours goes on to
// the MPI_X of a tool loaded behind it, if there is one. A tool calls PMPI_X in the end, and so does MPI's Fortran
// interface: that is ours, where chorus comes in, once; and what it hands to MPI goes to the PMPI_X behind it.
namespace chorus::preload {

/// The definition of `name` behind this library in the order of loading. Where there is none, or it is that of another
/// MPI library than this one was built for, says so and ends the program: its arguments could not be understood.
[[nodiscard]] void* next_definition(const char* name);

/// The MPI_X of a tool loaded behind this library; null where what comes next is MPI's own.
[[nodiscard]] void* next_tool(const char* name);

/// This thread is inside chorus, as long as one lives: what it asks of MPI goes to MPI.
class Inside {
 public:
  Inside() noexcept : before_(here_) { here_ = true; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { here_ = before_; }
  [[nodiscard]] static bool here() noexcept { return here_; }

 private:
  [[gnu::tls_model("initial-exec")]] static thread_local constinit bool here_;
  bool before_;
};

}  // namespace chorus::preload
