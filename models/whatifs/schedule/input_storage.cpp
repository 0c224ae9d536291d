// Input from storage: a batch is read, then prepared by one of W workers, then taken by the step.
//
//   before   main:    [load batch 70 ms][step 106 ms][load batch 70 ms][step 106 ms]
//   after    main:    [wait][step 106 ms][wait][step 106 ms]
//            storage: [read n+2W ][read ...] one after the other: bytes x (1 - cached) / bandwidth
//            worker:  [prepare n+2W ......] each on its own lane, after the read of its batch
//   What regions of the loader cover goes from the host time before a task, which waits for its
//   batch instead. A worker reads its next batch when it has prepared the one before, and no more
//   than W x prefetch batches are ahead of the step: the slowest of storage, workers and step
//   decides.
//
// memory    none.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/batches/loader_batches.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/edit/text_pattern.h"
#include "sim/engine/pull/pull.h"

namespace foretrace::input_storage_parts {
namespace {

using editing::Batch;
using editing::prefetch_param;
using editing::workers_param;

constexpr ParamInfo bytes_param = {.name = "batch_bytes",
                                   .type = ParamType::bytes,
                                   .unit = "MB",
                                   .doc = "Bytes of a stored batch: items x their mean size.",
                                   .minimum = 1,
                                   .maximum = 1e15};
constexpr ParamInfo bandwidth_param = {.name = "bandwidth",
                                       .type = ParamType::bandwidth,
                                       .unit = "GB/s",
                                       .doc = "Bandwidth of storage for this rank.",
                                       .minimum = 1,
                                       .maximum = 1e15};
constexpr ParamInfo cached_param = {.name = "cached",
                                    .unit = "1",
                                    .default_text = "0",
                                    .doc =
                                        "Share of the items that are cached in memory (a cache "
                                        "that never replaces: its size / that of the data).",
                                    .minimum = 0,
                                    .maximum = 1};
constexpr ParamInfo prepare_param = {
    .name = "prepare",
    .type = ParamType::time,
    .unit = "ms",
    .default_text = "0 ms",
    .doc =
        "Processor time of a worker for a batch; 0: what a loader in the process took, where its "
        "regions name one (_SingleProcessDataLoaderIter, data_load; get_batch, next_batch and "
        "fetch_batch where no workers are recorded).",
    .minimum = 0,
    .maximum = 1e12};
constexpr ParamInfo ready_param = {.name = "ready",
                                   .type = ParamType::time,
                                   .unit = "ms",
                                   .default_text = "0.1 ms",
                                   .doc =
                                       "Host time to take a batch that is ready: 0.07 to 0.1 ms "
                                       "where workers keep up.",
                                   .minimum = 0,
                                   .maximum = 1e10,
                                   .optimistic = "0.05 ms",
                                   .pessimistic = "2.4 ms"};
constexpr ParamInfo loader_param = {
    .name = "loader",
    .type = ParamType::text,
    .default_text = "DataLoaderIter|data_?load|(next|get|load|fetch|wait_for)_batch",
    .doc = "Expression for the names of regions in which the step takes its batch."};

struct Pipeline {
  std::int64_t read_ns = 0;     // of a batch from storage
  std::int64_t prepare_ns = 0;  // 0: as each batch was recorded
  std::size_t workers = 1;
  std::size_t ahead = 2;  // batches in flight
  std::int64_t ready_ns = 0;
};

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

class Input {
 public:
  Input(const TaskGraph& graph, const Pipeline& pipeline)
      : graph_(graph), pipeline_(pipeline), timeline_(simulate(graph)), editor_(graph) {}

  void add_rank(std::int32_t rank, const std::vector<Batch>& batches) {
    const LaneId workers = editing::add_worker_lanes(editor_, rank, pipeline_.workers);
    const LaneId storage = editor_.add_lane({.kind = LaneKind::host_thread,
                                             .rank = rank,
                                             .number = static_cast<std::int64_t>(pipeline_.workers),
                                             .name = "storage"});
    const auto count = static_cast<std::int64_t>(batches.size());
    std::int64_t loading = 0;
    for (const Batch& batch : batches) loading += recorded_ns(batch);
    const std::int64_t prepare = pipeline_.prepare_ns > 0 ? pipeline_.prepare_ns : loading / count;
    const auto of_workers =
        (pipeline_.read_ns + prepare) / static_cast<std::int64_t>(pipeline_.workers);
    const std::int64_t supply = std::max(pipeline_.read_ns, of_workers);
    const std::int64_t demand = editing::interval_of(batches, timeline_) - loading / count;
    const bool keeps_up = count < 2 || supply <= demand + pipeline_.ready_ns;
    std::vector<TaskId> prepared;
    for (std::size_t n = 0; n < batches.size(); ++n) {
      add_batch(batches, n, {storage, make_id<LaneId>(index(workers) + n % pipeline_.workers)},
                times_of(batches[n], n, keeps_up, supply), prepared);
    }
    const char* const limit = keeps_up                          ? "the step limits"
                              : pipeline_.read_ns >= of_workers ? "storage limits"
                                                                : "the workers limit";
    editor_.note(fmt::format(
        "rank {}: {} batches, read in {:.2f} ms and prepared in {:.2f} ms by {} workers: one every "
        "{:.2f} ms on average, the rest of a step takes {:.2f} ms: {}",
        rank, count, ms(pipeline_.read_ns), ms(prepare), pipeline_.workers, ms(supply), ms(demand),
        limit));
  }

