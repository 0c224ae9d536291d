#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/parallelism/plan.h"
#include "models/jobs/workloads/transformer.h"

using foretrace::BatchShape;
using foretrace::build_transformer;
using foretrace::check_plan;
using foretrace::CollectiveKind;
using foretrace::divide;
using foretrace::expert_copies;
using foretrace::KernelSet;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::ParallelPlan;
using foretrace::TransformerSpec;
using foretrace::Workload;

namespace {

TransformerSpec mixture() {
  TransformerSpec spec;
  spec.layers = 2;
  spec.hidden = 1024;
  spec.heads = spec.kv_heads = 16;
  spec.head_size = 64;
  spec.ffn = 4096;
  spec.vocabulary = 1000;
  spec.experts.count = 64;
  spec.experts.top_k = 4;
  spec.experts.ffn = 512;
  return spec;
}

Workload built(const ParallelPlan& plan) {
  Workload workload = build_transformer(mixture(), BatchShape{}, KernelSet{});
  divide(workload, plan);
  return workload;
}

double expert_flops(const Workload& workload) {
  double flops = 0;
  for (const Operator& op : workload.blocks[1].operators) {
    if (op.is_expert && op.type == OperatorType::product) flops += op.shape.flops();
  }
  return flops;
}

}  // namespace

TEST_CASE("expert: fewer experts per rank, as much work") {
  ParallelPlan plan;
  const double alone = expert_flops(built(plan));
  // 2048 tokens x 4 experts each x two products of 1024 x 512
  CHECK(alone == doctest::Approx(2048. * 4 * 2 * 2 * 1024 * 512));
  plan.data = 8;
  plan.expert = 8;
  const Workload spread = built(plan);
  CHECK(expert_flops(spread) == doctest::Approx(alone));
  for (const Operator& op : spread.blocks[1].operators) {
    if (op.type == OperatorType::dispatch) {
      CHECK(op.forward.kind == CollectiveKind::all_to_all);
      CHECK(op.forward.bytes == doctest::Approx(2048. * 4 * 1024 * 2));
    }
    if (op.name == "experts up") CHECK(op.shape.batch == doctest::Approx(8));
  }
  CHECK(expert_copies(plan).size == 1);
}

TEST_CASE("expert: groups that do not fit are refused") {
  ParallelPlan plan;
  plan.data = 4;
  plan.expert = 8;
  CHECK_FALSE(check_plan(plan, mixture()).ok());
  plan.data = 8;
  plan.expert = 24;
  CHECK_FALSE(check_plan(plan, mixture()).ok());
  TransformerSpec dense = mixture();
  dense.experts.count = 0;
  plan.expert = 8;
  const auto status = check_plan(plan, dense);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "expert: got 8, expected 1: the model has no experts");
}

TEST_CASE("expert: ranks that divide every expert share its work and add their parts up") {
  ParallelPlan plan;
  const double alone = expert_flops(built(plan));
  plan.tensor = plan.expert_tensor = 4;
  for (const bool sequence : {false, true}) {
    plan.sequence = sequence;
    const Workload divided = built(plan);
    CHECK(expert_flops(divided) == doctest::Approx(alone / 4));
    std::size_t exchanges = 0;
    for (const Operator& op : divided.blocks[1].operators) {
      if (op.type != OperatorType::dispatch && op.type != OperatorType::combine) continue;
      ++exchanges;
      const bool enters = op.type == OperatorType::dispatch;
      // One copy of every token: 2048 x 1024 numbers of 2 bytes.
      const auto& exchange = enters && !sequence ? op.backward : op.forward;
      CHECK(exchange.bytes == 2048. * 1024 * 2);
      CHECK(exchange.kind == (!sequence ? CollectiveKind::all_reduce
                              : enters  ? CollectiveKind::all_gather
                                        : CollectiveKind::reduce_scatter));
      if (enters && !sequence) CHECK(op.forward.kind == CollectiveKind::none);
    }
    CHECK(exchanges == 2);
  }
}

