// Law: an option of a spread run of one device says something, or is refused.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/toy_parts.h"
#include "tests/models/toy_run.h"
#include "tests/models/toy_transformer.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
}

using namespace foretrace;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_transformer;
using foretrace::what_ifs::parallel;

namespace {

/// Span, all times of tasks together, and bytes.
struct Figures {
  std::int64_t span_ns = 0;
  std::int64_t work_ns = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const Figures&, const Figures&) = default;
};
Figures figures_of(const TaskGraph& graph) {
  Figures figures;
  figures.span_ns = span_ns(graph);
  for (std::size_t t = 0; t < graph.size(); ++t) {
    figures.work_ns += graph.duration_ns(make_id<TaskId>(t));
  }
  for (const Tensor& tensor : graph.context().tensors) figures.bytes += tensor.bytes;
  return figures;
}

}  // namespace

TEST_CASE("parallel: every option changes the time or the memory of a run, or is refused") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph run = toy_transformer({.layers = 2});
  const std::vector<Given> groups = {{},
                                     {{"data", "8"}},
                                     {{"data", "8"}, {"zero", "1"}},
                                     {{"data", "8"}, {"zero", "3"}, {"layers", "2"}},
                                     {{"pipeline", "2"}, {"layers", "2"}},
                                     {{"data", "8"}, {"pipeline", "2"}, {"layers", "2"}}};
  const Given options = {{"zero", "2"},         {"sequence", "true"},    {"shard_size", "4"},
                         {"layers", "1"},       {"bucket", "1 MiB"},     {"bucket_view", "true"},
                         {"parameters", "9e6"}, {"gradient_bytes", "2"}, {"ranks", "4"},
                         {"micro_batches", "3"}};
  std::size_t refused = 0;
  std::size_t changed = 0;
  for (const Given& group : groups) {
    Given plain = group;
    plain.emplace_back("cluster", "dgx_a100");
    const Figures is = figures_of(after(run, parallel, plain, &a100));
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
      CHECK_FALSE(figures_of(after(run, parallel, with, &a100)) == is);
    }
  }
  CHECK(refused >= 25);
  CHECK(changed >= 10);
}
