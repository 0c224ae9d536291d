// PyTorch's caching allocator for device memory: which blocks it takes, keeps and gives back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "models/hardware/memories/allocator_settings.h"
#include "models/hardware/memories/free_blocks.h"
#include "sim/core/ids.h"

namespace foretrace {

enum class BlockId : std::uint32_t {};

/// What the allocator holds. Bytes allocated count whole blocks, with tails that were not split.
struct AllocatorUse {
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::size_t segments = 0;
  std::size_t retries = 0;        ///< requests that first made the allocator give back its cache
  std::size_t out_of_memory = 0;  ///< requests that failed even so
};

/// Free memory that the allocator holds, and how far it is in pieces.
struct Fragmentation {
  std::int64_t free_bytes = 0;
  std::int64_t largest_free_bytes = 0;
  std::int64_t stuck_bytes = 0;  ///< free pieces of segments that are in use: cannot be given back
};

/// The rules of CUDACachingAllocator (the same under HIP): requests rounded to 512 bytes; a small
/// and a large pool per stream; best fit, lowest address; blocks split where the rest is worth it,
/// freed ones merged with free neighbours of their segment; a segment is asked of the driver only
/// if no block fits, and given back only under pressure.
class CachingAllocator {
 public:
  explicit CachingAllocator(const AllocatorSettings& settings = {}) : settings_(settings) {}

  /// A block for at least one byte; none if memory is out. Streams are small numbers: their blocks
  /// never mix.
  [[nodiscard]] BlockId allocate(std::int64_t bytes, std::uint32_t stream = 0);
  void free(BlockId id);
  /// Gives back every segment without a block in use (torch.cuda.empty_cache()).
  void release_cached();

  [[nodiscard]] const AllocatorUse& use() const { return use_; }
  [[nodiscard]] Fragmentation fragmentation() const;
  [[nodiscard]] std::int64_t bytes_of(BlockId block) const { return blocks_[index(block)].bytes; }
  [[nodiscard]] std::int64_t address_of(BlockId block) const {
    return blocks_[index(block)].address;
  }
  /// What a request becomes before a block is looked for.
  [[nodiscard]] std::int64_t rounded(std::int64_t bytes) const;

  // ---- To check the rules against a recording that shows addresses

  enum class PoolKind : std::uint8_t { small, large };
  /// A free segment at this address.
  void adopt(std::int64_t address, std::int64_t bytes, PoolKind pool, std::uint32_t stream = 0);
  /// The address that a request would get, -1 if it needs a new segment.
  [[nodiscard]] std::int64_t would_take(std::int64_t bytes, std::uint32_t stream = 0) const;
  /// Takes exactly these bytes out of the free block around them; none if there is no such block.
  [[nodiscard]] BlockId allocate_at(std::int64_t address, std::int64_t bytes,
                                    std::uint32_t stream = 0);

 private:
  static constexpr std::uint32_t no_block = 0xFFFFFFFFU;
  struct Block {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    std::uint32_t previous = no_block;  ///< neighbours in the segment
    std::uint32_t next = no_block;
    std::uint32_t pool = 0;
    std::uint32_t freed_at = 0;  ///< requests of large pools so far, for garbage collection
    bool is_free = false;
    bool is_mapped = true;  ///< false: address space of an expandable segment
    bool is_expandable = false;
  };
  struct Pool {
    FreeBlocks free;
    std::set<std::pair<std::int64_t, std::uint32_t>> unmapped;  ///< by address
  };

  [[nodiscard]] static bool is_small(std::uint32_t pool) { return pool % 2 == 0; }
  [[nodiscard]] static std::uint32_t pool_of(std::int64_t bytes, std::uint32_t stream);
  void need_pool(std::uint32_t pool);
  [[nodiscard]] std::uint32_t new_block(const Block& block);
  void give_up(std::uint32_t block);
  [[nodiscard]] FreeBlock key_of(std::uint32_t block) const {
    return {blocks_[block].bytes, blocks_[block].address, block};
  }
  void insert_free(std::uint32_t block);

  // caching_allocator.cpp: blocks in hand
  [[nodiscard]] FreeBlocks::Place find(std::uint32_t pool, std::int64_t bytes) const;
  [[nodiscard]] std::uint32_t take(std::uint32_t pool, std::int64_t bytes);
  [[nodiscard]] bool should_split(const Block& block, std::int64_t bytes) const;
  void split(std::uint32_t block, std::int64_t bytes);
  void merge(std::uint32_t into, std::uint32_t block);

  // allocator_segments.cpp: segments from and to the driver
  [[nodiscard]] std::int64_t segment_bytes(std::int64_t bytes) const;
  [[nodiscard]] std::uint32_t obtain(std::uint32_t pool, std::int64_t bytes);
  [[nodiscard]] std::uint32_t new_segment(std::uint32_t pool, std::int64_t bytes);
  void release_segment(std::uint32_t block);
  [[nodiscard]] bool release_oversize(std::uint32_t pool, std::int64_t bytes);
  void release_unsplit(std::uint32_t pool);
  void collect_garbage();

  // expandable_segments.cpp
  [[nodiscard]] std::int64_t page_bytes(std::uint32_t pool) const;
  [[nodiscard]] std::int64_t expandable_bytes(std::uint32_t number) const;
  [[nodiscard]] std::uint32_t expand(std::uint32_t pool, std::int64_t bytes);
  [[nodiscard]] std::uint32_t find_expandable(std::uint32_t pool, std::int64_t bytes);
  [[nodiscard]] bool map(std::uint32_t number, std::int64_t bytes);
  void unmap(std::uint32_t number);

  AllocatorSettings settings_;
  AllocatorUse use_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> spare_;
  std::vector<Pool> pools_;  // 2 * stream + (0 small | 1 large)
  std::int64_t next_address_ = std::int64_t{1} << 40;
  std::uint32_t large_requests_ = 0;
};

}  // namespace foretrace
