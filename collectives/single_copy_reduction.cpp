// SPDX-License-Identifier: Apache-2.0
#include "single_copy_reduction.hpp"

#include "base/machine.hpp"
#include "link_model.hpp"
#include "pieces.hpp"
#include "reduction.hpp"
#include "single_copy.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <cstring>
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

/// How much of a piece is reduced at a time: what is read of all ranks stays in a core's own caches.
std::size_t segment_of(const Call& call, int ranks) {
  const std::size_t most = machine::beyond_caches / static_cast<std::size_t>(ranks);
  return std::max(call.whole_bytes(std::min(machine::longest_segment_of_parts, most)), call.element_bytes());
}

struct Piece {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

/// The pieces of a call's vector.
class Shares {
 public:
  Shares(const Call& call, int ranks, const LinkModel& links)
      : bytes_(call.bytes()), last_(goes_to_all(call) ? ranks - 1 : call.root) {
    constexpr std::size_t line = 64;
    const std::size_t element = call.element_bytes(), unit = line % element == 0 ? line : element;
    each_ = static_cast<std::size_t>(share(call, ranks, links) * static_cast<double>(bytes_)) / unit * unit;
    others_ = static_cast<std::size_t>(ranks - 1);
  }
  /// That of the root of a reduce, or else of the last rank, is what the others leave.
  [[nodiscard]] Piece of(int rank) const {
    if (rank == last_) return {others_ * each_, bytes_ - others_ * each_};
    return {static_cast<std::size_t>(rank < last_ ? rank : rank - 1) * each_, each_};
  }

 private:
  std::size_t bytes_;
  int last_;
  std::size_t each_ = 0;
  std::size_t others_ = 0;
};

/// What a rank shows when it arrives.
struct Vectors {
  const std::byte* in = nullptr;
  const std::byte* out = nullptr;  ///< null where it gets no result
};
/// And at the end.
struct Progress {
  std::size_t reduced = 0;  ///< bytes of its piece whose results this rank has, and has written as far as it could
  bool written = true;      ///< to all who are to have them
};

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : transport_(transport),
        memory_(*transport.shared()),
        arguments_(arguments),
        reduction_(arguments),
        shares_(arguments.call, memory_.size(), or_built_in(arguments.links)),
        others_(memory_.size() - 1) {}

  [[nodiscard]] Vectors vectors() const {
    return {arguments_.in, gets_result(memory_.rank()) ? arguments_.out : nullptr};
  }

  /// This rank's piece, of what all show in `round`.
  [[nodiscard]] Progress reduce_own(Round round) const {
    const Piece piece = shares_.of(memory_.rank());
    const std::size_t each = std::min(segment_of(arguments_.call, memory_.size()), piece.bytes);
    // What is read of the others, and the result where this rank does not keep it.
    const Scratch scratch = transport_.scratch((static_cast<std::size_t>(others_) + 1) * each);
    Progress progress;
    while (progress.reduced < piece.bytes) {
      const std::size_t begin = piece.begin + progress.reduced, bytes = std::min(each, piece.bytes - progress.reduced);
      const std::span<const std::byte* const> inputs = read(round, begin, bytes, scratch.data());
      if (inputs.empty()) break;
      std::byte* const result = vectors().out != nullptr ? arguments_.out + begin : scratch.data();
      reduction_.all(result, inputs, bytes);
      progress.written = progress.written && write(round, begin, {result, bytes});
      // What the root of a reduce cannot be given is lost with the next one; its input still stands.
      if (!progress.written && vectors().out == nullptr) break;
      progress.reduced += bytes;
    }
    return progress;
  }

  [[nodiscard]] bool is_done(int rank, const Progress& progress) const {
    return progress.written && progress.reduced == shares_.of(rank).bytes;
  }
  /// What one rank could not do; all run it.
  Task<> make_up_for(int rank, Progress progress, const Algorithm& other) const {
    const Piece piece = shares_.of(rank);
    if (!progress.written && goes_to_all(arguments_.call)) {
      Arguments known = part({piece.begin, progress.reduced});
      known.call.collective = Collective::bcast;
      known.call.root = rank;
      known.in = known.out;
      co_await bcast_shared::algorithm.run(transport_, known);
    }
    if (progress.reduced < piece.bytes) {
      co_await other.run(transport_, part({piece.begin + progress.reduced, piece.bytes - progress.reduced}));
    }
  }

