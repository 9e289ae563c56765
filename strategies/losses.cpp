// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/losses.hpp>

#include <chorus/error.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

namespace chorus {

ReduceOp get_loss_reduction() noexcept { return get_strategy().extended().loss_reduction(); }

void set_loss_reduction(ReduceOp op) { get_strategy().extended().set_loss_reduction(op); }

namespace detail {

int replicas_of_this_one(const char* function) {
  const ReplicaContext* const replica = get_replica_context();
  if (replica != nullptr) return replica->num_replicas_in_sync();
  throw Error(ErrorCode::wrong_context,
              fmt::format("{}: called outside of the replicas, where there is no share of one: call it in the function "
                          "given to run",
                          function));
}

double batch_of_all_replicas(std::optional<std::int64_t> given, std::size_t own) {
  if (!given) {
    return static_cast<double>(own) * replicas_of_this_one("average_loss without a global_batch_size");
  }
  if (*given > 0 || (*given == 0 && own == 0)) return static_cast<double>(*given);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("average_loss: global_batch_size is {}, but there are losses of {} examples: give the number "
                          "of examples of all replicas",
                          *given, own));
}

void reject_weights(const Shape& losses, const Shape& weights) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("average_loss: losses of shape {} and weights of shape {}: give one weight for each loss",
                          to_string(losses), to_string(weights)));
}

}  // namespace detail
}  // namespace chorus
