// Two what-ifs, one after the other, on a run of several streams.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/session.h"
#include "models/editing/transfers/transfers.h"
#include "models/whatifs/what_if.h"
#include "tests/models/streams_in_turn.h"
#include "tests/models/toy_transformer.h"
#include "tests/models/whatifs/examples.h"

using namespace foretrace;
using foretrace::test::Choices;

namespace {

/// Nothing where it declines; it declines for a reason and never makes a graph that cannot be.
std::optional<TaskGraph> changed(const TaskGraph& graph, const WhatIfInfo& info,
                                 const Accelerator& accelerator) {
  const auto change = test::apply_to(graph, info, test::example_of(info.name), &accelerator);
  if (!change) {
    const ErrorCode code = change.error().code;
    CHECK((code == ErrorCode::no_match || code == ErrorCode::unsupported ||
           code == ErrorCode::missing_cost));
    return std::nullopt;
  }
  auto committed = commit(graph, *change);
  CHECK_MESSAGE(committed.ok(), committed.error().message);
  if (!committed) return std::nullopt;
  return std::move(committed->graph);
}

}  // namespace

TEST_CASE("pairs: none fails, and what shortens a run shortens it behind another one, too") {
  const Accelerator a100 = test::toy_accelerator();
  Choices choices(3);
  std::size_t pairs = 0;
  for (const bool eager : {false, true}) {
    const TaskGraph run = test::in_turn(
        test::toy_transformer({.layers = 2, .names_modules = true, .eager = eager}), 3, choices);
    const auto whole = static_cast<double>(test::span_ns(run));
    for (const WhatIfInfo* first : what_ifs::all()) {
      const auto after_first = changed(run, *first, a100);
      if (!after_first) continue;
      const auto of_first = static_cast<double>(test::span_ns(*after_first));
      for (const WhatIfInfo* second : what_ifs::all()) {
        if (first == second) continue;
        const std::string names = std::string(first->name) + " + " + std::string(second->name);
        CAPTURE(names);
        const auto after_both = changed(*after_first, *second, a100);
        if (!after_both) continue;
        ++pairs;
        const auto alone = changed(run, *second, a100);
        // Work that moves to another device takes there what it takes: the first one's gain is lost.
        if (!alone || second->name == "offload_pattern") continue;
        const auto of_second = static_cast<double>(test::span_ns(*alone));
        const auto of_both = static_cast<double>(test::span_ns(*after_both));
        if (of_second <= whole) CHECK(of_both <= 1.02 * of_first);
        // Gains multiply at most; what is left of one of them cannot be less than a third of that.
        CHECK(3 * of_both * whole >= std::min(of_first, whole) * std::min(of_second, whole));
      }
    }
  }
  CHECK(pairs > 1500);
}

TEST_CASE("pairs: what another what-if puts in for a model, each of several models has") {
  const auto session =
      open(FORETRACE_SOURCE_DIR "/examples/traces/h100_stacks/gpt2.foreach_adam.ftr.gz",
           {.configs = FORETRACE_SOURCE_DIR "/configs"});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  const WhatIfSpec models{"mu_two", {{"models", "2"}}};
  const auto of = [&](std::initializer_list<WhatIfSpec> stack) {
    const auto answer = session->ask(stack);
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    return *answer;
  };
  const auto host_update_ns = [](const Answer& answer) {
    const TaskGraph& graph = answer.graph();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (graph.name(task) == "optimizer update on the CPU") sum += graph.duration_ns(task);
    }
    return sum;
  };
  const std::int64_t one = host_update_ns(of({{"optimizer_offload", {}}}));
  CHECK(one > 100'000'000);
  CHECK(host_update_ns(of({models, {"optimizer_offload", {}}})) == 2 * one);
  // Memory that is freed for one model is free for several.
  const Answer two = of({models});
  REQUIRE(two.need());
  for (const char* name : {"gist_encoding", "fusion_aware_checkpointing"}) {
    CAPTURE(name);
    const Answer both = of({models, {name, {}}});
    REQUIRE(both.need());
    CHECK(static_cast<double>(both.need()->live_bytes) <
          0.9 * static_cast<double>(two.need()->live_bytes));
  }
}

TEST_CASE("pairs: of several models that train at once on a job, each exchanges what it has") {
  const auto session = open(FORETRACE_SOURCE_DIR "/examples/traces/h100_ranks/fsdp",
                            {.configs = FORETRACE_SOURCE_DIR "/configs"});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  const auto of = [](const TaskGraph& graph) {
    auto transfers = editing::find_transfers(graph, "kind=collective");
    REQUIRE_MESSAGE(transfers.ok(), transfers.error().message);
    return *std::move(transfers);
  };
  const auto before = of(session->graph());
  const editing::MovingTimes moving(session->graph(), before);
  std::int64_t recorded = 0;
  std::int64_t moved = 0;
  for (const editing::Transfer& transfer : before) {
    recorded += session->graph().duration_ns(transfer.task);
    moved += moving.of(transfer);
  }
  CHECK(moved > 0);
  const WhatIfSpec models{"mu_two", {{"models", "2"}}};
  const auto two = session->ask({models});
  REQUIRE_MESSAGE(two.ok(), two.error().message);
  std::int64_t after = 0;
  for (const editing::Transfer& transfer : of(two->graph())) {
    after += two->graph().duration_ns(transfer.task);
  }
  CHECK(after == recorded + moved);
}

TEST_CASE("pairs: convolutions read the same maps, whether kernels around them are fused or not") {
  for (const char* file : {"examples/traces/h100_host/resnet50.baseline.ftr.gz",
                           "examples/traces/h100/vgg19.baseline.ftr.gz"}) {
    CAPTURE(file);
    const auto session = open(FORETRACE_SOURCE_DIR "/" + std::string(file),
                              {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    /// "57 feature maps, 1270 MB, leave the device ...": up to the time of the copies.
    const auto maps_of = [&](std::initializer_list<WhatIfSpec> stack) {
      const auto answer = session->ask(stack);
      REQUIRE_MESSAGE(answer.ok(), answer.error().message);
      const std::string& note = answer->prediction().applied.back().notes.front();
      return note.substr(0, note.find(" MB,"));
    };
    const WhatIfSpec offload{"vdnn_offload", {{"policy", "conv"}}};
    CHECK(maps_of({offload}) == maps_of({{"kernel_fusion", {}}, offload}));
  }
}
