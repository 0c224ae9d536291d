// 8-bit optimizer: states are read and written in one byte instead of four.
//
//   before   update: reads p, g, m, v and writes p, m, v in 4 bytes           28 B per parameter
//   after    update: p, g in 4 bytes; m, v in 1 byte                          16 B per parameter
//   Multi-tensor updates get shorter by the ratio of bytes. Updates in single operators become one
//   kernel per tensor.
//
// memory    states take 2 instead of 8 bytes per parameter (Adam), plus 4 bytes per block of
//           numbers.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/update_phase.h"
#include "models/editing/parameters/model_state.h"
#include "models/whatifs/precision/quantize_states.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::eight_bit_optimizer_parts {
namespace {

constexpr ParamInfo states_param = {
    .name = "states",
    .unit = "1",
    .default_text = "0",
    .doc = "States per parameter, 2 for Adam, 1 for momentum; 0: by names and operators.",
    .minimum = 0,
    .maximum = 8};
constexpr ParamInfo min_elements_param = {
    .name = "min_elements",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "4096",
    .doc = "States of fewer numbers keep 32 bits (bitsandbytes: min_8bit_size).",
    .minimum = 0,
    .maximum = 1e12};
constexpr ParamInfo block_size_param = {.name = "block_size",
                                        .type = ParamType::integer,
                                        .unit = "1",
                                        .default_text = "2048",
                                        .doc = "Numbers that share one scale: 2048 in the paper.",
                                        .minimum = 1,
                                        .maximum = 1e9};

// Bytes moved per parameter in fp32: parameter and gradient read, parameter written, and each state
// read and written.
constexpr double fixed_bytes = 12;
double old_bytes(double states) { return fixed_bytes + 8 * states; }
double new_bytes(double states) { return fixed_bytes + 2 * states; }

double states_of(std::string_view text) {
  if (contains_any(text, {"dam", "LAMB", "Lamb", "lamb"})) return 2;
  return contains_any(text, {"SGD", "sgd", "omentum"}) ? 1 : 0;
}

constexpr std::string_view eight_bit = "8-bit update";

class EightBit {
 public:
  EightBit(const WhatIfInput& scenario, const QuantizationSettings& settings)
      : editor_(scenario), settings_(settings) {}

  Result<Change> run(double states) {
    shrink_multi_tensor(states);
    const std::vector<KernelDescription> kernels =
        describe_works(editor_.graph(), editor_.accelerator());
    for (const editing::Update& update : editing::find_updates(editor_.graph(), kernels)) {
      const double own = update.bytes_per_parameter >= old_bytes(2)   ? 2
                         : update.bytes_per_parameter >= old_bytes(1) ? 1
                                                                      : 0;
      per_tensor(update, states > 0 ? states : own);
    }
    const StateQuantization tensors = quantize_states(editor_.edit(), settings_);
    shrink_parameters();
    if (editor_.untouched() && tensors.states == 0) {
      return Error{ErrorCode::no_match,
                   "no update with optimizer states, expected an Optimizer.step range with Adam or "
                   "momentum"};
    }
    const std::string memory =
        tensors.states == 0
            ? editing::without_states(editor_)
            : fmt::format(
                  "; {} states in memory {:.1f} MiB -> {:.1f} MiB, {} smaller ones stay, "
                  "{} temporaries of the update ({:.1f} MiB) go",
                  tensors.states, static_cast<double>(tensors.bytes_before) / 0x1p20,
                  static_cast<double>(tensors.bytes_after) / 0x1p20, tensors.kept,
                  tensors.temporaries, static_cast<double>(tensors.temporary_bytes) / 0x1p20);
    return editor_.finish(fmt::format(
        "{} multi-tensor kernels shorter, {} updates in single operators: {}; {:.0f} MB of "
        "parameters by shapes: states {:.0f} MB -> {:.0f} MB{}",
        editor_.sums().changed, updates_, editor_.sums_text(), parameters_ * 4e-6,
        states_before_ * 1e-6, states_after_ * 1e-6, memory));
  }

 private:
  // A fused kernel names its optimizer; passes of foreach operators share the bytes of one.
  void shrink_multi_tensor(double states) {
    for (const TaskId kernel : editor_.kernels()) {
      if (editor_.class_of(kernel) != KernelClass::optimizer) continue;
      if (editor_.graph().name(kernel) == eight_bit) continue;  // by this what-if, before
      const double named = states_of(editor_.graph().name(kernel));
      const double used = states > 0 ? states : named;
      if (used <= 0) continue;
      const double factor = new_bytes(used) / old_bytes(used);
      editor_.set(kernel, editing::moved_share(editor_.graph().duration_ns(kernel),
                                               KernelClass::optimizer, factor));
    }
  }

