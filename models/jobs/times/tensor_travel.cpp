#include "models/jobs/times/tensor_travel.h"

#include <cstddef>

#include "sim/core/whole.h"

namespace foretrace {

double run_tensors(std::span<const TensorUse> uses, const ShardTravel& travel,
                   double product_slowdown, TwoLanes& lanes) {
  double host = 0;
  const auto prepare = [&](double host_ns) {
    lanes.compute(host_ns);
    host += host_ns;
  };
  std::size_t asked = 0;    // uses before it have asked for their tensor, if they need to
  std::size_t arrived = 0;  // and those before this one have it
  std::uint32_t last = 0;   // collective that was asked for
  const auto ask = [&] {
    const TensorUse& use = uses[asked++];
    if (!(use.gather > 0)) return;
    // The device is waited for before each collective.
    if (travel.waits_for_all) static_cast<void>(lanes.wait_all());
    prepare(use.views);
    last = lanes.start(use.gather);
    prepare(use.copies);
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const TensorUse& use = uses[i];
    if (asked <= i) ask();
    if (arrived <= i && use.gather > 0) {
      static_cast<void>(travel.waits_for_all ? lanes.wait_all() : lanes.wait(last));
      arrived = asked;
    }
    // What needs nothing is there; nothing is asked for ahead while something is on its way.
    if (arrived <= i && asked == i + 1) arrived = asked;
    if (arrived == asked) {
      for (double ahead = 0; asked < uses.size() && ahead < travel.prefetch_elements;) {
        if (uses[asked].gather > 0) ahead += uses[asked].elements;
        ask();
      }
    }
    lanes.compute(use.computed, product_slowdown);
    if (use.scatter > 0) {
      prepare(use.views + use.copies);
      static_cast<void>(lanes.start(use.scatter));
    }
  }
  return host;
}

std::vector<double> tensors_of(const Operator& op) {
  if (!(op.weights > 0)) return {};
  if (op.type == OperatorType::product) {
    const double matrix = op.shape.batch * op.shape.n * op.shape.k;
    const double bias = op.weights - matrix;
    if (bias > 0 && bias < matrix) return {matrix, bias};
  }
  if (op.type == OperatorType::rows && op.shape.n > 0) {
    const auto count = static_cast<std::size_t>(to_whole(op.weights / op.shape.n));
    if (count > 1) {
      std::vector<double> equal(count, op.weights / static_cast<double>(count));
      return equal;
    }
  }
  return {op.weights};
}

std::vector<bool> stay_for_backward(std::span<const double> tensors, double reuse_elements) {
  std::vector<bool> stay(tensors.size());
  double between = 0;
  for (std::size_t i = tensors.size(); i-- > 0;) {
    stay[i] = between < reuse_elements;
    between += 2 * tensors[i];
  }
  return stay;
}

}  // namespace foretrace
