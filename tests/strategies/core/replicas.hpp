// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/strategies/cross_device_ops.hpp>
#include <chorus/strategies/mirrored_strategy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chorus::test {

/// As many devices as are wanted, whatever the machine has.
inline std::vector<Device> some_devices(int number) { return shared_devices(number); }

/// A strategy of `replicas` replicas.
inline MirroredStrategy mirrored(int replicas, std::unique_ptr<CrossDeviceOps> ops = nullptr,
                                 const CommunicationOptions& options = {}) {
  return MirroredStrategy(some_devices(replicas), std::move(ops), options);
}

/// The number of this replica.
inline int id() { return get_replica_context()->replica_id_in_sync_group(); }

/// A PerReplica of one strategy.
template <class T>
PerReplica<T> per_replica(const Strategy& strategy, std::vector<T> values) {
  return PerReplica<T>(strategy.layout(), std::move(values));
}

/// make(0), make(1), ... make(number - 1).
template <class Make>
auto list_of(int number, const Make& make) {
  std::vector<decltype(make(0))> list;
  for (int i = 0; i < number; ++i) list.push_back(make(i));
  return list;
}

/// Expects `statement` to throw an Error of `code` whose text contains `text`.
template <class Statement>
void expect_error(ErrorCode code, const std::string& text, const Statement& statement) {
  try {
    statement();
    ADD_FAILURE() << "nothing was thrown, expected " << name(code);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

/// As long as it lives the system starts no thread, as it has no memory for such stacks.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t huge;
    pthread_getattr_default_np(&before_);
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 50U);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

/// Tests that are run with several numbers of replicas.
class WithReplicas : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static int replicas() { return GetParam(); }
  [[nodiscard]] static int last() { return GetParam() - 1; }
  /// 0 + 1 + ... of all.
  [[nodiscard]] static int sum_of_ids() { return replicas() * (replicas() - 1) / 2; }
};

/// Tests that are run with several numbers of replicas, more than one.
class WithSeveralReplicas : public WithReplicas {};

}  // namespace chorus::test
