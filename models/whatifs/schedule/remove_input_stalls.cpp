// Input stalls removed: every batch is ready when the step asks for it.
//
//   before   main:   [step][hole][wait for a batch 27 ms][step][hole][wait 2 ms][step]
//   after    main:   [step][get][step][get][step]
//   Of the host time before a task, what lies in a region that takes a batch becomes `ready`, and
//   what no region of the trace names beside it goes where it is longer than `hole`: the host waits
//   there for storage, for workers or for a logger. What others do meanwhile is simulated.
//
// memory    none.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

#include "models/whatifs/what_if.h"
#include "sim/edit/editor.h"
#include "sim/edit/text_pattern.h"

namespace foretrace::remove_input_stalls_parts {
namespace {

constexpr ParamInfo ready_param = {.name = "ready",
                                   .type = ParamType::time,
                                   .unit = "ms",
                                   .doc =
                                       "Host time to take a batch that is ready: 0.07 to 0.1 ms "
                                       "where workers keep up.",
                                   .minimum = 0,
                                   .maximum = 1e10,
                                   .optimistic = "0.05 ms",
                                   .pessimistic = "0.3 ms"};
constexpr ParamInfo hole_param = {
    .name = "hole",
    .type = ParamType::time,
    .unit = "ms",
    .default_text = "1 ms",
    .doc = "Host time beside taking a batch that no region names: longer ones are removed.",
    .minimum = 0,
    .maximum = 1e12};
constexpr ParamInfo loader_param = {
    .name = "loader",
    .type = ParamType::text,
    .default_text = "DataLoaderIter|data_?load|(next|get|load|fetch|wait_for)_batch",
    .doc = "Expression for the names of regions in which the step takes its batch."};

// Host time before one task.
struct Taking {
  std::int64_t batch_ns = 0;  // in regions that take a batch
  std::int64_t other_ns = 0;  // in others
};

std::map<TaskId, Taking> takings(const TaskGraph& graph, const selecting::TextPattern& pattern) {
  std::map<TaskId, Taking> found;
  for (const SegmentPart& part : graph.context().segment_parts) {
    Taking& taking = found[part.task];
    const bool batch = pattern.found_in(graph.names()[part.label]);
    (batch ? taking.batch_ns : taking.other_ns) += part.duration_ns;
  }
  std::erase_if(found, [](const auto& row) { return row.second.batch_ns == 0; });
  return found;
}

struct Removed {
  std::size_t batches = 0;
  std::size_t holes = 0;
  std::int64_t waiting_ns = 0;
  std::int64_t holes_ns = 0;
};

void shorten(Editor& editor, TaskId task, const Taking& taking, Removed& removed,
             const ParamValues& params) {
  const std::int64_t segment = std::max<std::int64_t>(editor.graph().segment_ns(task), 0);
  const std::int64_t batch = std::min(taking.batch_ns, segment);
  // Regions may lie in each other.
  const std::int64_t unnamed = std::max<std::int64_t>(segment - batch - taking.other_ns, 0);
  const std::int64_t waiting = std::max<std::int64_t>(batch - params.integer(ready_param), 0);
  const std::int64_t hole = unnamed > params.integer(hole_param) ? unnamed : 0;
  if (waiting + hole == 0) return;
  removed.batches += waiting > 0 ? 1 : 0;
  removed.holes += hole > 0 ? 1 : 0;
  removed.waiting_ns += waiting;
  removed.holes_ns += hole;
  editor.set_segment(task, segment - waiting - hole);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto pattern, selecting::TextPattern::compile(params.text(loader_param))
                                  .with_context("parameter 'loader'"));
  const auto found = takings(scenario.graph, pattern);
  if (found.empty()) {
    return Error{ErrorCode::no_match,
                 "no host time is labelled as taking a batch (regions such as "
                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__), expected a "
                 "recorded loader, or loader=EXPRESSION for your own region"};
  }
  Editor editor(scenario.graph);
  Removed removed;
  for (const auto& [task, taking] : found) shorten(editor, task, taking, removed, params);
  if (removed.batches + removed.holes == 0) {
    return Error{ErrorCode::no_match,
                 fmt::format("all {} batches were ready when they were taken (parameters ready "
                             "and hole)",
                             found.size())};
  }
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  editor.note(fmt::format(
      "{} of {} batches were waited for, {:.2f} ms in all; {} holes beside them, "
      "{:.2f} ms, in which no region of the trace says what the host does",
      removed.batches, found.size(), ms(removed.waiting_ns), removed.holes, ms(removed.holes_ns)));
  return editor.finish();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The labelled region only takes a batch: storage, decoding and workers can be made so fast "
    "that it is always ready, at no cost to the step.",
    "A batch that is ready takes `ready` to get, whatever its size (0.07 to 0.1 ms in recordings "
    "whose workers keep up).",
    "Host time beside it that no region names is waiting or work that can go elsewhere.",
    "A loader in the process becomes free, too: data_loader_workers says what workers would give."};
constexpr std::array<std::string_view, 3> ignores = {
    "uploads of the batch to the device", "stalls that lie before the first recorded task",
    "what makes the batches ready: more workers, caches, faster storage"};
constexpr std::array params = {ready_param, hole_param, loader_param};
constexpr std::array<std::string_view, 1> conflicts = {"data_loader_workers"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "remove_input_stalls",
    .summary = "Every batch is ready when the step needs it: the upper bound of faster input.",
    .paper =
        "J. Mohan, A. Phanishayee, A. Raniwala, V. Chidambaram, Analyzing and Mitigating Data "
        "Stalls in DNN Training, VLDB 2021 (DS-Analyzer)",
    .recipe =
        "The part of a host segment that regions of the loader cover becomes at most `ready`; the "
        "part that no region covers is removed where it is longer than `hole`. The rest of the "
        "segment stays.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "ready: length of __next__ in a run whose workers keep up.",
    .identity = {.none_because = "a wait for a batch becomes as long as taking one that is ready"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule,
    .conflicts = conflicts};

}  // namespace foretrace::remove_input_stalls_parts
