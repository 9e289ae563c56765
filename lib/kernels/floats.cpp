// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/floats.cpp"
#include <hwy/foreach_target.h>

#include "kernels/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {

Reduce choose_float(DataType type, ReduceOp op) {
  return type == DataType::float32 ? arithmetic_kernel<Plain<float>>(op) : arithmetic_kernel<Plain<double>>(op);
}

Divide choose_float_divide(DataType type) {
  return type == DataType::float32 ? divide_kernel<Plain<float>> : divide_kernel<Plain<double>>;
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chorus::kernels {

HWY_EXPORT(choose_float);
Reduce float_kernel(DataType type, ReduceOp op) { return HWY_DYNAMIC_DISPATCH(choose_float)(type, op); }

HWY_EXPORT(choose_float_divide);
Divide float_divide(DataType type) { return HWY_DYNAMIC_DISPATCH(choose_float_divide)(type); }

}  // namespace chorus::kernels
#endif
