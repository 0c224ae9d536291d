// Scaling of measured kernels and the roofline of new ones.
#include "models/hardware/costs/kernel_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/hardware/catalogue/same_device.h"
#include "models/hardware/costs/operator_model.h"
#include "models/hardware/kernels/context_memo.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

std::int64_t rounded(double ns) { return to_whole(std::clamp(ns, 0.0, 1e18)); }

// Arithmetic and bytes under one setting, in ns; negative where not known.
struct Parts {
  double compute = -1;
  double memory = -1;
  [[nodiscard]] double longest() const { return std::max(compute, memory); }
};

Parts parts_of(const KernelDescription& kernel, const Setting& setting) {
  const KernelClass kernel_class = kernel.traits.kernel_class;
  Parts parts;
  const double rate = sustained_rate(*setting.accelerator, setting.precision, kernel_class) *
                      setting.rate_factor * 1e-9;
  if (kernel.traits.compute_bound && kernel.amount.flops >= 0 && rate > 0) {
    parts.compute = kernel.amount.flops / rate;
  }
  const int bytes = bytes_per_number(setting.precision);
  if (kernel.amount.numbers >= 0 && bytes > 0) {
    parts.memory =
        kernel.amount.numbers * bytes / (memory_rate(*setting.accelerator, kernel_class) * 1e-9);
  }
  return parts;
}

// Where constants fit the kind of work: products and row operators.
std::optional<OperatorModel> model_of(const KernelDescription& kernel, const Setting& setting) {
  if (kernel.amount.gemm && kernel.traits.compute_bound) {
    const OperatorKind kind =
        kernel.amount.gemm->batch > 1 ? OperatorKind::batched_gemm : OperatorKind::gemm;
    return operator_model(*setting.accelerator, kind, setting.precision);
  }
  if (!kernel.amount.rows || bytes_per_number(setting.precision) == 0) return std::nullopt;
  return operator_model(*setting.accelerator, kernel.amount.rows->kind, setting.precision);
}

// Model time of a kernel whose amount is known; 0 if the model does not cover it.
double model_ns(const KernelDescription& kernel, const Setting& setting) {
  if (const auto model = model_of(kernel, setting)) {
    const RowWork rows = kernel.amount.rows.value_or(RowWork{});
    const double ns = foretrace::model_ns(
        *model, kernel.amount.gemm.value_or(OperatorShape{1, rows.rows, rows.columns, 0}));
    return ns > 0 ? model->fit.fixed_ns + (ns - model->fit.fixed_ns) / setting.rate_factor : 0;
  }
  const Parts parts = parts_of(kernel, setting);
  if (kernel.traits.compute_bound && parts.compute < 0) return 0;
  const double fixed = shortest_kernel_ns(*setting.accelerator, kernel.traits.kernel_class);
  return parts.longest() >= 0 ? fixed + parts.longest() : 0;
}

struct Factor {
  double point = 1;
  Spread spread;
};

// Bytes move at the bandwidth; numbers have their size.
double memory_factor(const Setting& from, const Setting& to) {
  const int old_bytes = bytes_per_number(from.precision);
  const int new_bytes = bytes_per_number(to.precision);
  const double size =
      old_bytes > 0 && new_bytes > 0 ? static_cast<double>(new_bytes) / old_bytes : 1.0;
  return size * from.accelerator->memory_bandwidth / to.accelerator->memory_bandwidth;
}

double compute_factor(KernelClass kernel_class, const Setting& from, const Setting& to) {
  const double old_rate = sustained_rate(*from.accelerator, from.precision, kernel_class);
  const double new_rate = sustained_rate(*to.accelerator, to.precision, kernel_class);
  if (!(old_rate > 0) || !(new_rate > 0)) return memory_factor(from, to);
  return old_rate * from.rate_factor / (new_rate * to.rate_factor);
}

