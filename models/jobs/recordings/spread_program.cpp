// Plan, schedule and what travels are those of the modelled job that a recorded pass is. Its nodes
// are then written as they were recorded.
#include "models/jobs/recordings/spread_program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/rank_program.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/recordings/pass_job.h"
#include "models/jobs/recordings/recorded_passes.h"
#include "models/jobs/recordings/stage_writer.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace {
namespace {

using editing::KernelEditor;

/// Kernels of all passes, micro-batches and stages, and steps of a schedule: more would not fit
/// into memory.
constexpr double most_kernels = 4e6;
constexpr double most_schedule_steps = 1e6;

class Spreader {
 public:
  Spreader(const KernelEditor& editor, const SpreadOptions& options)
      : editor_(editor),
        graph_(editor.graph()),
        options_(options),
        passes_(recorded_passes(editor, options.layers)),
        program_(read_program(editor, passes_)),
        recorded_(program_),
        task_of_op_(program_.size()) {
    const std::vector<TaskId> ops = ops_in_turn(program_);
    for (std::size_t t = 0; t < ops.size(); ++t) task_of_op_[index(ops[t])] = make_id<TaskId>(t);
  }

  Result<SpreadRun> run();

 private:
  [[nodiscard]] Status check() const;
  [[nodiscard]] Status check_calls(const PassJob& of, std::uint32_t pass) const;
  [[nodiscard]] HeldShares shares_of(const PassJob& of, std::uint32_t stage) const;
  static void write(std::deque<StageWriter>& stages);
  Status write_pass(std::uint32_t pass, const PassJob& of, std::deque<StageWriter>& stages);
  void begin_context();
  Status add_buffers(const PassJob& of);

  const KernelEditor& editor_;
  const TaskGraph& graph_;
  const SpreadOptions& options_;
  std::vector<RecordedPass> passes_;
  RecordedProgram program_;
  RecordedIndex recorded_;
  std::vector<TaskId> task_of_op_;
  SpreadDraft draft_;
  SpreadRun made_;
};

Status Spreader::check() const {
  if (passes_.empty()) {
    return Error{ErrorCode::no_match,
                 "no forward kernels with a backward pass after them, expected a training step"};
  }
  double kernels = 0;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const RecordedPass& pass = passes_[i];
    const auto device = editing::device_of(graph_, pass.kernels.forward.front());
    if (device != editing::device_of(graph_, passes_.front().kernels.forward.front())) {
      return Error{ErrorCode::unsupported,
                   "pipeline: the trace has passes on several devices, expected a trace of one"};
    }
    if (pass.updates.empty() && i + 1 < passes_.size()) {
      return Error{ErrorCode::unsupported,
                   "pipeline: several passes come before one update (gradient accumulation), "
                   "expected one pass per step"};
    }
    kernels += static_cast<double>(pass.kernels.forward.size() + pass.kernels.backward.size());
  }
  const std::uint32_t batches = options_.micro_batches;
  if (2.0 * options_.plan.pipeline * batches > most_schedule_steps) {
    return Error{ErrorCode::unsupported,
                 fmt::format("pipeline: got {} micro-batches on {} stages, expected at most {:g} "
                             "passes of stages",
                             batches, options_.plan.pipeline, most_schedule_steps)};
  }
  if (kernels * batches <= most_kernels) return ok_status();
  return Error{
      ErrorCode::unsupported,
      fmt::format("pipeline: got {} micro-batches of {:.0f} kernels, expected at most {:g} "
                  "kernels in all",
                  batches, kernels, most_kernels)};
}

/// Nodes of one call are launched together: what lies on another stage nobody would launch.
Status Spreader::check_calls(const PassJob& of, std::uint32_t pass) const {
  for (const Dependency& d : program_.boundary) {
    if (d.kind != DependencyKind::launch) continue;
    const RecordedPart& from = program_.visits[recorded_.visit_of(task_of(d.source))].part;
    const RecordedPart& to = program_.visits[recorded_.visit_of(d.task)].part;
    if (to.pass != pass || to.role == PartRole::other || to.role == PartRole::input) continue;
    const auto position = [&](const RecordedPart& part) {
      return std::upper_bound(of.cuts.begin(), of.cuts.end(), part.layer) - of.cuts.begin();
    };
    if (from.role == to.role && from.pass == to.pass && position(from) == position(to)) continue;
    return Error{ErrorCode::unsupported,
                 "pipeline: kernels of several stages have no launch calls of their own (a graph "
                 "launch)"};
  }
  return ok_status();
}

HeldShares Spreader::shares_of(const PassJob& of, std::uint32_t stage) const {
  const ParallelPlan plan = stage_plan(of.job, stage);
  HeldShares shares;
  shares.held = shares.trained = 0;
  for (const std::uint32_t layer : of.layers_of(stage)) {
    shares.held += of.held[layer];
    shares.trained += of.trained[layer];
  }
  const double share = 1.0 / plan.shards();
  if (plan.sharding >= Sharding::optimizer) shares.states = share;
  const bool is_kept = keeps_collected(of.job, plan);
  if (plan.sharding >= Sharding::gradients && !keeps_gradients(of.job, plan)) {
    shares.gradients = share;
  }
  // Collected parameters lie beside a rank's own.
  if (plan.sharding == Sharding::parameters) shares.weights = is_kept ? 1 + share : share;
  return shares;
}

