// Fused optimizer: multi-tensor kernels replace the update's kernels, tensor by tensor.
//
//   before   [py][mul_][py][add_][py][add_] ... per tensor       160 tensors x 3 launches
//   after    [py + what is left][multi-tensor update] x ceil(tensors / 36)
//   Elementwise kernels of the update phase and their launches go, with the host time between them;
//   zeroing of gradients, copies, products and synchronizations stay where they are.
//
// memory    (where tensors are recorded) what replaced launches wrote and the update freed is never
//           allocated.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/chains/fusion_chain.h"
#include "models/editing/kernels/foreach_update.h"
#include "models/editing/kernels/kernel_work.h"
#include "models/editing/kernels/update_phase.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/tensors.h"

namespace foretrace::fused_optimizer_parts {
namespace {

constexpr ParamInfo tensors_per_launch_param = {
    .name = "tensors_per_launch",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "36",
    .doc = "Tensors per multi-tensor launch (PyTorch and Apex: 36 for Adam); 0: all.",
    .minimum = 0,
    .maximum = 1e6};
constexpr ParamInfo bytes_per_parameter_param = {
    .name = "bytes_per_parameter",
    .unit = "B",
    .default_text = "0",
    .doc = "Bytes read and written per parameter; 0: 28, 20 or 12 by the operators seen.",
    .minimum = 0,
    .maximum = 1000};
constexpr ParamInfo kernel_factor_param = {
    .name = "kernel_factor",
    .unit = "x",
    .default_text = "1",
    .doc = "Without shapes: time of the fused kernels / sum of the replaced ones.",
    .minimum = 0,
    .maximum = 10,
    .optimistic = "0.4"};

struct Settings {
  double kernel_factor = 1;
  double kept_host = 0;
  double bytes_per_parameter = 0;  // 0: by the operators of the update
  std::size_t tensors_per_launch = 36;
};

class Fuser {
 public:
  Fuser(const WhatIfInput& scenario, const Settings& settings)
      : graph_(scenario.graph),
        accelerator_(scenario.accelerator),
        settings_(settings),
        kernels_(describe_works(scenario.graph, scenario.accelerator)),
        editor_(scenario.graph),
        usual_(editing::usual_launch(scenario.graph)) {}

  Result<Change> run() {
    const auto updates = editing::find_updates(graph_, kernels_);
    for (const editing::Update& update : updates) {
      for (const editing::Update& part : parts_of(update)) fuse(part);
    }
    const auto foreach_updates = editing::find_foreach_updates(graph_);
    for (const editing::ForeachUpdate& update : foreach_updates) fuse_passes(update);
    if (removed_ == 0) {
      return Error{ErrorCode::no_match,
                   updates.empty() && foreach_updates.empty()
                       ? std::string("no elementwise kernels in an update phase, expected an "
                                     "Optimizer.step range in the trace whose update is not "
                                     "fused already")
                       : std::string("every update has no more launches than a fused one would")};
    }
    TensorEditor tensors(editor_);
    drop_temporaries(tensors);
    editor_.note(fmt::format(
        "{} launches of {} updates become {}; device time {:.2f} ms -> {:.2f} ms ({}), host time "
        "between launches {:.2f} ms -> {:.2f} ms{}",
        removed_, fused_, inserted_, ms(device_before_), ms(device_after_),
        passes_ > 0   ? "one pass instead of several, at the pace of these"
        : from_bytes_ ? "bytes at the achieved bandwidth"
                      : "sum of the replaced kernels x kernel_factor",
        ms(host_before_), ms(host_after_), tensors.note()));
    return editor_.finish();
  }

 private:
  static double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

  struct Duration {
    std::int64_t ns = 0;
    Provenance provenance = Provenance::assumed;
  };

