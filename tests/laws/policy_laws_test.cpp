// Laws of run-time memory policies: on random training runs, and on real ones where they are here.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"
#include "models/editing/tensors/tensor_uses.h"
#include "models/policies/eviction/policy.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/configs.h"
#include "tests/laws/training_run.h"

namespace foretrace {
namespace {

constexpr std::int64_t no_limit = std::int64_t{1} << 60;

/// Passes everything on to a policy, and looks at the memory whenever a task starts.
class Witness final : public Policy {
 public:
  Witness(const TaskGraph& graph, MemoryPolicy& inner, std::int64_t budget, std::size_t every)
      : graph_(graph), uses_(graph), inner_(inner), budget_(budget), every_(every) {}

  bool may_start(TaskId task, Simulation& simulation) override {
    return inner_.may_start(task, simulation);
  }
  void make_room(const MemoryPressure& pressure, Simulation& simulation) override {
    inner_.make_room(pressure, simulation);
  }
  void on_end(TaskId task, Simulation& simulation) override { inner_.on_end(task, simulation); }
  void on_start(TaskId task, Simulation& simulation) override {
    inner_.on_start(task, simulation);
    if (index(task) < graph_.size()) look_at(task, simulation);
  }

  std::size_t absent = 0;      ///< tensors that a launch uses and that are not there
  std::size_t over = 0;        ///< starts at which more is live than the budget
  std::size_t miscounted = 0;  ///< starts at which the engine's account is not the sum
  std::size_t looked = 0;

 private:
  void look_at(TaskId task, const Simulation& simulation) {
    const std::uint32_t run = uses_.run_of(task);
    const auto& tensors = graph_.context().tensors;
    if (run != editing::TensorUses::no_run) {
      for (const TensorId tensor : uses_.runs()[run].reads) {
        const Tensor& row = tensors[index(tensor)];
        const bool freed = row.freed_in != none<TaskId> && simulation.has_started(row.freed_in);
        if (!simulation.has_started(row.allocated_in) || freed) continue;
        absent += simulation.is_resident(tensor) ? 0 : 1;
      }
    }
    if (starts_++ % every_ != 0 || tensors.empty()) return;
    ++looked;
    std::int64_t live = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (simulation.is_resident(make_id<TensorId>(i))) live += tensors[i].bytes;
    }
    over += live > budget_ ? 1 : 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!simulation.is_resident(make_id<TensorId>(i))) continue;
      miscounted += simulation.room_bytes(make_id<TensorId>(i)) != budget_ - live ? 1 : 0;
      break;
    }
  }

  const TaskGraph& graph_;
  editing::TensorUses uses_;
  MemoryPolicy& inner_;
  std::int64_t budget_ = 0;
  std::size_t every_ = 1;
  std::size_t starts_ = 0;
};

struct Watched {
  std::optional<Execution> execution{};
  std::size_t absent = 0;
  std::size_t over = 0;
  std::size_t miscounted = 0;
  std::size_t looked = 0;
  PolicyCounts counts{};
};

Watched run(const TaskGraph& graph, const PolicyInfo& info, MemoryBudget budget,
            std::size_t every = 1) {
  auto values = ParamValues::parse(info.name, info.params, {});
  REQUIRE(values.ok());
  auto policy = info.make(graph, *values);
  REQUIRE_MESSAGE(policy.ok(), policy.error().message);
  Witness witness(graph, **policy, budget.bytes, every);
  budget.when_full = WhenFull::block;
  auto execution = simulate_event_driven(
      graph, {.policy = &witness, .waits = WaitResolution::recorded, .budgets = {budget}});
  Watched watched{.absent = witness.absent,
                  .over = witness.over,
                  .miscounted = witness.miscounted,
                  .looked = witness.looked,
                  .counts = (*policy)->counts()};
  if (execution.ok()) {
    watched.execution = *std::move(execution);
  } else {
    CHECK_MESSAGE(execution.error().code == ErrorCode::unsupported, execution.error().message);
  }
  return watched;
}

/// False if the policy refuses the graph: it does not tell enough.
bool takes(const TaskGraph& graph, const PolicyInfo& info) {
  const auto values = ParamValues::parse(info.name, info.params, {});
  REQUIRE(values.ok());
  const auto policy = info.make(graph, *values);
  if (!policy.ok()) CHECK(policy.error().code == ErrorCode::unsupported);
  return policy.ok();
}

