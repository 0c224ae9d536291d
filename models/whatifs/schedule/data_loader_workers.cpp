// Data-loader workers: batches are made by W other processes while the step runs.
//
//   before   main:   [load batch 70 ms][step 106 ms][load batch 70 ms][step 106 ms]
//   after    main:   [get][step 106 ms][get][step 106 ms]
//            worker: [load batch n+2W ......] each on its own lane, at most 2W batches ahead
//   The loader's part of the host time before a task is cut; the task then waits for its batch. All
//   other host time of the rank is stretched by `host_contention`: workers use cores and memory.
//   Copies from pageable memory to the device take `upload_slowdown` times as long: the main
//   process touches the pages of a worker's shared memory for the first time when it copies them.
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/batches/loader_batches.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/edit/text_pattern.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"

namespace foretrace::data_loader_workers_parts {
namespace {

constexpr ParamInfo queue_get_param = {.name = "queue_get",
                                       .type = ParamType::time,
                                       .unit = "ms",
                                       .default_text = "1 ms",
                                       .doc =
                                           "Host time to take a finished batch from the queue: 1 "
                                           "ms and 2.4 ms in pairs K1 and K2.",
                                       .minimum = 0,
                                       .maximum = 1e10,
                                       .optimistic = "0.1 ms",
                                       .pessimistic = "2.4 ms"};
constexpr ParamInfo host_contention_param = {
    .name = "host_contention",
    .unit = "x",
    .default_text = "1.05",
    .doc =
        "Factor on all other host time of the rank, because workers share its processor: the lower "
        "quartile of forward operators in pair K1, and in K2.",
    .minimum = 0.1,
    .maximum = 100,
    .optimistic = "1",
    .pessimistic = "1.2"};
constexpr ParamInfo upload_slowdown_param = {
    .name = "upload_slowdown",
    .unit = "x",
    .default_text = "1.59",
    .doc =
        "Factor on copies from pageable memory to the device, whose pages workers wrote: 1.59 in "
        "pair K1, and in K2.",
    .minimum = 0.1,
    .maximum = 100,
    .optimistic = "1",
    .pessimistic = "2"};
constexpr ParamInfo worker_slowdown_param = {
    .name = "worker_slowdown",
    .unit = "x",
    .default_text = "1",
    .doc = "Time of a batch in a worker / in the main process.",
    .minimum = 0.01,
    .maximum = 100,
    .pessimistic = "1.5"};
constexpr ParamInfo loader_param = {
    .name = "loader",
    .type = ParamType::text,
    .default_text = "SingleProcessDataLoaderIter|data_loading",
    .doc = "Expression for the names of regions in which batches are made."};

using editing::Batch;
using editing::prefetch_param;
using editing::workers_param;

struct Settings {
  std::size_t workers = 1;
  std::size_t ahead = 2;  // batches in flight
  double slowdown = 1;
  double contention = 1;
  double upload = 1;
  std::int64_t get_ns = 0;
};

std::int64_t times(std::int64_t ns, double factor) {
  return to_whole(static_cast<double>(ns) * factor);
}

class Loader {
 public:
  Loader(const TaskGraph& graph, const Settings& settings)
      : graph_(graph), settings_(settings), timeline_(simulate(graph)), editor_(graph) {}

  void add_rank(std::int32_t rank, const std::vector<Batch>& batches) {
    const auto first_lane = editing::add_worker_lanes(editor_, rank, settings_.workers);
    std::int64_t total = 0;
    for (const Batch& batch : batches) total += batch.loading_ns;
    const std::int64_t mean = total / static_cast<std::int64_t>(batches.size());
    const std::int64_t supply =
        times(mean, settings_.slowdown) / static_cast<std::int64_t>(settings_.workers);
    const std::int64_t demand = editing::interval_of(batches, timeline_) - mean;
    const bool keeps_up = batches.size() < 2 || supply <= demand;
    for (std::size_t n = 0; n < batches.size(); ++n) {
      add_batch(batches, n, make_id<LaneId>(index(first_lane) + n % settings_.workers),
                first_duration(n, supply, keeps_up, batches[n]));
    }
    stretch_host(rank, batches);
    const std::size_t uploads = slow_uploads(rank);
    editor_.note(
        fmt::format("rank {}: {} batches of {:.2f} ms; {} workers make one every {:.2f} ms, the "
                    "rest of a step takes {:.2f} ms: the loader {}",
                    rank, batches.size(), ms(mean), settings_.workers, ms(supply), ms(demand),
                    keeps_up ? "keeps up" : "is the limit"));
    if (uploads > 0) {
      editor_.note(fmt::format("rank {}: {} uploads from pageable memory x {:g}", rank, uploads,
                               settings_.upload));
    }
  }

  [[nodiscard]] Change take() { return editor_.finish(); }

 private:
  static double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

  // What is in flight when the window begins: a full queue, or workers at even distances.
  [[nodiscard]] std::int64_t first_duration(std::size_t n, std::int64_t supply, bool keeps_up,
                                            const Batch& batch) const {
    if (keeps_up && n < settings_.ahead) return 0;
    if (!keeps_up && n < settings_.workers) return supply * static_cast<std::int64_t>(n);
    return times(batch.loading_ns, settings_.slowdown);
  }

