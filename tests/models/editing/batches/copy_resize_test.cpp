#include "models/editing/batches/copy_resize.h"

#include <cmath>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& batch_size;
extern const WhatIfInfo& sequence_length;
}  // namespace foretrace::what_ifs

using foretrace::DurationEdit;
using foretrace::Phase;
using foretrace::TaskId;
using foretrace::TaskKind;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::batch_size;
using foretrace::what_ifs::sequence_length;

namespace {

// 8 samples of 512 positions; the weight is 1024 x 1024.
constexpr ToyKernel product = {.name = "ampere_sgemm_128x64_tn",
                               .duration_ns = 700000,
                               .operator_name = "aten::addmm",
                               .shapes = "[[1024], [4096, 1024], [1024, 1024]]"};
constexpr ToyKernel gelu = {.name = "vectorized_elementwise_kernel<4, float>",
                            .duration_ns = 30000,
                            .operator_name = "aten::gelu",
                            .shapes = "[[8, 512, 1024]]"};

constexpr ToyKernel copy_of(std::string_view name, std::int64_t bytes, std::string_view shapes = {},
                            TaskKind kind = TaskKind::copy) {
  return {.name = name,
          .duration_ns = 101800,
          .operator_name = shapes.empty() ? "" : "aten::copy_",
          .shapes = shapes,
          .kind = kind,
          .bytes = bytes};
}

const DurationEdit* edit_of(const foretrace::Change& change, TaskId task) {
  for (const DurationEdit& edit : change.durations) {
    if (edit.task == task) return &edit;
  }
  return nullptr;
}

bool holds(const DurationEdit& edit, double ns) {
  const auto point = static_cast<double>(edit.duration_ns);
  return point * static_cast<double>(edit.low) <= ns * 1.0001 &&
         point * static_cast<double>(edit.high) >= ns * 0.9999;
}

/// A step on two streams: kernels, and copies beside them that wait for each other.
struct Step {
  ToyRun run;
  TaskId first{};
  TaskId last{};

  TaskId beside(const ToyKernel& copy) {
    const auto compute = run.stream();
    run.use_stream(run.add_stream(20 + count_++));
    const TaskId put = run.kernel(copy);
    run.use_stream(compute);
    if (first != TaskId{}) run.wait_for(put, last);
    last = run.kernel(gelu);
    run.wait_for(last, put);
    return put;
  }
  void begin() { last = first = run.kernel(product); }

 private:
  std::int64_t count_ = 0;
};

}  // namespace

TEST_CASE("copies: what an operator copies grows if it holds the batch, and stays if it does not") {
  Step step;
  step.run.mark();
  step.begin();
  const TaskId activation =
      step.beside(copy_of("Memcpy DtoD (Device -> Device)", 8 * 512 * 1024 * 4,
                          "[[8, 512, 1024], [8, 512, 1024], []]"));
  const TaskId weight = step.beside(copy_of("Memcpy DtoD (Device -> Device)", 1024 * 1024 * 2,
                                            "[[1024, 1024], [1024, 1024], []]"));
  const TaskId flag = step.beside(copy_of("Memset (Device)", 4, "[[8, 512, 1024]]", TaskKind::set));
  const auto graph = step.run.build();
  const auto twice = after(graph, batch_size, {{"factor", "2"}});
  CHECK(twice.duration_ns(activation) == 201800);  // 1.8 us of ramp-up stay
  CHECK(twice.duration_ns(weight) == 101800);
  CHECK(twice.duration_ns(flag) == 101800);
  // Both streams wait for each other, so the whole step takes it all.
  CHECK(foretrace::test::span_ns(twice) - foretrace::test::span_ns(graph) > 100000);
}

TEST_CASE("copies: of unknown shape grow in proportion, and may stay in the range") {
  for (const auto& [name, kind] : {std::pair{"Memcpy DtoD (Device -> Device)", TaskKind::copy},
                                   std::pair{"Memcpy DtoH (Device -> Pinned)", TaskKind::copy},
                                   std::pair{"Memcpy HtoD (Pinned -> Device)", TaskKind::copy},
                                   std::pair{"Memset (Device)", TaskKind::set}}) {
    const char* const text = name;
    CAPTURE(text);
    Step step;
    step.run.mark();
    step.begin();
    const TaskId unknown = step.beside(copy_of(name, 123 << 20, {}, kind));
    const auto graph = step.run.build();
    for (const char* factor : {"2", "0.5"}) {
      const auto change = apply_to(graph, batch_size, {{"factor", factor}});
      REQUIRE(change.ok());
      const DurationEdit* edit = edit_of(*change, unknown);
      REQUIRE(edit != nullptr);
      CHECK(edit->duration_ns == std::llround(1800 + 100000 * std::stod(factor)));
      CHECK(holds(*edit, 101800));
      CHECK(change->doubts.empty());
    }
  }
}

