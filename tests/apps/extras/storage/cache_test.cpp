#include "apps/extras/storage/cache.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace foretrace::storage;

namespace {

std::vector<Access> reads_of(const std::string& items, double bytes = 1) {
  std::vector<Access> reads;
  for (const char item : items) {
    reads.push_back({.item = static_cast<std::uint32_t>(item), .bytes = bytes});
  }
  find_next_uses(reads);
  return reads;
}

// 'h' for a hit, '.' for a miss.
std::string hits_of(const std::string& items, const CacheOptions& options) {
  Cache cache(options);
  std::string hits;
  for (const Access& access : reads_of(items)) hits += cache.read(access) ? 'h' : '.';
  return hits;
}

}  // namespace

TEST_CASE("cache: the place of the next use is known") {
  const auto reads = reads_of("abca");
  CHECK(reads[0].next_use == 3);
  CHECK(reads[1].next_use == std::numeric_limits<std::uint64_t>::max());
  CHECK(reads[3].next_use == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("cache: the least recently used item goes first") {
  // Room for three. d pushes out b, since a was used again; b then pushes out c, c pushes out a.
  CHECK(hits_of("abcadbca", {.bytes = 3}) == "...h....");
  // a b c, a hit (b c a), d for b (c a d), a hit (c d a), c hit.
  CHECK(hits_of("abcadac", {.bytes = 3}) == "...h.hh");
}

TEST_CASE("cache: with room for all only the first read of an item is a miss") {
  CHECK(hits_of("abcdabcddcba", {.bytes = 4}) == "....hhhhhhhh");
  CHECK(hits_of("abcdabcddcba", {.bytes = 1e9}) == "....hhhhhhhh");
}

TEST_CASE("cache: none without room, and nothing comes in that does not fit") {
  CHECK(hits_of("aaaa", {.bytes = 0}) == "....");
  CHECK(hits_of("aaaa", {.bytes = 0.5}) == "....");
  // Items of no bytes are no reason for a cache of none to hit.
  Cache none({.bytes = 0});
  CHECK_FALSE(none.read({.item = 1, .bytes = 0}));
  CHECK_FALSE(none.read({.item = 1, .bytes = 0}));
}

TEST_CASE("cache: a scan in circles defeats least recently used, and not an oracle") {
  CHECK(hits_of("abcabcabc", {.bytes = 2}) == ".........");
  // c would be used later than a, which it would push out: it stays outside. a and b hit from then
  // on; at the end nothing is used again.
  const CacheOptions oracle{.bytes = 2, .admission = Admission::oracle};
  CHECK(hits_of("abcabcabc", oracle) == "...hh.hh.");
}

TEST_CASE("cache: an oracle that is always wrong admits what it should not") {
  const CacheOptions wrong{.bytes = 2, .admission = Admission::oracle, .probability = 0};
  // It refuses a and b while there is room, and c, whenever they would be useful.
  CHECK(hits_of("abab", wrong) == "....");
}

TEST_CASE("cache: a chance of one is always, of none never") {
  CHECK(hits_of("abab", {.bytes = 2, .admission = Admission::chance, .probability = 1}) == "..hh");
  CHECK(hits_of("abab", {.bytes = 2, .admission = Admission::chance, .probability = 0}) == "....");
}

TEST_CASE("cache: a large item pushes out as many as it needs") {
  std::vector<Access> reads = reads_of("abcda");
  reads[3].bytes = 2;  // d pushes out a and b
  Cache cache({.bytes = 3});
  for (std::size_t i = 0; i < 4; ++i) CHECK_FALSE(cache.read(reads[i]));
  CHECK(cache.used_bytes() == 3);
  CHECK_FALSE(cache.read(reads[4]));
  CHECK(cache.used_bytes() == 3);  // d and a; c went
}
