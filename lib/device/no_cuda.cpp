// SPDX-License-Identifier: Apache-2.0
// Stands in for the other sources of this folder where the library is built without CUDA.
#include "device/device_memory.hpp"
#include "device/device_stream.hpp"
#include "device/find_devices.hpp"
#include "device/visible_gpus.hpp"

#include <chorus/error.hpp>
#include <chorus/gpu.hpp>

#include <string>

namespace chorus {
namespace {

constexpr const char* without_cuda = "the library has been built without CUDA; configure it with -Dcuda=enabled";

[[noreturn]] void refuse() { throw Error(ErrorCode::not_built, std::string("memory of a GPU: ") + without_cuda); }

}  // namespace

VisibleGpus visible_gpus() { return {.gpus = {}, .reason = without_cuda, .expected = false}; }
MemoryPlace place_of(const void* /*address*/) { refuse(); }
int device_of(const void* /*address*/, int /*expected*/) { refuse(); }
void look_for_cuda() noexcept {}
bool look_at_new(const void* /*address*/) noexcept { return false; }
int current_device() { refuse(); }
void copy_anywhere(void* /*out*/, const void* /*in*/, std::size_t /*bytes*/) { refuse(); }
bool is_device_only(const void* /*address*/) noexcept { return false; }
std::unique_ptr<Accelerator> Accelerator::of(int /*device*/) { refuse(); }
CurrentGpu::CurrentGpu(int /*ordinal*/) { refuse(); }
CurrentGpu::~CurrentGpu() = default;
void use_device(int /*device*/) { refuse(); }
DeviceStream::DeviceStream() { refuse(); }
DeviceStream::~DeviceStream() = default;
void DeviceStream::copy_to_device(std::byte* /*device*/, ConstBytes /*host*/) const {}
void DeviceStream::copy_to_host(Bytes /*host*/, const std::byte* /*device*/) const {}
void DeviceStream::wait() const {}
void synchronize(Stream /*stream*/) { refuse(); }
DeviceBuffer::DeviceBuffer(std::size_t /*bytes*/) { refuse(); }
DeviceBuffer::~DeviceBuffer() = default;
Task<Devices> find_devices(Transport& /*transport*/, std::unique_ptr<Accelerator> /*own*/) { refuse(); }

}  // namespace chorus
