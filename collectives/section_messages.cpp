// SPDX-License-Identifier: Apache-2.0
#include "section_messages.hpp"

#include "base/names.hpp"
#include "section_costs.hpp"
#include "sections.hpp"
#include "task/when_all.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace chorus {
namespace {

std::size_t bytes_of_all(std::span<const Section> sections) {
  std::size_t bytes = 0;
  for (const Section& section : sections) bytes += section.bytes;
  return bytes;
}

/// How many partners of a rank exchange with it at a time.
constexpr int most_rows = 8;
int rows_of(int partners) { return std::clamp(partners, 1, most_rows); }

/// Steps that follow one another.
struct Row {
  int first;
  int stride;
};

/// Whether there is a message where a section is empty.
enum class Empty { passed, left_out };

/// In step k a rank gives to the k-th rank ahead and gets from the k-th rank behind.
Task<> pass_steps(Transport& transport, Arguments arguments, Input in, Row row, Empty empty = Empty::passed) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const Ranks to = receivers(transport, arguments.call);
  const Ranks from = givers(transport, arguments.call);
  for (int step = row.first; step < ranks; step += row.stride) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    const auto counts = [&](std::span<const Section> sections, int rank) {
      return empty == Empty::passed || sections[static_cast<std::size_t>(rank)].bytes > 0;
    };
    const bool gives = to.contain(ahead) && counts(in.sections, ahead);
    const bool gets = from.contain(behind) && counts(arguments.out_sections, behind);
    if (!gives && !gets) continue;
    co_await pass_in_step(transport, arguments, in,
                          {.ahead = gives ? ahead : no_rank, .behind = gets ? behind : no_rank});
  }
}

Task<> pass_rows(Transport& transport, Arguments arguments, Input in, Empty empty) {
  const auto row = [&](int number) {
    return pass_steps(transport, arguments, in, {.first = 1 + number, .stride = most_rows}, empty);
  };
  std::array<Task<>, most_rows> rows{row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)};
  co_await when_all(std::span(rows).first(static_cast<std::size_t>(rows_of(transport.size() - 1))));
}

}  // namespace

Ranks receivers(const Transport& transport, const Call& call) {
  if (call.collective == Collective::gatherv) return transport.rank() == call.root ? Ranks() : Ranks::only(call.root);
  if (call.collective == Collective::scatterv && transport.rank() != call.root) return {};
  return Ranks::all_of(transport);
}

Ranks givers(const Transport& transport, const Call& call) {
  if (call.collective == Collective::scatterv) return transport.rank() == call.root ? Ranks() : Ranks::only(call.root);
  if (call.collective == Collective::gatherv && transport.rank() != call.root) return {};
  return Ranks::all_of(transport);
}

bool swaps(const Arguments& arguments) noexcept {
  return arguments.in == arguments.out &&
         (arguments.call.collective == Collective::alltoallv || arguments.call.collective == Collective::alltoallw);
}

InputCopy::InputCopy(Transport& transport, const Arguments& arguments)
    : memory_(transport.scratch(arguments.in_sections.size_bytes() + bytes_of_all(arguments.in_sections))) {
  auto* const table = reinterpret_cast<Section*>(memory_.data());
  std::byte* const bytes = memory_.data() + arguments.in_sections.size_bytes();
  std::size_t end = 0;
  for (std::size_t rank = 0; rank < arguments.in_sections.size(); ++rank) {
    const Section& section = arguments.in_sections[rank];
    if (section.bytes > 0) std::memcpy(bytes + end, arguments.in + section.offset, section.bytes);
    table[rank] = {end, section.bytes};
    end += section.bytes;
  }
  input_ = {bytes, {table, arguments.in_sections.size()}};
}

void check_length(const Call& call, int giver, std::size_t given, int receiver, std::size_t expected) {
  if (given == expected) return;
  throw Error(ErrorCode::mismatch, fmt::format("rank {} gives {} bytes where rank {} expects {}; the counts of {} must "
                                               "agree",
                                               giver, given, receiver, expected, name(call.collective)));
}

void copy_own(const Arguments& arguments, std::size_t me) {
  if (arguments.in == arguments.out) return;
  const Section& from = arguments.in_sections[me];
  if (from.bytes > 0)
    std::memcpy(arguments.out + arguments.out_sections[me].offset, arguments.in + from.offset, from.bytes);
}

Exchange pass_in_step(Transport& transport, const Arguments& arguments, const Input& in, const Step& step,
                      Where where) {
  Envelope envelope{.destination = step.ahead, .source = step.behind, .where = where};
  if (step.ahead != no_rank) {
    const Section& to = in.sections[static_cast<std::size_t>(step.ahead)];
    envelope.outgoing = {in.bytes + to.offset, to.bytes};
  }
  if (step.behind != no_rank) {
    const Section& from = arguments.out_sections[static_cast<std::size_t>(step.behind)];
    envelope.incoming = {arguments.out + from.offset, from.bytes};
  }
  return transport.start(envelope);
}

Task<> pass_by_messages(Transport& transport, Arguments arguments) {
  const Given given(transport, arguments);
  copy_own(arguments, static_cast<std::size_t>(transport.rank()));
  co_await pass_steps(transport, arguments, given.input(), {.first = 1, .stride = 1});
}

Task<> pass_in_rows(Transport& transport, Arguments arguments) {
  const Given given(transport, arguments);
  copy_own(arguments, static_cast<std::size_t>(transport.rank()));
  co_await pass_rows(transport, arguments, given.input(), Empty::passed);
}

Task<> pass_what_is_there(Transport& transport, Arguments arguments) {
  arguments.call.collective = Collective::alltoallv;  // whoever has a root
  co_await pass_rows(transport, arguments, input_of(arguments), Empty::left_out);
}

double together_in_rows(double messages, int partners) {
  const double rows = rows_of(partners);
  return messages * (rows - 1) / rows;
}

Traffic message_traffic(const Problem& problem) {
  const double messages = problem.ranks - 1.0;
  const bool of_root = has_root(problem.call.collective);  // whom all send to, or who waits for none of them
  return {.shared = {},
          .messages = {.messages = messages, .bytes = passed_bytes(problem), .reduced = 0},
          .together = {.messages = of_root ? std::max(0.0, messages - 1) : 0}};
}

Traffic row_traffic(const Problem& problem) {
  Traffic traffic = message_traffic(problem);
  traffic.together.messages = together_in_rows(traffic.messages.messages, problem.ranks - 1);
  return traffic;
}

}  // namespace chorus
