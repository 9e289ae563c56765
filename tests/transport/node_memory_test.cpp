// SPDX-License-Identifier: Apache-2.0
#include "transport/node_memory.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

/// One of two ranks; the other is lost after some messages, which come at once and are all zeros.
class LosesItsPeer final : public Transport {
 public:
  explicit LosesItsPeer(int messages) noexcept : Transport(0, 2), left_(messages) {}

  Exchange start(const Envelope& envelope) override {
    if (left_-- == 0) throw Error(ErrorCode::peer_lost, "");
    std::ranges::fill(envelope.incoming, std::byte{0});
    return {*this, envelope, {}};
  }
  bool test(Exchange& /*exchange*/) override { return true; }
  void cancel(Exchange& /*exchange*/) noexcept override {}

 private:
  int left_;
};

/// Whether it comes to an end; its named segment is then gone, however it ends.
bool shares_named_memory(int messages) {
  LosesItsPeer transport(messages);
  Settings settings;
  settings.shared_memory = SharedMemory::named;
  std::vector<PeerRecord> records;
  std::vector<std::string> notes;
  const auto share = [&]() -> Task<> { static_cast<void>(co_await share_memory(transport, settings, records, notes)); };
  Operation operation(share());
  while (!operation.done()) static_cast<void>(operation.step());
  bool lost = false;
  try {
    operation.result();
  } catch (const Error&) {
    lost = true;
  }
  const std::string path = records[0].segment.name.data();
  EXPECT_FALSE(path.empty());
  EXPECT_NE(access(path.c_str(), F_OK), 0) << path << " after " << messages << " messages";
  return !lost;
}

TEST(NodeMemory, LeavesNoNameBehindWhereARankIsLostMeanwhile) {
  int messages = 0;
  while (!shares_named_memory(messages)) ++messages;
  EXPECT_EQ(messages, 2);
}

}  // namespace
}  // namespace chorus::test
