// Remove synchronization: selected calls that wait for the device are gone.
//
//   before   launch k1 -> cudaStreamSynchronize [waits for k1] -> launch k2
//   after    launch k1 -> launch k2                              (k2 queues behind k1)
//   Begin and finish of the call go, with its own cost; the host time before it stays with the next
//   call. Blocking copies stay: they move data that the host needs.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/what_if.h"
#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "sim/graph/links.h"

namespace foretrace::remove_synchronization_parts {
namespace {

constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=synchronization",
    .doc = "Which calls, e.g. 'name=cudaDeviceSynchronize' or 'phase=forward'."};
constexpr ParamInfo keep_reads_param = {
    .name = "keep_reads",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "Keep waits that follow a copy to the host on the same thread."};

bool is_call_that_waits(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::synchronization &&
         graph.work(task).part == TaskPart::begin &&
         graph.name(task).find("ynchronize") != std::string_view::npos;
}

bool copies_to_host(const TaskGraph& graph, TaskId task) {
  const std::string_view name = graph.name(task);
  return graph.kind(task) == TaskKind::copy &&
         (name.find("DtoH") != std::string_view::npos ||
          name.find("DeviceToHost") != std::string_view::npos);
}

// The host reads what the last call before the wait copies (tensor.item(), .cpu()).
bool follows_a_read(const TaskGraph& graph, TaskId wait) {
  TaskId before = previous_on_lane(graph, wait);
  while (before != none<TaskId> && graph.kind(before) == TaskKind::mark) {
    before = previous_on_lane(graph, before);
  }
  if (before == none<TaskId>) return false;
  // A blocking copy: begin, copy, finish. Its finish stands before the wait.
  if (graph.work(before).part == TaskPart::finish) before = previous_on_lane(graph, before);
  if (before == none<TaskId>) return false;
  const LaunchedBy works = launched_by(graph, before);
  return std::any_of(works.begin(), works.end(),
                     [&](TaskId work) { return copies_to_host(graph, work); });
}

// The finish of the blocking copy right before a wait; none if there is none.
TaskId blocking_read(const TaskGraph& graph, TaskId wait) {
  TaskId before = previous_on_lane(graph, wait);
  while (before != none<TaskId> && graph.kind(before) == TaskKind::mark) {
    before = previous_on_lane(graph, before);
  }
  return before != none<TaskId> && graph.work(before).part == TaskPart::finish ? before
                                                                               : none<TaskId>;
}

void remove_pair(TaskId begin, TaskId finish, Editor& editor) {
  editor.remove_dependencies(finish, DependencyKind::synchronization);
  editor.remove(std::array{begin, finish});
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  FORETRACE_TRY(auto selected,
                select(graph, params.text(select_param)).with_context("parameter 'select'"));
  const bool keep_reads = params.boolean(keep_reads_param);
  Editor editor(graph);
  std::size_t calls = 0;
  std::size_t kept = 0;
  std::size_t lifted = 0;  // blocking copies
  for (const TaskId task : selected) {
    if (!is_call_that_waits(graph, task)) continue;
    const TaskId finish = next_on_lane(graph, task);
    if (finish == none<TaskId> || graph.work(finish).part != TaskPart::finish) continue;
    if (keep_reads && follows_a_read(graph, task)) {
      ++kept;
      continue;
    }
    if (!keep_reads && follows_a_read(graph, task)) {
      // Nobody reads what was copied, so the copy itself need not block either.
      const TaskId copied = blocking_read(graph, task);
      if (copied != none<TaskId>) {
        editor.remove_dependencies(copied, DependencyKind::synchronization);
        ++lifted;
      }
    }
    remove_pair(task, finish, editor);
    ++calls;
  }
  if (calls == 0) {
    return Error{ErrorCode::no_match,
                 kept == 0
                     ? std::string("no *Synchronize call is selected")
                     : fmt::format("all {} selected *Synchronize calls read the result of a copy "
                                   "(keep_reads=false removes them too)",
                                   kept)};
  }
  editor.note(fmt::format(
      "{} synchronizing calls removed, {} kept because they read a copy's result{}", calls, kept,
      lifted == 0 ? std::string()
                  : fmt::format(", {} copies before them no longer block", lifted)));
  return editor.finish();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The program is still correct without the wait: only its author can tell.",
    "A wait whose thread has just copied to the host reads that copy and stays (keep_reads=true).",
    "Blocking copies, cudaFree and hidden waits of the framework stay; with keep_reads=false, the "
    "blocking copy to the host right before a removed call does not block either.",
    "Without the wait the host runs ahead until the launch queue is full, as on the recorded "
    "device."};
constexpr std::array<std::string_view, 3> ignores = {
    "memory that the caching allocator gets back later", "errors that surface later",
    "code that measures time around the wait"};

constexpr std::array params = {select_param, keep_reads_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "remove_synchronization",
    .summary = "Remove calls that make the CPU wait for the GPU.",
    .paper =
        "none; PyTorch performance tuning guide, \"avoid unnecessary CPU-GPU synchronization\"; "
        "removal as in H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream, USENIX ATC 2020",
    .recipe =
        "Every selected *Synchronize call is removed: its own cost, its completion latency and "
        "its wait. The host time before it stays with the next call of the thread. Waits that "
        "read a copy's result and blocking copies stay.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing to calibrate; compare with a run without the calls.",
    .identity = {.none_because = "the selected calls go"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule};

}  // namespace foretrace::remove_synchronization_parts