  // All numbers once at the achieved bandwidth where shapes are recorded, else the sum of what is
  // replaced (Daydream). Never longer than what is replaced.
  [[nodiscard]] Duration fused_time(const editing::Update& update, std::size_t launches) {
    const Duration sum{to_whole(static_cast<double>(update.device_ns) * settings_.kernel_factor),
                       Provenance::assumed};
    if (accelerator_ == nullptr || update.parameters <= 0) return sum;
    const double bytes =
        update.parameters * (settings_.bytes_per_parameter > 0 ? settings_.bytes_per_parameter
                                                               : update.bytes_per_parameter);
    const double bandwidth = memory_rate(*accelerator_, KernelClass::optimizer);
    const double ns = static_cast<double>(launches) * shortest_kernel_ns(KernelClass::optimizer) +
                      bytes / bandwidth * 1e9;
    from_bytes_ = true;
    return {std::min(to_whole(ns), update.device_ns), Provenance::roofline};
  }

  // What a replaced launch was given to write, and the update freed again: sums, roots, quotients.
  void drop_temporaries(TensorEditor& tensors) const {
    const std::vector<Tensor>& all = graph_.context().tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].category == TensorCategory::temporary && all[i].phase == Phase::update &&
          replaced_.contains(all[i].allocated_in)) {
        tensors.drop(i);
      }
    }
  }

  // An update that has to wait for something in its middle cannot be one: it is cut there.
  [[nodiscard]] std::vector<editing::Update> parts_of(const editing::Update& update) const {
    std::vector<TaskId> kernels;
    for (const TaskId call : update.calls) kernels.push_back(launched_by(graph_, call).front());
    std::vector<editing::Update> parts;
    for (const std::vector<TaskId>& piece : editor_.cut(kernels)) {
      editing::Update part = update;
      part.calls.clear();
      part.device_ns = 0;
      for (const TaskId kernel : piece) {
        part.calls.push_back(launch_of(graph_, kernel));
        part.device_ns += graph_.duration_ns(kernel);
      }
      const double share = static_cast<double>(piece.size()) / static_cast<double>(kernels.size());
      part.parameters *= share;
      part.tensors = static_cast<std::size_t>(
          std::max(1.0, std::round(static_cast<double>(update.tensors) * share)));
      parts.push_back(std::move(part));
    }
    return parts;
  }

  void fuse(const editing::Update& update) {
    const std::size_t per_launch = settings_.tensors_per_launch;
    const std::size_t launches =
        per_launch == 0 ? 1
                        : std::max<std::size_t>(1, (update.tensors + per_launch - 1) / per_launch);
    if (update.calls.size() <= launches) return;
    const Duration time = fused_time(update, launches);
    if (!replace(update, launches, time)) return;
    replaced_.insert(update.calls.begin(), update.calls.end());
    removed_ += update.calls.size();
    inserted_ += launches;
    ++fused_;
    device_before_ += update.device_ns;
    device_after_ += time.ns;
  }

  // The passes of foreach operators become one, which moves every operand once.
  void fuse_passes(const editing::ForeachUpdate& passes) {
    editing::Update update;
    update.calls = passes.calls;
    update.device_ns = passes.device_ns;
    const Duration time{passes.fused_ns, Provenance::scaled};
    if (!replace(update, passes.launches, time)) return;
    replaced_.insert(update.calls.begin(), update.calls.end());
    removed_ += update.calls.size();
    inserted_ += passes.launches;
    ++fused_;
    passes_ += passes.passes;
    device_before_ += update.device_ns;
    device_after_ += time.ns;
  }

  /// A share of the update, as PyTorch's fused optimizers record it; of foreach passes, whose
  /// numbers are not told, the name alone.
  WorkId work_of(const editing::Update& update, std::size_t launches) {
    const TaskId first = launched_by(graph_, update.calls.front()).front();
    const editing::KernelWork what = editing::update_kernel_work(
        update.parameters / static_cast<double>(launches), update.bytes_per_parameter,
        kernels_[index(graph_.work_id(first))].traits.precision);
    Work work;
    work.kind = TaskKind::kernel;
    work.precision = what.precision;
    return editor_.add_work(work, WorkTexts{.name = "multi-tensor update",
                                            .operator_name = what.operator_name,
                                            .shapes = what.shapes,
                                            .types = {}});
  }

  bool replace(const editing::Update& update, std::size_t launches, const Duration& time) {
    std::int64_t between = 0;
    for (const TaskId call : update.calls) between += graph_.segment_ns(call);
    between -= graph_.segment_ns(update.calls.front());
    const std::int64_t kept = to_whole(static_cast<double>(between) * settings_.kept_host);
    const bool known = time.provenance != Provenance::assumed;
    const auto count = static_cast<std::int64_t>(launches);
    std::vector<NewWork> works;
    for (std::int64_t i = 0; i < count; ++i) {
      NewWork work;
      work.work = work_of(update, launches);
      work.duration_ns = time.ns / count + (i < time.ns % count ? 1 : 0);
      work.trust = {time.provenance, known ? 0.9F : 1.0F, known ? 1.1F : 1.0F};
      work.gap_ns = accelerator_ != nullptr ? accelerator_->kernel_gap_ns : 0;
      work.call = {.work = editor_.add_work("launch of the fused update", TaskKind::launch),
                   .duration_ns = usual_.call_ns,
                   .segment_ns = i == 0 ? kept : 0,
                   .latency_ns = usual_.latency_ns};
      works.push_back(work);
    }
    std::vector<TaskId> kernels;
    for (const TaskId call : update.calls) kernels.push_back(launched_by(graph_, call).front());
    if (!editor_.replace(kernels, works).ok()) return false;
    host_before_ += between;
    host_after_ += kept;
    return true;
  }

  const TaskGraph& graph_;
  const Accelerator* accelerator_;
  const Settings& settings_;
  std::vector<KernelDescription> kernels_;
  Editor editor_;
  editing::LaunchTimes usual_;
  std::set<TaskId> replaced_;
  std::int64_t device_before_ = 0;
  std::int64_t device_after_ = 0;
  std::int64_t host_before_ = 0;
  std::int64_t host_after_ = 0;
  std::size_t removed_ = 0;
  std::size_t inserted_ = 0;
  std::size_t fused_ = 0;
  std::size_t passes_ = 0;  // of foreach updates
  bool from_bytes_ = false;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  Settings settings;
  settings.kernel_factor = params.number(kernel_factor_param);
  settings.kept_host = params.number(editing::kept_host_param);
  settings.bytes_per_parameter = params.number(bytes_per_parameter_param);
  settings.tensors_per_launch = static_cast<std::size_t>(params.integer(tensors_per_launch_param));
  return Fuser(scenario, settings).run();
}