  [[nodiscard]] Change take() { return editor_.finish(); }

 private:
  struct Lanes {
    LaneId storage{};
    LaneId worker{};
  };

  [[nodiscard]] std::int64_t recorded_ns(const Batch& batch) const {
    return std::clamp<std::int64_t>(batch.loading_ns, 0,
                                    std::max<std::int64_t>(0, graph_.segment_ns(batch.consumer)));
  }

  TaskId put(LaneId lane, std::string_view name, std::int64_t ns, TaskId consumer) {
    TaskSpec spec;
    spec.lane = lane;
    spec.work = editor_.add_work(name, TaskKind::host);
    spec.kind = TaskKind::host;
    spec.duration_ns = ns;
    spec.phase = Phase::data_loading;
    spec.step = graph_.step(consumer);
    spec.provenance = Provenance::assumed;
    return editor_.insert(spec, consumer, Place::before);
  }

  struct Times {
    std::int64_t read_ns = 0;
    std::int64_t prepare_ns = 0;
  };

  // What is left of a batch when the window begins: nothing of a full queue; else batches are there
  // at even distances, the first of them now.
  [[nodiscard]] Times times_of(const Batch& batch, std::size_t n, bool keeps_up,
                               std::int64_t supply) const {
    const std::int64_t prepare =
        pipeline_.prepare_ns > 0 ? pipeline_.prepare_ns : recorded_ns(batch);
    if (keeps_up && n < pipeline_.ahead) return {};
    if (keeps_up || n >= pipeline_.workers) return {pipeline_.read_ns, prepare};
    const std::int64_t there = supply * static_cast<std::int64_t>(n);
    if (there <= prepare) return {0, there};
    return {std::min(there - prepare, supply), prepare};
  }

  void add_batch(const std::vector<Batch>& batches, std::size_t n, const Lanes& lanes,
                 const Times& left, std::vector<TaskId>& prepared) {
    const TaskId consumer = batches[n].consumer;
    const bool is_read = left.read_ns == 0;
    const TaskId read =
        is_read ? none<TaskId> : put(lanes.storage, "read batch", left.read_ns, consumer);
    const TaskId made = put(lanes.worker, "prepare batch", left.prepare_ns, consumer);
    const TaskId first = is_read ? made : read;
    if (!is_read) {
      editor_.depend(made, read, DependencyKind::data);
      if (n >= pipeline_.workers) {
        editor_.depend(read, prepared[n - pipeline_.workers], DependencyKind::control);
      }
    }
    if (n >= pipeline_.ahead) {
      editor_.depend(first, batches[n - pipeline_.ahead].consumer, DependencyKind::control);
    }
    prepared.push_back(made);
    const std::int64_t rest = graph_.segment_ns(consumer) - recorded_ns(batches[n]);
    editor_.set_segment(consumer, rest + pipeline_.ready_ns);
    editor_.depend(consumer, made, DependencyKind::data, rest + pipeline_.ready_ns);
  }

  const TaskGraph& graph_;
  const Pipeline& pipeline_;
  Timeline timeline_;
  Editor editor_;
};

/// Regions that are known to make their batch in the process: PyTorch's loader without workers, and
/// ranges that say that they load. Others may wait for workers (TorchRec's wait_for_batch).
constexpr std::string_view in_process =
    "SingleProcess|(^|[^a-z])(data_?load(ing)?|load_(data|batch))([^a-z]|$)";
/// Those that take a batch from whoever makes it: the process itself, unless others are recorded.
constexpr std::string_view from_anyone = "(^|[^a-z])(get|next|fetch)_batch([^a-z]|$)";
/// What shows that others make batches.
constexpr std::string_view of_others = "MultiProcess|[Ww]orker|pin_?memory|[Pp]refetch";

selecting::TextPattern compiled(std::string_view text) {
  auto pattern = selecting::TextPattern::compile(text);
  FORETRACE_CHECK(pattern.ok());
  return *std::move(pattern);
}

/// Whether a region or a thread of the recording shows that others make batches.
bool others_load(const TaskGraph& graph) {
  const auto shows = compiled(of_others);
  const auto& parts = graph.context().segment_parts;
  const auto& lanes = graph.context().lanes;
  return std::any_of(
             parts.begin(), parts.end(),
             [&](const SegmentPart& part) { return shows.found_in(graph.names()[part.label]); }) ||
         std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
           return lane.kind == LaneKind::host_thread && shows.found_in(lane.name);
         });
}

/// Regions of the loader that do not say who makes their batch. Empty texts: there are none.
struct Unsaid {
  std::string_view by_others;   ///< they may wait
  std::string_view in_process;  ///< they are taken to make it themselves
};

