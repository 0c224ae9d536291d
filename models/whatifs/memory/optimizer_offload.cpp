// Optimizer offload: gradients go to the host, the CPU updates, parameters come back.
//
//   before   device: [backward        ][update]
//   after    device: [backward        ]
//            to host:   [g][g][g][g]
//            host:                   [update 1][update 2] ...
//            to device:                        [p 1][p 2] ...      -> next forward
//   The update's kernels go with their launches. Gradients leave in chunks while the backward runs.
//
// memory    optimizer states leave the device; fp32 parameters, too, where the link carries 16 bit.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/copies/copy_engine.h"
#include "models/editing/copies/host_link.h"
#include "models/editing/kernels/host_wait.h"
#include "models/editing/kernels/update_phase.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/parameters/update_of_pass.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/tensors.h"

namespace foretrace::optimizer_offload_parts {
namespace {

constexpr ParamInfo parameters_param = {
    .name = "parameters",
    .unit = "1",
    .default_text = "0",
    .doc =
        "Number of parameters that a rank updates; 0: from the shapes of the update, exchanged "
        "gradients, recorded weights, or the weights that the forward pass reads.",
    .minimum = 0,
    .maximum = 1e13};
constexpr ParamInfo bytes_param = {
    .name = "bytes",
    .unit = "B",
    .default_text = "0",
    .doc =
        "Bytes of a gradient and of a parameter on the link: 4, or 2 in 16 bit; 0: as the recorded "
        "update has them.",
    .minimum = 0,
    .maximum = 8};
constexpr ParamInfo host_bandwidth_param = {
    .name = "host_bandwidth",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "80 GB/s",
    .doc =
        "Bandwidth of host memory in the update; one socket has 4 to 8 channels of 21 to 38 GB/s.",
    .minimum = 1e6,
    .maximum = 1e13,
    .optimistic = "200 GB/s",
    .pessimistic = "40 GB/s"};
constexpr ParamInfo chunks_param = {.name = "chunks",
                                    .type = ParamType::integer,
                                    .unit = "1",
                                    .default_text = "16",
                                    .doc = "Pieces in which gradients and parameters travel.",
                                    .minimum = 1,
                                    .maximum = 1024};

using editing::CopyEngine;

struct Settings {
  double bandwidth = 0;
  double host_bandwidth = 0;
  double bytes = 0;           // of one parameter or gradient on the link
  double parameters = 0;      // that a rank updates
  double all_parameters = 0;  // of the model, of which these may be a share
  double update_bytes = 0;    // of host memory per parameter; the 16-bit copy at first
  std::int64_t chunks = 1;
};

// Per parameter in fp32: gradient and parameter read, parameter written; each state both.
constexpr double plain_bytes = 12;
constexpr double fp32_bytes = 4;      // of a number
constexpr double fp32_weights = 3.5;  // bytes per parameter from which weights are not 16 bit
constexpr double all_weights = 1.75;  // bytes per parameter below which some are on other ranks

class Offload {
 public:
  Offload(const WhatIfInput& scenario, const Settings& settings)
      : editor_(scenario), engine_(editor_, settings.bandwidth), settings_(settings) {}

  Result<Change> run() {
    const auto passes = editing::find_passes(editor_);
    if (!(settings_.bytes > 0)) settings_.bytes = editing::parameter_bytes(editor_);
    std::string_view counted = "as given";
    const editing::ParameterCount count = editing::parameter_count(editor_);
    if (settings_.parameters == 0) {
      settings_.parameters = count.updated;
      counted = count.evidence;
    }
    settings_.all_parameters =
        settings_.parameters * (count.updated > 0 ? count.trained / count.updated : 1);
    const editing::OptimizerStates states = editing::optimizer_states(editor_);
    settings_.update_bytes += plain_bytes + 2 * states.bytes;
    const auto updates = editing::updates_of_passes(editor_, passes);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const std::vector<TaskId> update = replaced(updates[i]);
      // The host updates once all gradients are there, in the place of what runs behind them.
      if (update.empty() || update.back() < passes[i].backward.back()) continue;
      if (settings_.parameters == 0) {
        return missing_cost("the update on the host (parameters=COUNT)");
      }
      offload(passes[i], update, updates[i].next);
    }
    if (offloaded_ == 0) {
      return Error{ErrorCode::no_match,
                   "no update kernels behind a backward pass, expected training steps with an "
                   "Optimizer.step range"};
    }
    TensorEditor tensors(editor_.edit());
    move_tensors(tensors);
    return editor_.finish(fmt::format(
        "{} updates of {} ({}; {}) on the host: {:.2f} ms of CPU time and {:.2f} ms of copies each "
        "way per step; {} update kernels removed{}",
        offloaded_, updated(), counted, states.evidence, editing::to_ms(cpu_ns()),
        editing::to_ms(engine_.copy_ns(settings_.parameters * settings_.bytes)),
        editor_.sums().removed,
        tensors.note() + (states.bytes > 0 ? editing::without_states(editor_) : std::string())));
  }

