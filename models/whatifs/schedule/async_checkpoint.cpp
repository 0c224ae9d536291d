// Asynchronous checkpoint: the state of training is saved while the next step runs.
//
//   before    main:   [update][next step: forward, backward   ][update]
//   after     main:   [update][next step: forward, backward   ][update]         mode=async
//             copies:         [snapshot]                        ^ waits for the snapshot
//             writer:                   [write 150 ms       ]     the next save waits for it
//   after     main:   [update][copy waits][write 150 ms       ][next step]      mode=blocking
//   A save after the update of every N-th step: copies to pinned host memory on a stream of their
//   own, and a thread of its own that writes. mode=blocking puts both on the thread of the update.
//   Of a long run every step has a save beside it: the one before the first recorded step runs
//   beside that step, and the one after the last is part of a step that is not recorded.
//   Every step carries the N-th part of one: a median step would hold all of a save, or nothing.
//
// memory    none on the device; one copy of the state in host memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/copies/copy_engine.h"
#include "models/editing/copies/host_link.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/parameters/update_of_pass.h"
#include "models/editing/parameters/weight_uses.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

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
    .doc =
        "Write bandwidth of a rank: 1 to 5 GB/s on a local NVMe drive, its share of a file system.",
    .minimum = 1e3,
    .maximum = 1e13,
    .optimistic = "5 GB/s",
    .pessimistic = "1 GB/s"};
constexpr ParamInfo pageable_param = {
    .name = "pageable",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "6 GB/s",
    .doc = "Bandwidth of copies to pageable memory, as in blocking saves.",
    .minimum = 1e6,
    .maximum = 1e13,
    .optimistic = "12 GB/s",
    .pessimistic = "3 GB/s"};
constexpr ParamInfo parameters_param = {.name = "parameters",
                                        .unit = "1",
                                        .default_text = "0",
                                        .doc =
                                            "Parameters that a rank saves; 0: from the update, "
                                            "exchanged gradients, recorded weights, or shapes.",
                                        .minimum = 0,
                                        .maximum = 1e13};
constexpr ParamInfo bytes_param = {
    .name = "bytes",
    .unit = "B",
    .default_text = "0",
    .doc = "Bytes saved per parameter; 0: the parameter and its states, by the recorded update.",
    .minimum = 0,
    .maximum = 64};
constexpr ParamInfo ranks_param = {
    .name = "ranks",
    .type = ParamType::text,
    .default_text = "first",
    .doc =
        "first: one rank saves for all, tables of fused lookups aside; all: each saves its own "
        "state, a share where ranks reduce-scatter their gradients.",
    .choices = "first|all"};

constexpr double fp32_bytes = 4;
using editing::CopyEngine;

struct Settings {
  double bandwidth = 0;
  double storage = 0;
  bool blocking = false;
  bool all_ranks = false;
  std::int64_t every = 1;
  double model_bytes = 0;                        // of one save, without tables of fused lookups
  std::map<std::int32_t, double> table_bytes{};  // by rank: what no other rank has
  std::string counted{};                         // how they were

  /// Of one save of a rank; `first` saves for all that have the same.
  [[nodiscard]] double bytes(std::int32_t rank, std::int32_t first) const {
    const auto tables = table_bytes.find(rank);
    return (all_ranks || rank == first ? model_bytes : 0) +
           (tables == table_bytes.end() ? 0 : tables->second);
  }
  [[nodiscard]] double copy_ns(double saved) const { return saved / bandwidth * 1e9; }
  [[nodiscard]] double write_ns(double saved) const { return saved / storage * 1e9; }
};

/// What was saved.
struct Saves {
  std::size_t number = 0;
  std::size_t ranks = 0;
  double bytes = 0;  // of the largest one
};

class Saver {
 public:
  Saver(editing::KernelEditor& editor, const Settings& settings)
      : editor_(editor), engine_(editor, settings.bandwidth), settings_(settings) {}

