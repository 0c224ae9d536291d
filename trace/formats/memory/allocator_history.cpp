#include "trace/formats/memory/allocator_history.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace foretrace::trace::formats {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 56U;  // sums stay within 64 bits
constexpr std::int64_t latest_us = std::int64_t{1} << 51U;   // as ns below 2^61

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return std::clamp(a + std::clamp(b, -most_bytes, most_bytes), -most_bytes, most_bytes);
}

}  // namespace

AllocatorHistory::BlockState AllocatorHistory::block_state(std::string_view text) {
  if (text == "active_allocated") return BlockState::allocated;
  return text.starts_with("active_") ? BlockState::pending : BlockState::free;
}

void AllocatorHistory::add(const Segment& segment) {
  Device& device = devices_[segment.device];
  device.level.reserved = sum(device.level.reserved, segment.total_bytes);
  ++device.state.segments;
  std::int64_t piece = 0;  // of free blocks side by side
  for (const Block& block : segment.blocks) {
    if (block.state != BlockState::free) {
      piece = 0;
      hold(block, device);
      continue;
    }
    device.state.free_pieces += piece == 0 ? 1 : 0;
    piece = sum(piece, block.bytes);
    device.state.free_bytes = sum(device.state.free_bytes, block.bytes);
    device.state.largest_free_bytes = std::max(device.state.largest_free_bytes, piece);
  }
}

void AllocatorHistory::hold(const Block& block, Device& device) {
  const bool pends = block.state == BlockState::pending;
  std::int64_t& level = pends ? device.level.pending : device.level.allocated;
  level = sum(level, block.bytes);
  if (!pends) {
    HeldMemory& held = device.holders[block.line];
    held.line = block.line;
    held.bytes = sum(held.bytes, block.bytes);
    ++held.blocks;
  }
}

void AllocatorHistory::describe_end(Device& device, MemoryTimeline& memory) {
  if (device.state.segments == 0) return;
  device.state.allocated_bytes = device.level.allocated;
  device.state.pending_bytes = device.level.pending;
  device.state.reserved_bytes = device.level.reserved;
  for (auto& [line, held] : device.holders) {
    device.state.holders.push_back(std::move(held));
  }
  std::stable_sort(device.state.holders.begin(), device.state.holders.end(),
                   [](const HeldMemory& a, const HeldMemory& b) { return a.bytes > b.bytes; });
  memory.at_end = std::move(device.state);
}

void AllocatorHistory::add(std::int32_t number, const Event& event) {
  Change change;
  const std::int64_t bytes = std::clamp<std::int64_t>(event.bytes, 0, most_bytes);
  if (event.action == "alloc") {
    change.allocated = bytes;
  } else if (event.action == "free_requested") {
    change.allocated = -bytes;
    change.pending = bytes;
  } else if (event.action == "free_completed") {
    change.pending = -bytes;
  } else if (event.action == "segment_alloc" || event.action == "segment_map") {
    change.reserved = bytes;
  } else if (event.action == "segment_free" || event.action == "segment_unmap") {
    change.reserved = -bytes;
  } else if (event.action == "oom") {
    change.fails = true;
    devices_[number].failed.push_back(
        {.bytes = bytes, .device_free_bytes = event.device_free_bytes, .line = event.line});
  } else {
    return;  // "snapshot": nothing changes
  }
  Device& device = devices_[number];
  device.has_times = device.has_times && event.time_us >= 0 && event.time_us < latest_us;
  change.time_us = event.time_us;
  device.changes.push_back(change);
}

void AllocatorHistory::fill(Device& device, LoadedTrace& trace) {
  auto& memory = std::get<MemoryTimeline>(trace.content);
  describe_end(device, memory);
  memory.categories = {"allocated", "freed, still in use by a stream"};
  Change level = device.level;
  for (const Change& change : device.changes) {
    level.allocated = sum(level.allocated, -change.allocated);
    level.pending = sum(level.pending, -change.pending);
    level.reserved = sum(level.reserved, -change.reserved);
  }
  const auto sample = [&](std::int64_t time_ns) {
    if (memory.time_ns.empty() || memory.time_ns.back() != time_ns) {
      memory.time_ns.push_back(time_ns);
      memory.bytes.resize(memory.bytes.size() + 2);
      memory.reserved.push_back(0);
    }
    memory.bytes[memory.bytes.size() - 2] = std::max<std::int64_t>(0, level.allocated);
    memory.bytes[memory.bytes.size() - 1] = std::max<std::int64_t>(0, level.pending);
    memory.reserved.back() = std::max<std::int64_t>(0, level.reserved);
  };
  std::int64_t first = device.has_times && !device.changes.empty() ? device.changes[0].time_us : 0;
  memory.first_time_ns = first * 1000;
  sample(0);
  bool fits = level.allocated >= 0 && level.pending >= 0 && level.reserved >= 0;
  std::int64_t order = 0;
  std::int64_t latest = 0;
  for (const Change& change : device.changes) {
    level.allocated = sum(level.allocated, change.allocated);
    level.pending = sum(level.pending, change.pending);
    level.reserved = sum(level.reserved, change.reserved);
    fits = fits && level.allocated >= 0 && level.pending >= 0 && level.reserved >= 0;
    if (change.fails) {
      FailedRequest& failed = device.failed[memory.failed.size()];
      failed.allocated_bytes = std::max<std::int64_t>(0, level.allocated);
      failed.reserved_bytes = std::max<std::int64_t>(0, level.reserved);
      memory.failed.push_back(std::move(failed));
    }
    latest = std::max(latest, device.has_times ? (change.time_us - first) * 1000 : ++order);
    sample(latest);
  }
  if (!fits) {
    trace.report.warnings.emplace_back(
        "the history contradicts the segments at its end: levels below 0 count as 0");
  }
  if (!device.has_times && !device.changes.empty()) {
    trace.report.warnings.emplace_back("the events have no times: their order stands for ns");
  }
}

void AllocatorHistory::finish(LoadedTrace& trace) {
  trace.content.emplace<MemoryTimeline>();
  auto most = devices_.begin();
  for (auto at = devices_.begin(); at != devices_.end(); ++at) {
    const auto size = [](const auto& entry) {
      return std::pair{entry->second.changes.size(), entry->second.level.reserved};
    };
    most = size(at) > size(most) ? at : most;
  }
  if (most == devices_.end()) return;
  std::get<MemoryTimeline>(trace.content).device = most->first;
  fill(most->second, trace);
  std::size_t others = 0;
  for (const auto& [number, device] : devices_) {
    const bool used = !device.changes.empty() || device.level.reserved > 0;
    others += number != most->first && used ? 1 : 0;
  }
  if (others > 0) {
    trace.report.warnings.push_back(
        fmt::format("device {} is shown; {} other devices also have memory", most->first, others));
  }
}

}  // namespace foretrace::trace::formats
