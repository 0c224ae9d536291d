#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecDevice;
using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::OperatorWork;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::product_of;

namespace {

ExecTime with(const std::string& option) {
  const ExecModel model = machine(
      R"({"systolic": {"rows": 8, "cols": 8, "clock_mhz": 1000}, "weight_decompression": )" +
      option + "}");
  ExecDevice device = fast_memory();
  device.bytes_per_ns = 1;
  return model.time(device, {}, product_of(8, 8000, 10));
}

}  // namespace

TEST_CASE("weight_decompression: weights are loaded in ratio / efficiency of their time") {
  CHECK(with(R"({"ratio": 1})").weights == doctest::Approx(80000));
  CHECK(with(R"({"ratio": 0.25})").weights == doctest::Approx(20000));
  CHECK(with(R"({"ratio": 0.25, "efficiency": 0.5})").weights == doctest::Approx(40000));
  CHECK(with(R"({"ratio": 0.25})").traffic == with(R"({"ratio": 1})").traffic);
}

TEST_CASE("weight_decompression: no product is faster than its weights leave the decompressor") {
  // 1000 tiles of 10 + 14 cycles; 80,000 dense bytes at 2 bytes per ns.
  CHECK(with(R"({"ratio": 0.25})").compute == doctest::Approx(24000));
  CHECK(with(R"({"ratio": 0.25, "rate": "2 GB/s"})").compute == doctest::Approx(40000));
  CHECK(with(R"({"ratio": 0.25, "rate": "8 GB/s"})").compute == doctest::Approx(24000));
}

TEST_CASE("weight_decompression: a product of two activations has no weights") {
  const ExecModel model = machine(
      R"({"systolic": {"rows": 8, "cols": 8, "clock_mhz": 1000}, "weight_decompression": {"ratio": 0.5, "rate": "1 B/s"}})");
  OperatorWork scores = product_of(8, 8, 8);
  scores.input_bytes += scores.weight_bytes;
  scores.weight_bytes = 0;
  CHECK(model.time(fast_memory(), {}, scores).compute == doctest::Approx(22));
}