 private:
  [[nodiscard]] std::size_t element() const { return arguments_.call.element_bytes(); }
  [[nodiscard]] bool gets_result(int rank) const {
    return goes_to_all(arguments_.call) || rank == arguments_.call.root;
  }
  [[nodiscard]] Vectors shown(Round round, int peer) const {
    Vectors vectors;
    std::memcpy(&vectors, memory_.payload(round, peer), sizeof vectors);
    return vectors;
  }

  /// Where what all ranks have at `begin` is found here, in their order; what has to be copied goes behind `place`.
  /// None where it could not be.
  [[nodiscard]] std::span<const std::byte* const> read(Round round, std::size_t begin, std::size_t bytes,
                                                       std::byte* place) const {
    const std::span<const std::byte*> inputs = memory_.places(memory_.size());
    inputs[static_cast<std::size_t>(memory_.rank())] = arguments_.in + begin;
    for (int step = 1; step <= others_; ++step) {
      const int peer = (memory_.rank() + step) % memory_.size();
      const std::byte* const there = shown(round, peer).in + begin;
      const std::byte* here = memory_.find(peer, there, bytes);
      if (here == nullptr) {
        place += bytes;
        if (!memory_.read(peer, place, there, bytes)) return {};
        here = place;
      }
      inputs[static_cast<std::size_t>(peer)] = here;
    }
    return inputs;
  }
  /// Gives the others their result at `begin`.
  [[nodiscard]] bool write(Round round, std::size_t begin, ConstBytes result) const {
    bool all = true;
    for (int step = 1; step <= others_; ++step) {
      const int peer = (memory_.rank() + step) % memory_.size();
      if (gets_result(peer)) all &= memory_.write(peer, shown(round, peer).out + begin, result);
    }
    return all;
  }
  /// The same call for a part of the vector.
  [[nodiscard]] Arguments part(const Piece& piece) const {
    Arguments arguments = arguments_;
    arguments.call.count = piece.bytes / element();
    arguments.in += piece.begin;
    if (arguments.out != nullptr) arguments.out += piece.begin;
    return arguments;
  }

  Transport& transport_;
  SharedGroup& memory_;
  const Arguments& arguments_;
  Reduction reduction_;
  Shares shares_;
  int others_;
};

}  // namespace

bool reduces_by_single_copy(const Problem& problem, const Algorithm& other) {
  return problem.single_copy && problem.ranks > 1 && other.applies(problem);
}

Traffic traffic_of_single_copy_reduction(const Problem& problem) {
  const Call& call = problem.call;
  const double others = problem.ranks - 1;
  const double piece = share(call, problem.ranks, links_of(problem)) * static_cast<double>(call.bytes());
  const double segments = std::max(1.0, piece / static_cast<double>(segment_of(call, problem.ranks)));
  const double writers = goes_to_all(call) ? others : 1;
  Traffic traffic{.shared = {.messages = 2},
                  .messages = {},
                  .read = {.messages = (others + writers) * segments,
                           .bytes = (others + writers) * piece,
                           .reduced = others * piece},
                  .far = far_by_all(problem, others * piece)};
  take_turns(traffic, turns_at_all(problem));
  return traffic;
}

Task<> reduce_by_single_copy(Transport& transport, Arguments arguments, const Algorithm& other) {
  SharedGroup& memory = *transport.shared();
  const Steps steps(transport, arguments);
  const Round showing = co_await memory.open(line_slots);
  const Vectors vectors = steps.vectors();
  std::memcpy(memory.payload(showing), &vectors, sizeof vectors);
  memory.arrive(showing);
  co_await memory.arrivals(showing);
  const Progress own = steps.reduce_own(showing);
  const Round done = co_await memory.open(line_slots);
  std::memcpy(memory.payload(done), &own, sizeof own);
  memory.arrive(done);
  co_await memory.arrivals(done);
  memory.check_others();  // who has arrived may have given up since, before this rank read its data
  for (int rank = 0; rank < memory.size(); ++rank) {
    Progress theirs;
    std::memcpy(&theirs, memory.payload(done, rank), sizeof theirs);
    if (!steps.is_done(rank, theirs)) co_await steps.make_up_for(rank, theirs, other);
  }
}

}  // namespace chorus
