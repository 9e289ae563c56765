// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include "shared.hpp"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace chorus::test {
namespace doubles {
namespace {

struct Records {
  std::uint64_t first = 0;  ///< the number of the first in `calls`
  std::deque<DeviceCall> calls;
  std::vector<std::string> faults;
  Leaks living;
};

Records& records() {
  static auto& all = *new Records;
  return all;
}

/// Tells of a thread that ends within a group.
struct Thread {
  std::string label;
  int group_depth = 0;
  bool in_host_function = false;

  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() {
    if (group_depth == 0) return;
    const Lock lock(guard());
    record_fault("the thread has ended after ncclGroupStart without ncclGroupEnd");
  }
};

Thread& this_thread() {
  thread_local Thread thread;
  return thread;
}

}  // namespace

std::uint64_t record(DeviceCall call) {
  call.label = thread_label();
  call.group_depth = group_depth();
  call.result = -1;
  records().calls.push_back(std::move(call));
  return records().first + records().calls.size() - 1;
}

void record_result(std::uint64_t number, int result) {
  if (number >= records().first) records().calls.at(number - records().first).result = result;
}

void record_fault(const std::string& what) {
  records().faults.push_back(thread_label().empty() ? what : thread_label() + ": " + what);
}

std::string& thread_label() { return this_thread().label; }
int& group_depth() { return this_thread().group_depth; }
bool& in_host_function() { return this_thread().in_host_function; }
Leaks& living() { return records().living; }

}  // namespace doubles

using doubles::guard;
using doubles::Lock;
using doubles::records;

std::string text(const DeviceCall& call) {
  std::string words = (call.label.empty() ? "" : call.label + ": ") + call.function;
  if (call.device >= 0) words += fmt::format(" on device {}", call.device);
  if (!call.type.empty()) words += fmt::format(", {} {}", call.count, call.type);
  if (!call.op.empty()) words += " " + call.op;
  if (call.type.empty() && call.bytes > 0) words += fmt::format(", {} bytes", call.bytes);
  if (call.peer >= 0) words += fmt::format(", peer {}", call.peer);
  if (call.communicator >= 0) words += fmt::format(", communicator {}", call.communicator);
  if (call.group_depth > 0) words += ", in a group";
  return words + fmt::format(": {}", call.result);
}

std::vector<DeviceCall> calls() {
  const Lock lock(guard());
  return {records().calls.begin(), records().calls.end()};
}

std::vector<DeviceCall> calls(const std::string& function) {
  std::vector<DeviceCall> some;
  for (DeviceCall& call : calls()) {
    if (call.function == function) some.push_back(std::move(call));
  }
  return some;
}

std::vector<std::string> faults() {
  const Lock lock(guard());
  std::vector<std::string> all = records().faults;
  if (doubles::group_depth() > 0) all.emplace_back("this thread is after ncclGroupStart without ncclGroupEnd");
  return all;
}

void set_label(const std::string& label) { doubles::thread_label() = label; }

void clear() {
  const Lock lock(guard());
  doubles::Records& all = records();
  all.first += all.calls.size();
  all.calls.clear();
  all.faults.clear();
  doubles::restore_settings();
  doubles::run_at_clear();
  doubles::changed().notify_all();
}

Leaks leaks() {
  const Lock lock(guard());
  return doubles::living();
}

}  // namespace chorus::test
