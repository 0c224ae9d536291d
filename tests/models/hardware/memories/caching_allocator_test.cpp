// The rules of the caching allocator, one by one; every size is derived from the rule it tests.
#include "models/hardware/memories/caching_allocator.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

constexpr std::int64_t kibi = 1024;
constexpr std::int64_t mebi = 1024 * kibi;

TEST_CASE("allocator: requests round up to 512 bytes, segments to 2, 20 or a multiple of 2 MiB") {
  CachingAllocator allocator;
  const BlockId tiny = allocator.allocate(1);
  CHECK(allocator.bytes_of(tiny) == 512);
  CHECK(allocator.use().reserved_bytes == 2 * mebi);
  const BlockId small = allocator.allocate(mebi);  // 1 MiB is small: it fits the 2 MiB segment
  CHECK(allocator.use().reserved_bytes == 2 * mebi);
  CHECK(allocator.address_of(small) == allocator.address_of(tiny) + 512);
  const BlockId medium = allocator.allocate(mebi + 1);
  CHECK(allocator.bytes_of(medium) == mebi + 512);
  CHECK(allocator.use().reserved_bytes == 22 * mebi);
  CHECK(allocator.allocate(11 * mebi) != none<BlockId>);  // the rest of the 20 MiB holds it
  CHECK(allocator.use().reserved_bytes == 22 * mebi);
  CHECK(allocator.allocate(11 * mebi) != none<BlockId>);  // it does not hold a second one
  CHECK(allocator.use().reserved_bytes == (22 + 12) * mebi);
}

TEST_CASE("allocator: a large block keeps a rest of 1 MiB, a small one no rest of 512 bytes") {
  CachingAllocator allocator;
  // 17.5 MiB in a segment of 18 MiB: the rest of 0.5 MiB is not split off.
  const BlockId large = allocator.allocate(17 * mebi + 512 * kibi);
  CHECK(allocator.bytes_of(large) == 18 * mebi);
  CHECK(allocator.use().allocated_bytes == 18 * mebi);
  // 10.5 MiB in 12 MiB: 1.5 MiB are.
  const BlockId other = allocator.allocate(10 * mebi + 512 * kibi);
  CHECK(allocator.bytes_of(other) == 10 * mebi + 512 * kibi);
  const BlockId small = allocator.allocate(2 * mebi - 512 - mebi);
  CHECK(allocator.bytes_of(small) == mebi - 512);
}

TEST_CASE("allocator: best fit, and of equal sizes the lowest address") {
  CachingAllocator allocator;
  std::vector<BlockId> blocks;
  for (const std::int64_t size : {8, 1, 4, 1, 8, 1, 4}) {  // kept ones in between stop merging
    blocks.push_back(allocator.allocate(size * kibi));
  }
  const std::int64_t lower = allocator.address_of(blocks[2]);
  for (const std::size_t i : {0U, 2U, 4U, 6U}) allocator.free(blocks[i]);
  CHECK(allocator.would_take(3 * kibi) == lower);
  CHECK(allocator.address_of(allocator.allocate(3 * kibi)) == lower);
}

TEST_CASE("allocator: freed neighbours merge, but not across segments") {
  CachingAllocator allocator;
  const BlockId a = allocator.allocate(12 * mebi);
  const BlockId b = allocator.allocate(12 * mebi);
  allocator.free(a);
  allocator.free(b);
  CHECK(allocator.fragmentation().free_bytes == 24 * mebi);
  CHECK(allocator.fragmentation().largest_free_bytes == 12 * mebi);
  CHECK(allocator.fragmentation().stuck_bytes == 0);
  const BlockId c = allocator.allocate(4 * mebi);
  const BlockId d = allocator.allocate(4 * mebi);
  CHECK(allocator.fragmentation().stuck_bytes == 4 * mebi);  // 12 - 4 - 4
  allocator.free(c);
  allocator.free(d);
  CHECK(allocator.fragmentation().largest_free_bytes == 12 * mebi);
}

TEST_CASE("allocator: blocks of one stream never serve another") {
  CachingAllocator allocator;
  allocator.free(allocator.allocate(12 * mebi, 0));
  CHECK(allocator.would_take(12 * mebi, 1) == -1);
  CHECK(allocator.allocate(12 * mebi, 1) != none<BlockId>);
  CHECK(allocator.use().reserved_bytes == 24 * mebi);
}

TEST_CASE("allocator: at the limit unused whole segments go, then memory is out") {
  CachingAllocator allocator({.capacity_bytes = 40 * mebi});
  const BlockId a = allocator.allocate(12 * mebi);
  const BlockId b = allocator.allocate(12 * mebi);
  allocator.free(a);
  CHECK(allocator.allocate(26 * mebi) != none<BlockId>);  // 12 + 26 <= 40 once a's segment is gone
  CHECK(allocator.use().retries == 1);
  CHECK(allocator.use().reserved_bytes == 38 * mebi);
  CHECK(allocator.allocate(4 * mebi) == none<BlockId>);  // needs 20 MiB
  CHECK(allocator.use().out_of_memory == 1);
  // A segment that is split cannot go: 4 MiB of b's 12 stay in use.
  allocator.free(b);
  CHECK(allocator.allocate(4 * mebi) != none<BlockId>);
  CHECK(allocator.allocate(12 * mebi) == none<BlockId>);
  CHECK(allocator.use().allocated_bytes == 30 * mebi);
}

