// The rules of Megatron-LM (core/tensor_parallel/layers.py): one exchange per pair of products and
// direction; that of the backward pass runs beside the gradient of the weight.
//
//   before   s: columns - attention - rows - norm ...... rows' - attention' - columns' - weight'
//   after    s: columns - attention - rows ------ norm . rows' - attention' - columns' - weight' -
//            n:                            [all-reduce]                               [all-reduce]
#include "models/whatifs/parallelism/tensor_parallel.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/parameters/model_state.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "sim/edit/tensors.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

std::string_view name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather: return "all-gather of activations";
    case CollectiveKind::reduce_scatter: return "reduce-scatter of activations";
    default: return "all-reduce of activations";
  }
}

class Divider {
 public:
  Divider(KernelEditor& editor, const Cluster& cluster, const TensorOptions& options)
      : editor_(editor), cluster_(cluster), options_(options), network_(editor, cluster) {}

  Result<DividedTensors> run() {
    const std::vector<TrainingPass> passes = passes_to_split(editor_);
    double all = 0;
    double own = 0;
    std::size_t pairs = 0;
    std::size_t whole = 0;
    std::size_t count = 0;
    Error refused{ErrorCode::no_match, "tensor: no forward kernels, expected a model that runs"};
    for (const TrainingPass& pass : passes) {
      const auto split = split_tensors(editor_, pass, options_);
      if (!split.ok()) {
        // A pass that began before the recording is not known in full.
        if (split.error().code != ErrorCode::no_match) return split.error();
        refused = split.error();
        continue;
      }
      ++count;
      for (const SplitKernel& part : split->kernels) set(part);
      for (const SplitExchange& exchange : split->exchanges) {
        put_exchange(exchange);
      }
      all += split->parameters;
      own += split->own_parameters;
      own_.insert(split->own.begin(), split->own.end());
      pairs += split->pairs;
      whole += split->whole_products;
    }
    if (count == 0) return refused;
    const auto each = static_cast<double>(count);
    DividedTensors done;
    done.own_parameters = all > 0 ? own / all : 1.0 / options_.ranks;
    done.note = fmt::format(
        "{} tensor-parallel ranks{}: {:.0f} pairs of products per pass divided, {:.0f} products "
        "whole; {}; {}; {:.2f} ms of transfers per pass on {}",
        options_.ranks, options_.sequence ? " with sequence" : "",
        static_cast<double>(pairs) / each, static_cast<double>(whole) / each, editor_.sums_text(),
        all > 0 ? fmt::format("a rank has {:.1f} M of {:.1f} M parameters", own / each * 1e-6,
                              all / each * 1e-6)
                : fmt::format("the trace has no parameters; a rank is assumed to have 1/{}",
                              options_.ranks),
        static_cast<double>(network_.transferred_ns()) * 1e-6 / each, cluster_.machine);
    done.note += resize_tensors();
    done.own = std::move(own_);
    return done;
  }

 private:
  void set(const SplitKernel& part) {
    editor_.set(part.kernel, part.cost);
    if (part.divides_output) divided_.insert(launch_of(editor_.graph(), part.kernel));
  }

  /// What a divided kernel writes is allocated in the host time before its call.
  std::string resize_tensors() {
    TensorEditor tensors(editor_.edit());
    const std::vector<Tensor>& all = editor_.graph().context().tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_activation = all[i].category == TensorCategory::activation ||
                                 all[i].category == TensorCategory::activation_gradient ||
                                 all[i].category == TensorCategory::temporary;
      if (!is_activation || all[i].bytes <= 0 || all[i].allocated_in == none<TaskId>) continue;
      if (!divided_.contains(all[i].allocated_in)) continue;
      tensors.resize(i, static_cast<double>(all[i].bytes) / options_.ranks);
    }
    return tensors.note();
  }

  /// Other streams see kernel and exchange as one.
  void put_exchange(const SplitExchange& exchange) {
    const NetworkTransfer transfer = tensor_transfer(exchange, {options_.ranks, 1});
    if (exchange.before == none<TaskId>) {
      const TaskId task = network_.communicate(exchange.after, Place::after, transfer);
      network_.wait(task, exchange.after);
      network_.next_waits(exchange.until, task);
      return;
    }
    const TaskId task = network_.communicate(exchange.before, Place::before, transfer);
    const TaskId source = previous_on_lane(editor_.graph(), exchange.before);
    if (source != none<TaskId>) network_.wait(task, source);
    editor_.edit().share_waits(task, exchange.before);
    network_.wait(exchange.needed_by, task);
  }

  KernelEditor& editor_;
  const Cluster& cluster_;
  const TensorOptions& options_;
  NetworkCalls network_;
  std::map<TaskId, double> own_;
  std::set<TaskId> divided_;  // calls of kernels that write a share
};

}  // namespace

void divide_parameters(KernelEditor& editor, const DividedTensors& divided, double updated) {
  ParameterEditor parameters(editor);
  ParameterTable& table = parameters.table();
  // What no kernel is known to read is divided as all the rest.
  std::vector<double> shares(table.rows.size(), divided.own_parameters);
  std::vector<bool> is_read(table.rows.size(), false);
  for (const ParameterUse& use : table.uses) {
    if (use.role != ParameterRole::read || divided.own.empty()) continue;
    const auto found = divided.own.find(use.task);
    const double own = found == divided.own.end() ? 1 : found->second;
    double& share = shares[index(use.parameter)];
    share = is_read[index(use.parameter)] ? std::min(share, own) : own;
    is_read[index(use.parameter)] = true;
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].elements *= shares[i];
    table.rows[i].held *= updated;
  }
  parameters.finish();
}

NetworkTransfer tensor_transfer(const SplitExchange& exchange, const GridAxis& group) {
  return {.kind = exchange.kind,
          .bytes = exchange.bytes,
          .group = group,
          .stream = "tensor group",
          .name = name_of(exchange.kind)};
}

Result<DividedTensors> divide_tensors(KernelEditor& editor, const Cluster& cluster,
                                      const TensorOptions& options) {
  return Divider(editor, cluster, options).run();
}

}  // namespace foretrace::editing