  Saves run() {
    const auto passes = editing::find_passes(editor_);
    const auto updates = editing::updates_of_passes(editor_, passes);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const std::int32_t rank = rank_of(passes[i]);
      const double bytes = settings_.bytes(rank, rank_of(passes.front()));
      const std::vector<TaskId> update = launched(updates[i]);
      if (update.empty() || !(bytes > 0)) continue;
      ranks_[rank].bytes = bytes;
      ranks_[rank].steps.push_back({&passes[i], update.front(), update.back()});
    }
    saves_.ranks = ranks_.size();
    for (auto& [number, rank] : ranks_) {
      saves_.bytes = std::max(saves_.bytes, rank.bytes);
      if (!settings_.blocking) save(before(rank.steps.front()), rank);
      for (std::size_t i = 0; i < rank.steps.size(); ++i) {
        const Step& step = rank.steps[i];
        // What the update changes has to be on its way.
        if (rank.snapshot != none<TaskId>) {
          const TaskId call = editor_.own_call(step.first_update);
          engine_.wait(call, rank.snapshot);
          outlast(*step.pass, i == 0 ? none<TaskId> : rank.steps[i - 1].last_update, call,
                  rank.bytes);
        }
        rank.snapshot = none<TaskId>;
        if (settings_.blocking || i + 1 < rank.steps.size()) {
          save({step.last_update, step.last_update, Place::after, step.last_update}, rank);
        } else {
          wait_for_write(step, rank);
        }
      }
    }
    return saves_;
  }

 private:
  struct Step {
    const editing::TrainingPass* pass = nullptr;
    TaskId first_update{};
    TaskId last_update{};
  };
  struct Rank {
    double bytes = 0;  // of one save
    std::vector<Step> steps;
    TaskId snapshot = none<TaskId>;  // its last copy, until an update waited for it
    TaskId written = none<TaskId>;
    LaneId writer = none<LaneId>;
  };
  /// Where a save stands: its copy starts when `after` has ended. `update` is on its device.
  struct Spot {
    TaskId after{};
    TaskId anchor{};
    Place place{};
    TaskId update{};
  };

  [[nodiscard]] std::int32_t rank_of(const editing::TrainingPass& pass) const {
    return editor_.graph().lane(pass.backward.front()).rank;
  }

  /// Update kernels with calls of their own before the next pass.
  [[nodiscard]] std::vector<TaskId> launched(const editing::UpdateOfPass& update) const {
    std::vector<TaskId> kernels;
    for (const TaskId kernel : update.kernels) {
      const bool before = kernel < update.next;  // none is the largest id
      if (before && editor_.own_call(kernel) != none<TaskId>) kernels.push_back(kernel);
    }
    return kernels;
  }

  /// Where a step begins on the thread of its update: of the recorded step, if there are such, else
  /// of the recording.
  [[nodiscard]] Spot before(const Step& step) const {
    const TaskGraph& graph = editor_.graph();
    const TaskId update = editor_.own_call(step.first_update);
    TaskId first = update;
    for (std::size_t t = 0; t < index(update) && first == update; ++t) {
      const auto task = make_id<TaskId>(t);
      if (graph.lane_id(task) == graph.lane_id(update) &&
          (graph.step(update) < 0 || graph.step(task) == graph.step(update))) {
        first = task;
      }
    }
    const bool is_mark = graph.kind(first) == TaskKind::mark;
    return {none<TaskId>, first, is_mark ? Place::after : Place::before, step.last_update};
  }

  /// A snapshot that takes longer than a pass holds up one update in `every`: a part of that is
  /// longer than the part of the snapshot that a step carries. It runs since the update before, or
  /// since the pass began.
  void outlast(const editing::TrainingPass& pass, TaskId saved, TaskId update, double bytes) {
    if (settings_.blocking || settings_.every == 1) return;
    std::int64_t pass_ns = 0;
    for (const auto* kernels : {&pass.forward, &pass.backward}) {
      for (const TaskId kernel : *kernels) pass_ns += editor_.graph().duration_ns(kernel);
    }
    const double longer = settings_.copy_ns(bytes) - static_cast<double>(pass_ns);
    if (longer <= 0) return;
    const double part = std::min(longer / static_cast<double>(settings_.every), 1e17);
    const TaskId first = pass.forward.front();
    const bool is_first = saved == none<TaskId>;
    const std::int64_t passed_ns = is_first ? editor_.graph().duration_ns(first) : 0;
    editor_.edit().depend(update, is_first ? first : saved, DependencyKind::control,
                          pass_ns - passed_ns + to_whole(part));
  }

  void save(const Spot& spot, Rank& rank) {
    const auto every = static_cast<double>(settings_.every);
    const TaskId copy = engine_.copy({.direction = CopyEngine::Direction::to_host,
                                      .bytes = rank.bytes / every,
                                      .anchor = spot.anchor,
                                      .place = spot.place,
                                      .after = spot.after,
                                      .like = spot.update});
    if (copy == none<TaskId>) return;
    // The program waits for the save before this one, as frameworks do.
    if (rank.written != none<TaskId>) engine_.wait(editor_.call_of_new(copy), rank.written);
    TaskSpec spec = host_task("write checkpoint", spot.update);
    if (!settings_.blocking) spec.lane = writer_of(rank, spot.update);
    spec.duration_ns = to_whole(std::min(settings_.write_ns(rank.bytes) / every, 1e17));
    rank.written = editor_.edit().insert(spec, spot.anchor, spot.place);
    engine_.wait(rank.written, copy);
    rank.snapshot = copy;
    ++saves_.number;
  }

  /// After the last recorded update the program waits for a write, as it does after every other.
  void wait_for_write(const Step& step, const Rank& rank) {
    if (rank.written == none<TaskId>) return;
    const TaskSpec spec = host_task("wait for checkpoint", step.last_update);
    const TaskId call = editor_.own_call(step.last_update);
    engine_.wait(editor_.edit().insert(spec, call, Place::after), rank.written);
  }

  /// On the thread of the update.
  [[nodiscard]] TaskSpec host_task(std::string_view name, TaskId update) {
    TaskSpec spec;
    spec.lane = editor_.graph().lane_id(editor_.own_call(update));
    spec.work = editor_.edit().add_work(name, TaskKind::host);
    spec.kind = TaskKind::host;
    spec.phase = Phase::update;
    spec.step = editor_.graph().step(update);
    spec.provenance = Provenance::assumed;
    return spec;
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
  Saves saves_;
};

