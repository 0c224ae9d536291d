#include "models/whatifs/precision/autocast_types.h"

#include <algorithm>

#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// Smaller tensors are statistics and biases: their casts cost nothing that shows.
constexpr std::int64_t fewest_numbers = 4096;

std::int64_t numbers_of(const Dims& dims) {
  double numbers = 1;
  for (const std::int64_t size : dims)
    numbers *= static_cast<double>(std::max<std::int64_t>(size, 0));
  return numbers < 1e15 ? to_whole(numbers) : 0;
}

/// Sizes of the tensors that an operator reads, large ones only.
std::vector<std::int64_t> sizes_of(const OperatorInputs& inputs) {
  std::vector<std::int64_t> sizes;
  for (const std::vector<Dims>& tensors : inputs.tensors) {
    for (const Dims& dims : tensors) {
      const std::int64_t numbers = dims.empty() ? 0 : numbers_of(dims);
      if (numbers >= fewest_numbers) sizes.push_back(numbers);
    }
  }
  return sizes;
}

/// "aten::_softmax_backward_data" and "aten::_softmax" are "softmax".
std::string base_name(std::string_view name) {
  for (const std::string_view prefix : {"aten::", "_", "native_", "cudnn_", "miopen_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  for (const std::string_view suffix : {"_data", "_dense", "_backward", "_"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return std::string(name);
}

bool is_sum(std::string_view name) { return name == "aten::add" || name == "aten::add_"; }

}  // namespace

// Sums of the forward pass say nothing about those of gradients.
void AutocastTypes::enter(Phase phase) {
  if (phase != phase_ && (phase == Phase::backward || phase_ == Phase::backward)) {
    sum_half_.clear();
  }
  if (phase_ == Phase::backward && phase != Phase::backward) {
    last_.clear();
  }
  phase_ = phase;
}

AutocastStep AutocastTypes::next(const AutocastKernel& kernel) {
  enter(kernel.phase);
  if (kernel.inputs == nullptr || kernel.inputs->tensors.empty()) {
    return {};
  }
  return kernel.is_product ? product(kernel) : follower(kernel);
}

AutocastStep AutocastTypes::product(const AutocastKernel& kernel) {
  AutocastStep step;
  step.half = true;
  const bool backward = kernel.phase == Phase::backward;
  for (const std::int64_t size : sizes_of(*kernel.inputs)) {
    const auto found = last_.find({kernel.rank, size});
    if (found == last_.end() || found->second.half) continue;
    step.casts.push_back({static_cast<double>(size), true, false});
    // A gradient is cast once, where it leaves the operator behind; each forward product casts.
    if (backward) {
      found->second.half = true;
    } else if (found->second.writer != none<TaskId>) {
      step.replaced.push_back(found->second.writer);
    }
  }
  const std::int64_t result = to_whole(std::min(kernel.result_numbers, 1e15));
  const std::int64_t weight = to_whole(std::min(kernel.weight_numbers, 1e15));
  auto& weights = weights_[kernel.rank];
  if (weight > 0) weights.insert(weight);
  if (backward && weights.contains(result)) {
    step.casts.push_back({static_cast<double>(result), false, true});
  } else if (result >= fewest_numbers) {
    last_[{kernel.rank, result}] = {true, kernel.task};
  }
  return step;
}

AutocastStep AutocastTypes::follower(const AutocastKernel& kernel) {
  const std::vector<std::int64_t> sizes = sizes_of(*kernel.inputs);
  if (sizes.empty()) {
    return {};
  }
  AutocastStep step;
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  if (kernel.is_lookup) {  // table and indices: the rows that were looked up are fp32
    const Dims* table = kernel.inputs->shape(0);
    const Dims* indices = kernel.inputs->shape(1);
    if (table != nullptr && indices != nullptr && !table->empty() && !indices->empty()) {
      last_[{kernel.rank, numbers_of(*indices) * table->back()}] = {false, none<TaskId>};
    }
    step.half = false;
    return step;
  }
  const Key key{kernel.rank, largest};
  const auto now = last_.find(key);
  const std::pair<std::string, Key> same{base_name(kernel.operator_name), key};
  std::optional<bool> wanted;
  if (kernel.keeps_fp32) {
    wanted = false;
  } else if (kernel.phase == Phase::backward) {
    if (const auto forward = forward_.find(same); forward != forward_.end()) {
      wanted = forward->second;
    }
  }
  if (now != last_.end() && wanted && *wanted != now->second.half) {
    step.casts.push_back({static_cast<double>(largest), *wanted, false});
  }
  if (!wanted && now != last_.end()) {
    wanted = now->second.half;
    if (is_sum(kernel.operator_name) && std::count(sizes.begin(), sizes.end(), largest) > 1) {
      const auto before = sum_half_.find(key);
      wanted = *wanted && (before == sum_half_.end() || before->second);
    }
  }
  if (wanted) {
    // What a sum makes is read by the next layer too: it stays.
    last_[key] = {*wanted, is_sum(kernel.operator_name) ? none<TaskId> : kernel.task};
    if (is_sum(kernel.operator_name)) sum_half_[key] = *wanted;
    if (kernel.phase != Phase::backward) forward_[same] = *wanted;
  }
  step.half = wanted;
  return step;
}

}  // namespace foretrace::editing
