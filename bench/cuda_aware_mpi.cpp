// SPDX-License-Identifier: Apache-2.0
#include "cuda_aware_mpi.hpp"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace chorus::bench {
namespace {

bool says_that_it_is_cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)  // Open MPI
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)  // MPICH
  int supported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported != 0;
#else
  return false;
#endif
}

}  // namespace

std::string why_not_cuda_aware() {
  if (says_that_it_is_cuda_aware()) return {};
  return "the MPI library does not say that it takes memory of devices (MPIX_Query_cuda_support of Open MPI, "
         "MPIX_GPU_query_support of MPICH); build chorus with one that is CUDA-aware, or compare with nccl";
}

}  // namespace chorus::bench