/// By rank: lookups are not divided like the rest of a model, each rank has tables of its own.
std::map<std::int32_t, editing::FusedTables> tables_of_ranks(const editing::KernelEditor& editor) {
  std::map<std::int32_t, editing::FusedTables> found;
  for (const editing::TrainingPass& pass : editing::find_passes(editor)) {
    const editing::FusedTables tables = editing::fused_tables(editor, pass.forward);
    editing::FusedTables& most = found[editor.graph().lane(pass.backward.front()).rank];
    if (tables.numbers > most.numbers) most = tables;
  }
  return found;
}

/// Sets the bytes of one save and how they were counted.
void count_bytes(const editing::KernelEditor& editor, const ParamValues& params,
                 Settings& settings) {
  const double given = params.number(parameters_param);
  editing::ParameterCount count = {given, "as given", given};
  if (!(given > 0)) count = editing::parameter_count(editor);
  double each = params.number(bytes_param);
  std::string states = "as given";
  if (!(each > 0)) {
    const editing::OptimizerStates kept = editing::optimizer_states(editor);
    // States have the type that the update works on.
    const double update = editing::recorded_bytes(editor);
    const double trained = count.numbers > 0 && !(given > 0) ? count.trained / count.numbers : 1;
    each = editing::parameter_bytes(editor) + trained * kept.bytes * update / fp32_bytes;
    states = kept.evidence;
    if (update < fp32_bytes) states += ", in 16 bit as the update";
  }
  const double saved = settings.all_ranks ? count.held : count.numbers;
  const std::string part =
      saved < count.numbers ? fmt::format("{:.1f} M on each rank of ", saved * 1e-6) : "";
  settings.model_bytes = saved * each;
  settings.counted = fmt::format("{}{:.1f} M parameters ({}) of {:g} bytes ({})", part,
                                 count.numbers * 1e-6, count.evidence, each, states);
  if (given > 0) return;
  double numbers = 0;
  double all = 0;
  for (const auto& [rank, tables] : tables_of_ranks(editor)) {
    if (!(tables.numbers > 0)) continue;
    const double bytes = fp32_bytes * tables.numbers + tables.state_bytes;
    settings.table_bytes[rank] = bytes;
    numbers += tables.numbers;
    all += bytes;
  }
  if (settings.table_bytes.empty()) return;
  settings.counted += fmt::format(
      ", and {:.1f} M numbers in tables of fused lookups, {:.1f} MB with their states{}",
      numbers * 1e-6, all * 1e-6,
      settings.table_bytes.size() > 1
          ? fmt::format(", on {} ranks that save their own", settings.table_bytes.size())
          : "");
}

