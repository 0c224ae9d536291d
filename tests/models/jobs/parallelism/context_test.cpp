#include <vector>

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

Workload built(const ParallelPlan& plan, double number_bytes = 2) {
  KernelSet kernels;
  kernels.attention = foretrace::AttentionKernel::flash2;
  BatchShape batch;
  batch.length = batch.keys = 8192;
  batch.number_bytes = batch.product_bytes = number_bytes;
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

TEST_CASE("context: a framework that collects keys computes the first piece beside them") {
  ParallelPlan plan;
  const double whole = pairs(attention(built(plan)));
  plan.context = 4;
  plan.tensor = 2;
  plan.context_ring = {true, true, 38, 4, 13, 25, 4};
  std::vector<Operator> pieces;
  std::vector<Operator> merges;
  double kept = 0;
  const Workload workload = built(plan);
  for (const Operator& op : workload.blocks[1].operators) {
    if (op.type == OperatorType::attention) pieces.push_back(op);
    if (op.name == "merge pieces") merges.push_back(op);
    if (op.type == OperatorType::attention) kept += op.kept_bytes;
  }
  REQUIRE(pieces.size() == 2);
  REQUIRE(merges.size() == 1);
  CHECK(pairs(pieces[0]) == doctest::Approx(whole / 4 / 2 / 4));
  CHECK(pairs(pieces[0]) + pairs(pieces[1]) == doctest::Approx(whole / 4 / 2));
  // Keys and values of all positions for each of the 8 heads of a rank: in 16 bit there and back,
  // their gradients in 32 bit beside the other pieces.
  const double numbers = 8192. * 8 * 128;
  CHECK(pieces[0].forward.bytes == doctest::Approx(numbers * 2));
  CHECK(pieces[0].backward.bytes == doctest::Approx(numbers * 2));
  CHECK(pieces[1].forward.kind == CollectiveKind::none);
  CHECK(pieces[1].backward.bytes == doctest::Approx(numbers * 4));
  // Four pieces of 2048 x 8 x 64 results, and of twice as many keys and values.
  const double results = 2048. * 8 * 64;
  const auto moved = [&](double bytes) {
    return merges[0].shape.batch * merges[0].shape.m * merges[0].shape.n * bytes;
  };
  CHECK(moved(merges[0].forward_bytes) == doctest::Approx(4 * results * (38 + 2 * 4)));
  CHECK(moved(merges[0].backward_bytes) == doctest::Approx(4 * results * (13 + 2 * 25)));
  plan.context_ring = {};
  CHECK(kept == doctest::Approx(attention(built(plan)).kept_bytes));
}

TEST_CASE("context: what travels has the bytes of an activation's number, on every axis") {
  ParallelPlan plan;
  const auto check = [&plan] {
    const auto sent = [&plan](double number_bytes) {
      std::vector<double> bytes;
      for (const foretrace::Block& block : built(plan, number_bytes).blocks) {
        for (const Operator& op : block.operators) {
          for (const auto& one : {op.forward, op.backward, op.again}) bytes.push_back(one.bytes);
        }
      }
      return bytes;
    };
    const std::vector<double> wide = sent(4);
    const std::vector<double> half = sent(2);
    REQUIRE(wide.size() == half.size());
    for (std::size_t i = 0; i < wide.size(); ++i) CHECK(wide[i] == doctest::Approx(2 * half[i]));
  };
  for (const auto kind : {ContextKind::ring, ContextKind::all_gather, ContextKind::all_to_all}) {
    plan.context_kind = kind;
    for (plan.context = 1; plan.context <= 4; plan.context *= 2) {
      for (plan.tensor = 1; plan.tensor <= 4; plan.tensor *= 2) {
        for (const bool gathers : {false, true}) {
          plan.context_ring = {gathers, gathers, 38, 4, 13, 25, 2};
          check();
        }
      }
    }
  }
}
