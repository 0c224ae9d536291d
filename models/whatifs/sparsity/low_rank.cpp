// Low-rank layers: a weight matrix becomes the product of two thin ones.
//
//   before   [m x k] x [k x n]
//   after    [m x k] x [k x r] x [r x n]              r = ratio x min(k, n)
//   Linear layers in forward and their gradients in backward; convolutions by the ratio of their
//   work, all kernels of a call together: one second factor for each call of an operator.
//
// memory    parameters, gradients and states of these layers x r (k + n) / (k n), and recorded
//           tensors of gradients and states as all parameters do; recorded weights as long as one
//           step reads each once.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/editing/tensors/kernel_calls.h"
#include "models/editing/transfers/gradient_transfers.h"
#include "models/hardware/costs/highest_rate.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::low_rank_parts {
namespace {

constexpr ParamInfo ratio_param = {.name = "ratio",
                                   .unit = "1",
                                   .doc = "Rank / smaller size of the weight (Pufferfish: 0.25).",
                                   .minimum = 0.0001,
                                   .maximum = 1};
constexpr ParamInfo host_param = {.name = "host",
                                  .type = ParamType::time,
                                  .unit = "us",
                                  .default_text = "10 us",
                                  .doc = "Host time of the second factor before its launch call.",
                                  .minimum = 0,
                                  .maximum = 1000000000.0,
                                  .optimistic = "5 us",
                                  .pessimistic = "20 us"};

class Factored {
 public:
  Factored(const WhatIfInput& scenario, double ratio, std::int64_t host_ns)
      : editor_(scenario), ratio_(ratio), host_ns_(host_ns) {}

  Result<Change> run() {
    for (const TaskId kernel : editor_.kernels()) {
      if (!backward(kernel) && editing::is_linear(editor_, kernel)) {
        rows_.insert(editor_.about(kernel).amount.gemm->m);
      }
    }
    for (const std::vector<TaskId>& call : calls_.list()) {
      if (editor_.graph().phase(call.front()) == Phase::update) continue;
      const auto product = std::find_if(call.begin(), call.end(), [&](TaskId kernel) {
        return editing::is_linear(editor_, kernel);
      });
      if (convolves(call)) {
        convolution(call);
      } else if (product != call.end() && editor_.accelerator() != nullptr) {
        linear(call, *product);
      }
    }
    if (found_ == 0) {
      return Error{ErrorCode::no_match,
                   "no linear layer or convolution of known shape, expected a trace with "
                   "record_shapes=True"};
    }
    TensorEditor tensors(editor_.edit());
    const std::string kept = weights_.edit(tensors);
    const std::string shrunk = shrink_gradients(tensors);
    return editor_.finish(fmt::format("{} of {} products and convolutions in two factors: {}{}{}{}",
                                      factored_, found_, editor_.sums_text(), tensors.note(), kept,
                                      shrunk));
  }

 private:
  [[nodiscard]] bool backward(TaskId kernel) const {
    return editor_.graph().phase(kernel) == Phase::backward;
  }

  [[nodiscard]] bool convolves(const std::vector<TaskId>& call) const {
    return std::any_of(call.begin(), call.end(), [&](TaskId kernel) {
      return editor_.class_of(kernel) == KernelClass::convolution;
    });
  }

  // Gradients in collectives and in memory, states, and what the update goes over, shrink as all
  // parameters together do.
  std::string shrink_gradients(TensorEditor& tensors) {
    const double before = editing::parameter_count(editor_).numbers;
    if (!has_update() || factored_ == 0) return {};
    const double after = weights_.numbers_left();
    if (!(before > 0) || !(after < before)) {
      return "; update and collectives of gradients stay, since the number of parameters is "
             "unknown";
    }
    const double share = after / before;
    for (const TaskId kernel : editing::update_kernels(editor_)) {
      editor_.set(kernel, editing::moved_share(editor_.graph().duration_ns(kernel),
                                               editor_.class_of(kernel), share));
    }
    const std::vector<Tensor>& all = editor_.graph().context().tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool follows = all[i].category == TensorCategory::gradient ||
                           all[i].category == TensorCategory::optimizer_state;
      if (follows) tensors.resize(i, static_cast<double>(all[i].bytes) * share);
    }
    const auto transfers = editing::find_gradient_transfers(editor_.graph());
    return fmt::format("; {:.1f} M parameters become {:.1f} M, in the update, too{}", before * 1e-6,
                       after * 1e-6,
                       editing::shrink(editor_.edit(), transfers, share).note("gradients"));
  }

  [[nodiscard]] bool has_update() const {
    return std::any_of(editor_.kernels().begin(), editor_.kernels().end(), [&](TaskId kernel) {
      return editor_.graph().phase(kernel) == Phase::update;
    });
  }

  void add_weight(TaskId kernel, double before, double after) {
    const double bytes = editor_.number_bytes(kernel);
    weights_.add(kernel, before * bytes, after * bytes);
  }

