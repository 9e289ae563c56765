// SPDX-License-Identifier: Apache-2.0
#include "vendor.hpp"

#include "transport/native.hpp"

namespace chorus::vendor {
namespace {

class Completion final : public PolledEvent {
 public:
  Completion(Native& native, std::uint64_t ticket, Where where = Where::here()) noexcept
      : PolledEvent(where), native_(native), ticket_(ticket) {}

 private:
  bool ready() override { return native_.test(ticket_); }
  [[nodiscard]] std::string what() const override { return "waiting inside MPI's own collective"; }

  Native& native_;
  std::uint64_t ticket_;
};

Native::Buffers buffers_of(const Arguments& arguments) {
  return {arguments.in, arguments.out, arguments.in_sections, arguments.out_sections};
}

}  // namespace

bool applies(const Problem& problem) { return problem.native; }

Task<> run(Transport& transport, Arguments arguments) {
  Native& native = *transport.native();
  Completion completion(native, native.start(arguments.call, buffers_of(arguments)));
  co_await completion;
}

void now(Transport& transport, const Arguments& arguments) {
  transport.native()->run(arguments.call, buffers_of(arguments));
}

}  // namespace chorus::vendor
