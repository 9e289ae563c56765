// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgather.hpp>
#include <chorus/allgatherv.hpp>
#include <chorus/barrier.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/extended.hpp>
#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace chorus {
namespace {

constexpr std::size_t most_dimensions = 16;

/// What the workers tell each other before they gather: the shape of what each has, `axis` summed over its replicas, or
/// two shapes of its replicas that do not go together.
struct Offer {
  bool fits = true;
  std::size_t dimensions = 0;
  std::array<std::size_t, most_dimensions> shape{};
  std::array<std::size_t, most_dimensions> other{};

  [[nodiscard]] Shape lengths() const {
    return {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dimensions)};
  }
};

bool go_together(const Shape& left, const Shape& right, std::size_t axis) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (i != axis && left[i] != right[i]) return false;
  }
  return true;
}

void check_dimensions(const Shape& shape) {
  if (shape.size() <= most_dimensions) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Strategy::gather: tensors of {} dimensions: at most {} are gathered; join some first",
                          shape.size(), most_dimensions));
}

[[noreturn]] void reject(const Shape& left, const Shape& right) {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("Strategy::gather: tensors of shapes {} and {} do not go together: only the dimension that is "
                  "gathered along may differ",
                  to_string(left), to_string(right)));
}

Offer offer_of(const ReplicaTensors& components, std::size_t axis) {
  Offer offer{.dimensions = components.front().shape.size()};
  std::ranges::copy(components.front().shape, offer.shape.begin());
  offer.shape[axis] = 0;
  for (const TensorRef& component : components) {
    offer.shape[axis] += component.shape[axis];
    if (!offer.fits || go_together(components.front().shape, component.shape, axis)) continue;
    offer.fits = false;
    std::ranges::copy(component.shape, offer.other.begin());
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

std::vector<Offer> offers_of_all(const Communicator* workers, const Offer& mine, const CollectiveOptions& options) {
  if (workers == nullptr) return {mine};
  std::vector<Offer> offers(static_cast<std::size_t>(workers->size()));
  allgather(*workers, std::span(&mine, 1), offers, options);
  return offers;
}

/// The shape of all that is offered, put together along `axis`.
Shape joined_shape(const std::vector<Offer>& offers, std::size_t axis) {
  Shape whole = offers.front().lengths();
  whole[axis] = 0;
  for (const Offer& offer : offers) {
    if (!offer.fits) reject(offer.lengths(), {offer.other.begin(), offer.other.begin() + offer.dimensions});
    if (!go_together(whole, offer.lengths(), axis)) reject(offers.front().lengths(), offer.lengths());
    whole[axis] += offer.shape[axis];
  }
  return whole;
}

/// What all workers have agreed to gather.
struct Agreed {
  std::size_t along;
  const Shape& whole;
  const std::vector<Offer>& offers;
  const CollectiveOptions& options;
};

void gather_offered(const ReplicaGroup& group, const ReplicaTensors& components, const Agreed& agreed,
                    const TensorRef& gathered) {
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
  for (const Offer& offer : agreed.offers) counts.push_back(offer.shape[agreed.along] * step);
  std::vector<std::byte> all(agreed.whole[agreed.along] * step);
  allgatherv(*group.workers(), own, all, counts, agreed.options);
  if (std::ranges::count(counts, 0U) > 0) barrier(*group.workers(), agreed.options);  // of those nothing is awaited
  blocks.clear();
  lengths.clear();
  std::size_t begin = 0;
  for (std::size_t worker = 0; worker < agreed.offers.size(); ++worker) {
    blocks.push_back(all.data() + begin);
    lengths.push_back(agreed.offers[worker].shape[agreed.along]);
    begin += counts[worker];
  }
  put_together(layout, blocks, lengths, gathered.data);
}

}  // namespace

void Strategy::reject_gathering_slices() const {
  check_cross_replica("Strategy::gather", "ReplicaContext::all_gather");
  throw Error(ErrorCode::not_supported,
              "Strategy::gather: IndexedSlices are not gathered: gather to_dense(slices), their values or their "
              "indices, or reduce the slices");
}

void Strategy::gather_components(const ReplicaTensors& components, int axis,
                                 const std::function<TensorRef(const Shape&)>& make) {
  ReplicaGroup& group = extended_->group();
  const TensorRef& first = components.front();
  const CollectiveOptions options{.timeout = extended_->communication_options().timeout};
  group.together([&] {
    extended_->check_components(components.size(), "Strategy::gather");
    check_dimensions(first.shape);
    const std::size_t along = detail::dimension_of(axis, first.shape, "Strategy::gather");
    group.announce({.function = StrategyFunction::gather, .dimensions = detail::dimension_bit(along)});
    const std::vector<Offer> offers = offers_of_all(group.workers(), offer_of(components, along), options);
    const Shape whole = group.alike([&] { return joined_shape(offers, along); });
    gather_offered(group, components, {along, whole, offers, options}, make(whole));
  });
}

}  // namespace chorus
