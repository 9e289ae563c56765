// SPDX-License-Identifier: Apache-2.0
#include "nccl_call.hpp"
#include "operations.hpp"

#include <cstring>
#include <memory>

// ncclRedOpCreatePreMulSum and ncclRedOpDestroy.
using namespace chorus::test::doubles;

extern "C" {

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t handle) {
  return nccl_call({.function = "ncclRedOpCreatePreMulSum", .type = name_of(type)}, handle, [&](Lock&) {
    std::shared_ptr<Communicator> comm;
    const ncclResult_t result = find_communicator("ncclRedOpCreatePreMulSum", handle, comm);
    if (result != ncclSuccess) return result;
    if (op == nullptr || scalar == nullptr || size_of(type) == 0) {
      return fail(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: null, or no type");
    }
    static int numbers = ncclNumOps;
    Scale scale{.type = type};
    if (residence == ncclScalarDevice) {
      scale.device_address = reinterpret_cast<std::uintptr_t>(scalar);
    } else {
      std::memcpy(scale.value.data(), scalar, size_of(type));
    }
    *op = static_cast<ncclRedOp_t>(numbers++);
    comm->reduce_ops[*op] = scale;
    ++living().reduce_ops;
    return ncclSuccess;
  });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t handle) {
  return nccl_call({.function = "ncclRedOpDestroy"}, handle, [&](Lock&) {
    std::shared_ptr<Communicator> comm;
    const ncclResult_t result = find_communicator("ncclRedOpDestroy", handle, comm);
    if (result != ncclSuccess) return result;
    if (comm->reduce_ops.erase(op) == 0) {
      return fault(ncclInvalidArgument, "ncclRedOpDestroy", "the communicator has no such reduction operation");
    }
    --living().reduce_ops;
    return ncclSuccess;
  });
}

}  // extern "C"
