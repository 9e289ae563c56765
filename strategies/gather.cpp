// SPDX-License-Identifier: Apache-2.0
#include "cross_device_ops/reduction.hpp"
#include "equal_structures.hpp"

#include <chorus/allgather.hpp>
#include <chorus/allgatherv.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {
namespace {

constexpr std::size_t most_dimensions = 16;

/// What the workers tell each other before they gather: what their elements are, the shape that the first of their
/// replicas has, how long the tensors of all of them are together, and a replica whose shape does not go together with
/// the first one's.
struct Offer {
  DataType type = DataType::float32;
  StorageOrder order = StorageOrder::row_major;
  std::size_t dimensions = 0;
  std::array<std::size_t, most_dimensions> shape{};
  std::size_t length = 0;  ///< along the axis, of all replicas
  std::size_t other = 0;   ///< the local number of that replica; 0: all go together
  std::array<std::size_t, most_dimensions> other_shape{};

  [[nodiscard]] Shape of_first() const { return lengths(shape); }
  [[nodiscard]] Shape of_other() const { return lengths(other_shape); }

 private:
  [[nodiscard]] Shape lengths(const std::array<std::size_t, most_dimensions>& all) const {
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dimensions)};
  }
};

/// A replica's number among all, and the shape that it has.
struct ReplicaShape {
  std::size_t replica = 0;
  Shape shape = {};
};

bool go_together(const Shape& left, const Shape& right, std::size_t axis) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (i != axis && left[i] != right[i]) return false;
  }
  return true;
}

/// As messages name what is called and the leaf that it fails for.
std::string function_of(const detail::Gathering& gathering, std::size_t leaf) {
  const std::string path = gathering.paths()[leaf];
  return path.empty() ? gathering.function : fmt::format("{} of {}", gathering.function, path);
}

/// The dimension of each leaf that `axis` names.
std::vector<std::size_t> dimensions_of(const detail::Gathering& gathering, int axis) {
  std::vector<std::size_t> along;
  for (std::size_t leaf = 0; leaf < gathering.parts.size(); ++leaf) {
    const Shape& shape = gathering.parts[leaf].components.front().shape;
    const int rank = static_cast<int>(shape.size());
    if (shape.size() > most_dimensions) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: tensors of {} dimensions: at most {} are gathered; join some first",
                              function_of(gathering, leaf), shape.size(), most_dimensions));
    }
    const bool fits = axis >= -rank && axis < rank;
    along.push_back(detail::dimension_of(axis, shape, fits ? "" : function_of(gathering, leaf).c_str()));
  }
  return along;
}

[[noreturn]] void reject(const std::string& function, const ReplicaShape& left, const ReplicaShape& right) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: the tensors of replica {}, of shape {}, and of replica {}, of shape {}, do not go "
                          "together: only the dimension that is gathered along may differ",
                          function, left.replica, to_string(left.shape), right.replica, to_string(right.shape)));
}

Offer offer_of(const ReplicaTensors& components, std::size_t axis) {
  const TensorRef& first = components.front();
  Offer offer{.type = first.type, .order = first.order, .dimensions = first.shape.size()};
  std::ranges::copy(first.shape, offer.shape.begin());
  for (const TensorRef& component : components) {
    offer.length += component.shape[axis];
    if (offer.other != 0 || go_together(first.shape, component.shape, axis)) continue;
    offer.other = static_cast<std::size_t>(&component - components.data());
    std::ranges::copy(component.shape, offer.other_shape.begin());
  }
  return offer;
}

/// A tensor seen as rows of blocks that lie side by side: what is gathered is put together row by row.
struct Rows {
  std::size_t rows = 1;
  std::size_t element_bytes = 1;  // of one step along the axis

  Rows(const TensorRef& tensor, const Shape& shape, std::size_t axis) : element_bytes(size_of(tensor.type)) {
    const bool row_major = tensor.order == StorageOrder::row_major;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i != axis) ((i < axis) == row_major ? rows : element_bytes) *= shape[i];
    }
  }
};

/// Puts blocks together: in each row `lengths[b]` steps of block b.
void put_together(const Rows& layout, std::span<const std::byte* const> blocks, std::span<const std::size_t> lengths,
                  std::byte* out) {
  for (std::size_t row = 0; row < layout.rows; ++row) {
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const std::size_t bytes = lengths[block] * layout.element_bytes;
      if (bytes != 0) std::memcpy(out, blocks[block] + row * bytes, bytes);
      out += bytes;
    }
  }
}

std::vector<Offer> offers_of(const detail::Gathering& gathering, std::span<const std::size_t> along) {
  std::vector<Offer> offers;
  for (std::size_t leaf = 0; leaf < along.size(); ++leaf) {
    offers.push_back(offer_of(gathering.parts[leaf].components, along[leaf]));
  }
  return offers;
}

/// What all workers offer of each leaf: those of worker 0, then those of worker 1, ....
class Offers {
 public:
  Offers(const Communicator* workers, std::vector<Offer> mine, const CollectiveOptions& options)
      : leaves_(mine.size()), all_(std::move(mine)) {
    if (workers == nullptr || leaves_ == 0) return;
    const std::vector<Offer> own = std::move(all_);
    all_.resize(leaves_ * static_cast<std::size_t>(workers->size()));
    allgather(*workers, std::span(own), std::span(all_), options);
  }
  [[nodiscard]] std::vector<Offer> of(std::size_t leaf) const {
    std::vector<Offer> offers;
    for (std::size_t i = leaf; i < all_.size(); i += leaves_) offers.push_back(all_[i]);
    return offers;
  }

 private:
  std::size_t leaves_;
  std::vector<Offer> all_;
};