/// All laws at one budget. True if the run fits.
bool obeys(const TaskGraph& graph, const PolicyInfo& info, const MemoryBudget& budget,
           std::size_t every = 1) {
  const Watched watched = run(graph, info, budget, every);
  CHECK(watched.absent == 0);
  CHECK(watched.over == 0);
  CHECK(watched.miscounted == 0);
  CHECK(watched.looked > 0);
  if (!watched.execution) return false;
  CHECK(watched.execution->memory[0].peak_bytes <= budget.bytes);
  const Watched again = run(graph, info, budget, every);
  REQUIRE(again.execution);
  CHECK(again.execution->timeline.points == watched.execution->timeline.points);
  return true;
}

/// With enough memory nothing changes; returns what is enough.
MemoryUse enough(const TaskGraph& graph, const PolicyInfo& info, MemoryBudget budget) {
  const Timeline free = simulate(graph);
  budget.bytes = no_limit;
  const Watched unlimited = run(graph, info, budget, 1000);
  REQUIRE(unlimited.execution);
  CHECK(unlimited.execution->timeline.points == free.points);
  budget.bytes = unlimited.execution->memory[0].peak_bytes;
  const Watched exact = run(graph, info, budget, 1000);
  REQUIRE(exact.execution);
  CHECK(exact.execution->timeline.points == free.points);
  CHECK(exact.counts.evictions == 0);
  return exact.execution->memory[0];
}

TEST_CASE("law: a policy keeps to its budget, what is used is there, and enough changes nothing") {
  std::size_t fitting = 0;
  std::size_t evicting = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    auto built = test::TrainingRun(choices).build();
    REQUIRE(built.ok());
    MemoryBudget budget;
    const TaskGraph graph = with_copy_lanes(*built, std::array{budget});
    if (graph.context().tensors.empty()) continue;
    for (const PolicyInfo* const info : policies::all()) {
      CAPTURE(std::string(info->name));
      if (!takes(graph, *info)) continue;
      const MemoryUse use = enough(graph, *info, budget);
      for (const int percent : {90, 70, 50}) {
        CAPTURE(percent);
        budget.bytes = use.peak_bytes * percent / 100;
        if (budget.bytes == 0) continue;
        fitting += obeys(graph, *info, budget) ? 1 : 0;
        evicting += run(graph, *info, budget).counts.evictions > 0 ? 1 : 0;
      }
    }
  }
  CHECK(fitting > 30);
  CHECK(evicting > 30);
}

TEST_CASE("law: policies obey on real training runs") {
  struct Case {
    const char* name;
    std::vector<int> percents;
  };
  const Case cases[] = {{"kineto_resnet50/workers4_v100", {90, 60}},
                        {"triosim/vgg13_h100_kineto", {95}},
                        {"tracelens/norm_layers_mi300x", {80, 60}}};
  for (const auto& [name, percents] : cases) {
    const std::string path = FORETRACE_SHARED_DIR "/traces/" + std::string(name) + ".json.gz";
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped, not here: ", path);
      continue;
    }
    CAPTURE(path);
    const auto recording = load(path, {.catalogue = test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    const auto curves = track_memory(recording->graph(), simulate(recording->graph()));
    REQUIRE(curves.size() == 1);
    MemoryBudget budget{.rank = curves[0].rank, .device = curves[0].device};
    const TaskGraph graph = with_copy_lanes(recording->graph(), std::array{budget});
    for (const PolicyInfo* const info : policies::all()) {
      CAPTURE(std::string(info->name));
      const MemoryUse use = enough(graph, *info, budget);
      // The engine counts a segment's allocations when its task starts; here it makes no
      // difference.
      CHECK(use.peak_bytes == curves[0].peak_bytes);
      for (const int percent : percents) {
        CAPTURE(percent);
        budget.bytes = use.peak_bytes / 100 * percent;
        if (budget.bytes < use.base_bytes) continue;  // over before it begins
        (void)obeys(graph, *info, budget, 499);
      }
    }
  }
}

}  // namespace
}  // namespace foretrace