TEST_CASE("expert: divided experts on different ranks gather what came and add up what goes") {
  // Two groups of four: each rank has 512 of 2048 tokens, 4 copies of 1024 numbers of 2 bytes each.
  ParallelPlan plan;
  plan.data = plan.expert = 2;
  plan.tensor = plan.expert_tensor = 4;
  plan.sequence = true;
  const double own = 512. * 4 * 1024 * 2;
  struct Expected {
    CollectiveKind forward;
    CollectiveKind backward;
    foretrace::Axis axis;
    double bytes;
  };
  const std::vector<Expected> expected = {
      {CollectiveKind::all_to_all, CollectiveKind::all_to_all, foretrace::Axis::expert, own},
      {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, foretrace::Axis::tensor,
       4 * own},
      {CollectiveKind::reduce_scatter, CollectiveKind::all_gather, foretrace::Axis::tensor,
       4 * own},
      {CollectiveKind::all_to_all, CollectiveKind::all_to_all, foretrace::Axis::expert, own}};
  const Workload divided = built(plan);
  std::vector<Operator> exchanges;
  std::vector<Operator> experts;
  for (const Operator& op : divided.blocks[1].operators) {
    if (op.is_expert) experts.push_back(op);
    const bool goes = op.type == OperatorType::dispatch || op.type == OperatorType::combine;
    if (!goes) continue;
    exchanges.push_back(op);
    // Two before the experts, two behind.
    CHECK(experts.size() == (exchanges.size() <= 2 ? 0 : 3));
  }
  REQUIRE(exchanges.size() == expected.size());
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    CAPTURE(i);
    CHECK(exchanges[i].forward.kind == expected[i].forward);
    CHECK(exchanges[i].backward.kind == expected[i].backward);
    CHECK(exchanges[i].forward.axis == expected[i].axis);
    CHECK(exchanges[i].forward.bytes == expected[i].bytes);
    CHECK(exchanges[i].backward.bytes == expected[i].bytes);
  }
  // 32 of 64 experts, each with the copies of 4096 tokens x 4 / 64, a quarter of its 512 numbers.
  CHECK(experts[0].shape.batch == 32);
  CHECK(experts[0].shape.m == 256);
  CHECK(experts[0].shape.n == 128);
  CHECK(experts[2].shape.k == 128);
  plan.sequence = false;
  std::size_t added_up = 0;
  const Workload without_sequence = built(plan);
  for (const Operator& op : without_sequence.blocks[1].operators) {
    for (const auto* exchange : {&op.forward, &op.backward}) {
      if (exchange->kind != CollectiveKind::all_reduce || exchange->bytes != 4 * own) continue;
      if (op.type == OperatorType::dispatch || op.type == OperatorType::combine) ++added_up;
    }
  }
  CHECK(added_up == 2);
}

TEST_CASE("expert: experts are whole or divided by the tensor group") {
  ParallelPlan plan;
  plan.data = 4;
  plan.expert_tensor = 4;
  const auto alone = check_plan(plan, mixture());
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().message == "expert_tensor: got 4, expected 1");
  plan.tensor = 8;
  CHECK(check_plan(plan, mixture()).error().message ==
        "expert_tensor: got 4, expected 1 or 8 as tensor");
  plan.tensor = 4;
  CHECK(check_plan(plan, mixture()).ok());
  TransformerSpec dense = mixture();
  dense.experts.count = 0;
  CHECK(check_plan(plan, dense).error().message ==
        "expert_tensor: got 4, expected 1: the model has no experts");
}

TEST_CASE("expert: a few tokens reach few experts") {
  BatchShape batch;
  batch.sequences = 1;
  batch.length = 1;
  const Workload one = build_transformer(mixture(), batch, KernelSet{});
  for (const Operator& op : one.blocks[1].operators) {
    if (!op.is_expert || op.type != OperatorType::product) continue;
    CHECK(op.shape.batch == doctest::Approx(4));  // of 64, each with this token
    CHECK(op.shape.m == doctest::Approx(1));
    CHECK(op.weights == 64. * 1024 * 512);
  }
}

TEST_CASE("expert: tokens of the whole group reach the experts of a rank") {
  // 64 ranks, each with one token and 4 of 256 experts: a token goes to 8.
  TransformerSpec spec = mixture();
  spec.experts.count = 256;
  spec.experts.top_k = 8;
  spec.experts.load_exponent = 0;
  ParallelPlan plan;
  plan.data = plan.expert = 64;
  BatchShape batch;
  batch.pass = foretrace::Pass::decode;
  batch.length = 1;
  batch.expert_batches = foretrace::expert_batches(plan);
  CHECK(batch.expert_batches == 64);
  const auto experts_of = [&] {
    Workload workload = build_transformer(spec, batch, KernelSet{});
    divide(workload, plan);
    for (const Operator& op : workload.blocks[1].operators) {
      if (op.name == "experts up") return op;
    }
    return Operator{};
  };
  // 256 x (1 - (248/256)^64) = 222.4 of them, 3.47 a rank; 64 x 8 copies are 8 a rank.
  const auto equal = experts_of().shape;
  CHECK(equal.batch == doctest::Approx(3.47).epsilon(0.002));
  CHECK(equal.batch * equal.m == doctest::Approx(8));
  // Loads that differ: fewer, and as much work.
  spec.experts.load_exponent = 1.01;
  const auto unequal = experts_of().shape;
  CHECK(unequal.batch > 1);
  CHECK(unequal.batch < equal.batch);
  CHECK(unequal.batch * unequal.m == doctest::Approx(8));
  // One token alone reaches 8 of the 256, less than one a rank: that reads one.
  spec.experts.load_exponent = 0;
  batch.expert_batches = 1;
  const auto alone = experts_of().shape;
  CHECK(alone.batch == 1);
  CHECK(alone.m == doctest::Approx(8));
}

TEST_CASE("expert: ranks that divide a micro-batch bring their part of it") {
  ParallelPlan plan;
  CHECK(foretrace::expert_batches(plan) == 1);
  plan.tensor = 8;
  CHECK(foretrace::expert_batches(plan) == 1);  // each rank has all tokens
  plan.expert = 4;
  CHECK(foretrace::expert_batches(plan) == 1);
  plan.sequence = true;
  CHECK(foretrace::expert_batches(plan) == 0.5);  // 4 of the 8 parts
  plan.expert = 32;
  CHECK(foretrace::expert_batches(plan) == 4);
  plan.context = 2;
  CHECK(foretrace::expert_batches(plan) == 2);
  plan.expert_tensor = 8;
  CHECK(foretrace::expert_batches(plan) == 16);
}
