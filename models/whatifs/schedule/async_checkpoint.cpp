// Asynchronous checkpoint: the state of training is saved while the next step runs.
//
//   before    main:   [update][next step: forward, backward   ][update]
//   after     main:   [update][next step: forward, backward   ][update]         mode=async
//             copies:         [snapshot]                        ^ waits for the snapshot
//             writer:                   [write 150 ms       ]     the next save waits for it
//   after     main:   [update][copy waits][write 150 ms       ][next step]      mode=blocking
//   A save after the update of every N-th step: copies to pinned host memory on a stream of their
//   own, and a thread of its own that writes. mode=blocking puts both on the thread of the update.
//
// memory    none on the device; one copy of the state in host memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/copies/copy_engine.h"
#include "models/editing/copies/host_link.h"
#include "models/editing/kernels/update_phase.h"
#include "models/editing/tensors/gradients.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/optimization.h"

namespace foretrace::async_checkpoint_parts {
namespace {

constexpr ParamInfo mode_param = {.name = "mode",
                                  .type = ParamType::text,
                                  .default_text = "async",
                                  .doc = "async: beside the next step; blocking: before it.",
                                  .choices = "async|blocking"};
constexpr ParamInfo every_param = {.name = "every",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .default_text = "1",
                                   .doc = "Steps from one save to the next.",
                                   .minimum = 1,
                                   .maximum = 1e9};
constexpr ParamInfo storage_param = {
    .name = "storage",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .doc = "At which a rank writes: a local NVMe drive takes 1 to 5 GB/s, a file system its share.",
    .minimum = 1e3,
    .maximum = 1e13,
    .optimistic = "5 GB/s",
    .pessimistic = "1 GB/s"};
constexpr ParamInfo pageable_param = {
    .name = "pageable",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "6 GB/s",
    .doc = "Of copies to pageable memory, as blocking saves make them.",
    .minimum = 1e6,
    .maximum = 1e13,
    .optimistic = "12 GB/s",
    .pessimistic = "3 GB/s"};
constexpr ParamInfo parameters_param = {
    .name = "parameters",
    .unit = "1",
    .default_text = "0",
    .doc = "Number of parameters of a rank; 0: from the update, recorded weights, or shapes.",
    .minimum = 0,
    .maximum = 1e13};
constexpr ParamInfo bytes_param = {
    .name = "bytes",
    .unit = "B",
    .default_text = "0",
    .doc = "Saved per parameter; 0: 4 and the optimizer's states, by the recorded update.",
    .minimum = 0,
    .maximum = 64};
constexpr ParamInfo ranks_param = {
    .name = "ranks",
    .type = ParamType::text,
    .default_text = "first",
    .doc = "first: one rank saves for all; all: each saves what it holds.",
    .choices = "first|all"};

constexpr double weight_bytes = 4;
constexpr double moved_without_states = 12;  // of an update: gradient, parameter twice
// A state is read and written.
constexpr double moved_per_state_byte = 2;
constexpr double adam_states = 8;

using editing::CopyEngine;

struct Settings {
  double bandwidth = 0;
  double storage = 0;
  bool blocking = false;
  bool all_ranks = false;
  std::int64_t every = 1;
  double bytes = 0;  // of one save
};

class Saver {
 public:
  Saver(editing::KernelEditor& editor, const Settings& settings)
      : editor_(editor), engine_(editor, settings.bandwidth), settings_(settings) {}

  std::size_t run() {
    std::map<std::int32_t, std::int64_t> steps;  // by rank
    const auto passes = editing::find_passes(editor_);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const std::int32_t rank = rank_of(passes[i]);
      if (!settings_.all_ranks && rank != rank_of(passes.front())) continue;
      const std::vector<TaskId> update = update_of(passes, i);
      if (update.empty()) continue;
      Rank& state = ranks_[rank];
      // What the update changes has to be on its way.
      if (state.snapshot != none<TaskId>) engine_.wait(update.front(), state.snapshot);
      state.snapshot = none<TaskId>;
      if (steps[rank]++ % settings_.every == 0) save(update.back(), state);
    }
    return saves_;
  }

