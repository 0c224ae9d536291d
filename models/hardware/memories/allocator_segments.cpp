// Segments: asked of the driver when no block fits, given back under pressure. Constants are those
// of CUDACachingAllocator.cpp: kSmallBuffer, kMinLargeAlloc, kRoundLarge.
#include <algorithm>

#include "models/hardware/memories/caching_allocator.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::int64_t small_segment = 2 * mebibyte;
constexpr std::int64_t least_large_request = 10 * mebibyte;
constexpr std::int64_t large_rounding = 2 * mebibyte;

}  // namespace

std::int64_t CachingAllocator::segment_bytes(std::int64_t bytes) const {
  if (bytes <= mebibyte) return small_segment;
  if (bytes < least_large_request && bytes <= settings_.large_segment_bytes) {
    return settings_.large_segment_bytes;
  }
  return (bytes + large_rounding - 1) / large_rounding * large_rounding;
}

/// Each way out in turn: a new segment; one after giving back what is too large to be split; one
/// after giving back everything unused.
std::uint32_t CachingAllocator::obtain(std::uint32_t pool, std::int64_t bytes) {
  collect_garbage();
  std::uint32_t block = new_segment(pool, bytes);
  if (block == no_block && release_oversize(pool, bytes)) block = new_segment(pool, bytes);
  if (block == no_block) {
    ++use_.retries;
    release_cached();
    block = new_segment(pool, bytes);
  }
  return block;
}

std::uint32_t CachingAllocator::new_segment(std::uint32_t pool, std::int64_t bytes) {
  if (settings_.expandable_segments) return expand(pool, bytes);
  const std::int64_t size = segment_bytes(bytes);
  if (size > settings_.capacity_bytes - use_.reserved_bytes ||
      size > no_memory_limit - next_address_) {
    return no_block;
  }
  use_.reserved_bytes += size;
  use_.peak_reserved_bytes = std::max(use_.peak_reserved_bytes, use_.reserved_bytes);
  ++use_.segments;
  const std::uint32_t block =
      new_block({.address = next_address_, .bytes = size, .pool = pool, .is_free = false});
  next_address_ += size;
  return block;
}

/// Gives back a free block that is a whole segment.
void CachingAllocator::release_segment(std::uint32_t block) {
  pools_[blocks_[block].pool].free.erase(key_of(block));
  use_.reserved_bytes -= blocks_[block].bytes;
  --use_.segments;
  give_up(block);
}

/// Blocks beyond max_split_bytes are whole segments; the smallest that makes room goes, else as
/// many of the largest as it takes.
bool CachingAllocator::release_oversize(std::uint32_t pool, std::int64_t bytes) {
  if (settings_.max_split_bytes == no_memory_limit) return false;
  FreeBlocks& free = pools_[pool].free;
  const std::int64_t needed = std::max(bytes, settings_.max_split_bytes);
  const auto first = free.first_of(needed);
  if (first != free.end()) {
    if (blocks_[free.at(first).block].is_expandable) return false;
    release_segment(free.at(first).block);
    return true;
  }
  std::int64_t released = 0;
  while (free.size() > 0 && released < needed) {
    const FreeBlock last = free.at(free.previous(free.end()));
    if (last.bytes < settings_.max_split_bytes || blocks_[last.block].is_expandable) break;
    release_segment(last.block);
    released += last.bytes;
  }
  return released >= needed;
}

void CachingAllocator::release_unsplit(std::uint32_t pool) {
  std::vector<std::uint32_t> whole;
  std::vector<std::uint32_t> expandable;
  const FreeBlocks& free = pools_[pool].free;
  for (auto place = FreeBlocks::begin(); place != free.end(); place = free.next(place)) {
    const std::uint32_t number = free.at(place).block;
    const Block& block = blocks_[number];
    if (block.is_expandable) {
      expandable.push_back(number);
    } else if (block.previous == no_block && block.next == no_block) {
      whole.push_back(number);
    }
  }
  for (const std::uint32_t block : whole) release_segment(block);
  for (const std::uint32_t block : expandable) unmap(block);
}

void CachingAllocator::release_cached() {
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) release_unsplit(pool);
}

/// Gives back unused large segments, the longest unused first, until the threshold is kept: in
/// each round those at least as old as the average.
void CachingAllocator::collect_garbage() {
  if (settings_.garbage_collection_threshold <= 0 || settings_.capacity_bytes == no_memory_limit) {
    return;
  }
  const auto threshold = to_whole(settings_.garbage_collection_threshold *
                                  static_cast<double>(settings_.capacity_bytes));
  for (bool freed = true; freed && use_.reserved_bytes > threshold;) {
    freed = false;
    std::vector<std::uint32_t> candidates;
    double total_age = 0;
    for (std::uint32_t pool = 1; pool < pools_.size(); pool += 2) {
      const FreeBlocks& free = pools_[pool].free;
      for (auto place = FreeBlocks::begin(); place != free.end(); place = free.next(place)) {
        const Block& block = blocks_[free.at(place).block];
        if (block.previous != no_block || block.next != no_block || block.is_expandable) continue;
        candidates.push_back(free.at(place).block);
        total_age += large_requests_ - block.freed_at;
      }
    }
    const double oldest_kept =
        total_age / static_cast<double>(std::max<std::size_t>(1, candidates.size()));
    for (const std::uint32_t block : candidates) {
      if (large_requests_ - blocks_[block].freed_at >= oldest_kept &&
          use_.reserved_bytes > threshold) {
        release_segment(block);
        freed = true;
      }
    }
  }
}

}  // namespace foretrace