// Neither FLOPs nor bytes are known: the truth lies between "all arithmetic" and "all bytes".
Factor bracket(double a, double b, const Spread& spread) {
  const double low = std::min(a, b);
  const double high = std::max(a, b);
  Factor factor;
  factor.point = std::sqrt(low * high);
  factor.spread = {std::min(low / factor.point, spread.low),
                   std::max(high / factor.point, spread.high)};
  return factor;
}

/// What names and recorded shapes say of the works, whatever the tasks are.
std::vector<KernelDescription> recorded_works(const TaskGraph& graph) {
  const std::vector<Work>& works = graph.context().works;
  const std::vector<KernelTraits> traits = classify_works(graph);
  const NameTable& names = graph.names();
  ConvolutionOutputs outputs;
  for (const Work& work : works) {
    if (work.shapes == NameId{}) continue;
    if (names[work.operator_name].find("conv") == std::string_view::npos) continue;
    outputs.learn(names[work.operator_name], parse_inputs(names[work.shapes]));
  }
  std::vector<KernelDescription> descriptions(works.size());
  for (std::size_t w = 0; w < works.size(); ++w) {
    const Work& work = works[w];
    KernelDescription& description = descriptions[w];
    description.traits = traits[w];
    if (work.kind != TaskKind::kernel) continue;
    const KernelClass kernel_class = traits[w].kernel_class;
    const OperatorInputs inputs = parse_inputs(names[work.shapes]);
    description.amount = amount_of(names[work.operator_name], inputs, kernel_class);
    if (!description.amount.known() && kernel_class == KernelClass::convolution) {
      description.amount = outputs.amount(names[work.operator_name], inputs);
    }
  }
  return descriptions;
}

}  // namespace

std::vector<KernelDescription> describe_works(const TaskGraph& graph,
                                              const Accelerator* accelerator) {
  static ContextMemo<std::vector<KernelDescription>> memo;
  const auto recorded = memo.get(graph.shared_context(), [&] { return recorded_works(graph); });
  const GraphContext& context = graph.context();
  // One call stands for all of a work: the sum and the count of its durations.
  std::vector<std::int64_t> total(context.works.size(), 0);
  std::vector<std::int64_t> calls(context.works.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_device(graph.kind(task))) continue;
    total[index(graph.work_id(task))] += graph.duration_ns(task);
    ++calls[index(graph.work_id(task))];
  }

  std::vector<KernelDescription> descriptions(context.works.size());
  for (std::size_t w = 0; w < context.works.size(); ++w) {
    const Work& work = context.works[w];
    KernelDescription& description = descriptions[w];
    description.traits = (*recorded)[w].traits;
    if (calls[w] == 0 || work.kind != TaskKind::kernel) continue;
    description.amount = (*recorded)[w].amount;
    const KernelTraits& traits = description.traits;
    if (description.amount.known() || accelerator == nullptr || !traits.compute_bound) continue;
    if (traits.kernel_class != KernelClass::gemm) continue;
    const auto shape = gemm_from_grid(*accelerator, traits.precision, graph.names()[work.name],
                                      work.grid, total[w] / calls[w]);
    if (!shape) continue;
    description.amount.gemm = shape;
    description.amount.flops = shape->flops();
    description.amount.numbers = shape->numbers();
    description.shape_from_grid = true;
  }
  return descriptions;
}

bool are_same(const Setting& a, const Setting& b) {
  if (a.precision != b.precision || a.rate_factor != b.rate_factor) return false;
  if (a.accelerator == nullptr || b.accelerator == nullptr) return a.accelerator == b.accelerator;
  return is_same_device(*a.accelerator, *b.accelerator);
}