Unsaid unsaid_regions(const TaskGraph& graph, const selecting::TextPattern& pattern) {
  const auto makes = compiled(in_process);
  const auto takes = compiled(from_anyone);
  const bool has_others = others_load(graph);
  Unsaid found;
  for (const SegmentPart& part : graph.context().segment_parts) {
    const std::string_view label = graph.names()[part.label];
    if (!pattern.found_in(label)) continue;
    const bool waits = contains(label, "wait");
    if (!waits && makes.found_in(label)) continue;
    std::string_view& place =
        !waits && !has_others && takes.found_in(label) ? found.in_process : found.by_others;
    if (place.empty()) place = label;
  }
  return found;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto pattern, selecting::TextPattern::compile(params.text(loader_param))
                                  .with_context("parameter 'loader'"));
  const auto batches = editing::batches_of(scenario.graph, pattern);
  if (batches.empty()) {
    return Error{ErrorCode::no_match,
                 "no host time is labelled as taking a batch (regions such as "
                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__), expected a "
                 "recorded loader, or loader=EXPRESSION for your own region"};
  }
  Pipeline pipeline;
  pipeline.prepare_ns = params.integer(prepare_param);
  Unsaid unsaid;
  if (pipeline.prepare_ns == 0) unsaid = unsaid_regions(scenario.graph, pattern);
  if (!unsaid.by_others.empty()) {
    return Error{
        ErrorCode::missing_cost,
        fmt::format("{} may wait for batches that other processes make, whose time the recording "
                    "does not contain, expected prepare=TIME for what a worker takes for a batch",
                    in_quotes(unsaid.by_others))};
  }
  const double missed = 1 - params.number(cached_param);
  const double seconds = params.number(bytes_param) * missed / params.number(bandwidth_param);
  pipeline.read_ns = to_whole(std::min(seconds * 1e9, 1e15));
  pipeline.workers = static_cast<std::size_t>(params.integer(workers_param));
  pipeline.ahead = pipeline.workers * static_cast<std::size_t>(params.integer(prefetch_param));
  pipeline.ready_ns = params.integer(ready_param);
  Input input(scenario.graph, pipeline);
  for (const auto& [rank, of_rank] : batches) input.add_rank(rank, of_rank);
  Change change = input.take();
  if (!unsaid.in_process.empty()) {
    change.doubts.push_back(
        {.text = fmt::format("{} is assumed to make its batch in the process, since no workers are "
                             "recorded; if it waits for others, prepare=TIME says what they take",
                             in_quotes(unsaid.in_process))});
  }
  return change;
}

constexpr std::array<std::string_view, 5> assumptions = {
    "Batches are alike: each has batch_bytes, of which the cache contains its share. A cache that "
    "never replaces contains its size / that of the data (CoorDL's MinIO); one that replaces the "
    "least recently used contains less.",
    "Storage serves one batch after the other at its full rate; a worker waits for the read of its "
    "batch before it prepares it, as PyTorch's do.",
    "What a cached item takes, and preparing itself, is in `prepare`: where a loader in the "
    "process was recorded, its time, which counts as preparing alone (files in the page cache).",
    "The host has a free core for every worker.",
    "At the start of the window the queue is full if the pipeline keeps up, else batches arrive "
    "evenly spaced in time."};
constexpr std::array<std::string_view, 4> ignores = {
    "latency of storage, and requests of other jobs and ranks to it",
    "the main process, which workers make slower (data_loader_workers models that)",
    "the first epoch, in which every cache is empty", "uploads of the batch to the device"};
constexpr std::array params = {bytes_param,   bandwidth_param, cached_param, workers_param,
                               prepare_param, prefetch_param,  ready_param,  loader_param};
constexpr std::array<std::string_view, 2> conflicts = {"data_loader_workers",
                                                       "remove_input_stalls"};

constexpr std::array trends = {Trend{&bandwidth_param, Larger::is_faster},
                               Trend{&cached_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "input_storage",
    .summary = "Input from storage of another rate, with another cache or more workers.",
    .paper =
        "J. Mohan, A. Phanishayee, A. Raniwala, V. Chidambaram, Analyzing and Mitigating Data "
        "Stalls in DNN Training, VLDB 2021 (fetch stalls, prep stalls, CoorDL); the slowest stage "
        "decides as in M. Kuchnik, A. Klimovic, J. Simsa, V. Smith, G. Amvrosiadis, Plumber, MLSys "
        "2022",
    .recipe =
        "The part of a host segment that regions of the loader cover is removed. Batch n is read "
        "on the storage lane in batch_bytes x (1 - cached) / bandwidth, not earlier than batch n - "
        "W is prepared and batch n - W x prefetch taken; worker n mod W then prepares it; its "
        "consumer waits for that, plus `ready`.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "prepare: a run with num_workers=0 whose files are in the page cache. bandwidth: the same "
        "files read without decoding (fio, or a loader that returns bytes).",
    .identity = {.none_because =
                     "what storage and workers need takes the place of the recorded wait"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::schedule,
    .conflicts = conflicts};

}  // namespace foretrace::input_storage_parts
