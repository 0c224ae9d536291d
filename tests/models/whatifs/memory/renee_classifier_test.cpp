#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& renee_classifier;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::renee_classifier;

namespace {

// 64 rows, width 256, 100,000 labels.
foretrace::TaskGraph classifier(const char* loss = "aten::sigmoid", bool trains = true) {
  ToyRun run;
  const auto side = run.add_stream(9);
  run.kernel({.name = "small sgemm",
              .duration_ns = 9000,
              .operator_name = "aten::mm",
              .shapes = "[[64, 256], [256, 256]]"});
  run.kernel({.name = "logits sgemm",
              .duration_ns = 900000,
              .operator_name = "aten::mm",
              .shapes = "[[64, 256], [256, 100000]]"});
  const auto lost = run.kernel({.name = "loss elementwise_kernel",
                                .duration_ns = 30000,
                                .operator_name = loss,
                                .shapes = "[[64, 100000]]"});
  run.bystander(side, lost, 100);
  run.kernel({.name = "larger elementwise_kernel",
              .duration_ns = 30000,
              .operator_name = "aten::gelu",
              .shapes = "[[64, 200000]]"});
  if (!trains) return run.build();
  run.kernel({.name = "weight gradient sgemm",
              .duration_ns = 900000,
              .operator_name = "aten::mm",
              .shapes = "[[256, 64], [64, 100000]]",
              .phase = Phase::backward});
  run.kernel({.name = "elementwise_kernel",
              .duration_ns = 80000,
              .operator_name = "aten::addcdiv_",
              .shapes = "[[256, 100000]]",
              .phase = Phase::update});
  return run.build();
}

}  // namespace

TEST_CASE("renee_classifier: products in 16 bit, no kernels over logits, no update of the weight") {
  const auto a100 = toy_accelerator();
  const auto tiled = after(classifier(), renee_classifier, {}, &a100);
  CHECK(count_of(tiled, "loss elementwise_kernel") == 0);
  CHECK(count_of(tiled, "elementwise_kernel") == 0);
  CHECK(count_of(tiled, "larger elementwise_kernel") == 1);
  CHECK(duration_of(tiled, "small sgemm") == 9000);
  CHECK(duration_of(tiled, "logits sgemm") < 450000);
  CHECK(duration_of(tiled, "weight gradient sgemm") < 450000);
  const auto change = apply_to(classifier(), renee_classifier, {}, &a100);
  REQUIRE(change.ok());
  // 25.6 million weights: 16 bytes each with gradient and two states, 2 afterwards.
  CHECK(change->notes[0].find("409.6 MB -> 51.2 MB") != std::string::npos);
}

TEST_CASE("renee_classifier: a model without a wide layer is declined") {
  const auto declined = apply_to(classifier(), renee_classifier, {{"least_labels", "1000000"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("renee_classifier: the head of a language model, and inference, are declined") {
  const auto a100 = toy_accelerator();
  for (const char* loss : {"aten::_log_softmax", "aten::nll_loss_forward"}) {
    const auto head = apply_to(classifier(loss), renee_classifier, {}, &a100);
    REQUIRE_FALSE(head.ok());
    CHECK(head.error().message.find("feeds a softmax") != std::string::npos);
  }
  const auto inference = apply_to(classifier("aten::sigmoid", false), renee_classifier, {}, &a100);
  REQUIRE_FALSE(inference.ok());
  CHECK(inference.error().message.find("no backward pass") != std::string::npos);
}

TEST_CASE("renee_classifier: logits and states leave memory, the weight takes half") {
  using foretrace::TensorCategory;
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto begin = run.mark();
  run.kernel({.name = "logits sgemm",
              .duration_ns = 900000,
              .operator_name = "aten::mm",
              .shapes = "[[64, 256], [256, 100000]]"});
  run.kernel({.name = "weight gradient sgemm",
              .duration_ns = 900000,
              .operator_name = "aten::mm",
              .shapes = "[[256, 64], [64, 100000]]",
              .phase = Phase::backward});
  const auto end = run.mark("end");
  constexpr std::int64_t logits = 64 * 100000 * 4;
  constexpr std::int64_t weight = 256 * 100000 * 4;
  const auto tensor = [&](TensorCategory category, std::int64_t bytes) {
    run.builder().add_tensor({.bytes = bytes,
                              .requested_bytes = bytes,
                              .category = category,
                              .phase = Phase::forward,
                              .allocated_in = begin,
                              .freed_in = end});
  };
  tensor(TensorCategory::activation, logits);
  tensor(TensorCategory::activation, logits / 2 - 4);
  tensor(TensorCategory::optimizer_state, weight);
  tensor(TensorCategory::weight, weight);
  const auto tiled = after(run.build(), renee_classifier, {}, &a100);
  CHECK(tiled.context().tensors[0].bytes == 0);
  CHECK(tiled.context().tensors[1].bytes == logits / 2 - 4);
  CHECK(tiled.context().tensors[2].bytes == 0);
  CHECK(tiled.context().tensors[3].bytes == weight / 2);
}
