// SPDX-License-Identifier: Apache-2.0
#include "device/device_ranks.hpp"

#include "device/device_world.hpp"
#include "device/find_devices.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <thread>
#include <utility>

namespace chorus::test {
namespace {

int device_count() {
  int count = 0;
  check(cuDeviceGetCount(&count));
  return count;
}

void run_rank(const Communicator& comm, Devices devices, const std::function<void(const Communicator&)>& body) {
  enter_world(comm.rank());
  take_device(devices == Devices::own ? comm.rank() % device_count() : 0);
  body(comm);
}

Task<> connect(Transport& transport, ProcessId process, std::size_t half_bytes) {
  CUdevice device = 0;
  check(cuCtxGetDevice(&device));
  ConnectedWindows connected = co_await connect_windows(transport, device, process, half_bytes);
  EXPECT_TRUE(connected.windows) << connected.why_not;
  transport.set_devices(chorus::Devices{.accelerator = Accelerator::of(device),
                                        .native = nullptr,
                                        .windows = std::move(connected.windows),
                                        .pace = {},
                                        .note = {}});
}

}  // namespace

void connect_windows_anew(const Communicator& comm, ProcessId process, std::size_t half_bytes) {
  comm.state().drive(connect(comm.state().transport(), process, half_bytes));
}

void skip_without_devices(std::string_view algorithm, int ranks) {
  begin_world();
  if (algorithm == "nccl" && ranks > device_count()) GTEST_SKIP() << "there are fewer devices";
}

void on_device_ranks(int ranks, Devices devices, const std::function<void(const Communicator&)>& body) {
  on_device_ranks([ranks] { return thread_communicators(ranks); }, devices, body);
}

void on_device_ranks(const std::function<std::vector<Communicator>()>& make, Devices devices,
                     const std::function<void(const Communicator&)>& body) {
  begin_world();
  std::vector<std::exception_ptr> errors;
  {
    const std::vector<Communicator> communicators = make();
    errors.resize(communicators.size());
    std::vector<std::thread> threads;
    for (const Communicator& comm : communicators) {
      threads.emplace_back([&, comm] {
        try {
          run_rank(comm, devices, body);
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(comm.rank())] = std::current_exception();
          comm.revoke(error.what());  // the others may wait for this rank
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  end_world();
}

}  // namespace chorus::test
