#include <doctest/doctest.h>

#include "models/jobs/parallelism/plan.h"
#include "models/jobs/workloads/transformer.h"

using foretrace::BatchShape;
using foretrace::build_transformer;
using foretrace::check_plan;
using foretrace::CollectiveKind;
using foretrace::ContextKind;
using foretrace::divide;
using foretrace::KernelSet;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::Overlap;
using foretrace::ParallelPlan;
using foretrace::TransformerSpec;
using foretrace::Workload;

namespace {

TransformerSpec small() {
  TransformerSpec spec;
  spec.layers = 2;
  spec.hidden = 1024;
  spec.heads = 16;
  spec.kv_heads = 4;
  spec.head_size = 64;
  spec.ffn = 4096;
  spec.vocabulary = 1000;
  return spec;
}

Workload built(const ParallelPlan& plan) {
  KernelSet kernels;
  kernels.attention = foretrace::AttentionKernel::flash2;
  BatchShape batch;
  batch.length = batch.keys = 8192;
  Workload workload = build_transformer(small(), batch, kernels);
  divide(workload, plan);
  return workload;
}

const Operator& attention(const Workload& workload) {
  for (const Operator& op : workload.blocks[1].operators) {
    if (op.type == OperatorType::attention) return op;
  }
  FAIL("no attention");
  return workload.blocks[1].operators.front();
}

double pairs(const Operator& op) {
  return op.attention.heads * op.attention.queries * op.attention.keys_seen();
}

}  // namespace

TEST_CASE("context: four ranks share the pairs of causal attention evenly") {
  ParallelPlan plan;
  const double whole = pairs(attention(built(plan)));
  plan.context = 4;
  const Operator ring = attention(built(plan));
  CHECK(pairs(ring) == doctest::Approx(whole / 4));
  CHECK(ring.forward.kind == CollectiveKind::all_gather);
  CHECK(ring.forward.overlap == Overlap::itself);
  // Keys and values of all positions: 8192 x 4 heads x (64 + 64) x 2 B
  CHECK(ring.forward.bytes == doctest::Approx(8192. * 4 * 128 * 2));
}

TEST_CASE("context: without balance the last rank has 2 - 1 / c times its share") {
  ParallelPlan plan;
  const double whole = pairs(attention(built(plan)));
  plan.context = 4;
  plan.balances_context = false;
  CHECK(pairs(attention(built(plan))) == doctest::Approx(whole / 4 * 1.75));
}

TEST_CASE("context: Ulysses exchanges heads for positions") {
  ParallelPlan plan;
  const double whole = pairs(attention(built(plan)));
  plan.context = 4;
  plan.context_kind = ContextKind::all_to_all;
  const Operator op = attention(built(plan));
  CHECK(pairs(op) == doctest::Approx(whole / 4));
  CHECK(op.attention.queries == doctest::Approx(8192));
  CHECK(op.forward.kind == CollectiveKind::all_to_all);
  plan.context = 3;
  CHECK_FALSE(check_plan(plan, small()).ok());
}
