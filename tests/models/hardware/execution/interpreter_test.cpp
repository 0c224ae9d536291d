#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecModel;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::machine_error;
using foretrace::test::product_of;
using foretrace::test::vector_of;

TEST_CASE("interpreter: latency is linear in operations") {
  const ExecModel mcu = machine(
      R"({"interpreter": {"operations_per_us": 80, "start": "46.7 ms", "flash": "512 KiB"}})");
  // 10 x 20 x 40 products are 16,000 operations: 200 us.
  CHECK(mcu.time(fast_memory(), {}, product_of(10, 20, 40)).total() == doctest::Approx(200e3));
  CHECK(mcu.time(fast_memory(), {}, vector_of(800)).total() == doctest::Approx(10e3));
  CHECK(mcu.start_ns() == doctest::Approx(46.7e6));
  CHECK(mcu.machine().provenance == foretrace::Provenance::table);
}

TEST_CASE("interpreter: dispatch counts per operator, memories are stated") {
  const ExecModel mcu = machine(
      R"({"interpreter": {"operations_per_us": 1000, "dispatch": "5 us", "flash": "1 MiB", "program": "89 KiB", "state": "2 KiB"}})");
  CHECK(mcu.time(fast_memory(), {}, product_of(10, 10, 10)).total() == doctest::Approx(7000));
  CHECK(mcu.weight_store() == 1 << 20);
  CHECK(mcu.store_taken() == 89 * 1024);
  CHECK(mcu.memory_taken() == 2048);
  CHECK(machine_error(R"({"interpreter": {"operations_per_us": 80}})")
            .starts_with("interpreter: parameter 'flash': missing"));
}
