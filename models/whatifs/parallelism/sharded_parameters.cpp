// The rules of PyTorch's FSDP2 (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py): a unit
// per layer, whose parameters are collected when the host comes to it, copied out on the compute
// stream and freed behind it; backward the next unit is collected one ahead, gradients are copied
// in and scattered, one reduction in flight.
//
//   before   s: f1 ------------- f2 ------------ b2 -------------------- b1 ----------- update
//   after    s: out1 f1 -------- out2 f2 ------- out2 b2 in2 ----------- out1 b1 in1 -- update / N
//            n: [gather 1][gather 2]   [gather 2][gather 1][scatter 2]         [scatter 1]
#include "models/whatifs/parallelism/sharded_parameters.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/tensors/gradients.h"
#include "models/jobs/recordings/recorded_layers.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

/// Whole units that are alive at most: the one that runs, the one that is collected next, and in
/// the backward pass the gradients of one and what is being scattered.
constexpr double units_of_parameters = 2;
constexpr double units_of_gradients = 2;

/// Layers whose parameters are collected and freed together.
struct Unit {
  double numbers = 0;
  double trained = 0;              // of them
  TaskId forward = none<TaskId>;   // first kernel with a call of its own
  TaskId backward = none<TaskId>;  // the same
  TaskId last = none<TaskId>;      // last backward kernel with a call of its own

  void add(const Unit& other) {
    numbers += other.numbers;
    trained += other.trained;
  }
};

class Sharder {
 public:
  Sharder(KernelEditor& editor, const Cluster& cluster, const DataParallel& options)
      : editor_(editor),
        graph_(editor.graph()),
        cluster_(cluster),
        options_(options),
        network_(editor, cluster) {}

  Result<SpreadData> run(std::size_t layers) {
    const std::vector<TrainingPass> passes = find_passes(editor_);
    if (passes.empty()) {
      return Error{ErrorCode::no_match,
                   "no forward kernels with a backward pass after them, expected a training step"};
    }
    for (const TrainingPass& pass : passes) {
      FORETRACE_TRY(auto found, find_layers(editor_, pass, layers));
      evidence_ = found.evidence;
      FORETRACE_TRY(auto units, units_of(pass, found));
      FORETRACE_TRY(collect(units));
      FORETRACE_TRY(reduce(units));
    }
    const auto steps = static_cast<double>(passes.size());
    SpreadData done;
    done.buffer_bytes =
        (units_of_parameters + units_of_gradients) * largest_ * options_.gradient_bytes;
    done.note = fmt::format(
        "{} data-parallel ranks share {:.1f} M parameters ({}) in {} units (from {}), {:.2f} ms of "
        "transfers per pass on {}",
        options_.ranks, numbers_ * 1e-6, counted_, units_, to_string(evidence_),
        static_cast<double>(network_.transferred_ns()) * 1e-6 / steps, cluster_.machine);
    return done;
  }

 private:
  [[nodiscard]] TaskId first_called(const std::vector<TaskId>& kernels) const {
    for (const TaskId kernel : kernels) {
      if (editor_.own_call(kernel) != none<TaskId>) return kernel;
    }
    return none<TaskId>;
  }
  [[nodiscard]] TaskId last_called(const std::vector<TaskId>& kernels) const {
    for (std::size_t i = kernels.size(); i-- > 0;) {
      if (editor_.own_call(kernels[i]) != none<TaskId>) return kernels[i];
    }
    return none<TaskId>;
  }

  /// Parameters of the pass, of which so many are trained; as many as given.
  [[nodiscard]] double all_of(const TrainingPass& pass, double trained) const {
    if (options_.parameters > 0) return options_.parameters;
    const auto count = counts_.find(device_of(graph_, pass.backward.front()));
    return count == counts_.end() ? trained : count->second.numbers;
  }

