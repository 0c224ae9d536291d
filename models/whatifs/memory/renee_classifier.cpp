// Renee: a classifier over very many labels without stored logits and without optimizer states.
//
//   before   [logits = x W][sigmoid, loss, ... over b x L][dW][dx] ... [update of W with states]
//   after    [tile of logits, loss, dW with its update, dx]  tile by tile, in 16 bit
//   The widest linear layer is the classifier. Its products run in 16 bit, kernels over b x L
//   numbers and the update of its weight go.
//
// memory    logits and their gradient (2 b L numbers) and states (8 bytes per weight) are not
//           stored; the weight takes 2 bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/tensors/tensor_makers.h"
#include "models/hardware/costs/operator_shapes.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/edit/tensors.h"

namespace foretrace::renee_classifier_parts {
namespace {

constexpr ParamInfo least_labels_param = {
    .name = "least_labels",
    .unit = "1",
    .default_text = "32768",
    .doc = "A widest layer with fewer outputs is no extreme classifier.",
    .minimum = 2,
    .maximum = 1000000000000000.0};

class Classifier {
 public:
  explicit Classifier(const WhatIfInput& scenario) : editor_(scenario) {}

  Result<Change> run(double least_labels) {
    for (const TaskId kernel : editor_.kernels()) {
      if (editor_.graph().phase(kernel) != Phase::forward || !editing::is_linear(editor_, kernel) ||
          editor_.about(kernel).shape_from_grid) {
        continue;
      }
      const GemmShape& shape = *editor_.about(kernel).amount.gemm;
      if (shape.n > layer_.n) layer_ = shape;
    }
    if (layer_.n < least_labels) {
      return Error{ErrorCode::no_match,
                   fmt::format("the widest linear layer of forward has {:.0f} outputs, expected at "
                               "least {:.0f} (least_labels)",
                               layer_.n, least_labels)};
    }
    FORETRACE_TRY(check_is_extreme());
    for (const TaskId kernel : editor_.kernels()) visit(kernel);
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   fmt::format("the classifier of {:.0f} labels runs in 16 bit and no other kernel "
                               "of known size works on its logits or weight",
                               layer_.n)};
    }
    const double weight = layer_.n * layer_.k;
    TensorEditor tensors(editor_.edit());
    edit_memory(tensors);
    edit_parameters(weight);
    return editor_.finish(fmt::format(
        "classifier of {:.0f} labels, width {:.0f}: {}; {:.1f} MB of logits and gradients not "
        "stored, weight and states {:.1f} MB -> {:.1f} MB{}",
        layer_.n, layer_.k, editor_.sums_text(), 2 * layer_.m * layer_.n * 4e-6, weight * 16e-6,
        weight * 2e-6, tensors.note()));
  }

 private:
  [[nodiscard]] bool has_labels(const GemmShape& shape) const {
    return shape.m == layer_.n || shape.n == layer_.n || shape.k == layer_.n;
  }

  [[nodiscard]] bool is_over_logits(TaskId kernel) const {
    return editor_.about(kernel).amount.output == layer_.m * layer_.n;
  }

  [[nodiscard]] bool reads_logits(TaskId kernel) const {
    const OperatorInputs inputs = editor_.inputs_of(kernel);
    return std::any_of(inputs.tensors.begin(), inputs.tensors.end(), [&](const auto& tensors) {
      return tensors.size() == 1 && element_count(tensors[0]) == layer_.m * layer_.n;
    });
  }

  // The method trains one sigmoid per label and never needs a row's logits together. A softmax over
  // the labels does: heads of language models have one.
  [[nodiscard]] Status check_is_extreme() const {
    bool has_backward = false;
    for (const TaskId kernel : editor_.kernels()) {
      has_backward = has_backward || editor_.graph().phase(kernel) == Phase::backward;
      const std::string_view op = editor_.operator_of(kernel);
      const bool normalizes = editor_.class_of(kernel) == KernelClass::softmax ||
                              contains_any(op, {"softmax", "nll_loss", "cross_entropy_loss"});
      if (normalizes && (is_over_logits(kernel) || reads_logits(kernel))) {
        return Error{ErrorCode::no_match,
                     fmt::format("the widest linear layer of forward, with {:.0f} outputs, feeds a "
                                 "softmax (a language-model head or a classifier of one label), "
                                 "expected one sigmoid per label",
                                 layer_.n)};
      }
    }
    if (!has_backward) {
      return Error{ErrorCode::no_match,
                   "the run has no backward pass: the method saves logits, gradients and states of "
                   "training"};
    }
    return ok_status();
  }

