// The model of the caching allocator against recordings that show addresses and reserved totals.
#include <algorithm>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/memories/allocator_replay.h"
#include "sim/engine/pull/pull.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"

namespace foretrace {
namespace {

using trace::DeviceMemory;
using trace::EventTable;
using trace::MemoryEvent;

constexpr std::int64_t small_limit = std::int64_t{1} << 20;
constexpr std::int64_t small_segment = std::int64_t{2} << 20;

struct Loaded {
  EventTable events;
  trace::BuiltGraph built;
};

bool load(const std::string& name, Loaded& loaded) {
  const std::string path = FORETRACE_SHARED_DIR "/traces/" + name + ".json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped, not here: ", name);
    return false;
  }
  auto read = trace::read_trace(path, {});
  REQUIRE(read.ok());
  auto built = trace::build_graph(read->events);
  REQUIRE(built.ok());
  REQUIRE(built->memory.size() == 1);
  loaded = {std::move(read->events), *std::move(built)};
  return true;
}

/// The stretches of addresses that blocks of one pool ever covered. The window shows no borders of
/// segments; those of the small pool lie at multiples of 2 MiB.
std::vector<std::pair<std::int64_t, std::int64_t>> covered(const Loaded& loaded, bool small) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
  for (const std::uint32_t row : loaded.built.memory.front().order) {
    const MemoryEvent& event = loaded.events.memory[row];
    const std::int64_t bytes = std::abs(event.bytes);
    if ((bytes <= small_limit) != small) continue;
    const auto from = static_cast<std::int64_t>(event.address);
    for (std::int64_t at = from; at < from + bytes;) {
      const std::int64_t border = (at / small_segment + 1) * small_segment;
      const std::int64_t to = small ? std::min(border, from + bytes) : from + bytes;
      pieces.emplace_back(at, to);
      at = to;
    }
  }
  std::sort(pieces.begin(), pieces.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> merged;
  for (const auto& [from, to] : pieces) {
    const bool joins = !merged.empty() && from <= merged.back().second &&
                       !(small && from % small_segment == 0 && from == merged.back().second);
    if (joins) {
      merged.back().second = std::max(merged.back().second, to);
    } else {
      merged.emplace_back(from, to);
    }
  }
  return merged;
}

struct Placements {
  std::size_t right = 0;
  std::size_t all = 0;
};

/// Predicts the address of every allocation from the free blocks before it, then follows what was
/// recorded.
Placements predict_placements(const Loaded& loaded) {
  CachingAllocator allocator;
  for (const bool small : {true, false}) {
    for (const auto& [from, to] : covered(loaded, small)) {
      allocator.adopt(
          from, to - from,
          small ? CachingAllocator::PoolKind::small : CachingAllocator::PoolKind::large);
    }
  }
  const DeviceMemory& device = loaded.built.memory.front();
  std::unordered_map<std::uint64_t, BlockId> live;
  // What is freed without an allocation in the window was there from the start.
  std::unordered_map<std::uint64_t, bool> seen;
  for (const std::uint32_t row : device.order) {
    const MemoryEvent& event = loaded.events.memory[row];
    if (event.bytes < 0 && !seen.contains(event.address)) {
      live[event.address] =
          allocator.allocate_at(static_cast<std::int64_t>(event.address), -event.bytes);
    }
    seen[event.address] = true;
  }
  Placements placements;
  for (const std::uint32_t row : device.order) {
    const MemoryEvent& event = loaded.events.memory[row];
    const auto address = static_cast<std::int64_t>(event.address);
    if (event.bytes < 0) {
      if (live[event.address] != none<BlockId>) allocator.free(live[event.address]);
      continue;
    }
    ++placements.all;
    placements.right += allocator.would_take(event.bytes) == address ? 1 : 0;
    live[event.address] = allocator.allocate_at(address, event.bytes);
    REQUIRE(live[event.address] != none<BlockId>);
  }
  return placements;
}

TEST_CASE("allocator: it names the recorded address of at least 99 % of all allocations") {
  // Five recordings whose free blocks are all in sight; in others a block may be larger than the
  // window shows.
  for (const char* name :
       {"tracelens/vit_nsfw_h100", "tracelens/vit_nsfw_mi300x", "tracelens/qwen15_05b_mi300x",
        "tracelens/norm_layers_mi300x", "misc/flashinfer_rope_h100nvl"}) {
    Loaded loaded;
    if (!load(name, loaded)) continue;
    const Placements placements = predict_placements(loaded);
    MESSAGE(std::string(name), ": ", placements.right, " of ", placements.all, " addresses");
    CHECK(static_cast<double>(placements.right) >= 0.99 * static_cast<double>(placements.all));
  }
}

TEST_CASE("allocator: reserved memory follows the recording where it starts nearly empty") {
  Loaded loaded;
  if (!load("tracelens/norm_layers_mi300x", loaded)) return;
  const TaskGraph& graph = loaded.built.graph;
  const auto curves = track_memory(graph, simulate(graph));
  REQUIRE(curves.size() == 1);
  const AllocatorReplay replay =
      replay_allocator(allocator_program(graph, curves[0]), {.most_passes = 1, .keep_curve = true});
  const DeviceMemory& device = loaded.built.memory.front();
  REQUIRE(device.order.size() == 415);
  REQUIRE(replay.reserved.size() == 415);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < 415; ++i) {
    equal += replay.reserved[i] == loaded.events.memory[device.order[i]].total_reserved ? 1 : 0;
  }
  CHECK(equal == 415);
}

}  // namespace
}  // namespace foretrace
