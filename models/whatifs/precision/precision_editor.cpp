// Every kernel once, in program order.
#include "models/whatifs/precision/precision_editor.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/editing/transfers/gradient_transfers.h"
#include "models/whatifs/precision/autocast_types.h"
#include "models/whatifs/precision/loss_scaling.h"
#include "models/whatifs/precision/precision_memory.h"
#include "models/whatifs/precision/recorded_types.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

constexpr float share_of_fp32 = 0.5F;  // 16 bit for 32

class PrecisionEditor {
 public:
  PrecisionEditor(const WhatIfInput& scenario, const PrecisionChoice& choice)
      : choice_(choice), editor_(scenario), memory_(editor_, choice_) {
    const auto& phases = scenario.graph.columns().phase;
    trains_ = std::find(phases.begin(), phases.end(), Phase::backward) != phases.end();
  }

  Result<Change> run() {
    follows_types_ = choice_.activations && editor_.accelerator() != nullptr && !any_half_product();
    for (const TaskId kernel : editor_.kernels()) {
      FORETRACE_TRY(change_kernel(kernel));
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   fmt::format("no {} to change; device time: {}", wanted(), shares())};
    }
    std::string scaling;
    if (choice_.loss_scaling && trains_) {
      FORETRACE_TRY(scaling, insert_loss_scaling(editor_, choice_));
    }
    const std::string memory = memory_.finish(!any_half_);
    const std::string transfers = shrink_transfers();
    Change change = editor_.finish(fmt::format("device time before: {}", shares()));
    change.notes.push_back(changed_note() + memory + transfers);
    if (casts_ > 0) change.notes.push_back(fmt::format("{} weight casts inserted", casts_));
    if (flow_casts_ > 0) {
      change.notes.push_back(
          fmt::format("{} casts of activations and gradients inserted, {:.2f} ms", flow_casts_,
                      to_ms(flow_cast_ns_)));
    }
    if (fp8_products_ > 0) change.notes.push_back(fp8_note());
    if (!scaling.empty()) change.notes.push_back(std::move(scaling));
    for (std::string& note : change.notes) note = with_singulars(note);
    return change;
  }

 private:
  static double percent(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  }

  [[nodiscard]] std::string_view wanted() const {
    return choice_.tf32  ? "fp32 product"
           : choice_.fp8 ? "linear product of known shape and no fp32 kernel"
                         : "fp32 kernel";
  }

  [[nodiscard]] std::string shares() const {
    std::int64_t total = 0;
    for (const std::int64_t ns : time_by_fate_) total += ns;
    std::string text;
    for (std::size_t i = 0; i < precision_fate_count; ++i) {
      if (time_by_fate_[i] == 0 && i != 0) continue;
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ",
                          fate_name(static_cast<PrecisionFate>(i), choice_),
                          percent(time_by_fate_[i], total));
    }
    return text;
  }

  [[nodiscard]] std::string changed_note() const {
    return fmt::format(
        "changed kernels {:.2f} ms -> {:.2f} ms in {}; shapes recorded for {:.0f} %, derived from "
        "tiles for {:.0f} %, unknown for {:.0f} % of the time in products",
        to_ms(before_), to_ms(after_),
        choice_.tf32  ? "tf32"
        : choice_.fp8 ? fmt::format("fp8 and {}", to_string(choice_.half))
                      : std::string(to_string(choice_.half)),
        percent(recorded_, products_), percent(derived_, products_),
        percent(products_ - recorded_ - derived_, products_));
  }

  [[nodiscard]] std::string fp8_note() const {
    return fmt::format(
        "{} linear products in fp8, {:.0f} % of the time of products that change; {} casts to fp8 "
        "take {:.2f} ms",
        fp8_products_, percent(fp8_before_, products_), fp8_casts_, to_ms(fp8_cast_ns_));
  }

  // Activations that ranks add up are 16 bit behind a 16-bit product; gradients are, where the
  // model itself is.
  std::string shrink_transfers() {
    if (choice_.tf32 || choice_.daydream) return {};
    const TaskGraph& graph = editor_.graph();
    const auto halve = [&](std::vector<Transfer> transfers, std::string_view of) {
      std::erase_if(transfers, [&](const Transfer& one) {
        return summed_precision(graph, one.task) != Precision::fp32;
      });
      return shrink(editor_.edit(), transfers, share_of_fp32).note(of);
    };
    std::string note = halve(find_activation_transfers(graph), "activations");
    if (!choice_.autocast && trains_) note += halve(find_gradient_transfers(graph), "gradients");
    return note;
  }

  Status change_kernel(TaskId task) {
    const KernelDescription& kernel = editor_.about(task);
    const std::int64_t measured = editor_.graph().duration_ns(task);
    const Phase phase = editor_.graph().phase(task);
    const bool product = is_product(kernel.traits.kernel_class);
    any_half_ = any_half_ || (product && is_half(kernel.traits.precision));
    const bool to_fp8 =
        choice_.fp8 && phase != Phase::update && is_linear(editor_, task) && fits_fp8(kernel);
    PrecisionFate fate =
        to_fp8 ? PrecisionFate::changed : precision_fate(kernel.traits, phase, choice_);
    const AutocastStep step = follow_types(task, kernel, phase);
    FORETRACE_TRY(insert_casts(task, step));
    for (const TaskId writer : step.replaced) memory_.shrink_results(writer, 1);
    if (fate == PrecisionFate::changed && step.half == false) fate = PrecisionFate::keeps_fp32;
    const bool would_cast = !choice_.autocast || recorded_types_.would_cast(task);
    if (fate == PrecisionFate::changed && !to_fp8 && !would_cast) {
      fate = PrecisionFate::explicit_fp32;
    }
    time_by_fate_[static_cast<std::size_t>(fate)] += measured;
    if (fate == PrecisionFate::other) keep_unknown(task, measured);
    if (fate != PrecisionFate::changed) return ok_status();
    const Precision to = to_fp8 ? Precision::fp8 : choice_.tf32 ? Precision::tf32 : choice_.half;
    PrecisionChoice choice = choice_;
    choice.followers = step.half ? 1 : choice_.followers;
    const Cost cost = lowered_cost(measured, kernel, to, choice, editor_.accelerator());
    editor_.set(task, cost);
    // Of what only partly follows its inputs, each kernel is as it was.
    if (product || !choice_.autocast || choice.followers == 1) {
      editor_.describe(task, static_cast<int>(to), [&] { return lowered_work(editor_, task, to); });
    }
    before_ += measured;
    after_ += cost.duration_ns;
    if (!choice_.tf32)
      memory_.shrink_results(task, product || !choice.autocast ? 1 : choice.followers);
    if (!product) return ok_status();
    products_ += measured;
    if (kernel.shape_from_grid) {
      derived_ += measured;
    } else if (kernel.amount.known()) {
      recorded_ += measured;
    }
    if (to_fp8) {
      fp8_before_ += measured;
      return cast_to_fp8(task, *kernel.amount.gemm);
    }
    if (!choice_.tf32) cast_weight(task);
    return ok_status();
  }

  // Nothing tells whether its numbers are fp32: as measured, or half the bytes.
  void keep_unknown(TaskId task, std::int64_t measured) {
    if (choice_.tf32 || choice_.daydream) return;
    editor_.edit().set_duration(task, measured,
                                {editor_.graph().provenance(task), share_of_fp32, 1.0F});
  }

  [[nodiscard]] bool any_half_product() const {
    return std::any_of(editor_.kernels().begin(), editor_.kernels().end(), [this](TaskId kernel) {
      const KernelTraits& traits = editor_.about(kernel).traits;
      return is_product(traits.kernel_class) && is_half(traits.precision);
    });
  }

  AutocastStep follow_types(TaskId task, const KernelDescription& kernel, Phase phase) {
    if (!follows_types_ || phase == Phase::update) return {};
    const OperatorInputs inputs = editor_.inputs_of(task);
    AutocastKernel seen;
    seen.task = task;
    seen.rank = editor_.graph().lane(task).rank;
    seen.operator_name = editor_.operator_of(task);
    seen.inputs = &inputs;
    seen.phase = phase;
    seen.is_product = is_product(kernel.traits.kernel_class);
    seen.keeps_fp32 = kernel.traits.keeps_fp32;
    seen.is_lookup = phase != Phase::backward && seen.operator_name == "aten::embedding";
    if (seen.is_product && kernel.amount.gemm) {
      const GemmShape& shape = *kernel.amount.gemm;
      seen.result_numbers = shape.batch * shape.m * shape.n;
      if (phase != Phase::backward) {
        seen.weight_numbers = linear_weight_numbers(kernel, seen.operator_name);
      }
    }
    return types_.next(seen);
  }

  Status insert_casts(TaskId task, const AutocastStep& step) {
    if (editor_.own_call(task) == none<TaskId>) return ok_status();
    for (const AutocastCast& cast : step.casts) {
      FORETRACE_TRY(auto cost,
                    editor_.moving_cost((4 + 2) * cast.numbers, KernelClass::elementwise));
      const KernelWork work = cast.to_half ? cast_work(cast.numbers, Precision::fp32, choice_.half)
                                           : cast_work(cast.numbers, choice_.half, Precision::fp32);
      editor_.add(
          task, cast.after ? Place::after : Place::before,
          {cast.to_half ? "cast to 16 bit" : "cast to fp32", work, cost, choice_.cast_host_ns});
      flow_cast_ns_ += cost.duration_ns;
      ++flow_casts_;
    }
    return ok_status();
  }

  void cast_weight(TaskId task) {
    const Phase phase = editor_.graph().phase(task);
    const bool forward = phase == Phase::forward || phase == Phase::unknown;
    if (!choice_.casts || !choice_.autocast || !forward || editor_.accelerator() == nullptr ||
        editor_.own_call(task) == none<TaskId>) {
      return;
    }
    const std::string_view op = editor_.operator_of(task);
    memory_.copy_weight(task, 2 * convolution_weight_numbers(op, editor_.inputs_of(task)));
    const double numbers = linear_weight_numbers(editor_.about(task), op);
    if (!(numbers > 0)) return;
    const Cost cost{weight_cast_ns(numbers, *editor_.accelerator()), Provenance::roofline, 0.9F,
                    1.1F};
    editor_.add(task, Place::before,
                {"weight cast to 16 bit", cast_work(numbers, Precision::fp32, choice_.half), cost,
                 choice_.cast_host_ns});
    memory_.copy_weight(task, 2 * numbers);
    ++casts_;
  }

  // Forward casts the activations and the weight, backward the gradient of the output once for the
  // two products that read it: they multiply the same sizes in another order.
  Status cast_to_fp8(TaskId task, const GemmShape& shape) {
    ++fp8_products_;
    const double copies = trains_ ? choice_.fp8_copies : 1;
    if (editor_.graph().phase(task) == Phase::backward) {
      std::array<double, 3> sizes = {shape.m, shape.n, shape.k};
      std::sort(sizes.begin(), sizes.end());
      const bool has_gradient = sizes == gradient_of_;
      gradient_of_ = has_gradient ? std::array<double, 3>{} : sizes;
      if (has_gradient) return ok_status();
      return insert_fp8_cast(task, "gradient cast to fp8", shape.m * shape.k, 2 + copies);
    }
    if (choice_.casts) {
      const bool from_fp32 =
          choice_.autocast && bytes_per_number(editor_.about(task).traits.precision) == 4;
      const double numbers = shape.k * shape.n;
      auto status =
          insert_fp8_cast(task, "weight cast to fp8", numbers, (from_fp32 ? 4 : 2) + copies);
      if (!status) return status;
      memory_.copy_weight(task, copies * numbers);
    }
    return insert_fp8_cast(task, "activation cast to fp8", shape.m * shape.k, 2 + copies);
  }

  // Delayed scaling: one pass that casts with the old scale and finds the maximum for the next.
  Status insert_fp8_cast(TaskId task, std::string_view name, double numbers, double bytes_each) {
    FORETRACE_TRY(auto cost, editor_.moving_cost(numbers * bytes_each, KernelClass::elementwise));
    editor_.add(task, Place::before,
                {name, cast_work(numbers, editor_.about(task).traits.precision, Precision::fp8),
                 cost, choice_.cast_host_ns});
    fp8_cast_ns_ += cost.duration_ns;
    ++fp8_casts_;
    return ok_status();
  }

  const PrecisionChoice& choice_;
  KernelEditor editor_;
  PrecisionMemory memory_;
  bool trains_ = false;
  bool any_half_ = false;
  std::array<std::int64_t, precision_fate_count> time_by_fate_{};
  std::int64_t before_ = 0;
  std::int64_t after_ = 0;
  std::int64_t products_ = 0;
  std::int64_t recorded_ = 0;
  std::int64_t derived_ = 0;
  std::int64_t fp8_before_ = 0;
  std::int64_t fp8_cast_ns_ = 0;
  std::array<double, 3> gradient_of_{};
  std::size_t fp8_products_ = 0;
  std::size_t fp8_casts_ = 0;
  std::size_t casts_ = 0;
  bool follows_types_ = false;
  AutocastTypes types_;
  RecordedTypes recorded_types_{editor_};
  std::size_t flow_casts_ = 0;
  std::int64_t flow_cast_ns_ = 0;
};

}  // namespace

Result<Change> lower_precision(const WhatIfInput& scenario, const PrecisionChoice& choice) {
  return PrecisionEditor(scenario, choice).run();
}

}  // namespace foretrace::editing
