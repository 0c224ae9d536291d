#include <doctest/doctest.h>

#include "models/jobs/parallelism/plan.h"
#include "models/jobs/workloads/transformer.h"

using foretrace::BatchShape;
using foretrace::Block;
using foretrace::BlockRole;
using foretrace::build_transformer;
using foretrace::check_plan;
using foretrace::CollectiveKind;
using foretrace::divide;
using foretrace::KernelSet;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::Overlap;
using foretrace::ParallelPlan;
using foretrace::TransformerSpec;
using foretrace::Workload;

namespace {

TransformerSpec gpt_22b() {
  TransformerSpec spec;
  spec.layers = 48;
  spec.hidden = 6144;
  spec.heads = spec.kv_heads = 64;
  spec.head_size = 96;
  spec.ffn = 4 * 6144;
  spec.vocabulary = 51200;
  return spec;
}

Block layer(const ParallelPlan& plan) {
  BatchShape batch;
  batch.sequences = 4;
  Workload workload = build_transformer(gpt_22b(), batch, KernelSet{});
  divide(workload, plan);
  for (const Block& block : workload.blocks) {
    if (block.role == BlockRole::layer) return block;
  }
  return {};
}

double kept(const Block& block) {
  double bytes = 0;
  for (const Operator& op : block.operators) bytes += op.kept_bytes;
  return bytes;
}

const Operator& first(const Block& block, OperatorType type) {
  for (const Operator& op : block.operators) {
    if (op.type == type) return op;
  }
  FAIL("not there");
  return block.operators.front();
}

}  // namespace

TEST_CASE("tensor: what a rank keeps is as in Table 2 of Korthikanti et al.") {
  const double sbh = 2048. * 4 * 6144;
  const double pairs = 5. * 64 * 2048 * 2048 * 4;
  ParallelPlan plan;
  plan.tensor = 8;
  CHECK(kept(layer(plan)) == doctest::Approx(sbh * (10 + 24. / 8) + pairs / 8));
  plan.sequence = true;
  CHECK(kept(layer(plan)) == doctest::Approx((sbh * 34 + pairs) / 8));
}

TEST_CASE("tensor: products are divided, and weights with them") {
  ParallelPlan plan;
  const double whole = weights_of(layer(plan));
  plan.tensor = 8;
  const Block block = layer(plan);
  // All but norms and the biases of what is added up.
  CHECK(weights_of(block) == doctest::Approx(whole / 8).epsilon(0.001));
  const Operator& product = first(block, OperatorType::product);
  CHECK(product.shape.n == doctest::Approx(3 * 6144. / 8));
  CHECK(product.shape.k == doctest::Approx(6144));
}

TEST_CASE("tensor: one collective per pair of products and direction") {
  ParallelPlan plan;
  plan.tensor = 8;
  const Block plain = layer(plan);
  CHECK(first(plain, OperatorType::enter).forward.kind == CollectiveKind::none);
  CHECK(first(plain, OperatorType::enter).backward.kind == CollectiveKind::all_reduce);
  CHECK(first(plain, OperatorType::enter).backward.overlap == Overlap::weights);
  CHECK(first(plain, OperatorType::leave).forward.kind == CollectiveKind::all_reduce);
  CHECK(first(plain, OperatorType::leave).forward.bytes == doctest::Approx(2048. * 4 * 6144 * 2));
  plan.sequence = true;
  const Block sequence = layer(plan);
  CHECK(first(sequence, OperatorType::enter).forward.kind == CollectiveKind::all_gather);
  CHECK(first(sequence, OperatorType::enter).backward.kind == CollectiveKind::reduce_scatter);
  CHECK(first(sequence, OperatorType::enter).again.kind == CollectiveKind::all_gather);
  CHECK(first(sequence, OperatorType::leave).forward.kind == CollectiveKind::reduce_scatter);
  CHECK(first(sequence, OperatorType::leave).backward.kind == CollectiveKind::all_gather);
}

TEST_CASE("tensor: sizes that do not divide are refused") {
  ParallelPlan plan;
  plan.tensor = 7;
  const auto status = check_plan(plan, gpt_22b());
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "tensor: got 7, expected a divisor of the 64 heads");
  // Positions that one rank has are not divided.
  plan.tensor = 1;
  plan.sequence = true;
  CHECK(check_plan(plan, gpt_22b()).ok());
}
