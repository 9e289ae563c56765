// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"
#include "kernels/kernels.hpp"
#include "kernels/long_copies.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy.cpp"
#include <hwy/foreach_target.h>

#include "kernels/write-inl.hpp"

#include <atomic>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {

struct Bytes {
  const std::byte* in;

  template <class D, std::size_t vectors>
  HWY_INLINE void operator()(D d, std::size_t i, hn::Vec<D> (&lanes)[vectors]) const {
    load_all<Plain<std::uint8_t>>(d, in, i, lanes);
  }
};

void copy_long(std::byte* out, const std::byte* in, std::size_t bytes, Store store) {
  write<Plain<std::uint8_t>>(out, Bytes{in}, bytes, store);
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chorus::kernels {

HWY_EXPORT(copy_long);

namespace {
std::atomic<CopyBy> chosen = CopyBy::library;

bool by_vectors(std::size_t bytes) noexcept {
  return bytes >= machine::vectors_from && bytes <= machine::vectors_to &&
         chosen.load(std::memory_order_relaxed) == CopyBy::vectors;
}

void copy_by(Store store, std::byte* out, const std::byte* in, std::size_t bytes) {
  if (store == Store::streamed || by_vectors(bytes)) {
    HWY_DYNAMIC_DISPATCH(copy_long)(out, in, bytes, store);
  } else if (bytes > 0) {
    std::memcpy(out, in, bytes);
  }
}
}  // namespace

void set_copy_by(CopyBy by) noexcept { chosen.store(by, std::memory_order_relaxed); }

void copy(std::byte* out, const std::byte* in, std::size_t bytes, Store store) {
  if (store == Store::streamed || bytes < LongCopies<>::from) return copy_by(store, out, in, bytes);
  static LongCopies<> long_copies;
  long_copies.run(bytes, [&](Store faster) { copy_by(faster, out, in, bytes); });
}

}  // namespace chorus::kernels
#endif