std::string note_of(const Settings& settings, const Saves& saves) {
  const auto every = static_cast<double>(settings.every);
  std::string note =
      fmt::format("{} saves of {}{:.1f} MB, {}: {:.2f} ms of copies and {:.2f} ms of writing each",
                  settings.blocking ? "blocking" : "asynchronous",
                  saves.ranks > 1 && !settings.table_bytes.empty() ? "up to " : "",
                  saves.bytes * 1e-6, settings.counted, settings.copy_ns(saves.bytes) * 1e-6,
                  settings.write_ns(saves.bytes) * 1e-6);
  note += settings.every == 1
              ? fmt::format("{} of {} {}", settings.blocking ? ", after each" : ", beside each",
                            saves.number, settings.blocking ? "updates" : "steps as in a long run")
              : fmt::format(
                    "; of one in {} steps, each of {} steps carries its share: the answer is "
                    "the mean step",
                    settings.every, saves.number);
  if (!settings.blocking) {
    note += fmt::format(
        "; in the long run no step takes less than {:.2f} ms",
        (settings.copy_ns(saves.bytes) + settings.write_ns(saves.bytes)) * 1e-6 / every);
  }
  return note;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
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
  count_bytes(editor, params, settings);
  if (!(settings.model_bytes > 0) && settings.table_bytes.empty()) {
    return Error{ErrorCode::missing_cost,
                 "unknown size of the training state, expected parameters=COUNT, or a trace with "
                 "record_shapes=True"};
  }
  const Saves saves = Saver(editor, settings).run();
  if (saves.number == 0) {
    return Error{ErrorCode::no_match,
                 "no update kernels after a backward pass, expected training steps with an "
                 "Optimizer.step range"};
  }
  return editor.finish(note_of(settings, saves));
}

constexpr std::array<std::string_view, 6> assumptions = {
    "A save is parameters and optimizer states: 4 bytes and 8 (Adam), 4 (momentum) or none per "
    "parameter, by the operators of the recorded update, else by the optimizer's name, else Adam; "
    "half of that where the update is in 16 bit.",
    "The answer is the mean step of a long run: every recorded step carries its share of a save; "
    "async: the save before the first recorded step runs beside it, the one after the last does "
    "not count.",
    "async: host memory for one snapshot is pinned beforehand; the next update waits until the "
    "snapshot has left, the next save until it is written.",
    "blocking: copies go to pageable memory, and the thread of the update writes.",
    "One rank saves for all (ranks=first), but for tables of fused lookups, of which each rank "
    "saves its own; the others wait for it at their next collective.",
    "The recorded steps save nothing themselves."};
constexpr std::array<std::string_view, 4> ignores = {
    "kernels beside the copies: on an H100 they took up to 15 % longer",
    "CPU time and memory bandwidth that the writer uses during the step",
    "opening, naming and deleting files, and barriers around a save",
    "what is lost at a failure: how often to save"};
constexpr std::array params = {
    mode_param,     every_param,      storage_param, editing::host_link_param,
    pageable_param, parameters_param, bytes_param,   ranks_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "async_checkpoint",
    .summary = "Save the state of training beside the next step, or (mode=blocking) before it.",
    .paper =
        "J. Mohan, A. Phanishayee, V. Chidambaram, CheckFreq: Frequent, Fine-Grained DNN "
        "Checkpointing, FAST 2021; M. Wan et al., ByteCheckpoint, NSDI 2025",
    .recipe =
        "Where the first recorded step begins, and after the last update kernel of each step but "
        "the last, a copy of the N-th part of the state to the host is put on a stream of its own "
        "and a host task that writes it on a thread of its own. The "
        "first kernel of the next update waits for the copy, the next copy for the write. A whole "
        "copy that outlasts a pass holds up one update in N. Blocking: the write stands on the "
        "thread of the update, after every step, and waits for the copy.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "storage: bytes of one checkpoint / seconds of writing it.",
    .identity = {.none_because = "the state is copied and written, however rarely"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule};

}  // namespace foretrace::async_checkpoint_parts
