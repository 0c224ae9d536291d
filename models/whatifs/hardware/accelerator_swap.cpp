// Accelerator swap: every kernel takes the time it would on another device; the host stays.
//
//   before   A100:   call -1.5 us-> gemm (100 us) -1.2 us-> relu (20 us)
//   after    MI300X: call -14 us->  gemm ( 41 us) -0 us->   relu ( 7 us)
//   Kernels scale by the ratio of model times on both devices: arithmetic by the sustained rate,
//   bytes by the bandwidth, start and end by what each device needs for them. Launch latencies and
//   gaps shift by the difference of both files, launch queues get the new depth, host time is
//   divided by host_speed.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/kernels/recorded_accelerator.h"
#include "models/hardware/costs/kernel_cost.h"
#include "models/whatifs/hardware/swap_workspaces.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace::accelerator_swap_parts {
namespace {

constexpr ParamInfo to_param = {
    .name = "to",
    .type = ParamType::text,
    .doc = "Accelerator to move to: a name of configs/accelerators or a .json file.",
    .config = "accelerators"};
constexpr ParamInfo from_param = {
    .name = "from",
    .type = ParamType::text,
    .default_text = "recording",
    .doc = "Accelerator of the recording, if its device name is unknown.",
    .config = "accelerators"};
constexpr ParamInfo host_speed_param = {
    .name = "host_speed",
    .unit = "x",
    .default_text = "1",
    .doc = "Speed of the new host relative to the recorded one, for one thread.",
    .minimum = 0.01,
    .maximum = 100,
    .optimistic = "1.1",
    .pessimistic = "0.9"};

// Precision in which a kernel runs on the new device: TF32 falls back to fp32 where it is missing.
Precision precision_on(const Accelerator& to, Precision recorded) {
  const bool no_tf32 = recorded == Precision::tf32 && to.flops(Precision::tf32) <= 0;
  return no_tf32 ? Precision::fp32 : recorded;
}

// Between host and device, from or to page-locked memory: at the rate of the link.
bool is_pinned_copy(const TaskGraph& graph, TaskId task) {
  const std::string_view name = graph.name(task);
  return graph.kind(task) == TaskKind::copy && contains(name, "Pinned") &&
         contains_any(name, {"HtoD", "DtoH", "HostToDevice", "DeviceToHost"});
}

// Libraries of different vendors do not choose like kernels. In three pairs of recordings on an
// H100 and an MI300X products as a class took 0.78 to 1.12 times what was predicted, and
// attention 1.2 to 3.4 times: the range is as wide as they are apart, and it was tested on no other
// pair of vendors.
struct VendorSpread {
  float low = 1;
  float high = 1;
};
VendorSpread across_vendors(KernelClass kernel_class) {
  if (kernel_class == KernelClass::attention) return {0.8F, 3.4F};
  const bool product =
      kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution;
  return product ? VendorSpread{0.75F, 1.3F} : VendorSpread{};
}

std::string_view vendor_of(const Accelerator& accelerator) {
  return std::string_view(accelerator.product).substr(0, accelerator.product.find(' '));
}

bool moves_in_memory(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::set || editing::is_copy_on_device(graph, task);
}

class Swap {
 public:
  Swap(const TaskGraph& graph, const Accelerator& from, const Accelerator& to)
      : graph_(graph),
        from_(from),
        to_(to),
        is_same_(are_same(Setting{&from}, Setting{&to})),
        kernels_(describe_works(graph, &from)),
        editor_(graph) {}

  /// Nothing is asked of a run that stays on its device: it ran.
  [[nodiscard]] bool is_same() const { return is_same_; }

  Result<Change> run(double host_speed) {
    FORETRACE_TRY(is_same_ ? ok_status() : supported());
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (is_device(graph_.kind(task))) {
        device_task(task);
      } else if (host_speed != 1.0) {
        host_task(task, 1 / host_speed);
      }
    }
    if (device_before_ == 0) {
      return Error{ErrorCode::no_match, "the trace has no kernel to move to another accelerator"};
    }
    for (std::size_t i = 0; i < graph_.context().lanes.size(); ++i) {
      const Lane& lane = graph_.context().lanes[i];
      if (!is_same_ && lane.kind == LaneKind::stream && lane.queue_depth != to_.queue_depth) {
        editor_.set_queue_depth(make_id<LaneId>(i), to_.queue_depth);
      }
    }
    add_notes();
    if (is_same_) return editor_.finish();
    if (std::string note = move_workspaces(editor_, from_.memory, to_.memory); !note.empty()) {
      editor_.note(std::move(note));
    }
    return editor_.finish();
  }

