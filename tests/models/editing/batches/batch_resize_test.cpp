#include "models/editing/batches/batch_resize.h"

#include <string>
#include <string_view>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& batch_size;
}

using namespace foretrace;
using foretrace::test::ToyKernel;

namespace {

// 8 samples of 512 positions, 12 heads of 64.
constexpr ToyKernel gelu = {.name = "vectorized_elementwise_kernel<4, float>",
                            .duration_ns = 30000,
                            .operator_name = "aten::gelu",
                            .shapes = "[[8, 512, 768]]"};

std::string shapes_of(const TaskGraph& graph, std::string_view name) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (graph.name(task) == name) return std::string(graph.names()[graph.work(task).shapes]);
  }
  return {};
}

struct Product {
  std::string_view operator_name;
  std::string_view shapes;
  std::string_view twice;  ///< of 16 samples
};

}  // namespace

TEST_CASE("batch resize: operands of every product are those of the new batch, and back again") {
  const auto a100 = test::toy_accelerator();
  for (const Product& product :
       {Product{"aten::linear", "[[8, 512, 768], [3072, 768], [3072]]",
                "[[16, 512, 768], [3072, 768], [3072]]"},
        Product{"aten::mm", "[[4096, 768], [768, 768]]", "[[8192, 768], [768, 768]]"},
        Product{"aten::bmm", "[[96, 512, 64], [96, 64, 512]]", "[[192, 512, 64], [192, 64, 512]]"},
        Product{"aten::baddbmm", "[[96, 512, 512], [96, 512, 64], [96, 64, 512]]",
                "[[192, 512, 512], [192, 512, 64], [192, 64, 512]]"},
        Product{"aten::baddbmm", "[[96, 1, 512], [96, 512, 64], [96, 64, 512]]",
                "[[192, 1, 512], [192, 512, 64], [192, 64, 512]]"}}) {
    CAPTURE(std::string(product.shapes));
    const ToyKernel kernel = {.name = "ampere_sgemm_128x64_tn",
                              .duration_ns = 700000,
                              .operator_name = product.operator_name,
                              .shapes = product.shapes};
    test::ToyRun run;
    run.kernel(gelu);
    run.kernel(kernel);
    const auto twice = test::after(run.build(), what_ifs::batch_size, {{"factor", "2"}}, &a100);
    CHECK(shapes_of(twice, kernel.name) == product.twice);
    const auto back = test::after(twice, what_ifs::batch_size, {{"factor", "0.5"}}, &a100);
    CHECK(shapes_of(back, kernel.name) == product.shapes);
    CHECK(static_cast<double>(test::duration_of(back, kernel.name)) ==
          doctest::Approx(700000).epsilon(1e-4));
  }
}
