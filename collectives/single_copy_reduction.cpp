// SPDX-License-Identifier: Apache-2.0
#include "single_copy_reduction.hpp"

#include "link_model.hpp"
#include "reduction.hpp"
#include "single_copy.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace chorus {

namespace bcast_shared {
extern const Algorithm algorithm;
}

namespace {

bool goes_to_all(const Call& call) { return call.collective == Collective::allreduce; }

/// The part of the vector that each rank but the root of a reduce reduces, so that all take as long: the root writes
/// nothing.
double share(const Call& call, int ranks, const LinkModel& links) {
  if (goes_to_all(call)) return 1.0 / ranks;
  const double others = ranks - 1;
  const double reading = others * (1 / links.read.megabytes_per_second + 1 / links.reduce_megabytes_per_second);
  return 1 / (others + 1 + 1 / links.read.megabytes_per_second / reading);
}

struct Piece {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

/// Of the vector, each rank has a piece of this length, whole lines, but for one, which has the rest: the root of a
/// reduce, else the last rank.
std::size_t piece_of_others(const Call& call, int ranks, const LinkModel& links) {
  constexpr std::size_t line = 64;
  const std::size_t element = call.element_bytes(), unit = line % element == 0 ? line : element;
  return static_cast<std::size_t>(share(call, ranks, links) * static_cast<double>(call.bytes())) / unit * unit;
}

/// What a rank shows at the end.
struct Progress {
  std::size_t reduced = 0;    ///< bytes of its piece, from its beginning, of which it has had the result
  std::size_t unwritten = 0;  ///< of these, at the end: it has the result still, and could not write it everywhere
};

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : transport_(transport),
        memory_(*transport.shared()),
        arguments_(arguments),
        reduction_(arguments),
        last_(goes_to_all(arguments.call) ? memory_.size() - 1 : arguments.call.root),
        keeps_result_(gets_result(memory_.rank())) {}

  /// Shown::part: how long the pieces are; all go by that of the rank whose piece is the rest.
  [[nodiscard]] Shown shown() const {
    return {arguments_.in, keeps_result_ ? arguments_.out : nullptr,
            piece_of_others(arguments_.call, memory_.size(), or_built_in(arguments_.links))};
  }

  /// This rank's piece, of what all show in `round`.
  [[nodiscard]] Progress reduce_own(Round round) {
    piece_of_others_ = shown_by(memory_, round, last_).part;
    const Piece piece = piece_of(memory_.rank());
    const std::size_t each = std::min(reduced_at_once(arguments_.call, memory_.size()), piece.bytes);
    // The result, where this rank does not keep it, and what is read of the others.
    scratch_.emplace(transport_.scratch(static_cast<std::size_t>(memory_.size()) * each));
    Progress progress;
    while (progress.reduced < piece.bytes) {
      const std::size_t begin = piece.begin + progress.reduced, bytes = std::min(each, piece.bytes - progress.reduced);
      const std::span<const std::byte* const> inputs = read(round, begin, bytes);
      if (inputs.empty()) break;
      std::byte* const result = keeps_result_ ? arguments_.out + begin : scratch_->data();
      reduction_.all(result, inputs, bytes);
      progress.reduced += bytes;
      const bool written = write(round, begin, {result, bytes});
      if (keeps_result_ && (!written || progress.unwritten > 0)) progress.unwritten = progress.reduced;
      if (keeps_result_ || written) continue;
      progress.unwritten = bytes;  // it may be half there, where an input was
      break;
    }
    return progress;
  }

  [[nodiscard]] bool is_done(int rank, const Progress& progress) const {
    return progress.unwritten == 0 && progress.reduced == piece_of(rank).bytes;
  }
  /// What one rank could not do; all run it.
  Task<> make_up_for(int rank, Progress progress, const Algorithm& other) const {
    const Piece piece = piece_of(rank);
    if (progress.unwritten > 0) {
      const Piece unwritten{piece.begin + progress.reduced - progress.unwritten, progress.unwritten};
      const Scratch elsewhere = transport_.scratch(keeps_result_ || rank == memory_.rank() ? 0 : unwritten.bytes);
      std::byte* const here = rank == memory_.rank() ? scratch_->data() : elsewhere.data();
      Arguments known = part(unwritten);
      known.call.collective = Collective::bcast;
      known.call.root = rank;
      if (!keeps_result_) known.out = here;
      known.in = known.out;
      co_await bcast_shared::algorithm.run(transport_, known);
    }
    if (progress.reduced < piece.bytes) {
      co_await other.run(transport_, part({piece.begin + progress.reduced, piece.bytes - progress.reduced}));
    }
  }

