#include "models/jobs/recordings/pass_job.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/editing/kernels/loading_time.h"
#include "models/jobs/workloads/layered.h"

namespace foretrace {
namespace {

using editing::KernelEditor;
using editing::PassLayer;

/// The first bucket is small, so that communication begins early (torch/csrc/distributed/c10d,
/// reducer.hpp: kDefaultFirstBucketBytes).
constexpr double first_bucket_bytes = 1U << 20U;

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

class PassReader {
 public:
  PassReader(const KernelEditor& editor, const SpreadOptions& options,
             const editing::PassLayers& layers, const PassParameters& parameters)
      : editor_(editor), options_(options), layers_(layers), parameters_(parameters) {}

  Result<PassJob> read() {
    FORETRACE_TRY(count());
    FORETRACE_TRY(add_stages());
    of_.model = model();
    of_.framework = framework();
    of_.job.cluster = options_.cluster;
    of_.job.schedule = options_.schedule;
    of_.job.plan = options_.plan;
    of_.job.chunks = options_.chunks;
    of_.job.micro_batch = 1;
    of_.job.global_batch = double{1} * options_.micro_batches * options_.plan.data;
    of_.job.length = 1;
    return std::move(of_);
  }

 private:
  [[nodiscard]] const std::vector<PassLayer>& list() const { return layers_.list; }
  [[nodiscard]] bool is_whole() const { return options_.plan.pipeline == 1; }
  [[nodiscard]] bool shares_parameters() const {
    return options_.plan.sharding == Sharding::parameters;
  }
  /// Gradients go one by one, beside the backward pass.
  [[nodiscard]] bool fills_buckets() const { return is_whole() && !shares_parameters(); }

  [[nodiscard]] std::int64_t time_of(const std::vector<TaskId>& kernels) const {
    return std::accumulate(kernels.begin(), kernels.end(), std::int64_t{0},
                           [this](std::int64_t sum, TaskId kernel) {
                             return sum + editor_.graph().duration_ns(kernel);
                           });
  }

  /// Of their calls, with what the host does before each. What comes before the first call of a
  /// pass is no layer's.
  [[nodiscard]] std::int64_t host_time_of(const std::vector<TaskId>& kernels) const {
    const TaskGraph& graph = editor_.graph();
    bool is_first = &kernels == &list().front().forward;
    std::int64_t sum = 0;
    for (const TaskId kernel : kernels) {
      const TaskId call = editor_.own_call(kernel);
      if (call == none<TaskId>) continue;
      sum += graph.duration_ns(call);
      if (!std::exchange(is_first, false)) sum += std::max<std::int64_t>(graph.segment_ns(call), 0);
    }
    return sum;
  }

  [[nodiscard]] std::int64_t loading_time() const {
    const auto times = editing::loading_times(editor_.graph());
    const auto found = times.find(editor_.graph().step(first_task()));
    return found == times.end() ? 0 : found->second;
  }
  /// A call where there is one: device work may run in the next step.
  [[nodiscard]] TaskId first_task() const {
    for (const PassLayer& layer : list()) {
      for (const TaskId kernel : layer.forward) {
        if (const TaskId call = editor_.own_call(kernel); call != none<TaskId>) return call;
      }
    }
    return list().front().forward.front();
  }

  /// Shares of the layers; where shapes tell nothing, those of the forward pass's time.
  [[nodiscard]] std::vector<double> shares(double PassLayer::*of) const {
    double sum = 0;
    for (const PassLayer& layer : list()) sum += layer.*of;
    std::vector<double> made;
    if (sum > 0) {
      for (const PassLayer& layer : list()) made.push_back(layer.*of / sum);
      return made;
    }
    double ns = 0;
    for (const PassLayer& layer : list()) ns += static_cast<double>(time_of(layer.forward));
    for (const PassLayer& layer : list()) {
      made.push_back(static_cast<double>(time_of(layer.forward)) / std::max(ns, 1.0));
    }
    return made;
  }

