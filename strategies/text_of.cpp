// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/detail/text_of.hpp>

namespace chorus::detail {

std::string text_of(const std::exception_ptr& failure) {
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {  // in another's error: without the name of the library
    return error.message();
  } catch (const std::exception& error) {
    return *error.what() != '\0' ? error.what() : "an exception without a text";
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace chorus::detail
