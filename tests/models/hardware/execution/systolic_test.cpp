#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecDevice;
using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::OperatorWork;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::machine_error;
using foretrace::test::product_of;
using foretrace::test::vector_of;

TEST_CASE("systolic: output stationary tiles take k + rows + cols - 2 cycles each") {
  // 100 x 70 outputs on 32 x 16 units: ceil(100 / 32) ceil(70 / 16) = 4 x 5 = 20 tiles of
  // 50 + 32 + 16 - 2 = 96 cycles: 1920 cycles, at 500 MHz 3840 ns.
  const ExecModel array =
      machine(R"({"systolic": {"rows": 32, "cols": 16, "clock_mhz": 500, "dataflow": "os"}})");
  CHECK(array.time(fast_memory(), {}, product_of(100, 70, 50)).total() == doctest::Approx(3840));
  // Four times the batch is four times the tiles.
  OperatorWork four = product_of(100, 70, 50);
  four.batch = 4;
  CHECK(array.time(fast_memory(), {}, four).compute == doctest::Approx(4 * 3840));
  // One output alone: 50 + 46 cycles.
  CHECK(array.time(fast_memory(), {}, product_of(1, 1, 50)).compute == doctest::Approx(192));
}

TEST_CASE("systolic: weight stationary tiles are of k and n, and m rows pass each") {
  // ceil(50 / 32) ceil(70 / 16) = 2 x 5 = 10 tiles of 32 + 100 + 32 + 16 - 2 = 178 cycles.
  const ExecModel array =
      machine(R"({"systolic": {"rows": 32, "cols": 16, "clock_mhz": 1000, "dataflow": "ws"}})");
  CHECK(array.time(fast_memory(), {}, product_of(100, 70, 50)).compute == doctest::Approx(1780));
  // Pipelined: 32 rows are loaded once, 10 x 100 rows pass, 46 cycles of skew once.
  const ExecModel pipelined = machine(
      R"({"systolic": {"rows": 32, "cols": 16, "clock_mhz": 1000, "dataflow": "ws", "pipelined": true}})");
  CHECK(pipelined.time(fast_memory(), {}, product_of(100, 70, 50)).compute ==
        doctest::Approx(32 + 1000 + 46));
}

TEST_CASE("systolic: several arrays share tiles in rounds, pipelined ones fill once") {
  // 20 tiles on 3 arrays: 7 rounds.
  const ExecModel three =
      machine(R"({"systolic": {"rows": 32, "cols": 16, "arrays": 3, "clock_mhz": 1000}})");
  CHECK(three.time(fast_memory(), {}, product_of(100, 70, 50)).compute == doctest::Approx(7 * 96));
  // SuSy: (rows + cols - 2) + k x tiles.
  const ExecModel pipelined =
      machine(R"({"systolic": {"rows": 32, "cols": 16, "clock_mhz": 1000, "pipelined": true}})");
  CHECK(pipelined.time(fast_memory(), {}, product_of(100, 70, 50)).compute ==
        doctest::Approx(46 + 50 * 20));
}

TEST_CASE("systolic: memory runs beside the array, dispatch does not, other operators pass by") {
  const ExecModel array =
      machine(R"({"systolic": {"rows": 32, "cols": 16, "clock_mhz": 1000, "dispatch": "1 us"}})");
  ExecDevice slow = fast_memory();
  slow.bytes_per_ns = 1;
  // 100 x 50 + 50 x 70 + 100 x 70 = 15,500 bytes; 1920 cycles of arithmetic.
  const ExecTime time = array.time(slow, {}, product_of(100, 70, 50));
  CHECK(time.weights == 3500);
  CHECK(time.traffic == 12000);
  CHECK(time.total() == doctest::Approx(1000 + 15500));
  CHECK(array.time(fast_memory(), {}, vector_of(300)).total() == doctest::Approx(1300));
}

TEST_CASE("systolic: wrong parameters are one line with the nearest name") {
  CHECK(machine_error(R"({"systolic": {"rows": 32, "cols": 16}})")
            .starts_with("systolic: parameter 'clock_mhz': missing"));
  CHECK(machine_error(R"({"systolic": {"row": 32, "cols": 16, "clock_mhz": 1}})")
            .find("unknown parameter 'row' (did you mean 'rows'?)") != std::string::npos);
  CHECK(machine_error(R"({"systolic": {"rows": 0, "cols": 16, "clock_mhz": 1}})")
            .find("'rows': got '0'") != std::string::npos);
  CHECK(machine_error(R"({"systolic": {"rows": 1, "cols": 1, "clock_mhz": 1, "dataflow": "oss"}})")
            .find("did you mean 'os'?") != std::string::npos);
}
