// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instruction sets the kernels are compiled for: on x86-64 the baseline, SSE4, AVX2 and AVX-512, on Arm NEON.
// SSSE3 alone is found in no machine of today; SVE's vectors have no size at compile time, which the kernels build on,
// and these loops are as fast on NEON wherever memory is the limit.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
