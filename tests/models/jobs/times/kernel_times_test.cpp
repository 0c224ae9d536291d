#include "models/jobs/times/kernel_times.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::find_cluster;
using foretrace::find_framework;
using foretrace::KernelTimes;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::Precision;
using foretrace::Precisions;

namespace {

Operator large_product() {
  Operator op;
  op.type = OperatorType::product;
  op.shape = {1, 16384, 16384, 16384};
  return op;
}

double forward_ns(const char* cluster_name, bool early, const Operator& op, Precisions precisions) {
  const auto cluster = find_cluster(*foretrace::test::shipped(), cluster_name);
  REQUIRE_MESSAGE(cluster.ok(), (cluster.ok() ? "" : cluster.error().message));
  auto framework = find_framework(*foretrace::test::shipped(), "llm_foundry_2023");
  REQUIRE_MESSAGE(framework.ok(), (framework.ok() ? "" : framework.error().message));
  REQUIRE(framework->product_share[2] < 1);
  if (!early) framework->product_share.fill(1);
  return KernelTimes(*cluster, *framework, precisions).forward(op).ns;
}

}  // namespace

TEST_CASE("kernel times: products take longer with libraries that an accelerator was new to") {
  const Operator op = large_product();
  for (const bool low : {false, true}) {
    const Precisions precisions{Precision::bf16, low};
    CHECK(forward_ns("mosaic_h100", true, op, precisions) >
          1.1 * forward_ns("mosaic_h100", false, op, precisions));
    // The same libraries knew the A100.
    CHECK(forward_ns("mosaic_a100", true, op, precisions) ==
          forward_ns("mosaic_a100", false, op, precisions));
  }
}

TEST_CASE("kernel times: the share of products counts for products of matrix units alone") {
  Operator moved;
  moved.shape = {1, 16384, 16384, 0};
  moved.forward_bytes = 4;
  Operator attention;
  attention.type = OperatorType::attention;
  attention.shape.batch = 4;
  attention.attention = {32, 32, 4096, 4096, 128, 128};
  for (const Operator& op : {moved, attention}) {
    const Precisions precisions{Precision::bf16, false};
    CHECK(forward_ns("mosaic_h100", true, op, precisions) ==
          forward_ns("mosaic_h100", false, op, precisions));
  }
  const Precisions single{Precision::fp32, false};
  CHECK(forward_ns("mosaic_h100", true, large_product(), single) ==
        forward_ns("mosaic_h100", false, large_product(), single));
}

TEST_CASE("kernel times: under autocast products alone run in 16 bit, on casts of their weights") {
  const auto cluster = find_cluster(*foretrace::test::shipped(), "dgx_a100");
  auto framework = find_framework(*foretrace::test::shipped(), "eager_autocast");
  REQUIRE((cluster.ok() && framework.ok()));
  REQUIRE(framework->autocasts);
  const auto times = [&](Precision precision) {
    return KernelTimes(*cluster, *framework, Precisions{precision, false});
  };
  const KernelTimes cast = times(Precision::bf16);
  const KernelTimes single = times(Precision::fp32);
  framework->autocasts = false;
  const KernelTimes half = times(Precision::bf16);
  Operator rows;
  rows.type = OperatorType::rows;
  rows.shape = {1, 16384, 4096, 0};
  rows.backward_bytes = 20;
  CHECK(cast.number_bytes() == 4);
  CHECK(half.number_bytes() == 2);
  CHECK(cast.forward(rows).ns == single.forward(rows).ns);
  Operator product = large_product();
  product.weights = 16384. * 16384;
  const double casts = cast.move(6 * product.weights, 1).ns - cast.move(1, 1).ns;
  CHECK(cast.forward(product).ns - half.forward(product).ns == doctest::Approx(casts));
  CHECK(cast.input_gradient(product).ns == half.input_gradient(product).ns);
  CHECK(cast.weight_gradient(product).ns - half.weight_gradient(product).ns ==
        doctest::Approx(casts));
  Operator attention;
  attention.type = OperatorType::attention;
  attention.shape = {1, 16, 16, 64};
  attention.attention.queries = attention.attention.keys = 16;
  attention.attention.heads = attention.attention.key_heads = 4096;
  attention.attention.head_size = attention.attention.value_size = 64;
  CHECK(cast.forward(attention).ns == half.forward(attention).ns);
  CHECK(cast.forward(attention).ns < single.forward(attention).ns);
  // Nothing is cast where all runs in one type.
  CHECK(single.forward(product).ns == times(Precision::fp32).forward(product).ns);
}
