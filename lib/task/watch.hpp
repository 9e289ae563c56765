// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace chorus {

/// Something that a thread looks at now and then.
class Watched {
 public:
  using Clock = std::chrono::steady_clock;

  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() = default;
  virtual void look(Clock::time_point now) noexcept = 0;
};

/// The thread of this process that looks at what is to be watched: it runs while there is any.
class Watch {
 public:
  [[nodiscard]] static Watch& of_this_process();

  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() = default;

  /// Throws std::system_error where the system starts no thread: it is not looked at then.
  void add(Watched& watched);
  /// It is not looked at any more when this returns.
  void remove(Watched& watched);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched*> watched_;
  std::jthread thread_;
};

}  // namespace chorus