 private:
  static double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

  // A precision that the new device has no units for cannot be guessed.
  [[nodiscard]] Status supported() const {
    for (const Accelerator* device : {&from_, &to_}) {
      if (device->exec_model == nullptr) continue;
      return Error{
          ErrorCode::unsupported,
          fmt::format("{} is no GPU: kernels of a recording do not scale to it, expected a "
                      "scenario with \"accelerator\": \"{}\"",
                      device->name, device->name)};
    }
    std::array<std::size_t, precision_count> lacking{};
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      const KernelTraits& traits = kernels_[index(graph_.work_id(task))].traits;
      if (graph_.kind(task) != TaskKind::kernel || !traits.compute_bound) continue;
      const Precision precision = precision_on(to_, traits.precision);
      if (precision == Precision::unknown || to_.flops(precision) > 0) continue;
      ++lacking[static_cast<std::size_t>(precision)];
    }
    for (std::size_t p = 0; p < precision_count; ++p) {
      if (lacking[p] == 0) continue;
      return Error{ErrorCode::unsupported,
                   fmt::format("{} has no {} units, which {} products of the recording use",
                               to_.name, to_string(static_cast<Precision>(p)), lacking[p])};
    }
    return ok_status();
  }

  void device_task(TaskId task) {
    const std::int64_t measured = graph_.duration_ns(task);
    device_before_ += measured;
    const bool is_kernel = graph_.kind(task) == TaskKind::kernel;
    const KernelDescription& known = kernels_[index(graph_.work_id(task))];
    const Precision precision = is_kernel ? known.traits.precision : Precision::unknown;
    const Setting from{&from_, precision};
    if (is_kernel) {
      by_bound_[static_cast<std::size_t>(kernel_bound_of(measured, known, from))] += measured;
    }
    if (is_kernel || moves_in_memory(graph_, task)) {
      const Cost cost = scaled_cost(measured, known, from, {&to_, precision_on(to_, precision)});
      const VendorSpread vendors = vendor_of(from_) == vendor_of(to_)
                                       ? VendorSpread{}
                                       : across_vendors(known.traits.kernel_class);
      device_after_ += cost.duration_ns;
      editor_.set_duration(
          task, cost.duration_ns,
          {cost.provenance, std::min(cost.low, vendors.low), std::max(cost.high, vendors.high)});
    } else if (is_pinned_copy(graph_, task) && from_.host_link_bandwidth > 0 &&
               to_.host_link_bandwidth > 0) {
      copy_with_host(task);
    } else {
      device_after_ += measured;
      kept_ += measured;
    }
    shift_latencies(task);
  }

  // Its ramp-up stays, the bytes go at the rate of the other link.
  void copy_with_host(TaskId task) {
    const std::int64_t measured = graph_.duration_ns(task);
    const std::int64_t fixed =
        std::min<std::int64_t>(measured, to_whole(shortest_kernel_ns(KernelClass::copy)));
    const double share = from_.host_link_bandwidth / to_.host_link_bandwidth;
    const std::int64_t now = fixed + to_whole(static_cast<double>(measured - fixed) * share);
    device_after_ += now;
    if (now != measured) editor_.set_duration(task, now, {Provenance::scaled, 0.8F, 1.3F});
  }

  void shift_latencies(TaskId task) {
    const std::int64_t latency = to_.launch_latency_ns - from_.launch_latency_ns;
    const std::int64_t gap = to_.kernel_gap_ns - from_.kernel_gap_ns;
    const Link launch = launch_link(graph_, task);
    if (latency != 0 && launch.source != no_point) {
      editor_.set_lag(task, DependencyKind::launch,
                      std::max<std::int64_t>(0, launch.lag_ns + latency));
    }
    if (gap != 0 && previous_on_lane(graph_, task) != none<TaskId>) {
      editor_.set_segment(task, std::max<std::int64_t>(0, graph_.segment_ns(task) + gap),
                          graph_.provenance(task));
    }
  }

  void host_task(TaskId task, double factor) {
    const auto times = [factor](std::int64_t ns) {
      return to_whole(static_cast<double>(ns) * factor);
    };
    editor_.set_duration(task, times(graph_.duration_ns(task)));
    editor_.set_segment(task, times(graph_.segment_ns(task)));
    for (const Link& dependency : sources(graph_, task)) {
      if (dependency.kind != DependencyKind::hand_over) continue;
      editor_.set_lag(task, DependencyKind::hand_over, times(dependency.lag_ns));
      break;
    }
  }

  // "arithmetic 52 %, bytes 40 %, ...": what the answer follows.
  [[nodiscard]] std::string bounds() const {
    constexpr std::array<std::string_view, kernel_bound_count> words = {
        "their start and end", "arithmetic", "bytes", "arithmetic or bytes (no shapes)"};
    std::int64_t all = 0;
    for (const std::int64_t part : by_bound_) all += part;
    std::string text;
    for (std::size_t i = 0; i < kernel_bound_count; ++i) {
      if (by_bound_[i] == 0) continue;
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", words[i],
                          100 * ms(by_bound_[i]) / ms(std::max<std::int64_t>(all, 1)));
    }
    return text.empty() ? "nothing" : text;
  }

  void add_notes() {
    editor_.note(
        fmt::format("{} -> {}: device time {:.2f} ms -> {:.2f} ms; pageable copies and "
                    "collectives keep {:.2f} ms",
                    from_.name, to_.name, ms(device_before_), ms(device_after_), ms(kept_)));
    editor_.note(fmt::format("on {} kernels are bound by {}", from_.name, bounds()));
    if (to_.memory_bytes < from_.memory_bytes) {
      editor_.note(fmt::format("{} has {:.0f} GiB, {} had {:.0f}: check that it fits", to_.name,
                               static_cast<double>(to_.memory_bytes) / 0x1p30, from_.name,
                               static_cast<double>(from_.memory_bytes) / 0x1p30));
    }
  }

  const TaskGraph& graph_;
  const Accelerator& from_;
  const Accelerator& to_;
  bool is_same_ = false;
  std::vector<KernelDescription> kernels_;
  Editor editor_;
  std::int64_t device_before_ = 0;
  std::int64_t device_after_ = 0;
  std::int64_t kept_ = 0;
  std::array<std::int64_t, kernel_bound_count> by_bound_{};  // measured time
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto from, editing::recorded_accelerator(scenario, params.text(from_param)));
  FORETRACE_TRY(auto to, scenario.catalogue.accelerator(params.text(to_param)));
  Swap swap(scenario.graph, *from, *to);
  // The host of the recorded device is the recorded one, unless the user says otherwise.
  const bool keeps_host = swap.is_same() && !params.given(host_speed_param);
  return swap.run(keeps_host ? 1 : params.number(host_speed_param));
}

