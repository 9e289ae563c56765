// SPDX-License-Identifier: Apache-2.0
#include "gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <span>
#include <string_view>

#include "device/nearest_gpu.hpp"
#include "survey.hpp"
#include "words.hpp"

namespace chorus::info {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

void copy(std::string_view text, std::span<char> to) { text.copy(to.data(), to.size() - 1); }

void collect(const Object& object, std::vector<const Object*>& gpus) {
  if (object.kind == Kind::gpu) gpus.push_back(&object);
  for (const Object& child : object.children) collect(child, gpus);
}

/// By their indices.
std::vector<const Object*> gpus_of(const Topology& topology) {
  std::vector<const Object*> gpus;
  collect(topology.machine, gpus);
  std::ranges::sort(gpus, {}, &Object::index);
  return gpus;
}

/// Whether its name tells it apart from the others: without a name in the system it has that of its model, or none.
bool is_named(const Object& gpu, const std::vector<const Object*>& gpus) {
  return !gpu.name.empty() &&
         std::ranges::none_of(gpus, [&](const Object* other) { return other != &gpu && other->name == gpu.name; });
}

/// "cuda1", or "1".
std::string name_of(const Object& gpu, const std::vector<const Object*>& gpus) {
  return is_named(gpu, gpus) ? gpu.name : std::to_string(gpu.index);
}

/// "NVLink to cuda1 cuda2 at 100 GB/s, to cuda3 at 50 GB/s", or "NVLink to GPU 1 at 100 GB/s".
std::string links_of(const Object& gpu, const std::vector<const Object*>& gpus) {
  std::map<std::uint64_t, std::vector<std::string>, std::greater<>> peers;
  for (const Topology::Link& link : gpu.links) {
    for (const Object* peer : gpus) {
      if (peer->index != link.gpu) continue;
      peers[link.bytes_per_second].push_back((is_named(*peer, gpus) ? "" : "GPU ") + name_of(*peer, gpus));
    }
  }
  std::vector<std::string> parts;
  for (const auto& [speed, names] : peers) {
    parts.push_back(fmt::format("to {} at {:g} GB/s", joined(names, " "), static_cast<double>(speed) / 1e9));
  }
  return parts.empty() ? "" : "NVLink " + joined(parts, ", ");
}

/// What limits what this rank sees.
std::string limit_of(const VisibleGpus& visible, const Topology& topology) {
  const bool has_gpu = std::ranges::any_of(gpus_of(topology), [](const Object* gpu) { return gpu->vendor == nvidia; });
  if (!visible.expected && !has_gpu) return "";
  const char* const variable = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string named = variable == nullptr ? "" : fmt::format("CUDA_VISIBLE_DEVICES={}", variable);
  if (!visible.gpus.empty()) return named;
  return fmt::format("none{}{}: {}", named.empty() ? "" : " with ", named, visible.reason);
}

/// "rank 3", or with several hosts "rank 3 on node01".
std::string rank_text(const Survey& survey, int rank) {
  const std::string host = survey.hosts[survey.host_of[rank]].name;
  return survey.hosts.size() > 1 ? fmt::format("rank {} on {}", rank, host) : fmt::format("rank {}", rank);
}

/// "0-3 5".
std::string rank_list(const std::vector<int>& ranks) {
  std::vector<std::string> runs;
  for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
    last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    runs.push_back(last == first ? std::to_string(ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]));
  }
  return joined(runs, " ");
}

/// "GPUs seen: CUDA_VISIBLE_DEVICES=0 (rank 0); CUDA_VISIBLE_DEVICES=1 (rank 1)".
std::string limits_of(const Survey& survey) {
  constexpr std::size_t shown = 16;
  std::vector<std::string> limits;  // by their first ranks
  std::map<std::string, std::vector<int>> ranks;
  for (const RankRecord& record : survey.ranks) {
    const std::string limit = record.gpu.limit.data();
    if (limit.empty()) continue;
    if (!ranks.contains(limit)) limits.push_back(limit);
    ranks[limit].push_back(record.rank);
  }
  if (limits.empty()) return "";
  std::vector<std::string> parts;
  for (const std::string& limit : limits) {
    const std::vector<int>& who = ranks[limit];
    if (parts.size() == shown) break;
    const bool all = who.size() == survey.ranks.size();
    parts.push_back(all ? limit : fmt::format("{} (rank{} {})", limit, who.size() == 1 ? "" : "s", rank_list(who)));
  }
  if (limits.size() > shown) parts.push_back(fmt::format("and {} more", limits.size() - shown));
  return "GPUs seen: " + joined(parts, "; ") + "\n";
}

}  // namespace

GpuRecord own_gpu(const Communicator& world, const Topology& topology) {
  const TakenGpu taken = take_nearest_gpu(world, topology);
  GpuRecord record;
  record.visible = static_cast<int>(taken.visible.gpus.size());
  record.wanted = taken.wanted;
  copy(limit_of(taken.visible, topology), record.limit);
  if (!taken.gpu) return record;
  record.ordinal = taken.gpu->ordinal;
  record.distance = taken.distance;
  record.bytes = taken.gpu->memory_bytes;
  copy(taken.gpu->bus_id, record.bus_id);
  copy(taken.gpu->uuid, record.uuid);
  copy(taken.gpu->name, record.name);
  return record;
}

std::string gpu_facts(const Object& gpu, const Topology& topology) {
  std::vector<std::string> facts;
  if (!gpu.bus_id.empty()) facts.push_back(gpu.bus_id);
  if (!gpu.model.empty() && gpu.model != gpu.name) facts.push_back(gpu.model);
  if (gpu.bytes > 0) facts.push_back(readable_bytes(gpu.bytes));
  const std::string links = links_of(gpu, gpus_of(topology));
  return fmt::format("{}{}{}", joined(facts, ", "), links.empty() ? "" : "; ", links);
}

std::vector<std::string> gpu_lines(const Topology& topology) {
  std::vector<std::string> lines;
  const std::vector<const Object*> gpus = gpus_of(topology);
  for (const Object* gpu : gpus) {
    const std::string facts = gpu_facts(*gpu, topology);
    if (!facts.empty()) lines.push_back(fmt::format("GPU {}: {}", name_of(*gpu, gpus), facts));
  }
  return lines;
}

std::string taken_gpu(const Survey& survey, int rank) {
  const RankRecord& record = survey.ranks[rank];
  const GpuRecord& gpu = record.gpu;
  if (gpu.ordinal < 0) return "";
  return fmt::format("GPU {} ({}), {}{}{}", gpu.ordinal, gpu.bus_id.data(), text_of(gpu.distance),
                     record.binding.bound ? "" : ", rank not bound", gpu.wanted ? ", by CHORUS_GPUS" : "");
}

std::string gpu_report(const Survey& survey) {
  std::string text;
  for (const RankRecord& record : survey.ranks) {
    const std::string gpu = taken_gpu(survey, record.rank);
    if (!gpu.empty()) text += fmt::format("{}: {}\n", rank_text(survey, record.rank), gpu);
  }
  return text + limits_of(survey);
}

}  // namespace chorus::info
