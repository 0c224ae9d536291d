// Copy bandwidth: copies between host and device take another time.
//
//   before   [copy 10 ms]
//   after    [copy  5 ms]      factor=0.5
#include <array>
#include <cmath>

#include "models/whatifs/what_if.h"
#include "sim/edit/editor.h"

namespace foretrace::copy_bandwidth_parts {
namespace {

constexpr ParamInfo factor_param = {.name = "factor",
                                    .unit = "x",
                                    .doc = "New copy time / old: 0.5 is twice the bandwidth.",
                                    .minimum = 0,
                                    .maximum = 1e4};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  Editor editor(graph);
  bool found = false;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::copy) continue;
    found = true;
    const auto duration = static_cast<double>(graph.duration_ns(task));
    editor.set_duration(task, std::llround(duration * params.number(factor_param)));
  }
  if (!found) return Error{ErrorCode::no_match, "copy_bandwidth: no copy in the trace"};
  return editor.finish();
}

constexpr std::array<std::string_view, 1> assumptions = {"The factor holds for every size."};
constexpr std::array<std::string_view, 1> ignores = {"latencies of small copies"};
constexpr std::array params = {factor_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "copy_bandwidth",
    .summary = "Multiply the time of copies between host and device by a factor.",
    .paper =
        "none; the shrink primitive of H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream, "
        "USENIX ATC 2020",
    .recipe = "Every copy takes factor x its time.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "factor: bandwidthTest of both links.",
    .identity = {.setting = "factor=1"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::device};

}  // namespace foretrace::copy_bandwidth_parts
