#include "tests/models/execution/machine.h"

using foretrace::ExecDevice;
using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::OperatorWork;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::product_of;
using foretrace::test::vector_of;

TEST_CASE("bsp: a superstep is exchange, then computation, with two meetings") {
  // 4 tiles; 8 x 8 outputs of k = 100. 2 x 2 tiles of 4 x 4: 1,600 products each, at 1000 / 4 per
  // ns: 6.4 ns. Each receives 4 x 100 + 100 x 4 = 800 bytes at 4 / 4 bytes per ns.
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s", "sync": "10 ns"}})");
  const ExecTime time = ipu.time(fast_memory(), {}, product_of(8, 8, 100));
  CHECK(time.compute == doctest::Approx(6.4));
  CHECK(time.exchange == doctest::Approx(800));
  CHECK(time.fixed == doctest::Approx(20));
  CHECK(time.total() == doctest::Approx(826.4));
}

TEST_CASE("bsp: tiles that are left divide k, and add up what they have") {
  // One output: k = 100 in 4 parts of 25; 25 + 25 operands and one sum.
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  const ExecTime time = ipu.time(fast_memory(), {}, product_of(1, 1, 100));
  CHECK(time.compute == doctest::Approx(25 / 250.0));
  CHECK(time.exchange == doctest::Approx(51));
}

TEST_CASE("bsp: of divisions with equal work the one that receives less, batches side by side") {
  // 8 x 8 outputs on 4 tiles: 4 x 1 and 1 x 4 receive (2 + 8) k, 2 x 2 receives (4 + 4) k.
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  OperatorWork two = product_of(8, 8, 100);
  two.batch = 2;  // two tiles each: 4 x 8 outputs, (4 + 8) x 100 bytes
  CHECK(ipu.time(fast_memory(), {}, two).exchange == doctest::Approx(1200));
  two.batch = 8;  // two whole products per tile
  CHECK(ipu.time(fast_memory(), {}, two).compute == doctest::Approx(2 * 6400 / 250.0));
}

TEST_CASE("bsp: memory of the tiles limits operators that only move numbers") {
  const ExecModel ipu = machine(R"({"bsp": {"tiles": 4, "exchange": "4 GB/s"}})");
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 0.5;
  const ExecTime time = ipu.time(device, {}, vector_of(100));
  CHECK(time.total() == doctest::Approx(400));
  CHECK(time.exchange == 0);
}