  void add_batch(const std::vector<Batch>& batches, std::size_t n, LaneId lane,
                 std::int64_t duration_ns) {
    const TaskId consumer = batches[n].consumer;
    TaskSpec spec;
    spec.lane = lane;
    spec.work = editor_.add_work("load batch", TaskKind::host);
    spec.kind = TaskKind::host;
    spec.duration_ns = duration_ns;
    spec.phase = Phase::data_loading;
    spec.step = graph_.step(consumer);
    spec.provenance = Provenance::scaled;
    const TaskId worker = editor_.insert(spec, consumer, Place::before);
    if (n >= settings_.ahead) {
      editor_.depend(worker, batches[n - settings_.ahead].consumer, DependencyKind::control);
    }
    const std::int64_t segment = graph_.segment_ns(consumer);
    const std::int64_t rest =
        times(std::max<std::int64_t>(0, segment - batches[n].loading_ns), settings_.contention);
    editor_.set_segment(consumer, rest + settings_.get_ns);
    editor_.depend(consumer, worker, DependencyKind::data, rest + settings_.get_ns);
  }

  void stretch_host(std::int32_t rank, const std::vector<Batch>& batches) {
    if (settings_.contention == 1.0) return;
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (!is_host(graph_.kind(task)) || graph_.lane(task).rank != rank) continue;
      while (next < batches.size() && batches[next].consumer < task) ++next;
      const bool is_consumer = next < batches.size() && batches[next].consumer == task;
      if (!is_consumer) {
        editor_.set_segment(task, times(graph_.segment_ns(task), settings_.contention));
      }
      editor_.set_duration(task, times(graph_.duration_ns(task), settings_.contention));
      for (const Link& d : sources(graph_, task)) {
        if (d.kind != DependencyKind::hand_over) continue;
        editor_.set_lag(task, DependencyKind::hand_over, times(d.lag_ns, settings_.contention));
        break;
      }
    }
  }

  std::size_t slow_uploads(std::int32_t rank) {
    if (settings_.upload == 1.0) return 0;
    std::size_t slowed = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      const std::string_view name = graph_.name(task);
      if (graph_.kind(task) != TaskKind::copy || graph_.lane(task).rank != rank) continue;
      if (!contains_any(name, {"HtoD", "HostToDevice"}) || contains(name, "Pinned")) continue;
      editor_.set_duration(task, times(graph_.duration_ns(task), settings_.upload),
                           {Provenance::scaled, 1.0F, 1.0F});
      ++slowed;
    }
    return slowed;
  }

  const TaskGraph& graph_;
  const Settings& settings_;
  Timeline timeline_;
  Editor editor_;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto pattern, selecting::TextPattern::compile(params.text(loader_param))
                                  .with_context("parameter 'loader'"));
  Settings settings;
  settings.workers = static_cast<std::size_t>(params.integer(workers_param));
  settings.ahead = settings.workers * static_cast<std::size_t>(params.integer(prefetch_param));
  settings.slowdown = params.number(worker_slowdown_param);
  settings.contention = params.number(host_contention_param);
  settings.upload = params.number(upload_slowdown_param);
  settings.get_ns = params.integer(queue_get_param);

  const auto batches = editing::batches_of(scenario.graph, pattern);
  if (batches.empty()) {
    return Error{ErrorCode::no_match,
                 "no host time is labelled as a loader in the main process (regions such as "
                 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__), expected a trace "
                 "with num_workers=0, or loader=EXPRESSION for your own region"};
  }
  Loader loader(scenario.graph, settings);
  for (const auto& [rank, of_rank] : batches) loader.add_rank(rank, of_rank);
  return loader.take();
}

constexpr std::array<std::string_view, 6> assumptions = {
    "The labelled region is work that workers can take over, all of it (decoding, augmentation, "
    "collation), and nothing in it is needed by the main process.",
    "A batch takes a worker as long as it took the main process, times worker_slowdown.",
    "The host has a free core for every worker. Where it has not, the main process gets slower: "
    "host_contention, from 1 to 1.2. In two pairs of recordings the lower quartile of forward "
    "operators took 1.05 times as long, in one of them (K1) all together 1.2 times.",
    "Every copy from pageable memory to the device is of a batch: it takes upload_slowdown times "
    "as long, 1.59 in both pairs.",
    "At the start of the window the queue is full if the loader keeps up, else workers are evenly "
    "spaced in time.",
    "Getting a batch from the queue costs queue_get, whatever its size."};
constexpr std::array<std::string_view, 4> ignores = {
    "start and end of the workers, and the first epoch's warm-up", "pinned memory and its thread",
    "disks and networks that saturate", "caches that workers do not share"};

constexpr std::array params = {workers_param,         prefetch_param,        queue_get_param,
                               host_contention_param, upload_slowdown_param, worker_slowdown_param,
                               loader_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "data_loader_workers",
    .summary = "Make batches in worker processes instead of the main one.",
    .paper =
        "A. Paszke et al., PyTorch: An Imperative Style, High-Performance Deep Learning Library, "
        "NeurIPS 2019 (DataLoader); host work as in H. Zhu, A. Phanishayee, G. Pekhimenko, "
        "Daydream, USENIX ATC 2020",
    .recipe =
        "The loader's share of the host time before a task is cut and becomes a task of a worker "
        "lane; batch n is made by worker n mod W, not earlier than batch n - W x prefetch was "
        "taken; its consumer waits for it plus queue_get. All other host time of the rank is "
        "multiplied by host_contention, copies from pageable memory to the device by "
        "upload_slowdown.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "host_contention, upload_slowdown: host operators and uploads with and without workers on "
        "the same machine. queue_get: length of __next__ in a run with workers that keep up.",
    .identity = {.none_because = "loading leaves the main process"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule};

}  // namespace foretrace::data_loader_workers_parts
