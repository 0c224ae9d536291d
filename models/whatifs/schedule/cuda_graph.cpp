// CUDA graph: launches of a region become one graph launch.
//
//   before   host:  [py]l1[py]l2[py]l3 ...      stream: k1 .. gap .. k2 .. gap .. k3
//   after    host:  [py]graph launch            stream: k1 k2 k3
//   A region is a run of launches and event calls on one host thread. It is cut at
//   synchronizations, blocking copies, other host work, step marks, hand-overs between threads and
//   host time longer than max_segment. Host time inside it goes with its launches; gaps on the
//   stream shrink to node_gap.
//
// memory    what is allocated inside graphs is of a pool of their own, which keeps what
//           it needs at most.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/schedule/graph_pool.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "sim/graph/links.h"

namespace foretrace::cuda_graph_parts {
namespace {

constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "resource=host",
    .doc = "Which calls may be captured, e.g. 'phase=forward' or 'step=3'."};
constexpr ParamInfo min_launches_param = {.name = "min_launches",
                                          .type = ParamType::integer,
                                          .unit = "1",
                                          .default_text = "8",
                                          .doc = "Shortest region worth a graph.",
                                          .minimum = 2,
                                          .maximum = 1e6};
constexpr ParamInfo max_segment_param = {
    .name = "max_segment",
    .type = ParamType::time,
    .unit = "ms",
    .default_text = "1 ms",
    .doc = "Host time before a call above which a region is cut.",
    .minimum = 0,
    .maximum = 1e12};
constexpr ParamInfo launch_base_param = {.name = "launch_base",
                                         .type = ParamType::time,
                                         .unit = "us",
                                         .default_text = "3 us",
                                         .doc = "Host time of a graph launch without its nodes.",
                                         .minimum = 0,
                                         .maximum = 1e9};
constexpr ParamInfo node_cost_param = {.name = "node_cost",
                                       .type = ParamType::time,
                                       .unit = "us",
                                       .default_text = "0.2 us",
                                       .doc = "Host time of a graph launch per node.",
                                       .minimum = 0,
                                       .maximum = 1e9,
                                       .optimistic = "0.02 us",
                                       .pessimistic = "1.5 us"};
constexpr ParamInfo node_gap_param = {.name = "node_gap",
                                      .type = ParamType::time,
                                      .unit = "us",
                                      .default_text = "1 us",
                                      .doc =
                                          "Longest gap between nodes of a stream; one longer than "
                                          "max_segment stays.",
                                      .minimum = 0,
                                      .maximum = 1e9,
                                      .optimistic = "0.7 us",
                                      .pessimistic = "1.6 us"};
constexpr ParamInfo start_latency_param = {
    .name = "start_latency",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "10 us",
    .doc = "From the beginning of the call to its first node on an idle device.",
    .minimum = 0,
    .maximum = 1e9};

// Sources: examples/traces/h200/graph.csv (CUDA 13, no profiler, by tools/graph.cu) for what a
// launch takes; 0.2 us a node is assumed, between that and what recordings of older drivers show.
struct Settings {
  std::int64_t max_segment_ns = 0;
  std::size_t min_launches = 8;
  std::int64_t launch_base_ns = 0;
  double node_cost_ns = 0;
  std::int64_t node_gap_ns = 0;
  std::int64_t start_latency_ns = 0;
};

struct Region {
  std::vector<TaskId> calls;  // launches and event calls, in program order
  std::size_t launches = 0;
};

class Capture {
 public:
  Capture(const TaskGraph& graph, const Settings& settings)
      : graph_(graph), settings_(settings), editor_(graph) {}

  Result<Change> run(const std::vector<TaskId>& selection) {
    selected_.assign(graph_.size(), false);
    for (const TaskId task : selection) selected_[index(task)] = true;
    for (TaskId task : first_on_lanes(graph_, LaneKind::host_thread)) {
      for (; task != none<TaskId>; task = next_on_lane(graph_, task)) visit(task);
      close();
    }
    if (regions_ == 0) {
      return Error{
          ErrorCode::no_match,
          fmt::format("no run of {} launches without a synchronization, a blocking copy or more "
                      "than {:.0f} us of host time before one",
                      settings_.min_launches,
                      static_cast<double>(settings_.max_segment_ns) * 1e-3)};
    }
    editor_.note(fmt::format(
        "{} of {} launches captured in {} graphs; host time {:.2f} ms -> {:.2f} ms{}", captured_,
        all_launches_, regions_, ms(host_before_), ms(host_after_), pool_.edit()));
    return editor_.finish();
  }

 private:
  static double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

  [[nodiscard]] bool can_be_captured(TaskId task) const {
    if (!selected_[index(task)]) return false;
    if (graph_.kind(task) == TaskKind::wait) return true;
    if (!is_plain_launch(graph_, task)) return false;
    // A launch of several operations is a graph already; copies from pageable memory stay outside.
    const TaskId work = launched_by(graph_, task).only();
    return work != none<TaskId> && graph_.kind(work) != TaskKind::copy;
  }

