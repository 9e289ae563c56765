// SPDX-License-Identifier: Apache-2.0
//
// Rabenseifner's allreduce: reduce-scatter by halving the vector, then allgather by the same steps backwards.
//
// In each step two ranks share out the piece they both hold: each sends the other one half and reduces the half it
// keeps. The first partner is the nearest, as the first message is the longest. With p = 4 and blocks 0..3:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0123      0123      0123      0123
//   step 1   01        23        01        23        0 with 1, 2 with 3: half of the vector each way
//   step 2   0         2         1         3         0 with 2, 1 with 3: a quarter; each block is now finished
//   step 3   01        23        01        23        0 with 2, 1 with 3: backwards, the finished blocks are gathered
//   step 4   0123      0123      0123      0123      0 with 1, 2 with 3
//
// Best for long vectors where p is a power of two: least bytes in 2 log2(p) messages. Otherwise (Fold) ranks 1, 3, ...
// first give their vectors to their left neighbours and get the result from them, which doubles the bytes: there
// `circulant` and `ring` are better for long vectors.

#include "algorithm.hpp"
#include "blocks.hpp"
#include "fold.hpp"
#include "reduction.hpp"

#include <bit>

namespace chorus::allreduce_rabenseifner {
namespace {

/// Blocks first, first + 1, ... last - 1.
struct Piece {
  int first;
  int last;
};

/// What the rank at `place` holds after so many steps: bit k of the place chooses the half that it keeps in step k.
Piece piece_of(int place, int steps, int core) {
  Piece piece{0, core};
  for (int step = 0; step < steps; ++step) {
    const int middle = (piece.first + piece.last) / 2;
    if (((place >> step) & 1) == 0) {
      piece.last = middle;
    } else {
      piece.first = middle;
    }
  }
  return piece;
}

int steps_of(int core) { return std::countr_zero(static_cast<unsigned>(core)); }

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const int core = Fold::core_of(problem.ranks);
  const int steps = steps_of(core);
  const bool folds = core < problem.ranks;
  const Blocks blocks(problem.call, core);
  const std::size_t all = problem.call.bytes();
  const std::size_t folded = folds ? all : 0;
  // Place 0 keeps the longest pieces, and has a partner to fold if any has. It sends all but its own block on the way
  // out, and on the way back what it kept.
  std::size_t kept = 0;
  for (int step = 1; step <= steps; ++step) kept += blocks.span_bytes(0, piece_of(0, step, core).last);
  return {.shared = {},
          .messages = {.messages = 2.0 * steps + (folds ? 2 : 0),
                       .bytes = static_cast<double>(folded + all - blocks.bytes(0) + kept),
                       .reduced = static_cast<double>(folded + kept)}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Fold fold(transport.rank(), transport.size());
  const int core = fold.core();
  const Blocks blocks(arguments.call, core);
  const Bytes data(arguments.out, arguments.call.bytes());
  const Scratch scratch = transport.scratch(data.size());
  const Bytes incoming = scratch.bytes();
  const auto bytes_of_piece = [&](int place, int steps) {
    const Piece piece = piece_of(place, steps, core);
    return data.subspan(blocks.offset(piece.first), blocks.span_bytes(piece.first, piece.last));
  };

  copy_unless_same(arguments.out, arguments.in, data.size());
  co_await fold_in(transport, fold, reduction, data, incoming);
  const int steps = fold.sits_out() ? 0 : steps_of(core);
  for (int step = 0; step < steps; ++step) {
    const int peer_place = fold.place() ^ (1 << step);
    const int peer = fold.rank_at(peer_place);
    const Bytes kept = bytes_of_piece(fold.place(), step + 1);
    const Bytes theirs = incoming.first(kept.size());
    co_await transport.sendrecv(bytes_of_piece(peer_place, step + 1), peer, theirs, peer);
    reduction.into_left(kept, theirs);
  }
  for (int step = steps - 1; step >= 0; --step) {
    const int peer_place = fold.place() ^ (1 << step);
    const int peer = fold.rank_at(peer_place);
    co_await transport.sendrecv(bytes_of_piece(fold.place(), step + 1), peer, bytes_of_piece(peer_place, step + 1),
                                peer);
  }
  co_await fold_out(transport, fold, data);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "rabenseifner",
    .summary = "halves the vector to reduce it and doubles it to gather it: least bytes in few messages",
    .source = "Rabenseifner, Int. Conf. on Computational Science (ICCS), 2004",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allreduce_rabenseifner