 private:
  /// "12.5 M on each rank of 100.0 M parameters", or "100.0 M parameters" where a rank updates all.
  [[nodiscard]] std::string updated() const {
    std::string all = fmt::format("{:.1f} M parameters", settings_.all_parameters * 1e-6);
    if (settings_.parameters >= settings_.all_parameters) return all;
    return fmt::format("{:.1f} M on each rank of {}", settings_.parameters * 1e-6, all);
  }

  /// Whether weights of so many bytes on a device are not 16 bit: of the whole model, or, where
  /// they are too few for that, of what the rank updates.
  [[nodiscard]] bool are_fp32(double bytes) const {
    const bool whole = bytes >= all_weights * settings_.all_parameters;
    return bytes >= fp32_weights * (whole ? settings_.all_parameters : settings_.parameters);
  }

  [[nodiscard]] std::int64_t cpu_ns() const {
    return to_whole(settings_.parameters * settings_.update_bytes / settings_.host_bandwidth * 1e9);
  }

  // Optimizer states leave. Where the link carries 16 bit, the device computes with 16-bit weights,
  // and those in fp32 leave, too.
  void move_tensors(TensorEditor& tensors) const {
    const std::vector<Tensor>& all = editor_.graph().context().tensors;
    const auto device_of = [this](const Tensor& tensor) {
      return editing::DeviceOfRank(editor_.graph().rank_of(tensor), tensor.device);
    };
    std::map<editing::DeviceOfRank, double> weights;
    for (const Tensor& tensor : all) {
      if (tensor.category == TensorCategory::weight) {
        weights[device_of(tensor)] += static_cast<double>(tensor.bytes);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].category == TensorCategory::optimizer_state) tensors.drop(i);
      if (all[i].category != TensorCategory::weight || settings_.bytes >= fp32_bytes) continue;
      if (!are_fp32(weights[device_of(all[i])])) continue;
      tensors.resize(i, static_cast<double>(all[i].bytes) * settings_.bytes / fp32_bytes);
    }
  }

  /// What the host does instead, before the next pass.
  [[nodiscard]] std::vector<TaskId> replaced(const editing::UpdateOfPass& update) const {
    std::vector<TaskId> kernels;
    for (const TaskId kernel : update.kernels) {
      if (kernel > update.next) break;  // next is none, the largest id, at the end
      const bool updates = std::binary_search(updating_.begin(), updating_.end(), kernel);
      if (updates && editor_.own_call(kernel) != none<TaskId>) kernels.push_back(kernel);
    }
    return kernels;
  }

  void offload(const editing::TrainingPass& pass, const std::vector<TaskId>& update, TaskId next) {
    const double chunk_bytes =
        settings_.parameters * settings_.bytes / static_cast<double>(settings_.chunks);
    const TaskId first = *std::upper_bound(update.begin(), update.end(), pass.backward.back());
    TaskId last_out = none<TaskId>;
    const auto count = static_cast<std::int64_t>(pass.backward.size());
    for (std::int64_t c = 1; c <= settings_.chunks; ++c) {
      const auto at =
          static_cast<std::size_t>(std::max<std::int64_t>(0, count * c / settings_.chunks - 1));
      const TaskId made = pass.backward[at];
      const TaskId anchor = editor_.own_call(made) != none<TaskId> ? made : none<TaskId>;
      if (anchor == none<TaskId> && c < settings_.chunks) continue;
      const TaskId out =
          engine_.copy({.direction = CopyEngine::Direction::to_host,
                        .bytes = chunk_bytes,
                        .anchor = anchor != none<TaskId> ? anchor : first,
                        .place = anchor != none<TaskId> ? Place::after : Place::before,
                        .after = made});
      if (out != none<TaskId>) last_out = out;
    }
    editing::forget_later_work(editor_.edit(), editor_.own_call(first), pass.backward.back());
    update_on_host(first, last_out, next);
    for (const TaskId kernel : update) editor_.remove(kernel, SegmentOf::take);
    ++offloaded_;
  }