KernelBound kernel_bound_of(std::int64_t measured_ns, const KernelDescription& kernel,
                            const Setting& setting) {
  // Up to half as much again is still mostly start and end.
  constexpr double mostly_fixed = 1.5;
  const KernelClass kernel_class = kernel.traits.kernel_class;
  const double fixed = shortest_kernel_ns(*setting.accelerator, kernel_class);
  if (static_cast<double>(measured_ns) <= mostly_fixed * fixed) return KernelBound::launch;
  if (!kernel.traits.compute_bound) {
    return kernel_class == KernelClass::other ? KernelBound::unknown : KernelBound::memory;
  }
  const Parts parts = parts_of(kernel, setting);
  if (parts.compute < 0 || parts.memory < 0) return KernelBound::unknown;
  return parts.compute >= parts.memory ? KernelBound::compute : KernelBound::memory;
}

Cost scaled_cost(std::int64_t measured_ns, const KernelDescription& kernel, const Setting& from,
                 const Setting& to) {
  if (are_same(from, to)) return kept_cost(measured_ns);
  const KernelClass kernel_class = kernel.traits.kernel_class;
  const auto measured = static_cast<double>(measured_ns);
  const double before = model_ns(kernel, from);
  const double after = model_ns(kernel, to);
  Spread spread = class_spread(kernel_class, *to.accelerator, to.precision);
  if (kernel.shape_from_grid) spread = {0.85, 1.18};  // k comes from the modelled rate itself
  const auto cost = [&](double ns, std::string_view basis) {
    return Cost{rounded(ns), Provenance::scaled, static_cast<float>(spread.low),
                static_cast<float>(spread.high), basis};
  };
  if (before > 0 && after > 0) return cost(measured * after / before, "scaled by its shape");

  const double by_bytes = memory_factor(from, to);
  const double by_rate = compute_factor(kernel_class, from, to);
  const bool open = kernel.traits.compute_bound || kernel_class == KernelClass::other;
  const Factor factor = open ? bracket(by_rate, by_bytes, spread) : Factor{by_bytes, spread};
  // The start and the end of a kernel take their own time on every device.
  const double usual = shortest_kernel_ns(*from.accelerator, kernel_class);
  const double fixed = std::min(measured, usual);
  const double new_fixed =
      fixed * shortest_kernel_ns(*to.accelerator, kernel_class) / std::max(usual, 1.0);
  const double moving = (measured - fixed) * factor.point;
  const double predicted = new_fixed + moving;
  spread = factor.spread;
  if (predicted > 0) {  // what does not move is certain
    spread = {1 - moving / predicted * (1 - spread.low),
              1 + moving / predicted * (spread.high - 1)};
  }
  if (!(moving > 0)) return cost(predicted, "start and end only");
  return cost(predicted, open ? "scaled between rate and bandwidth" : "scaled by bandwidth");
}

Error missing_cost(std::string_view what) {
  return Error{
      ErrorCode::missing_cost,
      fmt::format(
          "cannot time {}: record shapes (record_shapes=True), set the parameter that states its "
          "size or time, name the accelerator, or fit constants to a table (foretrace calibrate)",
          what)};
}

Result<Cost> roofline_cost(const KernelDescription& kernel, const Setting& setting,
                           std::string_view what) {
  if (setting.accelerator == nullptr) return missing_cost(what);
  const double ns = model_ns(kernel, setting);
  if (!(ns > 0)) return missing_cost(what);
  const auto model = model_of(kernel, setting);
  const Spread spread =
      class_spread(kernel.traits.kernel_class, *setting.accelerator, setting.precision);
  Cost cost{rounded(std::ceil(ns)), Provenance::roofline, static_cast<float>(spread.low),
            static_cast<float>(spread.high), "roofline of its bytes and arithmetic"};
  if (!model) return cost;
  cost.basis = "usual constants of its operator";
  if (!model->fitted) return cost;
  cost.provenance = Provenance::table;
  cost.basis = "constants fitted to a table of its operator";
  cost.low = std::min(cost.low, static_cast<float>(model->fit.low));
  cost.high = std::max(cost.high, static_cast<float>(model->fit.high));
  return cost;
}

}  // namespace foretrace