  Status count() {
    const double own = options_.own_parameters;
    of_.trained = shares(&PassLayer::trained);
    of_.held = shares(&PassLayer::parameters);
    const double trained = parameters_.gradients.numbers();
    if (options_.plan.data > 1 && !(parameters_.all > 0)) {
      return Error{ErrorCode::missing_cost,
                   shares_parameters()
                       ? "unknown size of parameters, expected recorded shapes or parameters=N"
                       : "unknown size of gradients, expected recorded shapes or parameters=N"};
    }
    of_.parameters = parameters_.all * own;
    weights_.resize(list().size());
    trained_.resize(list().size());
    for (std::size_t l = 0; l < list().size(); ++l) {
      of_.layer_times.push_back(
          {time_of(list()[l].forward) + time_of(list()[l].backward),
           host_time_of(list()[l].forward) + host_time_of(list()[l].backward)});
      trained_[l] = of_.trained[l] * trained * own;
      weights_[l].frozen = std::max(of_.held[l] * parameters_.all * own - trained_[l], 0.0);
    }
    of_.loading_ns = is_whole() ? 0 : loading_time();  // only stages differ in it
    of_.layer_times.front().host_ns += of_.loading_ns;
    if (fills_buckets()) add_gradients();
    return shares_parameters() && is_whole() ? join_uncalled() : ok_status();
  }

  /// The backward pass comes to the layers one after the other.
  void add_gradients() {
    std::map<TaskId, std::size_t> layer_of;
    for (std::size_t l = 0; l < list().size(); ++l) {
      for (const TaskId kernel : list()[l].backward) layer_of[kernel] = l;
    }
    std::fill(trained_.begin(), trained_.end(), 0);
    std::size_t at = list().size() - 1;
    for (const editing::Gradient& gradient : parameters_.gradients.list) {
      const auto found = layer_of.find(gradient.ready);
      if (found != layer_of.end()) at = std::min(at, found->second);
      const double numbers = gradient.numbers * options_.own_parameters;
      weights_[at].gradients.push_back(numbers);
      trained_[at] += numbers;
    }
  }

  [[nodiscard]] bool has_call(const std::vector<TaskId>& kernels) const {
    return std::any_of(kernels.begin(), kernels.end(),
                       [this](TaskId kernel) { return editor_.own_call(kernel) != none<TaskId>; });
  }

  /// What nothing launches alone is collected with a neighbour, the one before where there is one.
  Status join_uncalled() {
    double trained = 0;
    double frozen = 0;
    std::size_t last = list().size();  // with a call
    for (std::size_t l = 0; l < list().size(); ++l) {
      if (!(trained_[l] + weights_[l].frozen > 0)) continue;
      if (has_call(list()[l].forward) && has_call(list()[l].backward)) {
        last = l;
      } else {
        trained += std::exchange(trained_[l], 0);
        frozen += std::exchange(weights_[l].frozen, 0);
      }
      if (last == list().size()) continue;
      trained_[last] += std::exchange(trained, 0);
      weights_[last].frozen += std::exchange(frozen, 0);
    }
    if (last < list().size()) return ok_status();
    return Error{ErrorCode::unsupported,
                 "no layer's kernels have launch calls of their own (a graph launch), so that "
                 "nothing can be collected before one"};
  }

  [[nodiscard]] TransformerSpec model() {
    LayeredSpec spec;
    spec.recorded = RecordedGroups{.tensor = options_.plan.tensor, .expert = 1};
    double widest = 0;
    for (std::size_t l = 0; l < list().size(); ++l) {
      LayerOperator made;
      made.kind = LayerKind::recorded;
      made.name = fmt::format("layer {}", l);
      // A node of no time is none.
      made.recorded = {static_cast<double>(std::max<std::int64_t>(time_of(list()[l].forward), 1)),
                       static_cast<double>(std::max<std::int64_t>(time_of(list()[l].backward), 1)),
                       0};
      made.weights = trained_[l];
      made.input_numbers = input_numbers(l);
      widest = std::max(widest, made.input_numbers);
      spec.order.push_back({static_cast<std::uint32_t>(l), 1});
      spec.groups.push_back({made.name, 1, {made}});
    }
    spec.recorded->weights = std::move(weights_);
    return layered_model(std::move(spec), widest);
  }

  [[nodiscard]] double input_numbers(std::size_t layer) const {
    const double bytes = std::max(bytes_per_number(of_.job.precisions.activations), 1);
    return bytes_read(editor_, list()[layer].forward) / bytes;
  }