  /// A unit per layer with parameters; a layer without goes with the one before it.
  Result<std::vector<Unit>> units_of(const TrainingPass& pass, const PassLayers& layers) {
    double recorded = 0;
    double read_trained = 0;
    for (const PassLayer& layer : layers.list) {
      recorded += layer.parameters;
      read_trained += layer.trained;
    }
    const Gradients gradients = finder_.of(pass, options_.parameters);
    const double trained = gradients.numbers();
    const double wanted = all_of(pass, trained);
    counted_ = gradients.counted;
    if (!(wanted > 0)) {
      return Error{ErrorCode::missing_cost,
                   "unknown size of parameters, expected recorded shapes or parameters=N"};
    }
    double forward_ns = 0;
    for (const TaskId kernel : pass.forward) {
      forward_ns += static_cast<double>(graph_.duration_ns(kernel));
    }
    std::vector<Unit> units;
    Unit carried;
    for (const PassLayer& layer : layers.list) {
      double share = 0;  // of the time, where shapes tell nothing
      for (const TaskId kernel : layer.forward) {
        share += static_cast<double>(graph_.duration_ns(kernel)) / std::max(forward_ns, 1.0);
      }
      Unit unit;
      unit.numbers = recorded > 0 ? layer.parameters : share * wanted;
      unit.trained = read_trained > 0 ? layer.trained / read_trained * trained : share * trained;
      if (recorded > 0) unit.numbers *= wanted / recorded;
      unit.forward = first_called(layer.forward);
      unit.backward = first_called(layer.backward);
      unit.last = last_called(layer.backward);
      if (!(unit.numbers > 0)) continue;
      if (unit.forward == none<TaskId> || unit.backward == none<TaskId>) {
        // Nothing launches it alone: it goes with a neighbour.
        (units.empty() ? carried : units.back()).add(unit);
        continue;
      }
      unit.add(std::exchange(carried, {}));
      units.push_back(unit);
    }
    if (units.empty()) {
      return Error{ErrorCode::unsupported,
                   "no layer's kernels have launch calls of their own (a graph launch), so that "
                   "nothing can be collected before one"};
    }
    units_ = units.size();
    numbers_ = 0;
    largest_ = 0;
    for (Unit& unit : units) {
      unit.numbers *= options_.shrink;
      unit.trained *= options_.shrink;
      numbers_ += unit.numbers;
      largest_ = std::max(largest_, unit.numbers);
    }
    return units;
  }

  TaskId transfer(TaskId anchor, Place place, CollectiveKind kind, double numbers) {
    const bool gathers = kind == CollectiveKind::all_gather;
    return network_.communicate(
        anchor, place,
        {kind,
         numbers * options_.gradient_bytes,
         {options_.ranks, options_.stride},
         "parameters",
         gathers ? "all-gather of parameters" : "reduce-scatter of gradients"});
  }
  Result<TaskId> copy(TaskId anchor, Place place, double numbers, std::string_view name) {
    return network_.move_bytes(anchor, place, 2 * numbers * options_.gradient_bytes, name);
  }

  /// Before the first kernel of each unit, forward and backward.
  Status collect(const std::vector<Unit>& units) {
    std::vector<TaskId> copied;  // what each unit's forward pass waits for
    for (std::size_t i = 0; i < units.size(); ++i) {
      const Unit& unit = units[i];
      const TaskId gather =
          transfer(unit.forward, Place::before, CollectiveKind::all_gather, unit.numbers);
      // The first waits for the update; a later one for the copy of the last but one, whose buffer
      // it takes.
      const TaskId before = previous_on_lane(graph_, unit.forward);
      if (i == 0 && before != none<TaskId>) network_.wait(gather, before);
      if (i > 1) network_.wait(gather, copied[i - 2]);
      FORETRACE_TRY(auto out, copy(unit.forward, Place::before, unit.numbers,
                                   "copy parameters of a layer out"));
      network_.wait(out, gather);
      copied.push_back(out);
    }
    // The last unit stays collected: its backward pass comes next.
    std::vector<TaskId> gathers(units.size(), none<TaskId>);
    for (std::size_t i = units.size(); i-- > 0;) {
      if (i + 1 < units.size()) {
        FORETRACE_TRY(auto out, copy(units[i].backward, Place::before, units[i].numbers,
                                     "copy parameters of a layer out"));
        network_.wait(out, gathers[i]);
      }
      if (i == 0) break;
      gathers[i - 1] = transfer(units[i].backward, Place::before, CollectiveKind::all_gather,
                                units[i - 1].numbers);
    }
    return ok_status();
  }

  /// Behind the last backward kernel of each unit.
  Status reduce(const std::vector<Unit>& units) {
    TaskId in_flight = none<TaskId>;
    for (std::size_t i = units.size(); i-- > 0;) {
      const Unit& unit = units[i];
      if (!(unit.trained > 0)) continue;
      FORETRACE_TRY(auto in,
                    copy(unit.last, Place::after, unit.trained, "copy gradients of a layer in"));
      if (in_flight != none<TaskId>) network_.wait(in, in_flight);
      in_flight = transfer(unit.last, Place::after, CollectiveKind::reduce_scatter, unit.trained);
      network_.wait(in_flight, in);
    }
    if (in_flight != none<TaskId>) network_.next_waits(units.front().last, in_flight);
    return ok_status();
  }

  KernelEditor& editor_;
  const TaskGraph& graph_;
  const Cluster& cluster_;
  const DataParallel& options_;
  NetworkCalls network_;
  GradientFinder finder_{editor_};
  std::map<DeviceOfRank, ParameterCount> counts_ = parameter_counts(editor_);
  std::string_view counted_;
  LayerEvidence evidence_ = LayerEvidence::modules;
  std::size_t units_ = 0;
  double numbers_ = 0;
  double largest_ = 0;  // unit
};

}  // namespace

Result<SpreadData> shard_parameters(KernelEditor& editor, const Cluster& cluster,
                                    const DataParallel& options, std::size_t layers) {
  return Sharder(editor, cluster, options).run(layers);
}

}  // namespace foretrace::editing
