// Each recorded layer is a layer of a modelled job with its recorded times: plan, schedule and what
// travels are the job's. Its nodes are then written as they were recorded.
#include "models/jobs/recordings/spread_program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/editing/kernels/loading_time.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/rank_program.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/recordings/layer_cuts.h"
#include "models/jobs/recordings/recorded_passes.h"
#include "models/jobs/recordings/stage_writer.h"
#include "models/jobs/workloads/layered.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace {
namespace {

using editing::KernelEditor;
using editing::PassLayer;

/// Kernels of all passes, micro-batches and stages, and steps of a schedule: more would not fit
/// into memory.
constexpr double most_kernels = 4e6;
constexpr double most_schedule_steps = 1e6;

/// A recorded pass as a job; what the job points to lives as long as it.
struct PassJob {
  TransformerSpec model;
  Framework framework;
  Job job;
  std::vector<std::uint32_t> cuts;  ///< first layer of every position, and the end
  std::vector<std::int64_t> layer_ns;
  std::vector<double> trained;  ///< share of every layer of the trained parameters
  std::vector<double> held;     ///< the same of all

  /// Layers of a stage.
  [[nodiscard]] std::set<std::uint32_t> layers_of(std::uint32_t stage) const {
    std::set<std::uint32_t> layers;
    for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
      const std::uint32_t at = position_of(*job.schedule, job.shape(), stage, chunk);
      for (std::uint32_t l = cuts[at]; l < cuts[at + 1]; ++l) layers.insert(l);
    }
    return layers;
  }
};

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
  [[nodiscard]] Result<PassJob> job_of(const RecordedPass& pass) const;
  [[nodiscard]] Status add_layers(const RecordedPass& pass, PassJob& of) const;
  [[nodiscard]] Framework framework() const;
  [[nodiscard]] Status add_stages(const RecordedPass& pass, PassJob& of) const;
  [[nodiscard]] HeldShares shares_of(const PassJob& of, std::uint32_t stage) const;
  [[nodiscard]] std::int64_t loading_of(const RecordedPass& pass) const;
  void write(std::deque<StageWriter>& stages);
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

// What PyTorch's pipelines do: messages go beside computation, gradients once the last micro-batch
// is done; sharded parameters stay collected meanwhile.
Framework Spreader::framework() const {
  Framework made;
  made.name = made.product = "recorded";
  made.sends_block = false;
  made.scatters_sends = false;
  made.pipeline_keeps_collected = true;
  made.weight_bytes = made.gradient_bytes = options_.gradient_bytes;
  made.reduce_bytes = made.gather_bytes = options_.gradient_bytes;
  return made;
}

/// The first tensor that the first kernels with recorded inputs read.
double bytes_read(const KernelEditor& editor, const std::vector<TaskId>& forward) {
  for (const TaskId kernel : forward) {
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const auto* dims = inputs.shape(0);
    if (dims == nullptr || dims->size() < 2) continue;
    return element_count(*dims) * editor.number_bytes(kernel);
  }
  return 0;
}

Status Spreader::add_layers(const RecordedPass& pass, PassJob& of) const {
  FORETRACE_TRY(const auto& layers, pass.layers);
  double trained = 0;
  double held = 0;
  for (const PassLayer& layer : layers.list) {
    trained += layer.trained;
    held += layer.parameters;
  }
  const double all = options_.parameters > 0 ? options_.parameters : trained;
  if (options_.plan.data > 1 && !(all > 0)) {
    return Error{ErrorCode::missing_cost,
                 "unknown size of gradients, expected recorded shapes or parameters=N"};
  }
  const auto ns_of = [this](const std::vector<TaskId>& kernels) {
    return std::accumulate(
        kernels.begin(), kernels.end(), std::int64_t{0},
        [this](std::int64_t sum, TaskId kernel) { return sum + graph_.duration_ns(kernel); });
  };
  LayeredSpec spec;
  spec.recorded = RecordedGroups{.tensor = options_.plan.tensor, .expert = 1};
  double widest = 0;
  for (const PassLayer& layer : layers.list) {
    const double even = 1.0 / static_cast<double>(layers.list.size());
    of.trained.push_back(trained > 0 ? layer.trained / trained : even);
    of.held.push_back(held > 0 ? layer.parameters / held : even);
    of.layer_ns.push_back(ns_of(layer.forward) + ns_of(layer.backward));
    LayerOperator made;
    made.kind = LayerKind::recorded;
    made.name = fmt::format("layer {}", spec.groups.size());
    // A node of no time is none.
    made.recorded = {static_cast<double>(std::max<std::int64_t>(ns_of(layer.forward), 1)),
                     static_cast<double>(std::max<std::int64_t>(ns_of(layer.backward), 1)), 0};
    made.weights = of.trained.back() * all * options_.own_parameters;
    const double bytes = std::max(bytes_per_number(of.job.precisions.activations), 1);
    made.input_numbers = bytes_read(editor_, layer.forward) / bytes;
    widest = std::max(widest, made.input_numbers);
    spec.order.push_back({static_cast<std::uint32_t>(spec.groups.size()), 1});
    spec.groups.push_back({made.name, 1, {made}});
  }
  of.model = layered_model(std::move(spec), widest);
  return ok_status();
}

