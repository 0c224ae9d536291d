#include "models/editing/tensors/weight_uses.h"

#include <doctest/doctest.h>

#include "models/editing/kernels/kernel_editor.h"
#include "tests/models/toy_run.h"

using foretrace::TaskGraph;
using foretrace::TaskId;
using foretrace::editing::KernelEditor;
using foretrace::editing::weight_uses;
using foretrace::test::shipped;
using foretrace::test::ToyRun;

TEST_CASE("weight_uses: a call reads its weight once, however many kernels it launches") {
  ToyRun run;
  const auto convolution = [&run](const char* kernel, const char* shapes) {
    run.kernel({.name = kernel,
                .duration_ns = 1000,
                .operator_name = "aten::miopen_convolution",
                .shapes = shapes});
  };
  // Transposed, convolved, transposed back, and padding made whole; then a layer of another size.
  for (const char* kernel : {"transpose_a", "transpose_b", "igemm_fwd_gtcx", "transpose_c", "cast"})
    convolution(kernel, "[[8, 64, 56, 56], [128, 64, 3, 3]]");
  const auto side = run.add_stream(9);
  run.use_stream(side);
  for (const char* kernel : {"transpose_a", "igemm_fwd_gtcx", "transpose_c"})
    convolution(kernel, "[[8, 128, 28, 28], [256, 128, 3, 3]]");
  const TaskGraph graph = run.build();
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto uses = weight_uses(editor, editor.kernels());
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].sizes == std::vector<double>{128.0 * 64 * 9});
  CHECK(uses[1].sizes == std::vector<double>{256.0 * 128 * 9});
  CHECK(uses[1].kernel == 5);
}
