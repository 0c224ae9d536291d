#include "apps/serving/block_cache.h"

#include <doctest/doctest.h>

using foretrace::BlockCache;

TEST_CASE("block cache: tokens are rounded up to blocks, and nothing is taken that is not there") {
  BlockCache cache(10, 16);
  CHECK(cache.blocks_for(0) == 0);
  CHECK(cache.blocks_for(16) == 1);
  CHECK(cache.blocks_for(17) == 2);
  CHECK(cache.take(7));
  CHECK_FALSE(cache.take(4));
  CHECK(cache.available() == 3);
  cache.give_back(2);
  CHECK(cache.take(5));
  CHECK(cache.most_used() == 10);
}

TEST_CASE("block cache: a beginning stays until its blocks are needed, the oldest goes first") {
  BlockCache cache(10, 16);
  for (const int group : {1, 2}) {
    cache.hold(group);
    CHECK(cache.take(4));
    // 50 tokens are three whole blocks; the fourth stays with its sequence.
    CHECK(cache.share(group, 50) == 3);
    cache.give_back(1);
    cache.release(group);
  }
  CHECK(cache.cached(1) == 48);
  CHECK(cache.available() == 10);
  // Four are free; the fifth takes the beginning that was let go first.
  CHECK(cache.take(5));
  CHECK(cache.cached(1) == 0);
  CHECK(cache.cached(2) == 48);
}

TEST_CASE("block cache: what somebody holds is not thrown away") {
  BlockCache cache(4, 16);
  cache.hold(7);
  CHECK(cache.take(3));
  CHECK(cache.share(7, 48) == 3);
  CHECK_FALSE(cache.take(2));
  cache.release(7);
  CHECK(cache.take(2));
}

TEST_CASE("block cache: many beginnings that come and go leave nothing behind") {
  BlockCache cache(100, 16);
  for (int round = 0; round < 20'000; ++round) {
    const int group = round % 777;
    cache.hold(group);
    REQUIRE(cache.take(3));
    const std::int64_t given = cache.share(group, round % 5 == 0 ? 0 : 32);
    cache.give_back(3 - given);
    cache.release(group);
    REQUIRE(cache.available() == 100);
  }
  CHECK(cache.take(100));
}