  static bool has_size(const Tensor& tensor, double bytes) {
    // Blocks of large tensors are multiples of 2 MiB.
    constexpr double granule = 2097152;
    const auto size =
        static_cast<double>(tensor.requested_bytes >= 0 ? tensor.requested_bytes : tensor.bytes);
    return tensor.requested_bytes >= 0 ? size == bytes : size >= bytes && size < bytes + granule;
  }

  // Logits and gradients of them, and states and gradient of the weight, are not there; the weight
  // takes 2 bytes per number.
  void edit_memory(TensorEditor& tensors) const {
    const std::vector<Tensor>& all = editor_.graph().context().tensors;
    const double weight = layer_.n * layer_.k;
    const double logits = layer_.m * layer_.n;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const TensorCategory is = all[i].category;
      const bool is_of_logits =
          editing::is_result(is) && (has_size(all[i], 4 * logits) || has_size(all[i], 2 * logits));
      const bool is_of_update =
          (is == TensorCategory::optimizer_state || is == TensorCategory::gradient) &&
          has_size(all[i], 4 * weight);
      if (is_of_logits || is_of_update) {
        tensors.drop(i);
      } else if (is == TensorCategory::weight && has_size(all[i], 4 * weight)) {
        tensors.resize(i, 2 * weight);
      }
    }
  }

  /// The weight has 2 bytes per number and no states.
  void edit_parameters(double weight) {
    constexpr double agreement = 0.02;
    editing::ParameterEditor parameters(editor_);
    for (Parameter& row : parameters.table().rows) {
      if (std::abs(row.elements - weight) > agreement * weight) continue;
      row.weight_bytes = 2;
      row.state_bytes = 0;
    }
    parameters.finish();
  }

  void visit(TaskId kernel) {
    const KernelDescription& known = editor_.about(kernel);
    const Phase phase = editor_.graph().phase(kernel);
    if (known.traits.kernel_class == KernelClass::gemm) {
      if (known.amount.gemm && !known.shape_from_grid && has_labels(*known.amount.gemm)) {
        product(kernel, known);
      }
      return;
    }
    const bool logits = phase != Phase::update && is_over_logits(kernel);
    const bool weights = phase == Phase::update && known.amount.output == layer_.n * layer_.k;
    if (logits || weights) editor_.remove(kernel, SegmentOf::take);
  }

  void product(TaskId kernel, const KernelDescription& known) {
    const Accelerator* on = editor_.accelerator();
    const Precision old = known.traits.precision;
    if (on == nullptr || is_half(old) || bytes_per_number(old) == 0) return;
    const Precision half = on->flops(Precision::bf16) > 0 ? Precision::bf16 : Precision::fp16;
    Cost cost =
        scaled_cost(editor_.graph().duration_ns(kernel), known, {on, old, 1}, {on, half, 1});
    cost.duration_ns = std::min(cost.duration_ns, editor_.graph().duration_ns(kernel));
    editor_.set(kernel, cost);
  }

  editing::KernelEditor editor_;
  GemmShape layer_;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return Classifier(scenario).run(params.number(least_labels_param));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The widest linear layer of the forward pass is the classifier, and no other "
    "layer has its number of labels.",
    "Sigmoids, loss and their gradients are done on tiles of logits "
    "inside the products at no further cost.",
    "The gradient of the weight is applied where it is made, by plain SGD without "
    "states.",
    "Kernels over logits are known by their recorded shapes."};
constexpr std::array<std::string_view, 3> ignores = {"sharding of labels over devices",
                                                     "accuracy with SGD and 16 bit",
                                                     "the master copy of weights, if one is kept"};
constexpr std::array params = {least_labels_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "renee_classifier",
    .summary = "Train a huge classifier in tiles: no logits, no optimizer states.",
    .paper =
        "V. Jain, J. Prakash, D. Saini, J. Jiao, R. Ramjee, M. Varma, Renee: End-To-End "
        "Training of Extreme Classification Models, MLSys 2023",
    .recipe =
        "The forward product with most columns is taken as the classifier. Products "
        "with that many labels among their sizes take the ratio of 16-bit to recorded "
        "model times; kernels of forward and backward that work on rows x labels "
        "numbers and kernels of the update on labels x width numbers are removed with "
        "their launches.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "one step of the tiled classifier beside the recorded one.",
    .identity = {.none_because = "the loss of the classifier takes other kernels"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::renee_classifier_parts
