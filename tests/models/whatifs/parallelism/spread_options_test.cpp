// Law: an option of a spread run of one device says something, or is refused.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/toy_parts.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
}

using namespace foretrace;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::parallel;

namespace {

/// Two layers with their gradients and update, and what they keep.
TaskGraph training_step() {
  constexpr std::int64_t ms = 1'000'000;
  const std::string gemm = "ampere_sgemm_128x64_tn";
  ToyRun run;
  for (const TensorCategory category :
       {TensorCategory::weight, TensorCategory::gradient, TensorCategory::optimizer_state}) {
    Tensor tensor;
    tensor.bytes = 6 << 20;
    tensor.device = 0;
    tensor.category = category;
    run.builder().add_tensor(tensor);
  }
  run.kernel({gemm, ms, "aten::addmm", "[[1024],[64,1024],[1024,1024],[],[]]", Phase::forward});
  run.kernel({gemm, ms, "aten::addmm", "[[512],[64,1024],[1024,512],[],[]]", Phase::forward});
  run.kernel({gemm, 2 * ms, "aten::mm", "[[64,512],[512,1024]]", Phase::backward});
  run.kernel({gemm, 2 * ms, "aten::mm", "[[64,1024],[1024,1024]]", Phase::backward});
  run.kernel(
      {.name = "multi_tensor_apply_kernel<Adam>", .duration_ns = ms / 2, .phase = Phase::update});
  return run.build();
}

std::int64_t held_bytes(const TaskGraph& graph) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : graph.context().tensors) bytes += tensor.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("parallel: every option changes the time or the memory of a run, or is refused") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph run = training_step();
  const std::vector<Given> groups = {{},
                                     {{"data", "8"}},
                                     {{"data", "8"}, {"zero", "1"}},
                                     {{"data", "8"}, {"zero", "3"}, {"layers", "2"}}};
  const Given options = {{"zero", "2"},         {"sequence", "true"},    {"shard_size", "4"},
                         {"layers", "1"},       {"bucket", "1 KiB"},     {"bucket_view", "true"},
                         {"parameters", "9e6"}, {"gradient_bytes", "2"}, {"ranks", "4"},
                         {"micro_batches", "3"}};
  std::size_t refused = 0;
  std::size_t changed = 0;
  for (const Given& group : groups) {
    Given plain = group;
    plain.emplace_back("cluster", "dgx_a100");
    const TaskGraph is = after(run, parallel, plain, &a100);
    for (const auto& option : options) {
      const auto is_of = [&](const auto& given) { return given.first == option.first; };
      if (std::any_of(group.begin(), group.end(), is_of)) continue;
      CAPTURE(group.size());
      CAPTURE(option.first);
      Given with = plain;
      with.push_back(option);
      const auto change = apply_to(run, parallel, with, &a100);
      if (!change.ok()) {
        ++refused;
        CHECK(change.error().message.starts_with(option.first + ": only with"));
        continue;
      }
      ++changed;
      const TaskGraph made = after(run, parallel, with, &a100);
      const bool is_other = span_ns(made) != span_ns(is) || held_bytes(made) != held_bytes(is);
      CHECK(is_other);
    }
  }
  CHECK(refused >= 24);
  CHECK(changed >= 10);
}