constexpr std::array<std::string_view, 6> assumptions = {
    "Passes of foreach operators over all tensors become one: 7 numbers per parameter (Adam), 5 "
    "(momentum) or 3, at the pace per number of the middle pass.",
    "Every elementwise kernel of the update phase belongs to the optimizer's formula and can be "
    "fused; gradient clipping or a moving average of weights inside the same range is fused, too.",
    "The fused kernel reads gradients, parameters and states once and writes parameters and "
    "states once: 28 bytes per parameter for Adam, 20 for SGD with momentum, 12 for plain SGD in "
    "fp32, at 0.80 of the bandwidth.",
    "Without recorded shapes it takes as long as the kernels it replaces (Daydream), times "
    "kernel_factor.",
    "Of the host time between the replaced launches kept_host stays (collecting lists of tensors).",
    "All tensors are on one stream per update and have no wait between them."};
constexpr std::array<std::string_view, 3> ignores = {
    "different rounding of the fused formula",
    "products and norms inside the update (LAMB, Muon, Shampoo): they stay as measured",
    "a host that then runs further ahead than memory allows"};

constexpr std::array params = {tensors_per_launch_param, bytes_per_parameter_param,
                               kernel_factor_param, editing::kept_host_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "fused_optimizer",
    .summary = "Update all parameters with a few multi-tensor kernels.",
    .paper =
        "NVIDIA Apex FusedAdam, 2018; H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream: Accurately "
        "Estimating the Efficacy of Optimizations for DNN Training, USENIX ATC 2020",
    .recipe =
        "In every run of update-phase calls, the launches of elementwise or foreach kernels and "
        "these kernels are removed with the host time between them; ceil(tensors / "
        "tensors_per_launch) launches and kernels take their place at the first of them.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "kept_host, bytes_per_parameter: one step of the same optimizer with fused=True.",
    .identity = {.none_because = "the kernels of an update become a few"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::fused_optimizer_parts