 private:
  struct Rank {
    TaskId snapshot = none<TaskId>;  // its last copy, until an update waited for it
    TaskId written = none<TaskId>;
    LaneId writer = none<LaneId>;
  };

  [[nodiscard]] std::int32_t rank_of(const editing::TrainingPass& pass) const {
    return editor_.graph().lane(pass.backward.front()).rank;
  }

  /// Update kernels with calls of their own between this pass and the next of its device.
  [[nodiscard]] std::vector<TaskId> update_of(const std::vector<editing::TrainingPass>& passes,
                                              std::size_t at) const {
    const TaskGraph& graph = editor_.graph();
    const Lane& lane = graph.lane(passes[at].backward.front());
    const auto same_device = [&](TaskId task) {
      return graph.lane(task).rank == lane.rank && graph.lane(task).device == lane.device;
    };
    TaskId next = none<TaskId>;
    for (std::size_t i = at + 1; i < passes.size() && next == none<TaskId>; ++i) {
      if (same_device(passes[i].forward.front())) next = passes[i].forward.front();
    }
    std::vector<TaskId> kernels;
    for (const TaskId kernel : editor_.kernels()) {
      if (kernel > passes[at].backward.back() && kernel < next && same_device(kernel) &&
          graph.phase(kernel) == Phase::update && editor_.own_call(kernel) != none<TaskId>) {
        kernels.push_back(kernel);
      }
    }
    return kernels;
  }

  void save(TaskId last_update, Rank& rank) {
    const TaskId copy = engine_.copy({.direction = CopyEngine::Direction::to_host,
                                      .bytes = settings_.bytes,
                                      .anchor = last_update,
                                      .after = last_update});
    if (copy == none<TaskId>) return;
    if (rank.written != none<TaskId>) engine_.wait(copy, rank.written);
    TaskSpec spec;
    spec.lane = settings_.blocking ? editor_.graph().lane_id(editor_.own_call(last_update))
                                   : writer_of(rank, last_update);
    spec.work = editor_.edit().add_work("write checkpoint", TaskKind::host);
    spec.kind = TaskKind::host;
    spec.duration_ns = std::llround(std::min(settings_.bytes / settings_.storage * 1e9, 1e17));
    spec.phase = Phase::update;
    spec.step = editor_.graph().step(last_update);
    spec.provenance = Provenance::assumed;
    rank.written = editor_.edit().insert(spec, last_update, Place::after);
    engine_.wait(rank.written, copy);
    rank.snapshot = copy;
    ++saves_;
  }

  LaneId writer_of(Rank& rank, TaskId like) {
    if (rank.writer == none<LaneId>) {
      Lane lane;
      lane.kind = LaneKind::host_thread;
      lane.rank = editor_.graph().lane(like).rank;
      lane.number = 9003;
      lane.name = "checkpoint writer";
      rank.writer = editor_.edit().add_lane(std::move(lane));
    }
    return rank.writer;
  }

