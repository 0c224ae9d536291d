#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecModel;
using foretrace::ExecTime;
using foretrace::OperatorWork;
using foretrace::test::fast_memory;
using foretrace::test::machine;
using foretrace::test::machine_error;
using foretrace::test::product_of;
using foretrace::test::vector_of;

namespace {

ExecTime with(const std::string& option, foretrace::WorkPass pass) {
  const ExecModel model = machine(
      R"({"systolic": {"rows": 8, "cols": 8, "clock_mhz": 1000}, "sparse_lanes": )" + option + "}");
  OperatorWork work = product_of(80, 80, 86);
  work.pass = pass;
  return model.time(fast_memory(), {}, work);
}

// 100 tiles of 86 + 14 cycles.
constexpr double dense = 10000;

}  // namespace

TEST_CASE("sparse_lanes: zeros shorten the arithmetic, at most by the depth") {
  using foretrace::WorkPass;
  CHECK(with("{}", WorkPass::forward).compute == doctest::Approx(dense));
  CHECK(with(R"({"activations": 0.5})", WorkPass::forward).compute == doctest::Approx(dense / 2));
  CHECK(with(R"({"activations": 0.5, "phi": 0.8})", WorkPass::forward).compute ==
        doctest::Approx(0.6 * dense));
  CHECK(with(R"({"activations": 0.9})", WorkPass::forward).compute == doctest::Approx(dense / 3));
  CHECK(with(R"({"activations": 0.9, "depth": 5})", WorkPass::forward).compute ==
        doctest::Approx(dense / 5));
}

TEST_CASE("sparse_lanes: each product of training watches its own operand") {
  using foretrace::WorkPass;
  const std::string zeros = R"({"activations": 0.25, "gradients": 0.5})";
  CHECK(with(zeros, WorkPass::forward).compute == doctest::Approx(0.75 * dense));
  CHECK(with(zeros, WorkPass::input_gradient).compute == doctest::Approx(0.5 * dense));
  CHECK(with(zeros, WorkPass::weight_gradient).compute == doctest::Approx(0.5 * dense));
}

TEST_CASE("sparse_lanes: what is no product stays, and alone it is no machine") {
  const ExecModel model = machine(
      R"({"systolic": {"rows": 8, "cols": 8, "clock_mhz": 1000}, "sparse_lanes": {"activations": 0.9}})");
  CHECK(model.time(fast_memory(), {}, vector_of(100)).compute == doctest::Approx(100));
  CHECK(machine_error(R"({"sparse_lanes": {}})").starts_with("got 0 machines, expected one of"));
}