/// All but rows that hang on tasks.
void Spreader::begin_context() {
  GraphContext context = program_.context;
  context.waits.clear();
  context.tensors.clear();
  context.segment_parts.clear();
  context.demands.clear();
  context.priorities.clear();
  context.stalls.clear();
  context.steps.clear();
  context.parameters = std::make_shared<const ParameterTable>();  // kernels tell what stages hold
  draft_.builder.assign(std::move(context), {}, {}, {}, {});
}

/// Where collected parameters and whole gradients of layers lie for a while.
Status Spreader::add_buffers(const PassJob& of) {
  if (options_.plan.sharding != Sharding::parameters) return ok_status();
  FORETRACE_TRY(check_job(of.job));
  FORETRACE_TRY(const RankProgram program, build_program(of.job));
  const std::vector<StageMemory> memory = stage_memory(of.job, program);
  const Lane& compute = graph_.lane(passes_.front().kernels.forward.front());
  for (std::uint32_t s = 0; s < memory.size(); ++s) {
    // Messages are tensors by themselves.
    Tensor buffer;
    buffer.bytes = to_whole(std::max(memory[s].buffers - memory[s].messages, 0.0));
    buffer.rank = compute.rank + static_cast<std::int32_t>(s);
    buffer.device = compute.device;
    buffer.category = TensorCategory::communication;
    buffer.provenance = Provenance::scaled;
    if (buffer.bytes > 0) draft_.builder.add_tensor(buffer);
  }
  return ok_status();
}

/// Each stage goes on until it needs what another one has not sent yet.
void Spreader::write(std::deque<StageWriter>& stages) {
  std::map<std::uint32_t, TaskId> sent;  // by message
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (StageWriter& stage : stages) {
      for (const RankNode* node = stage.next(); node != nullptr; node = stage.next()) {
        const RankNode about = *node;
        TaskId message = none<TaskId>;
        if (about.type == RankNodeType::receive) {
          const auto found = sent.find(about.message);
          if (found == sent.end()) break;
          message = found->second;
        }
        stage.add_next(message);
        if (about.type == RankNodeType::send) sent[about.message] = stage.last_sent();
        goes_on = true;
      }
    }
  }
  for (const StageWriter& stage : stages) FORETRACE_CHECK(stage.next() == nullptr);
}

Status Spreader::write_pass(std::uint32_t pass, const PassJob& of,
                            std::deque<StageWriter>& stages) {
  FORETRACE_TRY(check_calls(of, pass));
  FORETRACE_TRY(check_job(of.job));
  FORETRACE_TRY(const RankProgram program, build_program(of.job));
  for (std::uint32_t s = 0; s < stages.size(); ++s) {
    StageWork work;
    work.job = &of.job;
    work.pass = pass;
    const HeldShares shares = shares_of(of, s);
    work.update_share = shares.trained * shares.states;
    work.loading_ns = of.loading_ns;
    FORETRACE_TRY(work.nodes, rank_nodes(of.job, program, s, NodeGrain::operators));
    stages[s].begin(std::move(work));
  }
  write(stages);
  return ok_status();
}

Result<SpreadRun> Spreader::run() {
  FORETRACE_TRY(check());
  if (options_.plan.sharding == Sharding::parameters) {
    FORETRACE_TRY(editor_.moving_cost(1, KernelClass::elementwise));
  }
  begin_context();
  std::vector<PassJob> jobs;
  const PassCounter counter(editor_);
  for (const RecordedPass& pass : passes_) {
    FORETRACE_TRY(const auto& layers, pass.layers);
    FORETRACE_TRY(auto of, job_of_pass(editor_, options_, layers,
                                       counter.of(pass.kernels, options_.parameters)));
    jobs.push_back(std::move(of));
  }
  for (PassJob& of : jobs) static_cast<void>(of.bound());
  const PassJob& first = jobs.front();
  FORETRACE_TRY(add_buffers(first));
  const SpreadParts parts{editor_, options_, recorded_, task_of_op_,
                          graph_.lane_id(passes_.front().kernels.forward.front())};
  std::deque<StageWriter> stages;
  for (std::uint32_t s = 0; s < options_.plan.pipeline; ++s) {
    stages.emplace_back(parts, draft_, s, shares_of(first, s), first.layers_of(s));
    std::int64_t ns = 0;
    for (const std::uint32_t layer : first.layers_of(s)) {
      ns += first.layer_times[layer].device_ns;
    }
    made_.stage_ns.push_back(ns);
  }
  for (std::uint32_t p = 0; p < jobs.size(); ++p) {
    FORETRACE_TRY(write_pass(p, jobs[p], stages));
  }
  for (StageWriter& stage : stages) {
    stage.end();
    made_.transferred_ns += stage.transferred_ns() / static_cast<std::int64_t>(jobs.size());
  }
  stages.front().add_steps();
  made_.evidence = passes_.front().layers->evidence;
  std::vector<TaskId> new_id;
  FORETRACE_TRY(made_.graph, std::move(draft_.builder).build(new_id));
  made_.low.assign(new_id.size(), 1);
  made_.high.assign(new_id.size(), 1);
  for (std::size_t t = 0; t < new_id.size(); ++t) {
    made_.low[index(new_id[t])] = draft_.low[t];
    made_.high[index(new_id[t])] = draft_.high[t];
  }
  return std::move(made_);
}

}  // namespace

Result<SpreadRun> spread_program(const KernelEditor& editor, const SpreadOptions& options) {
  return Spreader(editor, options).run();
}

}  // namespace foretrace
