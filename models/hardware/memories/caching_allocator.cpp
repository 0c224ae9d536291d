// Blocks: best fit, splitting and merging. Constants are those of CUDACachingAllocator.cpp
// (pytorch/pytorch, 001074d2): kMinBlockSize, kSmallSize.
#include "models/hardware/memories/caching_allocator.h"

#include <algorithm>
#include <bit>

#include "sim/core/result.h"

namespace foretrace {
namespace {

constexpr std::int64_t least_block = 512;
constexpr std::int64_t small_request = std::int64_t{1} << 20;
constexpr int first_interval = 20;  // roundup_power2_divisions starts at 1 MiB = 2^20

/// The next of `divisions` equal steps between two powers of two (c10:
/// roundup_power2_next_division).
std::int64_t next_division(std::int64_t bytes, std::uint32_t divisions) {
  const auto value = static_cast<std::uint64_t>(bytes);
  if (std::has_single_bit(value)) return bytes;
  const std::uint64_t floor = std::bit_floor(value);
  const std::uint64_t step = floor >> (std::bit_width(static_cast<std::uint64_t>(divisions)) - 1);
  if (step == 0) return static_cast<std::int64_t>(floor << 1U);
  return static_cast<std::int64_t>((value + step - 1) / step * step);
}

}  // namespace

std::int64_t CachingAllocator::rounded(std::int64_t bytes) const {
  if (bytes < least_block) return least_block;
  const int log = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1;
  const auto interval = static_cast<std::size_t>(std::clamp(log - first_interval, 0, 15));
  const std::uint32_t divisions = settings_.roundup_power2_divisions.at(interval);
  if (divisions > 1 && bytes > least_block * static_cast<std::int64_t>(divisions)) {
    return next_division(bytes, divisions);
  }
  return (bytes + least_block - 1) / least_block * least_block;
}

std::uint32_t CachingAllocator::pool_of(std::int64_t bytes, std::uint32_t stream) {
  return 2 * stream + (bytes <= small_request ? 0 : 1);
}

void CachingAllocator::need_pool(std::uint32_t pool) {
  if (pools_.size() <= pool) pools_.resize(static_cast<std::size_t>(pool) + 1);
}

std::uint32_t CachingAllocator::new_block(const Block& block) {
  if (spare_.empty()) {
    blocks_.push_back(block);
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  const std::uint32_t slot = spare_.back();
  spare_.pop_back();
  blocks_[slot] = block;
  return slot;
}

void CachingAllocator::give_up(std::uint32_t block) { spare_.push_back(block); }

void CachingAllocator::insert_free(std::uint32_t block) {
  blocks_[block].is_free = true;
  blocks_[block].freed_at = large_requests_;
  pools_[blocks_[block].pool].free.insert(key_of(block));
}

/// Best fit by (size, address); an expandable block counts with what it can grow to.
FreeBlocks::Place CachingAllocator::find(std::uint32_t pool, std::int64_t bytes) const {
  const FreeBlocks& free = pools_[pool].free;
  FreeBlocks::Place place = free.first_of(bytes);
  if (place == free.end()) return place;
  if (settings_.expandable_segments) {
    for (auto next = free.next(place);
         next != free.end() &&
         expandable_bytes(free.at(next).block) < expandable_bytes(free.at(place).block);
         next = free.next(next)) {
      place = next;
    }
  }
  const std::int64_t found = free.at(place).bytes;
  const std::int64_t limit = settings_.max_split_bytes;
  if (bytes < limit && found >= limit) return free.end();
  if (bytes >= limit && found - bytes >= settings_.max_non_split_rounding_bytes) return free.end();
  return place;
}

std::uint32_t CachingAllocator::take(std::uint32_t pool, std::int64_t bytes) {
  FreeBlocks& free = pools_[pool].free;
  const FreeBlocks::Place place = find(pool, bytes);
  if (place == free.end()) return no_block;
  const std::uint32_t block = free.at(place).block;
  free.erase(place);
  return block;
}

bool CachingAllocator::should_split(const Block& block, std::int64_t bytes) const {
  const std::int64_t rest = block.bytes - bytes;
  if (is_small(block.pool) || settings_.expandable_segments) return rest >= least_block;
  return bytes < settings_.max_split_bytes && rest > small_request;
}

/// The first `bytes` stay with the block, the rest becomes its free neighbour.
void CachingAllocator::split(std::uint32_t block, std::int64_t bytes) {
  Block rest = blocks_[block];
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.previous = block;
  const std::uint32_t added = new_block(rest);
  blocks_[block].bytes = bytes;
  blocks_[block].next = added;
  if (rest.next != no_block) blocks_[rest.next].previous = added;
  insert_free(added);
}

/// Takes over a free neighbour, which vanishes.
void CachingAllocator::merge(std::uint32_t into, std::uint32_t block) {
  Block& a = blocks_[into];
  const Block& b = blocks_[block];
  if (a.previous == block) {
    a.address = b.address;
    a.previous = b.previous;
    if (a.previous != no_block) blocks_[a.previous].next = into;
  } else {
    a.next = b.next;
    if (a.next != no_block) blocks_[a.next].previous = into;
  }
  a.bytes += b.bytes;
  if (b.is_mapped) {
    pools_[b.pool].free.erase(key_of(block));
  } else {
    pools_[b.pool].unmapped.erase({b.address, block});
  }
  give_up(block);
}

BlockId CachingAllocator::allocate(std::int64_t bytes, std::uint32_t stream) {
  FORETRACE_CHECK(bytes > 0);
  if (bytes > no_memory_limit / 4) {
    ++use_.out_of_memory;
    return none<BlockId>;
  }
  const std::int64_t size = rounded(bytes);
  const std::uint32_t pool = pool_of(size, stream);
  need_pool(pool);
  large_requests_ += is_small(pool) ? 0U : 1U;
  std::uint32_t block = take(pool, size);
  if (block == no_block) block = obtain(pool, size);
  if (block == no_block) {
    ++use_.out_of_memory;
    return none<BlockId>;
  }
  blocks_[block].is_free = false;
  if (should_split(blocks_[block], size)) split(block, size);
  use_.allocated_bytes += blocks_[block].bytes;
  use_.peak_allocated_bytes = std::max(use_.peak_allocated_bytes, use_.allocated_bytes);
  return BlockId{block};
}

void CachingAllocator::free(BlockId id) {
  const auto block = static_cast<std::uint32_t>(id);
  FORETRACE_CHECK(block < blocks_.size() && !blocks_[block].is_free);
  use_.allocated_bytes -= blocks_[block].bytes;
  const auto is_mergeable = [this](std::uint32_t other) {
    return other != no_block && blocks_[other].is_free && blocks_[other].is_mapped;
  };
  if (is_mergeable(blocks_[block].previous)) merge(block, blocks_[block].previous);
  if (is_mergeable(blocks_[block].next)) merge(block, blocks_[block].next);
  insert_free(block);
}

Fragmentation CachingAllocator::fragmentation() const {
  Fragmentation result;
  for (const Pool& pool : pools_) {
    for (auto place = FreeBlocks::begin(); place != pool.free.end();
         place = pool.free.next(place)) {
      const FreeBlock& key = pool.free.at(place);
      const Block& block = blocks_[key.block];
      result.free_bytes += key.bytes;
      result.largest_free_bytes = std::max(result.largest_free_bytes, key.bytes);
      const bool is_whole = block.previous == no_block && block.next == no_block;
      result.stuck_bytes += is_whole || block.is_expandable ? 0 : key.bytes;
    }
  }
  return result;
}

void CachingAllocator::adopt(std::int64_t address, std::int64_t bytes, PoolKind pool,
                             std::uint32_t stream) {
  const std::uint32_t number = 2 * stream + (pool == PoolKind::small ? 0 : 1);
  need_pool(number);
  use_.reserved_bytes += bytes;
  use_.peak_reserved_bytes = std::max(use_.peak_reserved_bytes, use_.reserved_bytes);
  ++use_.segments;
  insert_free(new_block({.address = address, .bytes = bytes, .pool = number}));
}

std::int64_t CachingAllocator::would_take(std::int64_t bytes, std::uint32_t stream) const {
  const std::int64_t size = rounded(bytes);
  const std::uint32_t pool = pool_of(size, stream);
  if (pool >= pools_.size()) return -1;
  const FreeBlocks::Place place = find(pool, size);
  return place == pools_[pool].free.end() ? -1 : pools_[pool].free.at(place).address;
}

BlockId CachingAllocator::allocate_at(std::int64_t address, std::int64_t bytes,
                                      std::uint32_t stream) {
  const std::uint32_t pool = pool_of(bytes, stream);
  if (pool >= pools_.size()) return none<BlockId>;
  FreeBlocks& free = pools_[pool].free;
  for (auto place = FreeBlocks::begin(); place != free.end(); place = free.next(place)) {
    const FreeBlock around = free.at(place);
    if (around.address > address || around.address + around.bytes < address + bytes) continue;
    free.erase(place);
    std::uint32_t block = around.block;
    if (around.address < address) {
      // The part before stays free; its neighbour is what is asked for.
      split(block, address - around.address);
      const std::uint32_t rest = blocks_[block].next;
      free.erase(key_of(rest));
      insert_free(block);
      block = rest;
    }
    blocks_[block].is_free = false;
    if (blocks_[block].bytes > bytes) split(block, bytes);
    use_.allocated_bytes += bytes;
    use_.peak_allocated_bytes = std::max(use_.peak_allocated_bytes, use_.allocated_bytes);
    return BlockId{block};
  }
  return none<BlockId>;
}

}  // namespace foretrace
