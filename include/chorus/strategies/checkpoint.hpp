// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/detail/checkpoint_items.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Something that a checkpoint keeps, and its name there: a Variable, an optimizer, a metric, a value of the program's
/// own (a Leaf, such as the number of the epoch), or a tuple, vector or map of these, whose parts are "name/0",
/// "name/1", ... What else has a member template
///
///     template <class Visit>
///     void for_each_saved(Visit&& visit) { visit("weights", weights_); visit("epoch", epoch_); }
///
/// is kept part by part, as "name/weights" and "name/epoch". Variables are shared, as their copies are; values of the
/// program's own are referred to and have to outlive the checkpoint, where they are: in a container that does not
/// change.
class CheckpointEntry {
 public:
  template <class T>
  CheckpointEntry(const std::string& name, T& part) {
    detail::add_checkpoint_items(items_, name, part);
  }
  template <Leaf T>
  CheckpointEntry(const std::string& name, const Variable<T>& variable) {
    detail::add_checkpoint_items(items_, name, variable);
  }
  /// Under its own name.
  template <Leaf T>
  CheckpointEntry(const Variable<T>& variable)  // NOLINT(google-explicit-constructor): it stands for its entry
      : CheckpointEntry(variable.name(), variable) {}

  [[nodiscard]] const detail::CheckpointItems& items() const noexcept { return items_; }

 private:
  detail::CheckpointItems items_;
};

struct RestoreOptions {
  bool partial = false;  ///< true: what only the program or only the checkpoint has is left as it is
};

/// Saves variables and other values in a folder, and restores them, also under another strategy or with another number
/// of workers and replicas.
///
///     chorus::Checkpoint checkpoint{weights, {"optimizer", optimizer}, {"epoch", epoch}};
///     checkpoint.save("after-training");
///
/// A variable has one value there: of one that is synchronised on read what its aggregation makes of the components.
/// What the folder holds is in docs/strategies.md.
///
/// Memory   the strategy outlives the checkpoint.
/// Order    made alike by all workers: the same names in the same order; save and restore are called by all of them,
///          not in a replica, inside or outside of the strategy's scope.
class CHORUS_API Checkpoint {
 public:
  /// Throws   Error{invalid_argument} where there are no entries, a name is empty or comes twice, the variables belong
  ///          to several strategies, or one is synchronised on read without an aggregation.
  Checkpoint(std::initializer_list<CheckpointEntry> entries);
  explicit Checkpoint(const std::vector<CheckpointEntry>& entries);

  /// Worker 0 writes everything to `folder`, which it makes: in full, or not at all, whatever happens meanwhile. Values
  /// of the program's own are those of worker 0. `step`, 0 or more, is kept with them.
  ///
  /// Order    called by all workers with the same step; when it returns, the files are on the disk.
  /// Throws   on all workers Error{invalid_argument} where the folder is there already or cannot be written, there is
  ///          no room for it, or `step` is negative: nothing is left behind then, and the workers work on;
  ///          Error{mismatch} where they save different things; Error{wrong_context} in a replica; what the
  ///          collectives throw.
  void save(const std::string& folder, std::int64_t step = 0) const;

  /// Gives every worker and replica what worker 0 reads in `folder`; returns the step. What replicas hold of a sum that
  /// is synchronised on read is an equal part of it: of integers as equal as can be.
  ///
  /// Order    called by all workers.
  /// Throws   on all workers Error{invalid_argument} where there is no checkpoint in the folder, a file is damaged or
  ///          of another version, or names, types or shapes are not those of the program: the text names all of them,
  ///          and nothing has been changed; Error{mismatch} where workers restore different things;
  ///          Error{wrong_context} in a replica; what the collectives throw.
  std::int64_t restore(const std::string& folder, const RestoreOptions& options = {}) const;

  /// The strategy of the variables; where there are none the one in whose context it was made.
  [[nodiscard]] Strategy& strategy() const noexcept { return *strategy_; }

 private:
  detail::CheckpointItems items_;
  Strategy* strategy_;
};

}  // namespace chorus