/// What all workers have agreed to gather of one leaf.
struct Agreed {
  std::size_t along = 0;
  Shape whole = {};
  std::vector<Offer> offers = {};
};

/// To be told from those of `other`.
std::string elements_of(const Offer& offer, const Offer& other) {
  if (offer.type != other.type) return fmt::format("{} elements", name(offer.type));
  return fmt::format("{} tensors", offer.order == StorageOrder::row_major ? "row-major" : "column-major");
}

/// Throws   Error{mismatch} where the elements differ: the same on all workers.
void check_elements(const std::vector<Offer>& offers, const std::string& function) {
  const Offer& first = offers.front();
  for (std::size_t worker = 1; worker < offers.size(); ++worker) {
    const Offer& other = offers[worker];
    const bool same_order = other.order == first.order || first.dimensions < 2;
    if (other.type == first.type && same_order) continue;
    throw Error(ErrorCode::mismatch,
                fmt::format("{}: worker 0 gives {}, worker {} {}: give tensors of one type on every worker", function,
                            elements_of(first, other), worker, elements_of(other, first)));
  }
}

/// Throws   Error{invalid_argument} where the shapes do not go together: the same on all workers.
Shape joined_shape(const std::vector<Offer>& offers, std::size_t along, std::size_t replicas_of_each,
                   const std::string& function) {
  Shape whole = offers.front().of_first();
  std::size_t length = 0;
  for (std::size_t worker = 0; worker < offers.size(); ++worker) {
    const Offer& offer = offers[worker];
    const ReplicaShape first{worker * replicas_of_each, offer.of_first()};
    if (!go_together(whole, first.shape, along)) reject(function, {0, whole}, first);
    if (offer.other != 0) reject(function, first, {first.replica + offer.other, offer.of_other()});
    length += offer.length;
  }
  whole[along] = length;
  return whole;
}

std::vector<Agreed> agreed_on(const detail::Gathering& gathering, std::span<const std::size_t> along,
                              const Offers& offers) {
  std::vector<Agreed> agreed;
  for (std::size_t leaf = 0; leaf < along.size(); ++leaf) {
    std::vector<Offer> all = offers.of(leaf);
    const std::size_t replicas_of_each = gathering.parts[leaf].components.size();
    check_elements(all, function_of(gathering, leaf));
    Shape whole = joined_shape(all, along[leaf], replicas_of_each, function_of(gathering, leaf));
    agreed.push_back({along[leaf], std::move(whole), std::move(all)});
  }
  return agreed;
}

void gather_offered(const ReplicaGroup& group, const ReplicaTensors& components, const Agreed& agreed,
                    const TensorRef& gathered, const CollectiveOptions& options) {
  const Rows layout(components.front(), agreed.whole, agreed.along);
  std::vector<const std::byte*> blocks;
  std::vector<std::size_t> lengths;
  for (const TensorRef& component : components) {
    blocks.push_back(component.data);
    lengths.push_back(component.shape[agreed.along]);
  }
  if (group.workers() == nullptr) return put_together(layout, blocks, lengths, gathered.data);

  const std::size_t step = layout.rows * layout.element_bytes;
  const std::size_t mine = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  std::vector<std::byte> own(mine * step);
  put_together(layout, blocks, lengths, own.data());
  std::vector<std::size_t> counts;
  for (const Offer& offer : agreed.offers) counts.push_back(offer.length * step);
  std::vector<std::byte> all(agreed.whole[agreed.along] * step);
  allgatherv(*group.workers(), own, all, counts, options);
  if (std::ranges::count(counts, 0U) > 0) wait_for_workers(group, options.timeout);  // of those nothing is awaited
  blocks.clear();
  lengths.clear();
  std::size_t begin = 0;
  for (std::size_t worker = 0; worker < agreed.offers.size(); ++worker) {
    blocks.push_back(all.data() + begin);
    lengths.push_back(agreed.offers[worker].length);
    begin += counts[worker];
  }
  put_together(layout, blocks, lengths, gathered.data);
}

}  // namespace

void Strategy::reject_gathering_slices(const char* function) {
  throw Error(ErrorCode::not_supported,
              fmt::format("{}: IndexedSlices are not gathered: gather to_dense(slices), their values or their indices, "
                          "or reduce the slices",
                          function));
}

void Strategy::gather_parts(const detail::Gathering& gathering, int axis, const CommunicationOptions& of_call) {
  ReplicaGroup& group = extended_->group();
  group.together([&] {
    const CollectiveOptions options{.timeout = extended_->options_of_call(of_call).timeout};
    for (const auto& part : gathering.parts) extended_->check_components(part.components.size(), gathering.function);
    const std::vector<std::size_t> along = dimensions_of(gathering, axis);
    StrategyCall call{.function = StrategyFunction::gather};
    for (const std::size_t each : along) call.dimensions |= detail::dimension_bit(each);
    group.announce(call);
    if (gathering.structure != 0 && group.workers() != nullptr) {
      const auto other = detail::worker_with_other_structure(*group.workers(), gathering.structure, options.timeout);
      if (other) group.alike([&] { detail::reject_structure_of_worker(*other, gathering.function); });
    }
    const Offers offers(group.workers(), offers_of(gathering, along), options);
    const std::vector<Agreed> agreed = group.alike([&] { return agreed_on(gathering, along, offers); });
    for (std::size_t leaf = 0; leaf < agreed.size(); ++leaf) {
      const auto& [components, make] = gathering.parts[leaf];
      gather_offered(group, components, agreed[leaf], make(agreed[leaf].whole), options);
    }
  });
}

}  // namespace chorus
