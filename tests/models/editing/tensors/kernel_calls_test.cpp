#include "models/editing/tensors/kernel_calls.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "models/editing/parameters/weight_uses.h"
#include "tests/models/toy_run.h"
#include "tests/sim/graph/random_change.h"

using foretrace::none;
using foretrace::TaskId;
using foretrace::editing::KernelCalls;
using foretrace::editing::KernelEditor;
using foretrace::editing::weight_uses;
using foretrace::test::Choices;
using foretrace::test::shipped;
using foretrace::test::ToyRun;

namespace {

struct Operator {
  std::string_view name;
  std::vector<std::string_view> kernels;
};

const std::array<Operator, 5> operators = {{
    {"aten::cudnn_convolution",
     {"fft2d_r2c_32x32<float>", "flip_filter<float>", "fft2d_r2c_32x32<float>",
      "sm80_xmma_gemm_cf32cf32_cf32f32_cf32_tn_n", "fft2d_c2r_32x32<float>"}},
    {"aten::cudnn_convolution", {"implicit_convolve_sgemm<float, float>"}},
    {"aten::addmm", {"ampere_sgemm_128x64_tn", "splitKreduce_kernel<32, 16, int, float>"}},
    {"aten::addmm", {"scal_kernel<float, float>", "sgemm_largek_lds64"}},
    {"aten::native_layer_norm", {"vectorized_layer_norm_kernel<float>"}},
}};

}  // namespace

TEST_CASE("kernel_calls: kernels of one call are found whatever streams and waits stand between") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    ToyRun run;
    const std::array streams = {run.stream(), run.add_stream(8), run.add_stream(9)};
    std::vector<std::vector<TaskId>> drawn;
    for (std::uint32_t i = 0; i < 2 + choices.below(12); ++i) {
      const Operator& op = operators[choices.below(operators.size())];
      // Sizes tell neighbours apart.
      const std::string n = std::to_string(64 + 8 * i);
      const std::string shapes = op.name == "aten::addmm"
                                     ? "[[" + n + "], [32, 64], [64, " + n + "]]"
                                 : op.name == "aten::native_layer_norm"
                                     ? "[[32, " + n + "], [], [" + n + "], [" + n + "]]"
                                     : "[[8, " + n + ", 14, 14], [32, " + n + ", 3, 3]]";
      drawn.emplace_back();
      for (const std::string_view kernel : op.kernels) {
        run.use_stream(streams[choices.below(3)]);
        const TaskId task = run.kernel({.name = kernel,
                                        .duration_ns = 1000 + choices.below(5000),
                                        .operator_name = op.name,
                                        .shapes = shapes});
        if (drawn.size() > 1 && choices.one_in(3)) run.wait_for(task, drawn.front().front());
        drawn.back().push_back(task);
      }
    }
    const auto graph = run.build();
    const KernelEditor editor({graph, nullptr, *shipped()});
    const KernelCalls calls(editor, editor.kernels());
    CHECK(calls.list() == drawn);
    for (const auto& call : drawn) {
      for (const TaskId kernel : call) CHECK(calls.first_of(kernel) == call.front());
    }
    // Each reads its weight once.
    const auto uses = weight_uses(editor, editor.kernels());
    REQUIRE(uses.size() == drawn.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
      CHECK(editor.kernels()[uses[i].kernel] == drawn[i].front());
      CHECK(editor.kernels()[uses[i].last] == drawn[i].back());
    }
  }
}

TEST_CASE("kernel_calls: products in a row and kernels without shapes are calls of their own") {
  ToyRun run;
  for (int i = 0; i < 2; ++i) {
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 1000,
                .operator_name = "aten::mm",
                .shapes = "[[64, 64], [64, 64]]"});
  }
  for (int i = 0; i < 2; ++i) run.kernel({.duration_ns = 1000, .operator_name = "aten::relu"});
  const auto graph = run.build();
  const KernelEditor editor({graph, nullptr, *shipped()});
  CHECK(KernelCalls(editor, editor.kernels()).list().size() == 4);
}
