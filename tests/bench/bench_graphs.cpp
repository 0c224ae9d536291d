#include "tests/bench/bench_graphs.h"

#include <cstdio>
#include <filesystem>
#include <random>

#include "sim/engine/reactions.h"
#include "sim/graph/graph_builder.h"
#include "tests/sim/engine/random_graph.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"

namespace foretrace::bench {
namespace {

/// One thread, compute, copy and communication streams.
class Program {
 public:
  Program() {
    Lane lane;
    lane.kind = LaneKind::host_thread;
    host_ = builder_.add_lane(lane);
    lane.kind = LaneKind::stream;
    lane.device = 0;
    lane.queue_depth = 1021;
    for (LaneId& stream : streams_) {
      lane.number = static_cast<std::int64_t>(index(stream));
      stream = builder_.add_lane(lane);
    }
    launch_ = work("cudaLaunchKernel", TaskKind::launch);
    sync_ = work("cudaStreamSynchronize", TaskKind::synchronization);
    record_ = work("cudaEventRecord", TaskKind::wait);
    for (int i = 0; i < 64; ++i) {
      kernels_.push_back(work("kernel_" + std::to_string(i), TaskKind::kernel));
    }
  }

  TaskGraph build(std::size_t tasks) {
    while (builder_.size() < tasks) {
      step();
    }
    auto built = std::move(builder_).build();
    if (!built) {
      std::fprintf(stderr, "bench program: %s\n", built.error().message.c_str());
      return {};
    }
    return std::move(built).value();
  }

 private:
  WorkId work(const std::string& name, TaskKind kind) {
    Work row;
    row.name = builder_.add_name(name);
    row.kind = kind;
    return builder_.add_work(row);
  }
  TaskId host_task(WorkId work, TaskKind kind, std::int64_t duration) {
    TaskSpec spec;
    spec.lane = host_;
    spec.work = work;
    spec.kind = kind;
    spec.duration_ns = duration;
    spec.segment_ns = static_cast<std::int64_t>(random_() % 4000);
    return builder_.add_task(spec);
  }
  /// A launch and its kernel; now and then an event to another stream, rarely a synchronization.
  void step() {
    const std::uint64_t dice = random_() % 1000;
    const std::size_t stream = dice < 950 ? 0 : 1 + dice % 2;
    const TaskId launch =
        host_task(launch_, TaskKind::launch, 4000 + static_cast<std::int64_t>(random_() % 3000));
    TaskSpec spec;
    spec.lane = streams_[stream];
    spec.work = kernels_[dice % kernels_.size()];
    spec.kind = TaskKind::kernel;
    spec.duration_ns = 1000 + static_cast<std::int64_t>(random_() % 20000);
    spec.segment_ns = 1000;
    const TaskId kernel = builder_.add_task(spec);
    builder_.add_dependency({end_of(launch), kernel, DependencyKind::launch, 5000});
    if (dice % 50 == 7) {
      Wait wait;
      wait.at = host_task(record_, TaskKind::wait, 1000);
      wait.task = kernel < wait.at ? wait.at : kernel;
      wait.lane = streams_[(stream + 1) % streams_.size()];
      wait.kind = DependencyKind::event_wait;
      builder_.add_wait(wait);
    }
    if (dice == 3) {
      Wait wait;
      wait.task = host_task(sync_, TaskKind::synchronization, 2000);
      wait.at = wait.task;
      wait.lane = streams_[0];
      wait.lag_ns = 5000;
      builder_.add_wait(wait);
    }
  }

  GraphBuilder builder_;
  LaneId host_{};
  std::array<LaneId, 3> streams_{};
  WorkId launch_{};
  WorkId sync_{};
  WorkId record_{};
  std::vector<WorkId> kernels_;
  std::mt19937_64 random_{1};
};

[[nodiscard]] std::optional<TaskGraph> load_real() {
  const std::string path = FORETRACE_SHARED_DIR "/traces/saf_amg/o18_baseline_a100.json.gz";
  if (!std::filesystem::exists(path)) {
    std::fprintf(stderr, "no real traces: rows that end in _real are left out\n");
    return std::nullopt;
  }
  auto loaded = trace::read_trace(path, {});
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return std::nullopt;
  }
  auto built = trace::build_graph(loaded->events);
  if (!built) {
    std::fprintf(stderr, "%s\n", built.error().message.c_str());
    return std::nullopt;
  }
  return std::move(built).value().graph;
}

}  // namespace

TaskGraph synthetic_graph(const SyntheticOptions& options) {
  return test::random_graph({.tasks = options.tasks,
                             .lanes = options.lanes,
                             .seed = 20,
                             .window = 1000,
                             .extra_share = 0.4,
                             .overflow_share = 0.02,
                             .negative_share = 0,
                             .start_share = 0.5,
                             .late_share = options.conditions,
                             .fraction_share = options.conditions});
}

TaskGraph program_graph(std::size_t tasks) { return Program().build(tasks); }

const std::optional<TaskGraph>& real_graph() {
  static const std::optional<TaskGraph> graph = load_real();
  return graph;
}

std::vector<Weights> duration_variants(const TaskGraph& graph, std::size_t count) {
  std::vector<Weights> variants;
  for (std::size_t v = 0; v < count; ++v) {
    Weights weights = graph.weights();
    weights.duration_ns = scale_device(graph, 0.5 + 0.03 * static_cast<double>(v)).duration_ns;
    variants.push_back(std::move(weights));
  }
  return variants;
}

}  // namespace foretrace::bench
