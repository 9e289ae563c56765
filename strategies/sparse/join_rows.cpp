// SPDX-License-Identifier: Apache-2.0
// Rows of all replicas are joined in three steps: the workers tell each other how many they have, so that all decide
// alike; then they exchange either the rows, or, of what is reduced as whole tensors, which rows there are.
#include "sparse/join_rows.hpp"

#include "cross_device_ops/reduction.hpp"
#include "sparse/slices_reduction.hpp"

#include <chorus/allgather.hpp>
#include <chorus/allgatherv.hpp>
#include <chorus/allreduce.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace chorus {
namespace {

constexpr std::size_t most_dimensions = 16;

/// What a worker tells the others of one leaf.
struct Offer {
  bool alike = true;  ///< of all of its replicas
  DataType type = DataType::float32;
  std::size_t dimensions = 0;
  std::array<std::size_t, most_dimensions> shape{};
  std::size_t rows = 0;  ///< that it would send

  [[nodiscard]] bool fits(const Offer& other) const {
    return alike && type == other.type && dimensions == other.dimensions && shape == other.shape;
  }
  [[nodiscard]] std::string text() const {
    const auto end = shape.begin() + static_cast<std::ptrdiff_t>(dimensions);
    return fmt::format("{} of dense_shape {}", name(type), to_string(Shape(shape.begin(), end)));
  }
};

Offer offer_of(const Rows& rows) {
  if (rows.dense_shape.size() > most_dimensions) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("all_reduce: slices of a tensor of {} dimensions: at most {} are reduced; join some first",
                            rows.dense_shape.size(), most_dimensions));
  }
  Offer offer{.type = rows.given, .dimensions = rows.dense_shape.size(), .rows = rows.indices.size()};
  std::ranges::copy(rows.dense_shape, offer.shape.begin());
  return offer;
}

/// The slices of one step, seen from one worker.
class Exchange {
 public:
  Exchange(const ReplicaGroup& group, std::span<const ReplicaRows> leaves, Duplicates duplicates,
           const CommunicationOptions& options)
      : workers_(group.workers()),
        leaves_(leaves),
        duplicates_(duplicates),
        options_(without_algorithm(collective_options(options))),
        // In the order of all replicas a sum has the same bits wherever they are.
        sums_before_(workers_ != nullptr && duplicates == Duplicates::summed && !options.reproducible) {
    make_offers();
    group.alike([&] { decide(group.layout().replicas()); });
  }

  std::vector<JoinedRows> result() {
    share_rows();
    share_indices();
    return std::move(joined_);
  }

 private:
  void make_offers() {
    std::vector<Offer> mine;
    for (const ReplicaRows& parts : leaves_) {
      if (duplicates_ == Duplicates::summed) indices_.push_back(indices_in(parts));
      Offer offer = offer_of(*parts.front());
      for (const Rows* part : std::span(parts).subspan(1)) {
        offer.alike = offer.alike && offer_of(*part).fits(offer);
        offer.rows += part->indices.size();
      }
      if (sums_before_) offer.rows = indices_.back().size();
      mine.push_back(offer);
    }
    offers_ = mine;
    if (workers_ == nullptr) return;
    offers_.resize(mine.size() * static_cast<std::size_t>(workers_->size()));
    allgather(*workers_, mine, offers_, options_);
  }

  [[nodiscard]] const Offer& offer(std::size_t worker, std::size_t leaf) const {
    return offers_[worker * leaves_.size() + leaf];
  }
  [[nodiscard]] std::size_t workers() const { return offers_.size() / leaves_.size(); }

