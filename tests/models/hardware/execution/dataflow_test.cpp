#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecDevice;
using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::product_of;

TEST_CASE("dataflow: the longer of initiation and streams decides") {
  // 10 x 10 x 10 on 64 elements: 16 starts every 2 cycles and 30 to drain; 300 bytes through 4
  // ports of 2 bytes: 37.5 cycles.
  const std::string text =
      R"({"dataflow": {"pe": 64, "ii": 2, "depth": 30, "clock_mhz": 500, "stream_ports": 4, "port_bytes": 2}})";
  const ExecTime time = machine(text).time(fast_memory(), {}, product_of(10, 10, 10));
  CHECK(time.compute == doctest::Approx((2 * 16 + 30) * 2));
  CHECK(time.loaded() == doctest::Approx(75));
  CHECK(time.total() == doctest::Approx(124));
  // With one port the streams decide: 150 cycles.
  std::string narrow = text;
  narrow.replace(narrow.find("\"stream_ports\": 4"), 17, "\"stream_ports\": 1");
  CHECK(machine(narrow).time(fast_memory(), {}, product_of(10, 10, 10)).total() ==
        doctest::Approx(300));
}

TEST_CASE("dataflow: ports are no faster than memory") {
  const ExecModel wide = machine(
      R"({"dataflow": {"pe": 1000, "clock_mhz": 1000, "stream_ports": 100, "port_bytes": 64}})");
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 3;
  CHECK(wide.time(device, {}, product_of(10, 10, 10)).loaded() == doctest::Approx(100));
}
