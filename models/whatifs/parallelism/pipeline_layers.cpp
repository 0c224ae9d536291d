// One forward, one backward (torch.distributed.pipelining's Schedule1F1B): the recorded forward
// pass of the first stage is its first micro-batch, the recorded backward pass its last; what lies
// between is put in, on all stages in an order in which everything comes after what it waits for.
//
//   before   rank 0: [f1 f2][b2 b1] update
//   after    rank 0: [f1][f1]          [b1][b1] update
//            rank 1:     [f2][b2][f2][b2] update                           pipeline=2
#include "models/whatifs/parallelism/pipeline_layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/loading_time.h"
#include "models/jobs/recordings/recorded_layers.h"
#include "models/jobs/schedules/execution.h"
#include "models/jobs/schedules/schedule.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "models/whatifs/parallelism/rank_share.h"
#include "models/whatifs/parallelism/stage_cut.h"
#include "models/whatifs/parallelism/stage_emitter.h"
#include "models/whatifs/parallelism/tensor_parallel.h"
#include "sim/edit/tensors.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

/// Four micro-batches per stage keep the bubble below a fifth of a step.
constexpr std::uint32_t usual_per_stage = 4;
/// Kernels of all passes, micro-batches and stages, and steps of a schedule: more would not fit
/// into memory.
constexpr double most_kernels = 4e6;
constexpr double most_schedule_steps = 1e6;

std::uint32_t grid_ranks(const PipelineOptions& options) {
  return options.stages * options.tensor.ranks * options.data.ranks;
}
GridAxis tensor_axis(const PipelineOptions& options) {
  return {options.tensor.ranks, 1, grid_ranks(options)};
}

class Pipeliner {
 public:
  Pipeliner(KernelEditor& editor, const Cluster& cluster, const PipelineOptions& options)
      : editor_(editor),
        graph_(editor.graph()),
        cluster_(cluster),
        options_(options),
        micro_batches_(options.micro_batches > 0 ? options.micro_batches
                                                 : usual_per_stage * options.stages),
        network_(editor, cluster),
        emitter_(editor, network_, tensor_axis(options)),
        loading_(loading_times(graph_)) {}

