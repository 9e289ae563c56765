// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/detail/checkpoint_items.hpp>
#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/variable.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// A variable whose components are to be equal.
struct MirroredComponents {
  Strategy* strategy;
  std::string name;
  std::vector<TensorRef> components;
};

/// Adds the variables of `part` to `all`, without those that are synchronised on read.
template <class T>
void add_mirrored(std::vector<MirroredComponents>& all, T& part) {
  using Plain = std::remove_const_t<T>;
  if constexpr (is_variable<Plain>) {
    if (part.synchronization() == VariableSynchronization::on_read) return;
    MirroredComponents mirrored{&part.strategy(), part.name(), {}};
    for (auto& component : part.components()) mirrored.components.push_back(tensor_ref(component));
    all.push_back(std::move(mirrored));
  } else if constexpr (PartsVisitable<T>) {
    part.for_each_saved([&](std::string_view /*name*/, auto& each) {
      if constexpr (!Leaf<std::remove_cvref_t<decltype(each)>>) add_mirrored(all, each);
    });
  } else if constexpr (is_tuple<Plain>) {
    std::apply([&](auto&... elements) { (add_mirrored(all, elements), ...); }, part);
  } else if constexpr (is_sequence<Plain>) {
    for (auto& element : part) add_mirrored(all, element);
  } else {
    static_assert(is_map<Plain>,
                  "variables, tuples, vectors and maps of them, and what has for_each_saved(visit) are checked");
    for (auto& [key, element] : part) add_mirrored(all, element);
  }
}

CHORUS_API void check_in_sync(const std::vector<MirroredComponents>& variables);

}  // namespace detail

/// Compares the checksums of the components that each variable has on all replicas of all workers, and returns where
/// they are equal. `parts` are Variables, tuples, vectors and maps of them, and what names its variables by
/// for_each_saved, such as optimizers: check_in_sync(weights, bias, optimizer). What is synchronised on read differs on
/// purpose and is passed over.
///
/// Shapes   the same variables in the same order on every worker.
/// Units    each worker sends 24 bytes; where something differs 4 for each component more.
/// Order    called by all workers outside of the replicas, or by every replica's merge_call.
/// Throws   Error{mismatch} on every worker, which names the variables, and the replicas that have not what most have,
///          or the workers that check others; Error{wrong_context} in a replica; Error{invalid_argument} where the
///          variables belong to several strategies; what the collectives throw.
template <class... Parts>
void check_in_sync(Parts&&... parts) {
  std::vector<detail::MirroredComponents> variables;
  (detail::add_mirrored(variables, parts), ...);
  detail::check_in_sync(variables);
}

}  // namespace chorus