Status Spreader::add_stages(const RecordedPass& pass, PassJob& of) const {
  const std::size_t positions = std::size_t{options_.plan.pipeline} * options_.chunks;
  const std::vector<PassLayer>& layers = pass.layers->list;
  if (layers.size() < positions) {
    return Error{
        ErrorCode::no_match,
        fmt::format("pipeline: got {} stages, expected at most the {} layers of the trace ({})",
                    positions, layers.size(), to_string(pass.layers->evidence))};
  }
  for (const std::size_t cut : cut_stages(of.layer_ns, positions)) {
    of.cuts.push_back(static_cast<std::uint32_t>(cut));
  }
  of.cuts.push_back(static_cast<std::uint32_t>(layers.size()));
  for (std::size_t i = 0; i + 1 < of.cuts.size(); ++i) {
    of.job.stages.push_back({.layers = of.cuts[i + 1] - of.cuts[i]});
    const bool trains = std::any_of(layers.begin() + of.cuts[i], layers.begin() + of.cuts[i + 1],
                                    [](const PassLayer& layer) { return !layer.backward.empty(); });
    if (!trains) {
      return Error{ErrorCode::no_match,
                   fmt::format("pipeline: stage {} of {} has no backward kernels, expected fewer "
                               "stages",
                               i, positions)};
    }
    if (i > 0 && !(of.model.layered->groups[of.cuts[i]].operators.front().input_numbers > 0)) {
      return Error{
          ErrorCode::missing_cost,
          "pipeline: unknown size of activations between layers, expected recorded shapes"};
    }
  }
  return ok_status();
}

Result<PassJob> Spreader::job_of(const RecordedPass& pass) const {
  PassJob of;
  FORETRACE_TRY(add_layers(pass, of));
  FORETRACE_TRY(add_stages(pass, of));
  of.framework = framework();
  of.job.cluster = options_.cluster;
  of.job.schedule = options_.schedule;
  of.job.plan = options_.plan;
  of.job.chunks = options_.chunks;
  of.job.micro_batch = 1;
  of.job.global_batch = double{1} * options_.micro_batches * options_.plan.data;
  of.job.length = 1;
  return of;
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
    shares.held += of.held[layer] * options_.own_parameters;
    shares.trained += of.trained[layer] * options_.own_parameters;
  }
  const double share = 1.0 / plan.shards();
  if (plan.sharding >= Sharding::optimizer) shares.states = share;
  const bool is_kept = keeps_collected(of.job, plan);
  if (plan.sharding >= Sharding::gradients && !is_kept) shares.gradients = share;
  // Collected parameters lie beside a rank's own.
  if (plan.sharding == Sharding::parameters) shares.weights = is_kept ? 1 + share : share;
  return shares;
}

std::int64_t Spreader::loading_of(const RecordedPass& pass) const {
  std::int32_t step = graph_.step(pass.kernels.forward.front());
  for (const TaskId kernel : pass.kernels.forward) {
    // Of the calls: device work may run in the next one.
    const TaskId call = editor_.own_call(kernel);
    if (call == none<TaskId>) continue;
    step = graph_.step(call);
    break;
  }
  const auto times = editing::loading_times(graph_);
  const auto found = times.find(step);
  return found == times.end() ? 0 : found->second;
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
    const double messages = options_.plan.pipeline > 1 ? 2 * program.hidden_bytes : 0;
    Tensor buffer;
    buffer.bytes = to_whole(std::max(memory[s].buffers - messages, 0.0));
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
    work.loading_ns = loading_of(passes_[pass]);
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
  for (const RecordedPass& pass : passes_) {
    FORETRACE_TRY(auto of, job_of(pass));
    jobs.push_back(std::move(of));
  }
  for (PassJob& of : jobs) {
    of.job.model = &of.model;
    of.job.framework = &of.framework;
  }
  const PassJob& first = jobs.front();
  FORETRACE_TRY(add_buffers(first));
  const SpreadParts parts{editor_, options_, recorded_, task_of_op_,
                          graph_.lane_id(passes_.front().kernels.forward.front())};
  std::deque<StageWriter> stages;
  for (std::uint32_t s = 0; s < options_.plan.pipeline; ++s) {
    stages.emplace_back(parts, draft_, s, shares_of(first, s), first.layers_of(s));
    std::int64_t ns = 0;
    for (const std::uint32_t layer : first.layers_of(s)) ns += first.layer_ns[layer];
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
