#include "models/editing/parameters/update_of_pass.h"

#include <doctest/doctest.h>

#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
}

using foretrace::TaskGraph;
using foretrace::TaskId;
using foretrace::editing::device_of;
using foretrace::editing::find_passes;
using foretrace::editing::followed_by_update;
using foretrace::editing::KernelEditor;
using foretrace::editing::updates_of_passes;
using foretrace::test::shipped;
using foretrace::test::training_job;

TEST_CASE("update_of_pass: each pass of each rank has its own update") {
  const TaskGraph graph = training_job({.steps = 2, .reduces = {{4'000'000, 1'000'000, 6}}});
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto passes = find_passes(editor);
  const auto updates = updates_of_passes(editor, passes);
  REQUIRE(passes.size() == 4);
  REQUIRE(updates.size() == 4);
  std::size_t last = 0;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    CAPTURE(i);
    REQUIRE(updates[i].kernels.size() == 1);
    const TaskId update = updates[i].kernels.front();
    CHECK(device_of(graph, update) == device_of(graph, passes[i].backward.front()));
    CHECK(update > passes[i].backward.back());
    CHECK(update < updates[i].next);
    last += updates[i].next == foretrace::none<TaskId> ? 1 : 0;
  }
  CHECK(last == 2);
}

TEST_CASE("update_of_pass: an update between backward kernels, on another stream, is of its pass") {
  const TaskGraph graph = training_job({.steps = 2, .updates_within = {2, 5}});
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto passes = find_passes(editor);
  const auto updates = updates_of_passes(editor, passes);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    CAPTURE(i);
    REQUIRE(updates[i].kernels.size() == 2);
    CHECK(updates[i].kernels.front() > passes[i].backward.front());
    CHECK(updates[i].kernels.back() < passes[i].backward.back());
  }
  CHECK(followed_by_update(editor, passes) == std::vector<bool>(4, true));
  // Every pass exchanges its gradients before its update.
  const auto a100 = foretrace::test::toy_accelerator();
  const auto spread = foretrace::test::apply_to(
      graph, foretrace::what_ifs::parallel,
      {{"data", "8"}, {"cluster", "dgx_a100"}, {"parameters", "1e6"}}, &a100);
  REQUIRE_MESSAGE(spread.ok(), spread.error().message);
  for (const auto& note : spread->notes) {
    CHECK(note.find("leave their gradients") == std::string::npos);
  }
}

TEST_CASE("update_of_pass: passes before the last of an accumulation have no update") {
  const TaskGraph graph = training_job({.steps = 2, .passes = 3});
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto passes = find_passes(editor);
  REQUIRE(passes.size() == 12);
  const auto followed = followed_by_update(editor, passes);
  for (const std::int32_t rank : {0, 1}) {
    std::vector<bool> of_rank;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (graph.lane(passes[i].backward.front()).rank == rank) of_rank.push_back(followed[i]);
    }
    CHECK(of_rank == std::vector<bool>{false, false, true, false, false, true});
  }
}