  // What PyTorch does. Alone, gradients go in buckets beside the backward pass; in its pipelines
  // messages go beside computation, gradients once the last micro-batch is done, and sharded
  // parameters stay collected meanwhile.
  [[nodiscard]] Framework framework() const {
    Framework made;
    made.name = made.product = "recorded";
    made.sends_block = false;
    made.scatters_sends = false;
    made.pipeline_keeps_collected = true;
    made.keeps_last_collected = true;
    made.overlaps_gradients = fills_buckets();
    made.bucket_bytes = options_.bucket_bytes;
    made.first_bucket_bytes = first_bucket_bytes;
    made.weight_bytes = made.gradient_bytes = options_.gradient_bytes;
    made.reduce_bytes = made.gather_bytes = options_.gradient_bytes;
    // A pipeline's writer puts the copies of what it collects once a step in by itself.
    if (is_whole()) made.pack_bytes = made.unpack_bytes = 2 * options_.gradient_bytes;
    return made;
  }

  Status add_stages() {
    const std::size_t positions = std::size_t{options_.plan.pipeline} * options_.chunks;
    if (list().size() < positions) {
      return Error{
          ErrorCode::no_match,
          fmt::format("pipeline: got {} stages, expected at most the {} layers of the trace ({})",
                      positions, list().size(), to_string(layers_.evidence))};
    }
    // Where nothing tells what a layer gets, it stays with the one before.
    std::vector<std::size_t> begins;
    std::vector<LayerTime> times;
    for (std::size_t l = 0; l < list().size(); ++l) {
      if (l == 0 || input_numbers(l) > 0) {
        begins.push_back(l);
        times.emplace_back();
      }
      times.back().device_ns += of_.layer_times[l].device_ns;
      times.back().host_ns += of_.layer_times[l].host_ns;
    }
    if (begins.size() < positions) {
      return Error{
          ErrorCode::missing_cost,
          "pipeline: unknown size of activations between layers, expected recorded shapes"};
    }
    for (const std::size_t cut : cut_stages(times, positions)) {
      of_.cuts.push_back(static_cast<std::uint32_t>(begins[cut]));
    }
    of_.cuts.push_back(static_cast<std::uint32_t>(list().size()));
    for (std::size_t i = 0; i + 1 < of_.cuts.size(); ++i) {
      of_.job.stages.push_back({.layers = of_.cuts[i + 1] - of_.cuts[i]});
      const bool trains =
          std::any_of(list().begin() + of_.cuts[i], list().begin() + of_.cuts[i + 1],
                      [](const PassLayer& layer) { return !layer.backward.empty(); });
      if (!trains) {
        return Error{ErrorCode::no_match,
                     fmt::format("pipeline: stage {} of {} has no backward kernels, expected fewer "
                                 "stages",
                                 i, positions)};
      }
    }
    return ok_status();
  }

  const KernelEditor& editor_;
  const SpreadOptions& options_;
  const editing::PassLayers& layers_;
  const PassParameters& parameters_;
  std::vector<RecordedWeights> weights_;  // by layer
  std::vector<double> trained_;           // the same: weights with gradients
  PassJob of_;
};

}  // namespace

std::set<std::uint32_t> PassJob::layers_of(std::uint32_t stage) const {
  std::set<std::uint32_t> layers;
  for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
    const std::uint32_t at = position_of(*job.schedule, job.shape(), stage, chunk);
    for (std::uint32_t l = cuts[at]; l < cuts[at + 1]; ++l) layers.insert(l);
  }
  return layers;
}

PassParameters PassCounter::of(const editing::TrainingPass& pass, double given) const {
  PassParameters found{finder_.of(pass, given), given};
  if (given > 0) return found;
  const auto count = counts_.find(editing::device_of(editor_.graph(), pass.backward.front()));
  found.all = count == counts_.end() ? found.gradients.numbers() : count->second.numbers;
  return found;
}

Result<PassJob> job_of_pass(const KernelEditor& editor, const SpreadOptions& options,
                            const editing::PassLayers& layers, const PassParameters& parameters) {
  return PassReader(editor, options, layers, parameters).read();
}

}  // namespace foretrace
