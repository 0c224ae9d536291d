// Pinned copies: inputs go to the device from page-locked memory, and the host does not wait.
//
//   before   host    launch copy [waits for it        ] launch k        copy at the pageable rate
//            stream         [copy                    ]     [k]
//   after    host    launch copy, launch k                              pin_memory, non_blocking
//            stream         [copy    ][k]                               copy at the pinned rate
//   Blocking copies from pageable host memory: their calls no longer wait, and their bytes take the
//   time of pinned ones. Kernels stay behind the copies of their stream.
//
// memory    none on the device; the host locks the pages of the batches in flight.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "models/editing/copies/host_link.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "sim/graph/links.h"

namespace foretrace::pinned_copies_parts {
namespace {

constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=copy&name~HtoD",
    .doc = "Which copies, e.g. 'kind=copy&phase=data_loading'; those that block are changed."};
constexpr ParamInfo least_param = {.name = "least",
                                   .type = ParamType::bytes,
                                   .unit = "B",
                                   .default_text = "4 KiB",
                                   .doc = "Smaller copies stay: scalars that the host reads on.",
                                   .minimum = 0,
                                   .maximum = 1e15};

bool is_pageable(std::string_view name) {
  return contains_any(name, {"HtoD", "HostToDevice"}) && !contains(name, "Pinned");
}

// The finish of the blocking call that launched this copy; none if the call does not wait.
TaskId blocking_finish(const TaskGraph& graph, TaskId copy) {
  const TaskId begin = launch_of(graph, copy);
  if (begin == none<TaskId> || graph.work(begin).part != TaskPart::begin) return none<TaskId>;
  const TaskId finish = next_on_lane(graph, begin);
  const bool is_pair = finish != none<TaskId> && graph.work(finish).part == TaskPart::finish;
  return is_pair ? finish : none<TaskId>;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  FORETRACE_TRY(auto selected,
                select(graph, params.text(select_param)).with_context("parameter 'select'"));
  const double bandwidth = editing::host_link_bandwidth(graph, scenario.accelerator, params);
  Editor editor(graph);
  std::size_t copies = 0;
  std::size_t faster = 0;
  double bytes = 0;
  for (const TaskId copy : selected) {
    if (graph.kind(copy) != TaskKind::copy || !is_pageable(graph.name(copy))) continue;
    const std::int64_t size = graph.work(copy).bytes;
    if (size >= 0 && static_cast<double>(size) < params.number(least_param)) continue;
    const TaskId finish = blocking_finish(graph, copy);
    if (finish == none<TaskId>) continue;
    editor.remove_dependencies(finish, DependencyKind::synchronization);
    ++copies;
    if (size < 0) continue;
    bytes += static_cast<double>(size);
    const std::int64_t pinned = to_whole(static_cast<double>(size) / bandwidth * 1e9);
    if (pinned >= graph.duration_ns(copy)) continue;
    editor.set_duration(copy, pinned, {Provenance::scaled, 0.8F, 1.3F});
    ++faster;
  }
  if (copies == 0) {
    return Error{ErrorCode::no_match,
                 "no selected copy from pageable host memory makes the host wait"};
  }
  editor.note(fmt::format(
      "{} blocking copies of {:.1f} MB no longer wait; {} of them are faster at {:.1f} GB/s",
      copies, bytes * 1e-6, faster, bandwidth * 1e-9));
  return editor.finish();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The host memory of these copies can be page-locked before the step needs it, by a thread that "
    "does not slow the step (pin_memory=True).",
    "The host writes into none of these buffers again before its copy has ended.",
    "The copy stays on its stream: kernels behind it wait for it, as before.",
    "Pinned copies reach the recorded rate of others in the trace, or that of the device's link."};
constexpr std::array<std::string_view, 2> ignores = {"copying into pinned memory on the host",
                                                     "another stream for copies, a step ahead"};
constexpr std::array params = {select_param, least_param, editing::host_link_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "pinned_copies",
    .summary = "Copy inputs from pinned memory without waiting for the copies.",
    .paper =
        "none; CUDA C++ Best Practices Guide, \"Pinned Memory\" and \"Asynchronous and Overlapping "
        "Transfers with Computation\"; PyTorch: pin_memory=True with non_blocking=True",
    .recipe =
        "Calls of selected copies from pageable memory that wait for them do not wait; the copies "
        "take bytes / bandwidth if that is less. Everything else stays, the order of the stream "
        "included.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "bandwidth: a pinned copy of some MB on the machine.",
    .identity = {.none_because = "a copy that blocks no longer does; where none does, it declines"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule};

}  // namespace foretrace::pinned_copies_parts
