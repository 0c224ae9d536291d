// Expandable segments: one growing segment per stream and pool, mapped page by page.
#include <algorithm>

#include "models/hardware/memories/caching_allocator.h"

namespace foretrace {
namespace {

// Address space of a segment: 9/8 of the device (CUDACachingAllocator), or 16 TiB if that is not
// known: more than any device has.
constexpr std::int64_t largest_space = std::int64_t{1} << 44;

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

std::int64_t CachingAllocator::page_bytes(std::uint32_t pool) const {
  constexpr std::int64_t small_page = std::int64_t{2} << 20;
  return is_small(pool) ? small_page : settings_.large_segment_bytes;
}

/// What a free block can grow to: with the address space behind it.
std::int64_t CachingAllocator::expandable_bytes(std::uint32_t number) const {
  const Block& block = blocks_[number];
  const bool grows = block.next != no_block && !blocks_[block.next].is_mapped;
  return block.bytes + (grows ? blocks_[block.next].bytes : 0);
}

/// Unmapped space, with a free block right before it, that holds `bytes`.
std::uint32_t CachingAllocator::find_expandable(std::uint32_t pool, std::int64_t bytes) {
  for (const auto& [address, number] : pools_[pool].unmapped) {
    std::uint32_t first = number;
    const std::uint32_t before = blocks_[number].previous;
    if (before != no_block && blocks_[before].is_free) first = before;
    std::int64_t room = 0;
    for (std::uint32_t at = first; at != no_block && blocks_[at].is_free && room < bytes;
         at = blocks_[at].next) {
      room += blocks_[at].bytes;
    }
    if (room >= bytes) return first;
  }
  const std::int64_t page = page_bytes(pool);
  const std::int64_t capacity = settings_.capacity_bytes;
  const std::int64_t space =
      capacity > largest_space / 2 ? largest_space : round_up(capacity + capacity / 8, page);
  if (space < bytes) return no_block;
  const std::uint32_t added = new_block({.address = next_address_,
                                         .bytes = space,
                                         .pool = pool,
                                         .is_free = true,
                                         .is_mapped = false,
                                         .is_expandable = true});
  pools_[pool].unmapped.insert({next_address_, added});
  next_address_ += space;
  ++use_.segments;
  return added;
}

/// Maps the first pages of unmapped space; what is mapped is a free block, merged with free
/// neighbours.
bool CachingAllocator::map(std::uint32_t number, std::int64_t bytes) {
  const Block block = blocks_[number];
  const std::int64_t size = std::min(round_up(bytes, page_bytes(block.pool)), block.bytes);
  if (size > settings_.capacity_bytes - use_.reserved_bytes) return false;
  pools_[block.pool].unmapped.erase({block.address, number});
  if (size < block.bytes) {
    Block rest = block;
    rest.address += size;
    rest.bytes -= size;
    rest.previous = number;
    const std::uint32_t added = new_block(rest);
    if (rest.next != no_block) blocks_[rest.next].previous = added;
    blocks_[number].next = added;
    blocks_[number].bytes = size;
    pools_[block.pool].unmapped.insert({rest.address, added});
  }
  blocks_[number].is_mapped = true;
  const auto is_free = [this](std::uint32_t other) {
    return other != no_block && blocks_[other].is_free && blocks_[other].is_mapped;
  };
  if (is_free(blocks_[number].previous)) merge(number, blocks_[number].previous);
  if (is_free(blocks_[number].next)) merge(number, blocks_[number].next);
  insert_free(number);
  use_.reserved_bytes += size;
  use_.peak_reserved_bytes = std::max(use_.peak_reserved_bytes, use_.reserved_bytes);
  return true;
}

std::uint32_t CachingAllocator::expand(std::uint32_t pool, std::int64_t bytes) {
  std::uint32_t block = find_expandable(pool, bytes);
  if (block == no_block) return no_block;
  if (!blocks_[block].is_mapped && !map(block, std::min(blocks_[block].bytes, bytes))) {
    return no_block;
  }
  while (blocks_[block].bytes < bytes) {
    const std::uint32_t next = blocks_[block].next;
    const std::int64_t missing = bytes - blocks_[block].bytes;
    if (!map(next, std::min(missing, blocks_[next].bytes))) return no_block;
    block = next;  // which has taken over the block before it
  }
  pools_[pool].free.erase(key_of(block));
  return block;
}

/// Gives back the whole pages of a free block.
void CachingAllocator::unmap(std::uint32_t number) {
  const Block block = blocks_[number];
  const std::int64_t page = page_bytes(block.pool);
  // Segments begin at multiples of nothing in particular: pages count from the segment's begin.
  std::uint32_t first = number;
  while (blocks_[first].previous != no_block) first = blocks_[first].previous;
  const std::int64_t origin = blocks_[first].address;
  const std::int64_t from = origin + round_up(block.address - origin, page);
  const std::int64_t to = origin + (block.address + block.bytes - origin) / page * page;
  if (from >= to) return;
  pools_[block.pool].free.erase(key_of(number));
  blocks_[number].is_free = true;
  if (block.address + block.bytes > to) {
    split(number, to - block.address);
  }
  std::uint32_t middle = number;
  if (block.address < from) {
    split(number, from - block.address);
    middle = blocks_[number].next;
    pools_[block.pool].free.erase(key_of(middle));
    insert_free(number);
  }
  blocks_[middle].is_mapped = false;
  blocks_[middle].is_free = true;
  use_.reserved_bytes -= to - from;
  pools_[block.pool].unmapped.insert({blocks_[middle].address, middle});
  const auto is_unmapped = [this](std::uint32_t other) {
    return other != no_block && !blocks_[other].is_mapped;
  };
  const std::uint32_t before = blocks_[middle].previous;
  const std::uint32_t after = blocks_[middle].next;
  pools_[block.pool].unmapped.erase({blocks_[middle].address, middle});
  if (is_unmapped(before)) merge(middle, before);
  if (is_unmapped(after)) merge(middle, after);
  pools_[block.pool].unmapped.insert({blocks_[middle].address, middle});
}

}  // namespace foretrace