  Result<PipelinedRun> run() {
    const std::vector<TrainingPass> passes = find_passes(editor_);
    if (passes.empty()) {
      return Error{ErrorCode::no_match,
                   "no forward kernels with a backward pass after them, expected a training step"};
    }
    for (const TrainingPass& pass : passes) {
      const Lane& lane = graph_.lane(pass.forward.front());
      const Lane& first = graph_.lane(passes.front().forward.front());
      if (lane.rank == first.rank && lane.device == first.device) continue;
      return Error{ErrorCode::unsupported,
                   "pipeline: the trace has passes on several devices, expected a trace of one"};
    }
    FORETRACE_TRY(plan_schedule());
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const TaskId end = i + 1 < passes.size() ? passes[i + 1].forward.front() : none<TaskId>;
      const std::vector<TaskId> updates = updates_between(passes[i], end);
      if (updates.empty() && i + 1 < passes.size()) {
        return Error{ErrorCode::unsupported,
                     "pipeline: several passes come before one update (gradient accumulation), "
                     "expected one pass per step"};
      }
      FORETRACE_TRY(spread(passes[i], updates));
    }
    return PipelinedRun{notes(passes.size()), micro_batches_};
  }

 private:
  Status plan_schedule() {
    if (2.0 * options_.stages * micro_batches_ > most_schedule_steps) {
      return Error{ErrorCode::unsupported,
                   fmt::format("pipeline: got {} micro-batches on {} stages, expected at most {:g} "
                               "passes of stages",
                               micro_batches_, options_.stages, most_schedule_steps)};
    }
    FORETRACE_TRY(const auto schedule, find_schedule("1f1b"));
    const ScheduleShape shape{options_.stages, micro_batches_, 1};
    const StageOrders orders = orders_of(*schedule, shape);
    in_flight_ = most_in_flight(orders.front());
    FORETRACE_TRY(sequence_, sequence_of(*schedule, shape, orders));
    return ok_status();
  }

  /// Of the calls: device work may run in the next one.
  [[nodiscard]] std::int32_t step_of(const TrainingPass& pass) const {
    for (const TaskId kernel : pass.forward) {
      const TaskId call = editor_.own_call(kernel);
      if (call != none<TaskId>) return graph_.step(call);
    }
    return graph_.step(pass.forward.front());
  }

  [[nodiscard]] std::vector<TaskId> updates_between(const TrainingPass& pass, TaskId end) const {
    std::vector<TaskId> updates;
    const Lane& lane = graph_.lane(pass.backward.front());
    for (const TaskId kernel : editor_.kernels()) {
      if (graph_.phase(kernel) != Phase::update || kernel < pass.backward.back()) continue;
      if (end != none<TaskId> && kernel > end) break;
      if (graph_.lane(kernel).rank == lane.rank && graph_.lane(kernel).device == lane.device) {
        updates.push_back(kernel);
      }
    }
    return updates;
  }

  Status spread(const TrainingPass& pass, const std::vector<TaskId>& updates) {
    TensorSplit split;
    if (options_.tensor.ranks > 1) {
      FORETRACE_TRY(split, split_tensors(editor_, pass, options_.tensor));
    }
    own_parameters_ = split.parameters > 0 ? split.own_parameters / split.parameters : 1;
    emitter_.take(split);
    FORETRACE_TRY(auto layers, find_layers(editor_, pass, options_.layers));
    evidence_ = layers.evidence;
    const auto loading = loading_.find(step_of(pass));
    loading_ns_ = loading == loading_.end() ? 0 : loading->second;
    FORETRACE_TRY(const auto stages,
                  make_stages(editor_, layers, options_.stages,
                              [this](TaskId kernel) { return emitter_.cost_ns(kernel); }));
    all_parameters_ = 0;
    for (const PassLayer& layer : layers.list) all_parameters_ += layer.trained;
    copies_ += static_cast<double>(micro_batches_) *
               static_cast<double>(pass.forward.size() + pass.backward.size());
    if (copies_ > most_kernels) {
      return Error{
          ErrorCode::unsupported,
          fmt::format("pipeline: got {} micro-batches of {} kernels per pass, expected at "
                      "most {:g} kernels in all",
                      micro_batches_, pass.forward.size() + pass.backward.size(), most_kernels)};
    }
    stage_ns_.clear();
    for (const Stage& stage : stages) stage_ns_.push_back(stage.kernels_ns);
    keep_first(stages, split);
    return put_in(stages, updates, split);
  }

  /// The recorded rank keeps the kernels of the first stage.
  void keep_first(const std::vector<Stage>& stages, const TensorSplit& split) {
    std::set<TaskId> kept(stages[0].forward.begin(), stages[0].forward.end());
    kept.insert(stages[0].backward.begin(), stages[0].backward.end());
    for (std::size_t s = 1; s < stages.size(); ++s) {
      for (const auto* kernels : {&stages[s].forward, &stages[s].backward}) {
        for (const TaskId kernel : *kernels) {
          gone_calls_.insert(launch_of(graph_, kernel));
          // What a library clears for its kernel goes with it.
          const TaskId before = previous_on_lane(graph_, kernel);
          if (before != none<TaskId> && graph_.kind(before) == TaskKind::set) {
            editor_.remove(before, SegmentOf::take);
          }
          editor_.remove(kernel, SegmentOf::take);
        }
      }
    }
    const TaskId backward = launch_of(graph_, stages[0].backward.front());
    for (const TaskId kernel : stages[0].forward) {
      kept_until_[launch_of(graph_, kernel)] = backward;
    }
    for (const SplitKernel& part : split.kernels) {
      if (!kept.contains(part.kernel)) continue;
      editor_.set(part.kernel, part.cost);
      if (part.divides_output) divided_calls_.insert(launch_of(graph_, part.kernel));
    }
    first_share_ = stages[0].parameters * own_parameters_;
  }

  /// Exchanges of the micro-batch that the recorded rank does with its own kernels. `arrived`: what
  /// the first of them works on. What comes after the last may be a kernel that is put in.
  void exchange_recorded(const TensorSplit& split, const std::vector<TaskId>& kernels,
                         TaskId arrived) {
    const std::set<TaskId> own(kernels.begin(), kernels.end());
    const auto is_gone = [this](TaskId task) {
      return task == none<TaskId> || editor_.edit().is_gone(task);
    };
    for (const SplitExchange& exchange : split.exchanges) {
      const bool is_before = exchange.before != none<TaskId>;
      const TaskId at = is_before ? exchange.before : exchange.after;
      if (!own.contains(at)) continue;
      const TaskId task = network_.communicate(at, is_before ? Place::before : Place::after,
                                               tensor_transfer(exchange, tensor_axis(options_)));
      if (is_before) {
        const TaskId previous = previous_on_lane(graph_, at);
        const TaskId source = is_gone(previous) ? arrived : previous;
        if (source != none<TaskId>) network_.wait(task, source);
        network_.wait(at, task);
        continue;
      }
      network_.wait(task, at);
      const TaskId next = next_on_lane(graph_, exchange.until);
      if (is_gone(next)) {
        emitter_.next_waits(0, task);
      } else {
        // NOLINTNEXTLINE(readability-suspicious-call-argument): the next one waits
        network_.wait(next, task);
      }
    }
  }

  Status put_in(const std::vector<Stage>& stages, const std::vector<TaskId>& updates,
                const TensorSplit& split) {
    const TaskId anchor = editor_.own_call(stages[0].backward.front());
    if (anchor == none<TaskId> || editor_.own_call(stages[0].forward.front()) == none<TaskId>) {
      return Error{ErrorCode::unsupported,
                   "pipeline: kernels of the first stage have no launch calls of their own (a "
                   "graph launch)"};
    }
    emitter_.begin(anchor);
    exchange_recorded(split, stages[0].forward, none<TaskId>);
    TaskId arrived = none<TaskId>;  // what the recorded backward pass works on
    const std::uint32_t last_batch = micro_batches_ - 1;
    std::map<std::pair<std::uint32_t, std::uint32_t>, TaskId> forward;   // messages, by receiver
    std::map<std::pair<std::uint32_t, std::uint32_t>, TaskId> backward;  // and micro-batch
    for (const PlacedStep& placed : sequence_) {
      const std::uint32_t s = placed.stage;
      const std::uint32_t m = placed.step.micro_batch;
      const bool is_forward = placed.step.kind == StepKind::forward;
      const std::vector<TaskId>& kernels = is_forward ? stages[s].forward : stages[s].backward;
      auto& messages = is_forward ? forward : backward;
      const auto message = messages.find({s, m});
      const TaskId received = message == messages.end() ? none<TaskId> : message->second;
      if (s == 0 && m == (is_forward ? 0 : last_batch)) {
        emitter_.visit_recorded({s, m}, kernels, received);
        if (!is_forward) arrived = received;
      } else {
        emitter_.visit({s, m}, received);
        for (const TaskId kernel : kernels) {
          // The first stage loads every micro-batch; others do nothing before their first kernel.
          const bool begins = is_forward && kernel == kernels.front();
          if (begins) {
            emitter_.emit_first(kernel, s == 0 ? loading_ns_ : 0);
          } else {
            emitter_.emit(kernel);
          }
        }
      }
      const bool has_receiver = is_forward ? s + 1 < stages.size() : s > 0;
      if (has_receiver) {
        const double divided = options_.tensor.sequence ? options_.tensor.ranks : 1;
        const std::uint32_t to = is_forward ? s + 1 : s - 1;
        const double bytes = stages[is_forward ? to : s].message_bytes / divided;
        const TaskId sent = emitter_.send(
            s, kernels.back(),
            {CollectiveKind::send, bytes, pipeline_axis(),
             is_forward ? "activations to the next stage" : "gradients to the stage before",
             is_forward ? "send of activations" : "send of gradients"});
        emitter_.wait_for_visit(sent);
        messages[{to, m}] = sent;
      }
      if (!is_forward && m == last_batch && s > 0) finish(s, stages[s], updates);
    }
    exchange_recorded(split, stages[0].backward, arrived);
    return finish_first(stages[0], updates);
  }

  [[nodiscard]] GridAxis pipeline_axis() const {
    return {options_.stages, options_.tensor.ranks * options_.data.ranks, grid_ranks(options_)};
  }
  [[nodiscard]] NetworkTransfer data_transfer(CollectiveKind kind, const Stage& stage) const {
    const double numbers = stage.updated * own_parameters_ * total_parameters();
    return {kind,
            numbers * options_.data.gradient_bytes,
            {options_.data.ranks, options_.tensor.ranks, grid_ranks(options_)},
            "gradients",
            kind == CollectiveKind::all_gather   ? "all-gather of parameters"
            : kind == CollectiveKind::all_reduce ? "all-reduce of gradients"
                                                 : "reduce-scatter of gradients"};
  }
  [[nodiscard]] double total_parameters() const {
    return options_.data.parameters > 0 ? options_.data.parameters : all_parameters_;
  }
  [[nodiscard]] bool shards() const {
    return options_.data.ranks > 1 && options_.data.sharding > 0;
  }
  [[nodiscard]] Cost update_cost(TaskId kernel, const Stage& stage) const {
    const double share = stage.updated * own_parameters_ / (shards() ? options_.data.ranks : 1);
    return moved_share(graph_.duration_ns(kernel), editor_.class_of(kernel), share);
  }

  /// Gradients of a stage go once its last micro-batch is done; nothing hides them.
  void finish(std::uint32_t s, const Stage& stage, const std::vector<TaskId>& updates) {
    const auto exchange = [&](CollectiveKind kind) {
      const TaskId task = emitter_.send(s, stage.backward.back(), data_transfer(kind, stage));
      emitter_.wait_for_visit(task);
      emitter_.visit({s, micro_batches_}, task);
    };
    if (options_.data.ranks > 1) {
      exchange(shards() ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce);
    }
    for (const TaskId kernel : updates) emitter_.emit(kernel, update_cost(kernel, stage));
    if (shards()) exchange(CollectiveKind::all_gather);
  }

  Status finish_first(const Stage& stage, const std::vector<TaskId>& updates) {
    for (const TaskId kernel : updates) editor_.set(kernel, update_cost(kernel, stage));
    if (options_.data.ranks < 2) return ok_status();
    if (!(total_parameters() > 0)) {
      return Error{ErrorCode::missing_cost,
                   "unknown size of gradients, expected recorded shapes or parameters=N"};
    }
    const auto exchange = [&](TaskId behind, CollectiveKind kind) {
      const TaskId task = network_.communicate(behind, Place::after, data_transfer(kind, stage));
      network_.wait(task, behind);
      network_.next_waits(behind, task);
    };
    exchange(stage.backward.back(),
             shards() ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce);
    if (shards() && !updates.empty()) exchange(updates.back(), CollectiveKind::all_gather);
    return ok_status();
  }

  /// The first stage holds its share of the model, and activations of several micro-batches.
  std::string resize_tensors() {
    TensorEditor tensors(editor_.edit());
    const std::vector<Tensor>& all = graph_.context().tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Tensor& tensor = all[i];
      if (tensor.bytes <= 0 || tensor.allocated_in == none<TaskId>) continue;
      const bool is_activation = tensor.category == TensorCategory::activation ||
                                 tensor.category == TensorCategory::activation_gradient ||
                                 tensor.category == TensorCategory::temporary;
      if (!is_activation) continue;
      if (gone_calls_.contains(tensor.allocated_in)) {
        tensors.drop(i);
        continue;
      }
      double factor =
          divided_calls_.contains(tensor.allocated_in) ? 1.0 / options_.tensor.ranks : 1;
      const auto kept = kept_until_.find(tensor.allocated_in);
      if (kept != kept_until_.end() && tensor.freed_in >= kept->second) factor *= in_flight_;
      if (factor != 1) tensors.resize(i, static_cast<double>(tensor.bytes) * factor);
    }
    RankMemory memory = {
        .weights = first_share_, .gradients = first_share_, .states = first_share_};
    if (shards()) {
      memory.states /= options_.data.ranks;
      if (options_.data.sharding > 1) memory.gradients /= options_.data.ranks;
    }
    return tensors.note() + resize_rank_memory(editor_.edit(), memory);
  }

  std::string notes(std::size_t passes) {
    std::string stages;
    for (const std::int64_t ns : stage_ns_) {
      stages += fmt::format("{}{:.2f}", stages.empty() ? "" : ", ", to_ms(ns));
    }
    return fmt::format(
        "{} stages of a pipeline (layers from {}), {} ms of kernels per micro-batch; {} "
        "micro-batches of the recorded batch each, one forward, one backward; {:.2f} ms of "
        "transfers per step on {}; memory is that of the first stage{}",
        options_.stages, to_string(evidence_), stages, micro_batches_,
        static_cast<double>(network_.transferred_ns()) * 1e-6 / static_cast<double>(passes),
        cluster_.machine, resize_tensors());
  }

  KernelEditor& editor_;
  const TaskGraph& graph_;
  const Cluster& cluster_;
  const PipelineOptions& options_;
  std::uint32_t micro_batches_;
  NetworkCalls network_;
  StageEmitter emitter_;
  std::vector<PlacedStep> sequence_;
  std::map<std::int32_t, std::int64_t> loading_;  // by step
  std::int64_t loading_ns_ = 0;                   // of the pass at hand
  double copies_ = 0;                             // of kernels, so far
  std::uint32_t in_flight_ = 1;
  LayerEvidence evidence_ = LayerEvidence::modules;
  std::vector<std::int64_t> stage_ns_;
  double own_parameters_ = 1;  // share of a tensor rank
  double first_share_ = 1;     // of the first stage and its tensor rank
  double all_parameters_ = 0;  // numbers that are trained
  std::set<TaskId> gone_calls_;
  std::map<TaskId, TaskId> kept_until_;  // forward calls, and where their backward pass begins
  std::set<TaskId> divided_calls_;       // of kernels that write a share
};

}  // namespace

Result<PipelinedRun> pipeline_layers(KernelEditor& editor, const Cluster& cluster,
                                     const PipelineOptions& options) {
  return Pipeliner(editor, cluster, options).run();
}

}  // namespace foretrace::editing