constexpr std::array<std::string_view, 6> assumptions = {
    "The library of the new device has a kernel as good for every shape as the recorded one; "
    "vendors differ, and new devices reach less than their files state.",
    "Large products run at the sustained rate of the accelerator file; kernels bound by bytes "
    "reach the same share of the bandwidth on both devices.",
    "A product without recorded shapes lies between arithmetic and bytes, an unknown kernel "
    "follows the bandwidth.",
    "Launch latency and gaps between kernels differ by the difference of both files.",
    "The host runs the same code at host_speed times the speed; a trace does not contain the speed "
    "of another CPU, so the range is 0.9 to 1.1.",
    "Pinned copies with the host follow the links in both files; pageable ones, synchronizing "
    "calls and collectives take as long as recorded."};
constexpr std::array<std::string_view, 4> ignores = {
    "caches of another size", "other kernels, fusions or TF32 defaults of another software stack",
    "memory and network of the other machine", "power limits below those of the file's source"};

constexpr std::array params = {to_param, from_param, host_speed_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "accelerator_swap",
    .summary = "Run the same program on another accelerator, host unchanged.",
    .paper =
        "G. X. Yu, Y. Gao, P. Golikov, G. Pekhimenko, Habitat: A Runtime-Based Computational "
        "Performance Predictor for Deep Neural Network Training, USENIX ATC 2021; S. Williams, A. "
        "Waterman, D. Patterson, Roofline, Communications of the ACM, 2009",
    .recipe =
        "Kernel time = measured x model time on the new device / model time on the old one, from "
        "shapes where recorded: arithmetic follows the sustained rate, bytes the bandwidth, start "
        "and end of a kernel what each device needs for them. Launch latencies and gaps shift by "
        "the difference of the two files, queues get the new depth, host time is divided by "
        "host_speed.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "host_speed: time of any host-bound part on both machines. sustained_flops of both files: "
        "a GEMM benchmark.",
    .identity = {.setting = "to={accelerator}"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::device,
    .accelerator_param = &to_param};

}  // namespace foretrace::accelerator_swap_parts
