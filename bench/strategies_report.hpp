// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace chorus::bench {

/// Which strategy is measured.
struct StrategyForm {
  std::string name;
  int workers = 1;
  int replicas = 1;      ///< of each worker
  bool crowded = false;  ///< more replicas than processors
};

/// A side beside the one that it is compared with; all lists have the times of the same repetitions.
struct Beside {
  std::span<const double> us;
  std::span<const double> other_us;
};

// The text form is that of the other tables: comments with '#', then columns of fixed width. Each returns whole lines.

[[nodiscard]] std::string run_table(const StrategyForm& form, const std::string& other, const Beside& measured);

[[nodiscard]] std::string all_reduce_heading(const StrategyForm& form, const std::string& other);
[[nodiscard]] std::string all_reduce_line(std::size_t bytes, const Beside& measured);

/// One way to reduce gradients.
struct Way {
  std::string name;
  Beside measured;
};
[[nodiscard]] std::string gradients_heading(const StrategyForm& form, std::size_t tensors, std::size_t bytes);
[[nodiscard]] std::string gradients_line(const Way& way);

/// Gradients reduced while others are computed.
struct OverlapOfGradients {
  std::span<const double> alone_us;       ///< the computation
  std::span<const double> afterwards_us;  ///< the computation, then the reduction
  std::span<const double> overlapped_us;  ///< the reduction of each pack as its tensors are computed
  std::size_t pack_bytes;                 ///< of these
};
[[nodiscard]] std::string overlap_of_gradients(const OverlapOfGradients& measured);

}  // namespace chorus::bench