  // [m x k][k x n] with the weight in the sizes that are not rows.
  void linear(const std::vector<TaskId>& call, TaskId kernel) {
    const GemmShape& s = *editor_.about(kernel).amount.gemm;
    GemmShape first = s;
    GemmShape second = s;
    if (!backward(kernel) || rows_.contains(s.m)) {  // x W, or the gradient of x
      const double rank = std::max(1.0, std::round(ratio_ * std::min(s.k, s.n)));
      first.n = rank;
      second.k = rank;
    } else if (rows_.contains(s.k)) {  // the gradient of W: one product per factor
      const double rank = std::max(1.0, std::round(ratio_ * std::min(s.m, s.n)));
      first.n = rank;
      second.m = rank;
    } else {
      return;
    }
    ++found_;
    const Precision precision = editor_.about(kernel).traits.precision;
    const double full = gemm_ns(*editor_.accelerator(), precision, s);
    const double one = gemm_ns(*editor_.accelerator(), precision, first);
    const double other = gemm_ns(*editor_.accelerator(), precision, second);
    // As for convolutions the model decides, not what is faster in the precision at hand: which
    // weights are factors is the same before and after another precision.
    if (!(full > 0) || first.flops() + second.flops() >= s.flops()) return;
    ++factored_;
    if (!backward(kernel)) add_weight(kernel, s.k * s.n, first.k * first.n + second.k * second.n);
    const Spread spread = class_spread(KernelClass::gemm);
    const auto cost = [&](std::int64_t measured_ns, double part) {
      return Cost{to_whole(static_cast<double>(measured_ns) * part / full), Provenance::scaled,
                  static_cast<float>(spread.low), static_cast<float>(spread.high)};
    };
    for (const TaskId part : call) editor_.set(part, cost(editor_.graph().duration_ns(part), one));
    add_second(call, second, precision, cost(time_of(call), other));
  }

  // A recorded kernel may do less than its shapes say; what is put in does what it says.
  void add_second(const std::vector<TaskId>& call, const GemmShape& shape, Precision precision,
                  Cost cost) {
    if (editor_.accelerator() != nullptr) {
      const double least_ns = shape.flops() / highest_rate(*editor_.accelerator()) * 1e9;
      cost.duration_ns = std::max(cost.duration_ns, to_whole(std::ceil(least_ns)));
    }
    editor_.add(call.back(), Place::after,
                {"second factor", editing::plain_product_work(shape, precision), cost, host_ns_});
  }

  [[nodiscard]] std::int64_t time_of(const std::vector<TaskId>& call) const {
    std::int64_t ns = 0;
    for (const TaskId kernel : call) ns += editor_.graph().duration_ns(kernel);
    return ns;
  }

  // Weight [o, c, k, k] becomes [r, c, k, k] and [o, r, 1, 1].
  void convolution(const std::vector<TaskId>& call) {
    const TaskId kernel = call.front();
    const OperatorInputs inputs = editor_.inputs_of(kernel);
    const bool gradient = editor_.operator_of(kernel).find("backward") != std::string_view::npos;
    const Dims* weight = inputs.shape(gradient ? 2 : 1);
    if (weight == nullptr || weight->size() != 4 || weight->at(2) != weight->at(3)) return;
    ++found_;
    const auto o = static_cast<double>(weight->at(0));
    const auto c = static_cast<double>(weight->at(1));
    const auto k = static_cast<double>(weight->at(2) * weight->at(3));
    const double rank = std::max(1.0, std::round(ratio_ * o));
    if (!(c * o * k > 0) || c * rank * k + rank * o >= c * o * k) return;
    ++factored_;
    if (!gradient) add_weight(kernel, c * o * k, c * rank * k + rank * o);
    const auto share = [&](std::int64_t measured_ns, double work) {
      return editing::moved_share(measured_ns, KernelClass::convolution, work / (c * o * k));
    };
    for (const TaskId part : call) {
      editor_.set(part, share(editor_.graph().duration_ns(part), c * rank * k));
    }
    // Of every pixel, from the rank to the outputs; without operations those of the map.
    double pixels = editor_.about(kernel).amount.flops / (2 * c * o * k);
    if (const Dims* map = inputs.shape(0); !(pixels >= 1) && map != nullptr && map->size() == 4) {
      pixels = static_cast<double>(map->at(0)) * static_cast<double>(map->at(2) * map->at(3));
    }
    add_second(call, {1, std::max(pixels, 1.0), o, rank}, editor_.about(kernel).traits.precision,
               share(time_of(call), rank * o));
  }

  editing::KernelEditor editor_;
  double ratio_ = 1;
  std::int64_t host_ns_ = 0;
  std::set<double> rows_;
  std::size_t found_ = 0;
  std::size_t factored_ = 0;
  editing::KernelCalls calls_{editor_, editor_.kernels()};
  editing::WeightTensors weights_{editor_, editing::Fewer::numbers};
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return Factored(scenario, params.number(ratio_param), params.integer(host_param)).run();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Both factors of a layer run as two products one after the other; the second "
    "gets a launch and host time of its own.",
    "A product of backward whose rows or inner size are the rows of a forward layer "
    "is a gradient of one.",
    "A layer stays as it is where its factors have no less arithmetic; others may get slower.",
    "Update and collectives of gradients go over all parameters, of which the factors save a "
    "share; 20 us of a transfer do not follow its bytes."};
constexpr std::array<std::string_view, 3> ignores = {
    "full-rank warm-up epochs and the decomposition", "normalization between the factors",
    "more and smaller tensors in an update tensor by tensor"};
constexpr std::array params = {ratio_param, host_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "low_rank",
    .summary = "Replace weight matrices by two thin factors.",
    .paper =
        "H. Wang, S. Agarwal, D. Papailiopoulos, Pufferfish: Communication-efficient "
        "Models at No Extra Cost, MLSys 2021",
    .recipe =
        "Every linear product of known shape in forward takes measured time x (model "
        "time of both factors / model time of the full product) and a second launch; in "
        "backward, products of the same rows likewise. Convolutions with recorded "
        "weights take (c r k k + r o) / (c o k k) of their time beyond the ramp-up. Kernels of the "
        "update and collectives that reduce gradients move the share of bytes that all parameters "
        "keep.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "ratio: the model; host: dispatch time of an operator in the trace.",
    .identity = {.setting = "ratio=1"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::low_rank_parts