  /// A state is a byte and its share of a scale.
  void shrink_parameters() {
    constexpr float fp32_bytes = 4;
    const float bytes = 1 + fp32_bytes / static_cast<float>(settings_.block_size);
    editing::ParameterEditor parameters(editor_);
    for (Parameter& row : parameters.table().rows) {
      const bool is_large =
          row.elements / row.tensors >= static_cast<double>(settings_.min_elements);
      if (is_large) row.state_bytes *= std::min(1.0F, bytes / fp32_bytes);
    }
    parameters.finish();
  }

  void per_tensor(const editing::Update& update, double states) {
    if (states <= 0 || update.tensors == 0 || update.calls.size() < update.tensors) return;
    std::vector<TaskId> kernels;
    for (const TaskId call : update.calls) {
      const auto work = launched_by(editor_.graph(), call);
      kernels.insert(kernels.end(), work.begin(), work.end());
    }
    const double ratio = new_bytes(states) / old_bytes(states);
    Cost cost{to_whole(static_cast<double>(update.device_ns) * ratio), Provenance::assumed, 0.5F,
              1.5F};
    if (update.parameters > 0) {
      auto moved =
          editor_.moving_cost(update.parameters * new_bytes(states), KernelClass::optimizer);
      if (moved) cost = *moved;
    }
    const auto count = static_cast<std::int64_t>(update.tensors);
    cost.duration_ns = std::max<std::int64_t>(
        cost.duration_ns / count,
        static_cast<std::int64_t>(shortest_kernel_ns(KernelClass::optimizer)));
    const std::size_t each = kernels.size() / update.tensors;
    const auto work = editing::update_kernel_work(
        update.parameters / static_cast<double>(update.tensors), update.bytes_per_parameter,
        editor_.about(kernels.front()).traits.precision);
    for (std::size_t i = 0; i < update.tensors; ++i) {
      const auto begin = kernels.begin() + static_cast<std::ptrdiff_t>(i * each);
      const auto end =
          i + 1 == update.tensors ? kernels.end() : begin + static_cast<std::ptrdiff_t>(each);
      editor_.replace(std::vector<TaskId>(begin, end), {eight_bit, work, cost});
    }
    ++updates_;
    if (update.parameters <= parameters_) return;  // one update of several, not their sum
    parameters_ = update.parameters;
    states_before_ = 4 * states * parameters_;
    states_after_ = states * parameters_;
  }

  editing::KernelEditor editor_;
  QuantizationSettings settings_;
  std::size_t updates_ = 0;
  double parameters_ = 0;
  double states_before_ = 0;
  double states_after_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const QuantizationSettings settings{params.integer(min_elements_param),
                                      params.integer(block_size_param)};
  return EightBit(scenario, settings).run(params.number(states_param));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The update is bound by bytes: 28 become 16 per fp32 parameter with two states, 20 become 14 "
    "with one.",
    "Finding the nearest code and the maximum of a block costs nothing beside the bytes.",
    "An update in single operators becomes one kernel per tensor, with one launch and the host "
    "time before the first of its old launches.",
    "Multi-tensor kernels that do not name Adam, LAMB, SGD or momentum are left alone unless "
    "states is given."};
constexpr std::array<std::string_view, 3> ignores = {
    "embeddings and small tensors that keep 32-bit states",
    "the maxima of blocks, 4 bytes per block", "accuracy"};
constexpr std::array params = {states_param, min_elements_param, block_size_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "eight_bit_optimizer",
    .summary = "Keep optimizer states in 8 bits: fewer bytes per update.",
    .paper =
        "T. Dettmers, M. Lewis, S. Shleifer, L. Zettlemoyer, 8-bit Optimizers via Block-wise "
        "Quantization, ICLR 2022",
    .recipe =
        "Multi-tensor update kernels take the ratio of bytes per parameter (12 + 2 s) / (12 + "
        "8 s) of their time beyond the ramp-up, for s states. Updates in single operators are "
        "replaced by one launch and one kernel per tensor that moves 12 + 2 s bytes per "
        "parameter.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "states; and one step with the 8-bit optimizer for its achieved bandwidth.",
    .identity = {.none_because = "states are stored in 8 bit; where none have 32, it declines"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::precision};

}  // namespace foretrace::eight_bit_optimizer_parts
