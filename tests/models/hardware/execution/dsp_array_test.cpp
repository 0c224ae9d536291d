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

TEST_CASE("dsp_array: cycles are ii x ceil(multiplications / (units x lanes)) + depth") {
  // 1000 x 10 x 10 = 100,000 products on 64 blocks of 2 lanes: 782 starts every 3 cycles, 40 more.
  const ExecModel design = machine(
      R"({"dsp_array": {"units": 64, "lanes_8": 2, "clock_mhz": 200, "ii": 3, "depth": 40}})");
  CHECK(design.time(fast_memory(), {}, product_of(1000, 10, 10)).compute ==
        doctest::Approx((3 * 782 + 40) * 5));
}

TEST_CASE("dsp_array: narrower numbers have more lanes and fewer bytes") {
  const std::string text =
      R"({"dsp_array": {"units": 100, "lanes_8": 2, "lanes_16": 1, "lanes_32": 0.25, "clock_mhz": 1000%}})";
  const auto with = [&](const std::string& more) {
    std::string whole = text;
    return machine(whole.replace(whole.find('%'), 1, more));
  };
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 10;
  OperatorWork wide = product_of(100, 100, 100);  // 1e6 products
  wide.number_bytes = 4;
  for (double* bytes : {&wide.input_bytes, &wide.weight_bytes, &wide.output_bytes}) *bytes *= 4;
  const ExecTime of_32 = with("").time(device, {}, wide);
  CHECK(of_32.compute == doctest::Approx(40000));  // 25 lanes
  CHECK(of_32.loaded() == doctest::Approx(12000));
  const ExecTime of_16 = with(R"(, "bits": 16)").time(device, {}, wide);
  CHECK(of_16.compute == doctest::Approx(10000));
  CHECK(of_16.loaded() == doctest::Approx(6000));
  const ExecTime of_4 = with(R"(, "bits": 4)").time(device, {}, wide);
  CHECK(of_4.compute == doctest::Approx(5000));  // no lanes of 4 bits are stated
  CHECK(of_4.loaded() == doctest::Approx(1500));
}

TEST_CASE("dsp_array: operators that are no products use the lanes one number each") {
  const ExecModel design = machine(R"({"dsp_array": {"units": 10, "clock_mhz": 1000}})");
  CHECK(design.time(fast_memory(), {}, vector_of(95)).compute == doctest::Approx(10));
}

TEST_CASE("dsp_array: a design larger than its part is refused") {
  CHECK(
      machine_error(R"({"dsp_array": {"units": 2600, "units_available": 2520, "clock_mhz": 1}})") ==
      "dsp_array: parameter 'units': got 2600, expected at most the 2520 of the part");
  CHECK(
      machine_error(
          R"({"dsp_array": {"units": 1, "clock_mhz": 1, "buffer": "5 MiB", "ram_available": "4 MiB"}})") ==
      "dsp_array: parameter 'buffer': got 5242880 B, expected at most the 4194304 B of the part");
}
