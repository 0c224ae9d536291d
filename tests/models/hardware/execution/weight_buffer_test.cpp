#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecDevice;
using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::ExecWorkload;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::product_of;

namespace {

ExecTime with(const std::string& size, double model_bytes) {
  const ExecModel model = machine(
      R"({"systolic": {"rows": 8, "cols": 8, "clock_mhz": 1000}, "weight_buffer": {"size": ")" +
      size + "\"}}");
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 1;
  return model.time(device, ExecWorkload{model_bytes}, product_of(8, 8000, 10));
}

}  // namespace

TEST_CASE(
    "weight_buffer: none is no cache, one as large as the model takes the traffic of weights") {
  CHECK(with("0 B", 1e6).weights == doctest::Approx(80000));
  CHECK(with("250 kB", 1e6).weights == doctest::Approx(60000));
  CHECK(with("1 MB", 1e6).weights == 0);
  CHECK(with("1 GB", 1e6).weights == 0);
  // Inputs and outputs pass all the same: 80 + 64,000 bytes.
  CHECK(with("1 GB", 1e6).traffic == doctest::Approx(64080));
}

TEST_CASE("weight_buffer: without a known model nothing stays") {
  CHECK(with("1 GB", 0).weights == doctest::Approx(80000));
}

TEST_CASE("weight_buffer: narrower numbers make more of the model stay") {
  // 4 of 8 bits: of 1 MB of weights 500 kB are left, and 250 kB of them stay.
  const ExecModel model = machine(
      R"({"dsp_array": {"units": 64, "clock_mhz": 1000, "bits": 4}, "weight_buffer": {"size": "250 kB"}})");
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 1;
  const ExecTime time = model.time(device, ExecWorkload{1e6}, product_of(8, 8000, 10));
  CHECK(time.weights == doctest::Approx(80000.0 / 2 * 0.5));
}