TEST_CASE("copies: much time of unknown shape is a doubt") {
  Step step;
  step.run.mark();
  step.begin();
  ToyKernel large = copy_of("Memcpy DtoD (Device -> Device)", 1 << 30);
  large.duration_ns = 1'000'000;
  step.beside(large);
  const auto change = apply_to(step.run.build(), batch_size, {{"factor", "2"}});
  REQUIRE(change.ok());
  REQUIRE(change->doubts.size() == 1);
  CHECK(change->doubts[0].is_bounded);
  CHECK(change->doubts[0].text.find("shapes are unknown for 58 % of the time of kernels and") == 0);
}

TEST_CASE(
    "copies: from the host before the first forward kernel are input, those of an update not") {
  Step step;
  step.run.mark();
  const TaskId input = step.beside(copy_of("Memcpy HtoD (Pageable -> Device)", 123 << 20));
  const TaskId scalar = step.beside(copy_of("Memcpy HtoD (Pageable -> Device)", 8));
  step.begin();
  ToyKernel state = copy_of("Memcpy HtoD (Pinned -> Device)", 123 << 20);
  state.phase = Phase::update;
  const TaskId update = step.beside(state);
  const auto change = apply_to(step.run.build(), batch_size, {{"factor", "2"}});
  REQUIRE(change.ok());
  const DurationEdit* edit = edit_of(*change, input);
  REQUIRE(edit != nullptr);
  CHECK(edit->duration_ns == 201800);
  CHECK_FALSE(holds(*edit, 101800));
  CHECK(edit_of(*change, scalar) == nullptr);
  CHECK(edit_of(*change, update) == nullptr);
}

TEST_CASE("copies: of labels, with one dimension, follow the batch where they come from the host") {
  for (const auto& [name, ns] : {std::pair{"Memcpy HtoD (Pageable -> Device)", 201800},
                                 std::pair{"Memcpy DtoD (Device -> Device)", 101800}}) {
    const char* const text = name;
    CAPTURE(text);
    Step step;
    step.run.mark();
    step.begin();
    const TaskId labels = step.beside(copy_of(name, 4096 * 8, "[[4096], [4096], []]"));
    CHECK(after(step.run.build(), batch_size, {{"factor", "2"}}).duration_ns(labels) == ns);
  }
}

TEST_CASE("copies: of scores inside of attention grow with the square of the positions") {
  ToyRun run;
  const auto side = run.add_stream(20);
  run.kernel(product);
  const TaskId scores = run.kernel({.name = "ampere_sgemm_128x64_tn",
                                    .duration_ns = 90000,
                                    .operator_name = "aten::bmm",
                                    .shapes = "[[32, 512, 64], [32, 64, 512]]"});
  run.bystander(side, scores, 7000);
  const TaskId inside = run.kernel(copy_of("Memcpy DtoD (Device -> Device)", 32 * 512 * 512 * 4,
                                           "[[8, 4, 512, 512], [8, 4, 512, 512], []]"));
  run.kernel({.name = "softmax_warp_forward<float>",
              .duration_ns = 200000,
              .operator_name = "aten::_softmax",
              .shapes = "[[8, 4, 512, 512], [], []]"});
  const TaskId values = run.kernel({.name = "ampere_sgemm_128x64_nn",
                                    .duration_ns = 90000,
                                    .operator_name = "aten::bmm",
                                    .shapes = "[[32, 512, 512], [32, 512, 64]]"});
  run.bystander(side, values, 7000);
  const TaskId outside = run.kernel(copy_of("Memcpy DtoD (Device -> Device)", 8 * 512 * 1024 * 4,
                                            "[[8, 512, 1024], [8, 512, 1024], []]"));
  const auto half = after(run.build(), sequence_length, {{"factor", "0.5"}});
  CHECK(half.duration_ns(inside) == 1800 + 25000);
  CHECK(half.duration_ns(outside) == 1800 + 50000);
}