  void decide(int replicas) {
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      std::size_t rows = 0;
      for (std::size_t worker = 0; worker < workers(); ++worker) {
        check(leaf, worker);
        rows += offer(worker, leaf).rows;
      }
      const Rows& first = *leaves_[leaf].front();
      joined_.push_back({.rows = first.none()});
      joined_.back().dense = duplicates_ == Duplicates::summed && replicas > 1 &&
                             dense_moves_less(rows, first.dense_shape.front(), first.row_bytes());
    }
  }

  void check(std::size_t leaf, std::size_t worker) const {
    const Offer& first = offer(0, leaf);
    const Offer& other = offer(worker, leaf);
    if (other.fits(first)) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("all_reduce: the replicas give slices of different tensors: those of worker 0 are {}, of "
                            "worker {} {}{}: give slices of one tensor",
                            first.text(), worker, other.text(), other.alike ? "" : " and others"));
  }

  /// The rows of the leaves that are not dense, from every worker.
  void share_rows() {
    std::vector<Rows> own;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      if (joined_[leaf].dense) continue;
      const bool summed = workers_ == nullptr ? duplicates_ == Duplicates::summed : sums_before_;
      own.push_back(joined(leaves_[leaf], summed ? Duplicates::summed : Duplicates::kept));
      if (workers_ == nullptr) joined_[leaf].rows = std::move(own.back());
    }
    if (workers_ == nullptr || own.empty()) return;

    std::vector<std::byte> sent;
    for (const Rows& rows : own) {
      const std::span indices = std::as_bytes(std::span(rows.indices));
      sent.insert(sent.end(), indices.begin(), indices.end());
      sent.insert(sent.end(), rows.values.begin(), rows.values.end());
    }
    own.clear();
    std::vector<std::size_t> counts(workers());
    std::size_t all = 0;
    for (std::size_t worker = 0; worker < workers(); ++worker) {
      for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) counts[worker] += bytes_of(worker, leaf);
      all += counts[worker];
    }
    std::vector<std::byte> received(all);
    allgatherv(*workers_, sent, received, counts, options_);
    join(received);
  }

  [[nodiscard]] std::size_t bytes_of(std::size_t worker, std::size_t leaf) const {
    if (joined_[leaf].dense) return 0;
    return offer(worker, leaf).rows * (sizeof(std::int64_t) + joined_[leaf].rows.row_bytes());
  }

  void join(std::span<const std::byte> received) {
    std::vector<std::vector<Rows>> parts(leaves_.size());
    const auto take = [&](void* to, std::size_t bytes) {
      if (bytes != 0) std::memcpy(to, received.data(), bytes);
      received = received.subspan(bytes);
    };
    for (std::size_t worker = 0; worker < workers(); ++worker) {
      for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        if (joined_[leaf].dense) continue;
        Rows rows = joined_[leaf].rows;
        rows.indices.resize(offer(worker, leaf).rows);
        rows.values.resize(rows.indices.size() * rows.row_bytes());
        take(rows.indices.data(), rows.indices.size() * sizeof(std::int64_t));
        take(rows.values.data(), rows.values.size());
        parts[leaf].push_back(std::move(rows));
      }
    }
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      if (joined_[leaf].dense) continue;
      ReplicaRows of_workers;
      for (const Rows& part : parts[leaf]) of_workers.push_back(&part);
      joined_[leaf].rows = joined(of_workers, duplicates_);
      parts[leaf].clear();
    }
  }

  /// Which rows of the dense leaves have an index on any worker.
  void share_indices() {
    constexpr std::size_t bits = 64;
    std::vector<std::uint64_t> present;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      if (!joined_[leaf].dense) continue;
      const std::size_t first = present.size();
      present.resize(first + (joined_[leaf].rows.dense_shape.front() + bits - 1) / bits);
      for (const std::int64_t index : indices_[leaf]) {
        const auto row = static_cast<std::size_t>(index);
        present[first + row / bits] |= std::uint64_t{1} << (row % bits);
      }
    }
    if (workers_ != nullptr && !present.empty()) allreduce(*workers_, present, ReduceOp::bitwise_or, options_);
    const std::uint64_t* words = present.data();
    for (JoinedRows& leaf : joined_) {
      if (!leaf.dense) continue;
      const std::size_t rows = leaf.rows.dense_shape.front();
      for (std::size_t row = 0; row < rows; ++row) {
        if ((words[row / bits] >> (row % bits) & 1U) != 0) leaf.rows.indices.push_back(static_cast<std::int64_t>(row));
      }
      words += (rows + bits - 1) / bits;
    }
  }

  const Communicator* workers_;
  std::span<const ReplicaRows> leaves_;
  Duplicates duplicates_;
  CollectiveOptions options_;
  bool sums_before_;                                // a worker's replicas, before it sends
  std::vector<std::vector<std::int64_t>> indices_;  // of this worker's rows, for each leaf
  std::vector<Offer> offers_;                       // of every worker, for each leaf
  std::vector<JoinedRows> joined_;
};

}  // namespace

std::vector<JoinedRows> join_rows(const ReplicaGroup& group, std::span<const ReplicaRows> leaves, Duplicates duplicates,
                                  const CommunicationOptions& options) {
  if (leaves.empty()) return {};
  return Exchange(group, leaves, duplicates, options).result();
}

}  // namespace chorus
