#include "models/hardware/collectives/sparse_sum.h"

#include <cmath>
#include <initializer_list>

#include <doctest/doctest.h>

using foretrace::ring_load;
using foretrace::sparse_load;
using foretrace::SparseBlocks;
using foretrace::SparseMethod;
using foretrace::union_density;

TEST_CASE("sparse_sum: the union of workers' blocks lies between one worker's and all of them") {
  SparseBlocks blocks{.density = 0.1};
  CHECK(union_density(blocks, 1) == doctest::Approx(0.1));
  // 1 - 0.9^8.
  CHECK(union_density(blocks, 8) == doctest::Approx(1 - std::pow(0.9, 8)));
  blocks.overlap = 1;
  CHECK(union_density(blocks, 8) == doctest::Approx(0.1));
  // Half in common: 0.05, and of the other 0.95 each worker draws 0.05 / 0.95.
  blocks.overlap = 0.5;
  CHECK(union_density(blocks, 2) == doctest::Approx(0.05 + 0.95 * (1 - std::pow(0.9 / 0.95, 2))));
  for (const double density : {0.0, 1.0}) {
    for (const double overlap : {0.0, 0.3, 1.0}) {
      CHECK(union_density({.density = density, .overlap = overlap}, 16) ==
            doctest::Approx(density));
    }
  }
  double last = 0;
  for (double workers = 1; workers < 1000; workers *= 2) {
    const double now = union_density(blocks, workers);
    CHECK(now > last);
    CHECK(now <= 1);
    last = now;
  }
}

TEST_CASE("sparse_sum: a dense gradient goes up once and down once, a ring's almost twice") {
  const SparseBlocks dense{.density = 1, .index_bytes = 0};
  const auto load = sparse_load(SparseMethod::network, dense, 8, 0);
  CHECK(load.up == doctest::Approx(1));
  CHECK(load.down == doctest::Approx(1));
  CHECK(ring_load(8) == doctest::Approx(1.75));
  CHECK(ring_load(1e6) / load.fullest() == doctest::Approx(2).epsilon(1e-5));
  // Four servers for eight workers get twice what a worker sends.
  CHECK(sparse_load(SparseMethod::servers, dense, 8, 4).fullest() == doctest::Approx(2));
  CHECK(sparse_load(SparseMethod::servers, dense, 8, 8).fullest() == doctest::Approx(1));
}

TEST_CASE("sparse_sum: each block has an index, and an all-gather grows with the workers") {
  const SparseBlocks blocks{.density = 0.01, .overlap = 1};
  // 256 numbers of 4 bytes and 4 bytes of index.
  CHECK(sparse_load(SparseMethod::network, blocks, 64, 0).up ==
        doctest::Approx(0.01 * 1028 / 1024));
  // The largest numbers one by one: twice the bytes, from everybody.
  const SparseBlocks top{.density = 0.01, .numbers = 1};
  CHECK(sparse_load(SparseMethod::all_gather, top, 64, 0).down == doctest::Approx(63 * 0.02));
  CHECK(sparse_load(SparseMethod::all_gather, top, 128, 0).fullest() > ring_load(128));
}