  void visit(TaskId task) {
    if (is_plain_launch(graph_, task)) ++all_launches_;
    const bool cut = graph_.segment_ns(task) > settings_.max_segment_ns || hands_over(graph_, task);
    if (cut) close();
    if (!can_be_captured(task)) return close();
    open_.calls.push_back(task);
    if (is_plain_launch(graph_, task)) ++open_.launches;
  }

  void close() {
    if (open_.launches >= settings_.min_launches) capture(open_);
    open_ = {};
  }

  void capture(const Region& region) {
    NewCall call;
    call.work = editor_.add_work("graph launch", TaskKind::launch);
    call.duration_ns = settings_.launch_base_ns +
                       to_whole(settings_.node_cost_ns * static_cast<double>(region.launches));
    const auto launch = editor_.replace_calls(region.calls, call);
    if (!launch) return;
    pool_.capture(region.calls);
    for (const TaskId old : region.calls) {
      const bool first = old == region.calls.front();
      host_before_ += graph_.duration_ns(old) + (first ? 0 : graph_.segment_ns(old));
      for (const TaskId node : launched_by(graph_, old)) capture_node(*launch, node);
    }
    host_after_ += call.duration_ns;
    captured_ += region.launches;
    ++regions_;
  }

  // The nodes start while the call still runs: the latency counts from its start.
  void capture_node(TaskId launch, TaskId node) {
    editor_.remove_dependencies(node, DependencyKind::launch);
    editor_.depend({.source = start_of(launch),
                    .task = node,
                    .kind = DependencyKind::launch,
                    .lag_ns = settings_.start_latency_ns});
    const std::int64_t gap = graph_.segment_ns(node);
    if (gap > settings_.node_gap_ns && gap <= settings_.max_segment_ns) {
      editor_.set_segment(node, settings_.node_gap_ns, graph_.provenance(node));
    }
  }

  const TaskGraph& graph_;
  const Settings& settings_;
  Editor editor_;
  editing::GraphPool pool_{editor_};
  std::vector<bool> selected_;
  Region open_;
  std::size_t regions_ = 0;
  std::size_t captured_ = 0;
  std::size_t all_launches_ = 0;
  std::int64_t host_before_ = 0;
  std::int64_t host_after_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(
      auto selected,
      select(scenario.graph, params.text(select_param)).with_context("parameter 'select'"));
  Settings settings;
  settings.max_segment_ns = params.integer(max_segment_param);
  settings.min_launches = static_cast<std::size_t>(params.integer(min_launches_param));
  settings.launch_base_ns = params.integer(launch_base_param);
  settings.node_cost_ns = params.number(node_cost_param);
  settings.node_gap_ns = params.integer(node_gap_param);
  settings.start_latency_ns = params.integer(start_latency_param);
  return Capture(scenario.graph, settings).run(selected);
}

constexpr std::array<std::string_view, 7> assumptions = {
    "Shapes, addresses and control flow of a region are the same every time; a trace cannot tell.",
    "The host time between the launches of a region is Python and framework overhead that a "
    "replay skips; more than max_segment before a launch is taken for other work and cuts the "
    "region.",
    "Synchronizations, blocking copies, uploads, hand-overs between threads and step marks cut "
    "regions: backward on its own thread is a graph of its own.",
    "A launch costs launch_base + nodes x node_cost on the host: 0.02 us per node were measured on "
    "CUDA 13, recordings under a profiler show 1.4 to 2.2 us; 0.2 us is assumed for older drivers; "
    "nodes start start_latency after the call begins (6 to 19 us for up to 1,024 nodes).",
    "Between nodes of a stream the device needs node_gap; recorded gaps that are shorter stay.",
    "Dependencies between streams are kept as they were.",
    "All graphs of a device share one private pool: what is allocated inside them takes as much "
    "as it needs at most, all the time."};
constexpr std::array<std::string_view, 3> ignores = {
    "capture, instantiation and warm-up steps", "copies of inputs into static buffers",
    "first launch of a graph (about 1 us per node more)"};

constexpr std::array params = {select_param,       min_launches_param, max_segment_param,
                               launch_base_param,  node_cost_param,    node_gap_param,
                               start_latency_param};

constexpr std::array trends = {Trend{&launch_base_param, Larger::is_slower},
                               Trend{&start_latency_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "cuda_graph",
    .summary = "Replay regions of launches as CUDA graphs: no launch overhead, no gaps.",
    .paper =
        "A. Gray, Getting Started with CUDA Graphs, NVIDIA, 2019; V. Nguyen, M. Carilli et al., "
        "Accelerating PyTorch with CUDA Graphs, 2021",
    .recipe =
        "Runs of at least min_launches launches on a host thread become one graph launch; the "
        "calls and the host time between them are removed, their kernels become nodes that start "
        "from the graph launch, gaps between them shrink to node_gap.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "node_cost, launch_base, start_latency: any trace with graph launches on the same driver "
        "and GPU.",
    .identity = {.none_because = "launches of a region become one"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::capture};

}  // namespace foretrace::cuda_graph_parts