  editing::KernelEditor& editor_;
  CopyEngine engine_;
  const Settings& settings_;
  std::map<std::int32_t, Rank> ranks_;
  std::size_t saves_ = 0;
};

/// Of a rank: what is recorded as weights and states, or parameters times what one takes.
double saved_bytes(const editing::KernelEditor& editor, const ParamValues& params) {
  const double given = params.number(parameters_param);
  const double numbers = given > 0 ? given : editing::count_parameters(editor);
  if (params.number(bytes_param) > 0) return numbers * params.number(bytes_param);
  double moved = 0;
  const auto kernels = describe_works(editor.graph(), editor.accelerator());
  for (const editing::Update& update : editing::find_updates(editor.graph(), kernels)) {
    moved = std::max(moved, update.bytes_per_parameter);
  }
  const double states =
      moved > 0 ? std::max(0.0, moved - moved_without_states) / moved_per_state_byte : adam_states;
  return numbers * (weight_bytes + states);
}

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  if (editing::find_passes(editor).empty()) {
    return Error{ErrorCode::no_match,
                 "no forward kernels with a backward pass after them, expected training steps"};
  }
  Settings settings;
  settings.blocking = params.text(mode_param) == "blocking";
  settings.bandwidth = settings.blocking ? params.number(pageable_param)
                                         : editing::host_link_bandwidth(
                                               scenario.graph, scenario.accelerator, params);
  settings.storage = params.number(storage_param);
  settings.all_ranks = params.text(ranks_param) == "all";
  settings.every = params.integer(every_param);
  settings.bytes = saved_bytes(editor, params);
  if (!(settings.bytes > 0)) {
    return Error{ErrorCode::missing_cost,
                 "the trace does not say how large the state of training is, expected "
                 "parameters=COUNT, or a trace with record_shapes=True"};
  }
  const std::size_t saves = Saver(editor, settings).run();
  if (saves == 0) {
    return Error{ErrorCode::no_match,
                 "no update kernels after a backward pass, expected training steps with an "
                 "Optimizer.step range"};
  }
  const double copy_ms = settings.bytes / settings.bandwidth * 1e3;
  const double write_ms = settings.bytes / settings.storage * 1e3;
  const auto every = static_cast<double>(settings.every);
  std::string note = fmt::format(
      "{} {} saves of {:.1f} MB: {:.2f} ms of copies and {:.2f} ms of writing each; in the long "
      "run no step takes less than {:.2f} ms",
      saves, settings.blocking ? "blocking" : "asynchronous", settings.bytes * 1e-6, copy_ms,
      write_ms, write_ms / every);
  if (settings.every > 1) {
    note += fmt::format(
        "; a median step does not show saves of every {}: in the mean they cost {}{:.2f} ms a step",
        settings.every, settings.blocking ? "" : "up to ", (copy_ms + write_ms) / every);
  }
  return editor.finish(std::move(note));
}

constexpr std::array<std::string_view, 5> assumptions = {
    "A save is parameters and optimizer states: 4 bytes and 8 (Adam), 4 (momentum) or none per "
    "parameter, by the operators of the recorded update.",
    "async: host memory for one snapshot is pinned beforehand; the next update waits until the "
    "snapshot has left, the next save until it is written.",
    "blocking: copies go to pageable memory, and the thread of the update writes.",
    "One rank saves for all (ranks=first); the others meet it at their next collective.",
    "The recorded steps save nothing themselves."};
constexpr std::array<std::string_view, 5> ignores = {
    "where a save takes longer than `every` steps: a recording of few steps ends before the wait "
    "for "
    "it is felt, and the note says how short steps can be in the long run",
    "kernels beside the copies: on an H100 they took up to 15 % longer",
    "the processor and the memory that the writer takes from the step",
    "opening, naming and deleting files, and barriers around a save",
    "what is lost at a failure: how often to save"};
constexpr std::array params = {
    mode_param,     every_param,      storage_param, editing::host_link_param,
    pageable_param, parameters_param, bytes_param,   ranks_param};

constexpr OptimizationInfo info = {
    .name = "async_checkpoint",
    .summary = "Save the state of training beside the next step, or (mode=blocking) before it.",
    .paper =
        "J. Mohan, A. Phanishayee, V. Chidambaram, CheckFreq: Frequent, Fine-Grained DNN "
        "Checkpointing, FAST 2021; M. Wan et al., ByteCheckpoint, NSDI 2025",
    .recipe =
        "After the last update kernel of every N-th step a copy of the state to the host is put "
        "on a stream of its own and a host task that writes it on a thread of its own. The first "
        "kernel of the next update waits for the copy, the next save for the write. Blocking: the "
        "write stands on the thread of the update and waits for the copy.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "storage: bytes of one checkpoint / seconds of writing it.",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule};

}  // namespace
}  // namespace foretrace::async_checkpoint_parts

namespace foretrace::optimizations {
extern const OptimizationInfo async_checkpoint;
constinit const OptimizationInfo async_checkpoint = async_checkpoint_parts::info;
}  // namespace foretrace::optimizations
