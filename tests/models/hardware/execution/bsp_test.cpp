#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecDevice;
using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::OperatorWork;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::product_of;
using foretrace::test::vector_of;

TEST_CASE("bsp: a superstep is exchange, then computation, with two meetings") {
  // 4 tiles; 8 x 8 outputs of k = 100; each tile has 1,600 products at 1000 / 4 per ns: 6.4 ns. It
  // receives at 4 / 4 bytes per ns: of 2 x 2 tiles of 4 x 4 outputs (4 + 4) x 100 = 800 bytes, of
  // two halves of k for 4 x 8 outputs (4 + 8) x 50 + 32 / 2 = 616, of four quarters of k for all
  // outputs (8 + 8) x 25 + 64 x 3 / 4 = 448: the least.
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s", "sync": "10 ns"}})");
  const ExecTime time = ipu.time(fast_memory(), {}, product_of(8, 8, 100));
  CHECK(time.compute == doctest::Approx(6.4));
  CHECK(time.exchange == doctest::Approx(448));
  CHECK(time.fixed == doctest::Approx(20));
  CHECK(time.total() == doctest::Approx(474.4));
}

TEST_CASE("bsp: a product without k to divide is cut into squares") {
  // 8 x 8 outputs of k = 1: 2 x 2 tiles receive 4 + 4 numbers, 4 x 1 and 1 x 4 receive 2 + 8.
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  CHECK(ipu.time(fast_memory(), {}, product_of(8, 8, 1)).exchange == doctest::Approx(8));
}

TEST_CASE("bsp: tiles that divide k add up what they have") {
  // One output: k = 100 in 4 parts of 25; 25 + 25 operands and three quarters of a sum.
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  const ExecTime time = ipu.time(fast_memory(), {}, product_of(1, 1, 100));
  CHECK(time.compute == doctest::Approx(25 / 250.0));
  CHECK(time.exchange == doctest::Approx(50.75));
}

TEST_CASE("bsp: batches lie side by side, or follow each other on a tile") {
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  OperatorWork many = product_of(8, 8, 100);
  many.batch = 2;  // two tiles each: halves of k, (8 + 8) x 50 + 64 / 2
  CHECK(ipu.time(fast_memory(), {}, many).exchange == doctest::Approx(832));
  many.batch = 8;  // two whole products per tile
  CHECK(ipu.time(fast_memory(), {}, many).compute == doctest::Approx(2 * 6400 / 250.0));
}

TEST_CASE("bsp: memory of the tiles limits operators that only move numbers") {
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 0.5;
  const ExecTime time = ipu.time(device, {}, vector_of(100));
  CHECK(time.total() == doctest::Approx(400));
  CHECK(time.exchange == 0);
}

TEST_CASE("bsp: no division by rows and parts of k takes less than the one that is taken") {
  std::mt19937 random(7);
  const auto draw = [&random](unsigned most) { return static_cast<double>(1 + random() % most); };
  for (int i = 0; i < 200; ++i) {
    const double tiles = draw(300);
    const OperatorWork work = product_of(draw(500), draw(500), draw(500));
    const ExecModel ipu =
        machine(fmt::format(R"({{"bsp": {{"tiles": {}, "exchange": "300 GB/s"}}}})", tiles));
    ExecDevice device = fast_memory();
    device.bytes_per_ns = 50;
    double least = 1e300;
    for (double parts = 1; parts <= std::min(tiles, work.k); parts *= 2) {
      for (double rows = 1; rows <= std::min(std::floor(tiles / parts), work.m); ++rows) {
        const double columns = std::min(work.n, std::floor(tiles / (parts * rows)));
        const double m = std::ceil(work.m / rows);
        const double n = std::ceil(work.n / columns);
        const double k = std::ceil(work.k / parts);
        const double received = m * k + k * n + m * n * (1 - 1 / parts);
        const double computed =
            std::max(m * n * k / (1000 / tiles), (m * k + k * n + m * n) / (50 / tiles));
        least = std::min(least, received / (300 / tiles) + computed);
      }
    }
    CAPTURE(tiles);
    CHECK(ipu.time(device, {}, work).total() == doctest::Approx(least));
  }
}