  // The thread of the update waits for the gradients, then updates chunk by chunk.
  void update_on_host(TaskId first, TaskId gradients, TaskId next) {
    const TaskGraph& graph = editor_.graph();
    const TaskId call = editor_.own_call(first);
    TaskSpec spec;
    spec.lane = graph.lane_id(call);
    spec.work = editor_.edit().add_work("optimizer update on the CPU", TaskKind::host);
    spec.kind = TaskKind::host;
    spec.duration_ns = cpu_ns() / settings_.chunks;
    spec.phase = Phase::update;
    spec.step = graph.step(call);
    spec.provenance = Provenance::roofline;
    TaskId last_in = none<TaskId>;
    for (std::int64_t c = 0; c < settings_.chunks; ++c) {
      const TaskId chunk = editor_.edit().insert(spec, call, Place::before);
      if (c == 0 && gradients != none<TaskId>) engine_.wait(chunk, gradients);
      last_in = engine_.copy(
          {.direction = CopyEngine::Direction::to_device,
           .bytes = settings_.parameters * settings_.bytes / static_cast<double>(settings_.chunks),
           .anchor = call,
           .place = Place::before,
           .after = chunk,
           .like = first});
    }
    if (next != none<TaskId> && last_in != none<TaskId>) engine_.wait(next, last_in);
  }

  editing::KernelEditor editor_;
  CopyEngine engine_;
  Settings settings_;
  std::vector<TaskId> updating_ = editing::update_kernels(editor_);  // ascending
  std::size_t offloaded_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  Settings settings;
  settings.bandwidth = editing::host_link_bandwidth(scenario.graph, scenario.accelerator, params);
  settings.host_bandwidth = params.number(host_bandwidth_param);
  settings.bytes = params.number(bytes_param);
  settings.parameters = params.number(parameters_param);
  settings.chunks = params.integer(chunks_param);
  settings.update_bytes = 2;
  return Offload(scenario, settings).run();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The CPU update is bound by host memory at host_bandwidth, all cores at work: 28 bytes per "
    "parameter (Adam in fp32), 20 (momentum) or 12 (plain) by the operators of the recorded "
    "update, and 2 for a 16-bit copy.",
    "Gradients are copied in chunks as the backward pass makes them, evenly over its kernels.",
    "The update begins when all gradients have arrived; updated parameters return chunk by chunk.",
    "The next forward pass begins when all parameters are back."};
constexpr std::array<std::string_view, 3> ignores = {
    "that the ranks of one host share its memory bandwidth",
    "the delayed update that hides all of it behind the next step",
    "casts on the device between 16-bit and 32-bit gradients"};
constexpr std::array params = {parameters_param, bytes_param, editing::host_link_param,
                               host_bandwidth_param, chunks_param};
constexpr std::array<std::string_view, 2> conflicts = {"eight_bit_optimizer", "fused_optimizer"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "optimizer_offload",
    .summary = "Update parameters on the host; gradients go there, parameters return.",
    .paper =
        "J. Ren et al., ZeRO-Offload: Democratizing Billion-Scale Model Training, USENIX ATC "
        "2021",
    .recipe =
        "Update kernels are removed with their launches. Copies of gradients to the host are "
        "inserted along the backward pass, host tasks for the update after it, and a copy of "
        "parameters to the device after each of these; the next forward kernel waits for the "
        "last one.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "bandwidth and host_bandwidth: copies of some hundred MB on the machine.",
    .identity = {.none_because = "the host does the update"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::storage,
    .conflicts = conflicts};

}  // namespace foretrace::optimizer_offload_parts