TEST_CASE("allocator: max_split_size keeps large blocks whole and gives them back first") {
  CachingAllocator allocator({.capacity_bytes = 100 * mebi, .max_split_bytes = 32 * mebi});
  allocator.free(allocator.allocate(64 * mebi));
  // A request below the limit does not take it; one at the limit only if it wastes < 20 MiB.
  CHECK(allocator.would_take(16 * mebi) == -1);
  CHECK(allocator.would_take(40 * mebi) == -1);
  CHECK(allocator.would_take(50 * mebi) != -1);
  CHECK(allocator.allocate(40 * mebi) != none<BlockId>);  // 64 + 40 > 100: the 64 go, and only they
  CHECK(allocator.use().retries == 0);
  CHECK(allocator.use().reserved_bytes == 40 * mebi);
}

TEST_CASE("allocator: power-of-two steps replace the rounding to 512 bytes") {
  AllocatorSettings settings;
  settings.roundup_power2_divisions.fill(4);
  const CachingAllocator allocator(settings);
  // Between 1024 and 2048 KiB in 4 steps of 256: 1200 becomes 1280 (the documented example).
  CHECK(allocator.rounded(1200 * kibi) == 1280 * kibi);
  CHECK(allocator.rounded(1024 * kibi) == 1024 * kibi);
  CHECK(allocator.rounded(1500) == 1536);  // below 512 x 4 as before
}

TEST_CASE("allocator: garbage collection gives back the segments that are unused for longest") {
  CachingAllocator allocator({.capacity_bytes = 100 * mebi, .garbage_collection_threshold = 0.5});
  const BlockId old = allocator.allocate(20 * mebi);
  allocator.free(old);
  std::vector<BlockId> kept;
  const BlockId young = allocator.allocate(30 * mebi);
  kept.push_back(allocator.allocate(4 * mebi));  // takes the first segment's 20 MiB
  allocator.free(kept.back());
  allocator.free(young);
  // 50 MiB reserved; the next segment is asked for at the threshold, the one after it beyond.
  kept.push_back(allocator.allocate(34 * mebi));
  CHECK(allocator.use().reserved_bytes == 84 * mebi);
  kept.push_back(allocator.allocate(36 * mebi));
  CHECK(allocator.use().retries == 0);
  CHECK(allocator.use().reserved_bytes <= 100 * mebi);
}

TEST_CASE("allocator: expandable segments grow in pages and join what follows each other") {
  CachingAllocator allocator({.expandable_segments = true});
  const BlockId a = allocator.allocate(12 * mebi);
  CHECK(allocator.use().reserved_bytes == 20 * mebi);
  CHECK(allocator.bytes_of(a) == 12 * mebi);
  const BlockId b = allocator.allocate(30 * mebi);  // 8 MiB are there, 22 more need two pages
  CHECK(allocator.use().reserved_bytes == 60 * mebi);
  CHECK(allocator.address_of(b) == allocator.address_of(a) + 12 * mebi);
  CHECK(allocator.use().segments == 1);
  allocator.free(a);
  allocator.free(b);
  CHECK(allocator.fragmentation().largest_free_bytes == 60 * mebi);
  allocator.release_cached();
  CHECK(allocator.use().reserved_bytes == 0);
  CHECK(allocator.allocate(50 * mebi) != none<BlockId>);
  CHECK(allocator.use().reserved_bytes == 60 * mebi);
}

TEST_CASE("allocator: under random requests nothing overlaps and every byte is accounted for") {
  for (const bool expandable : {false, true}) {
    for (const std::int64_t capacity : {no_memory_limit, 300 * mebi}) {
      AllocatorSettings settings;
      settings.expandable_segments = expandable;
      settings.capacity_bytes = capacity;
      CachingAllocator allocator(settings);
      std::mt19937_64 random(7);
      std::vector<BlockId> live;
      for (int i = 0; i < 20'000; ++i) {
        if (live.empty() || random() % 5 < 3) {
          const auto bytes = static_cast<std::int64_t>(1ULL << (random() % 24)) +
                             static_cast<std::int64_t>(random() % 1000);
          const BlockId block = allocator.allocate(bytes, static_cast<std::uint32_t>(random() % 3));
          if (block != none<BlockId>) {
            CHECK(allocator.bytes_of(block) >= bytes);
            live.push_back(block);
          }
        } else {
          std::swap(live[random() % live.size()], live.back());
          allocator.free(live.back());
          live.pop_back();
        }
        if (live.size() > 400) {
          for (std::size_t k = 0; k < 300; ++k) {
            allocator.free(live.back());
            live.pop_back();
          }
        }
        REQUIRE(allocator.use().reserved_bytes <= capacity);
      }
      std::sort(live.begin(), live.end(), [&](BlockId a, BlockId b) {
        return allocator.address_of(a) < allocator.address_of(b);
      });
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < live.size(); ++i) {
        sum += allocator.bytes_of(live[i]);
        if (i > 0) {
          CHECK(allocator.address_of(live[i - 1]) + allocator.bytes_of(live[i - 1]) <=
                allocator.address_of(live[i]));
        }
      }
      CHECK(sum == allocator.use().allocated_bytes);
      CHECK(allocator.fragmentation().free_bytes + sum == allocator.use().reserved_bytes);
      for (const BlockId block : live) allocator.free(block);
      allocator.release_cached();
      CHECK(allocator.use().allocated_bytes == 0);
      CHECK(allocator.use().reserved_bytes == 0);
    }
  }
}

}  // namespace
}  // namespace foretrace
