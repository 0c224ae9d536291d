// Host upgrade: the host's own work takes less time, waiting for the device is simulated anew.
//
//   before   host    [python 3][launch][python 3][launch][wait        ]
//            stream            [kernel 2]        [kernel 2]
//   after    host    [2][launch][2][launch][wait     ]                    speed=1.5
//            stream            [kernel 2][kernel 2]
//   Calls and the time between them are divided by the speed, on every selected thread.
#include <array>

#include <fmt/format.h>

#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace::host_upgrade_parts {
namespace {

constexpr ParamInfo speed_param = {
    .name = "speed",
    .unit = "x",
    .doc = "Speed of the new host / that of the recording, for one thread of this program.",
    .minimum = 0.01,
    .maximum = 100};
constexpr ParamInfo calls_param = {
    .name = "calls",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "Also calls of the driver; false: only what is between them (interpreter, framework)."};
constexpr ParamInfo loading_param = {
    .name = "loading",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "Also host time of loading data; false: disk or network limit it, not the processor."};

class Upgrade {
 public:
  Upgrade(const TaskGraph& graph, double speed) : graph_(graph), speed_(speed), editor_(graph) {}

  Result<Change> run(bool calls, bool loading) {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (!is_host(graph_.kind(task))) continue;
      if (!loading && graph_.phase(task) == Phase::data_loading) continue;
      visit(task, calls);
    }
    if (before_ == 0) return Error{ErrorCode::no_match, "no host work of the selected kind"};
    editor_.note(fmt::format("host work {:.2f} ms -> {:.2f} ms, all steps and threads together",
                             static_cast<double>(before_) * 1e-6,
                             static_cast<double>(after_) * 1e-6));
    return editor_.finish();
  }

 private:
  std::int64_t faster(std::int64_t ns) {
    const std::int64_t now = to_whole(static_cast<double>(ns) / speed_);
    before_ += ns;
    after_ += now;
    return now;
  }

  // What a call waits for is a dependency, and not in its duration.
  void visit(TaskId task, bool calls) {
    const bool call = graph_.kind(task) != TaskKind::host && graph_.kind(task) != TaskKind::mark;
    if (graph_.duration_ns(task) > 0 && (calls || !call)) {
      editor_.set_duration(task, faster(graph_.duration_ns(task)));
    }
    if (graph_.segment_ns(task) > 0) editor_.set_segment(task, faster(graph_.segment_ns(task)));
    for (const Link& dependency : sources(graph_, task)) {
      if (dependency.kind != DependencyKind::hand_over || dependency.lag_ns <= 0) continue;
      editor_.set_lag(task, DependencyKind::hand_over, faster(dependency.lag_ns));
      break;
    }
  }

  const TaskGraph& graph_;
  double speed_ = 1;
  Editor editor_;
  std::int64_t before_ = 0;
  std::int64_t after_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return Upgrade(scenario.graph, params.number(speed_param))
      .run(params.boolean(calls_param), params.boolean(loading_param));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "All host work gets faster by one factor, calls of the driver as much as the interpreter.",
    "What is loaded is there as soon as the processor can take it (loading=false where disk or "
    "network limit it).",
    "Launch latencies and copies belong to the bus and the device, and stay."};
constexpr std::array<std::string_view, 2> ignores = {
    "more cores: threads that shared a core keep sharing it",
    "pageable copies, which the host's memory limits"};
constexpr std::array params = {speed_param, calls_param, loading_param};

constexpr std::array trends = {Trend{&speed_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "host_upgrade",
    .summary = "Run the host's work on a faster (or slower) processor; the device stays.",
    .paper =
        "J. Fernandez, J. Kahn, C. Na, Y. Bisk, E. Strubell, The Framework Tax: Disparities "
        "Between Inference Efficiency in NLP Research and Deployment, EMNLP 2023",
    .recipe =
        "Durations of host tasks, the host time before them and hand-overs between threads are "
        "divided by the speed. Waiting for the device is not host work and is simulated anew.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "speed: the host-bound time of any step of the program on both machines.",
    .identity = {.setting = "speed=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::device};

}  // namespace foretrace::host_upgrade_parts