 private:
  [[nodiscard]] Piece piece_of(int rank) const {
    const std::size_t of_others = static_cast<std::size_t>(memory_.size() - 1) * piece_of_others_;
    if (rank == last_) return {of_others, arguments_.call.bytes() - of_others};
    return {static_cast<std::size_t>(rank < last_ ? rank : rank - 1) * piece_of_others_, piece_of_others_};
  }
  [[nodiscard]] bool gets_result(int rank) const {
    return goes_to_all(arguments_.call) || rank == arguments_.call.root;
  }

  [[nodiscard]] std::span<const std::byte* const> read(Round round, std::size_t begin, std::size_t bytes) const {
    return inputs_of_all(
        memory_, arguments_.in + begin, [&](int peer) { return shown_by(memory_, round, peer).in + begin; }, bytes,
        scratch_->data() + bytes);
  }
  /// Gives the others their result at `begin`.
  [[nodiscard]] bool write(Round round, std::size_t begin, ConstBytes result) const {
    bool all = true;
    for_others(memory_, [&](int peer) {
      if (gets_result(peer)) all &= memory_.write(peer, shown_by(memory_, round, peer).out + begin, result);
    });
    return all;
  }
  /// The same call for a part of the vector.
  [[nodiscard]] Arguments part(const Piece& piece) const {
    Arguments arguments = arguments_;
    arguments.call.count = piece.bytes / arguments_.call.element_bytes();
    arguments.in += piece.begin;
    if (arguments.out != nullptr) arguments.out += piece.begin;
    return arguments;
  }

  Transport& transport_;
  SharedGroup& memory_;
  const Arguments& arguments_;
  Reduction reduction_;
  int last_;
  bool keeps_result_;
  std::size_t piece_of_others_ = 0;
  std::optional<Scratch> scratch_;
};

}  // namespace

Traffic traffic_of_single_copy_reduction(const Problem& problem) {
  const Call& call = problem.call;
  const double others = problem.ranks - 1;
  const double piece = share(call, problem.ranks, links_of(problem)) * static_cast<double>(call.bytes());
  const double segments = std::max(1.0, piece / static_cast<double>(reduced_at_once(call, problem.ranks)));
  const double writers = goes_to_all(call) ? others : 1;
  const double far = far_by_all(problem, others * piece);
  Traffic traffic{.shared = {.messages = 2},
                  .messages = {},
                  .read = {.messages = (others + writers) * segments,
                           .bytes = (others + writers) * piece,
                           .reduced = others * piece},
                  .far = far + (goes_to_all(call) ? far : far_by_one(problem, others * piece))};
  take_turns(traffic, turns_at_all(problem));
  return traffic;
}

Task<> reduce_by_single_copy(Transport& transport, Arguments arguments, const Algorithm& other) {
  SharedGroup& memory = *transport.shared();
  const auto ranks = static_cast<std::size_t>(memory.size());
  const Scratch progress = transport.scratch(ranks * sizeof(Progress));
  Steps steps(transport, arguments);
  const Round showing = co_await memory.open(line_slots);
  show(memory, showing, steps.shown());
  memory.arrive(showing);
  co_await memory.arrivals(showing);
  const Progress own = steps.reduce_own(showing);
  const Round done = co_await memory.open(line_slots);
  std::memcpy(memory.payload(done), &own, sizeof own);
  memory.arrive(done);
  co_await memory.arrivals(done);
  memory.check_others();  // who has arrived may have given up since, before this rank read its data
  // Of all, before rounds come that write into these lines again.
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::memcpy(progress.data() + rank * sizeof own, memory.payload(done, static_cast<int>(rank)), sizeof own);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Progress theirs;
    std::memcpy(&theirs, progress.data() + rank * sizeof theirs, sizeof theirs);
    if (steps.is_done(static_cast<int>(rank), theirs)) continue;
    co_await steps.make_up_for(static_cast<int>(rank), theirs, other);
  }
}

}  // namespace chorus
