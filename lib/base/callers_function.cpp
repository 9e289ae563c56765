// SPDX-License-Identifier: Apache-2.0
#include "base/callers_function.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <exception>
#include <string>

namespace chorus {
namespace {

[[noreturn]] void report_text(const std::string& what) {
  throw Error(ErrorCode::function_threw,
              fmt::format("the function of the reduction has thrown: {}; let it return a value in every case", what));
}

}  // namespace

thread_local constinit int CallersFunction::depth_ = 0;

void CallersFunction::report() {
  try {
    throw;
  } catch (const Error& error) {
    report_text(error.message());
  } catch (const std::exception& error) {
    report_text(error.what());
  } catch (...) {
    report_text("something that is no std::exception");
  }
}

}  // namespace chorus
