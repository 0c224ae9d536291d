// Offload by pattern: chains of operators that another device has an instruction for go to it.
//
//   before   stream   [a][conv][relu][b]
//   after    stream   [a][copy in]                    [copy out][b]
//            device               [conv and relu there]
//   Regions next to each other share one pair of copies: what a region passes on to the next one
//   stays on the device. Whoever waited for a kernel of a region waits for the copy back.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/hardware/offload_cost.h"
#include "models/whatifs/hardware/operator_pattern.h"
#include "models/whatifs/optimization.h"

namespace foretrace::offload_pattern_parts {
namespace {

constexpr ParamInfo patterns_param = {
    .name = "patterns",
    .type = ParamType::text,
    .doc =
        "A JSON file, a name in configs/offload_patterns, or such a document itself, with the "
        "schema foretrace.offload_patterns/1.",
    .config = "offload_patterns"};
constexpr ParamInfo device_param = {.name = "device",
                                    .type = ParamType::text,
                                    .doc = "The accelerator that regions go to.",
                                    .config = "accelerators"};
constexpr ParamInfo bandwidth_param = {.name = "bandwidth",
                                       .type = ParamType::bandwidth,
                                       .unit = "GB/s",
                                       .doc = "Between both devices, each way.",
                                       .minimum = 1,
                                       .maximum = 1e15};
constexpr ParamInfo latency_param = {.name = "latency",
                                     .type = ParamType::time,
                                     .unit = "us",
                                     .default_text = "10 us",
                                     .doc = "Of a copy, whatever it moves.",
                                     .minimum = 0,
                                     .maximum = 1e9,
                                     .optimistic = "2 us",
                                     .pessimistic = "50 us"};
constexpr ParamInfo precision_param = {.name = "precision",
                                       .type = ParamType::text,
                                       .default_text = "recorded",
                                       .doc = "Of the numbers on that device.",
                                       .choices = "recorded|fp32|fp16|bf16|int8"};

struct Settings {
  const Accelerator& device;
  double bytes_per_ns = 1;
  std::int64_t latency_ns = 0;
  Precision precision = Precision::unknown;
};

/// Kernels that one pattern takes, as one instruction of the device.
struct Match {
  const OperatorPattern* pattern = nullptr;
  std::vector<TaskId> kernels;
  Cost cost;
  double first_bytes = 0;
  double other_bytes = 0;
  double output_bytes = 0;
};

class Offload {
 public:
  Offload(const Scenario& scenario, const OperatorPatterns& patterns, const Settings& settings)
      : editor_(scenario),
        graph_(scenario.graph),
        patterns_(patterns),
        settings_(settings),
        launch_(editing::usual_launch(scenario.graph)) {}

  Result<Change> run() {
    for (const auto& [lane, work] : streams()) of_stream(work);
    if (regions_ == 0) return nothing();
    return editor_.finish(fmt::format(
        "{} regions of {} matches go to {}: {:.2f} ms -> {:.2f} ms there and {:.2f} ms of copies "
        "of "
        "{:.1f} MB; coverage {:.1f} % of kernel time, {:.1f} % of the FLOPs that are known{}",
        regions_, matches_, settings_.device.name, editing::to_ms(before_), editing::to_ms(there_),
        editing::to_ms(copies_), copied_bytes_ * 1e-6, share(before_ns(), all_ns_),
        share(flops_, all_flops_), left_text()));
  }

 private:
  [[nodiscard]] double before_ns() const { return static_cast<double>(before_); }
  static double share(double part, double all) { return all > 0 ? 100 * part / all : 0; }

  [[nodiscard]] Error nothing() const {
    if (refused_) return *refused_;
    return {ErrorCode::no_match,
            waits_ > 0 ? "every chain that matches a pattern has a wait between its kernels"
                       : "no chain of kernels matches a pattern"};
  }
  [[nodiscard]] std::string left_text() const {
    std::string text;
    if (refused_) text += fmt::format("; {} matches stay, as {}", refusals_, refused_->message);
    if (waits_ > 0) text += fmt::format("; {} stay for a wait between their kernels", waits_);
    return text;
  }

  /// Device work of each stream, in program order.
  std::map<LaneId, std::vector<TaskId>> streams() {
    std::map<LaneId, std::vector<TaskId>> found;
    for (std::size_t t = 0; t < graph_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (!is_device(graph_.kind(task))) continue;
      found[graph_.lane_id(task)].push_back(task);
      if (graph_.kind(task) != TaskKind::kernel) continue;
      all_ns_ += static_cast<double>(graph_.duration_ns(task));
      all_flops_ += std::max(0.0, editor_.about(task).amount.flops);
    }
    return found;
  }

  [[nodiscard]] std::vector<std::string_view> names_of(const std::vector<TaskId>& work,
                                                       std::size_t from) const {
    std::vector<std::string_view> names;
    for (std::size_t i = from; i < work.size() && names.size() < longest_chain; ++i) {
      if (graph_.kind(work[i]) != TaskKind::kernel) break;
      const std::string_view op = editor_.operator_of(work[i]);
      names.push_back(op.empty() ? std::string_view(graph_.name(work[i])) : op);
    }
    return names;
  }

  /// Matches from left to right; those that follow each other are one region.
  void of_stream(const std::vector<TaskId>& work) {
    std::vector<Match> region;
    for (std::size_t at = 0; at < work.size();) {
      auto match = match_at(work, at);
      if (!match) {
        close(region);
        ++at;
        continue;
      }
      at += match->kernels.size();
      std::vector<TaskId> kernels = kernels_of(region);
      kernels.insert(kernels.end(), match->kernels.begin(), match->kernels.end());
      if (!editor_.edit().can_be_one(kernels)) close(region);
      if (!editor_.edit().can_be_one(match->kernels)) {
        ++waits_;
        continue;
      }
      region.push_back(*std::move(match));
    }
    close(region);
  }

  std::optional<Match> match_at(const std::vector<TaskId>& work, std::size_t at) {
    const std::vector<std::string_view> names = names_of(work, at);
    const OperatorPattern* const pattern = names.empty() ? nullptr : patterns_.match(names);
    if (pattern == nullptr) return std::nullopt;
    Match match;
    match.pattern = pattern;
    for (std::size_t i = 0; i < pattern->chain.size(); ++i) {
      const TaskId kernel = work[at + i];
      auto there = offload_work(editor_, kernel, settings_.device, settings_.precision);
      if (!there.ok()) {
        ++refusals_;
        if (!refused_) refused_ = there.error();
        return std::nullopt;
      }
      if (i == 0) {
        match.cost = there->cost;
        match.first_bytes = there->first_bytes;
      } else {
        match.cost.duration_ns += there->cost.duration_ns;
        match.cost.low = std::min(match.cost.low, there->cost.low);
        match.cost.high = std::max(match.cost.high, there->cost.high);
        match.other_bytes += there->other_bytes;
      }
      match.output_bytes = there->output_bytes;
      match.kernels.push_back(kernel);
    }
    return match;
  }

  static std::vector<TaskId> kernels_of(const std::vector<Match>& region) {
    std::vector<TaskId> kernels;
    for (const Match& match : region) {
      kernels.insert(kernels.end(), match.kernels.begin(), match.kernels.end());
    }
    return kernels;
  }

  void close(std::vector<Match>& region) {
    if (!region.empty()) offload(region);
    region.clear();
  }

  [[nodiscard]] NewWork new_work(std::string_view name, TaskKind kind, const Cost& cost) {
    NewWork work;
    work.work = editor_.edit().add_work(name, kind);
    work.duration_ns = cost.duration_ns;
    work.trust = {cost.provenance, cost.low, cost.high};
    work.call.work = editor_.edit().add_work(fmt::format("launch of {}", name), TaskKind::launch);
    work.call.duration_ns = launch_.call_ns;
    work.call.latency_ns = launch_.latency_ns;
    return work;
  }
  [[nodiscard]] Cost copy_cost(double bytes) const {
    const double ns = std::min(bytes / settings_.bytes_per_ns, 1e17);
    return {settings_.latency_ns + std::llround(ns), Provenance::assumed, 1, 1};
  }

  void offload(const std::vector<Match>& region) {
    double in = region.front().first_bytes;
    for (const Match& match : region) in += match.other_bytes;
    const double out = region.back().output_bytes;
    std::vector<NewWork> with = {new_work("copy in for offload", TaskKind::copy, copy_cost(in))};
    for (const Match& match : region) {
      with.push_back(new_work("offloaded " + match.pattern->name, TaskKind::kernel, match.cost));
    }
    with.push_back(new_work("copy out after offload", TaskKind::copy, copy_cost(out)));
    const std::vector<TaskId> kernels = kernels_of(region);
    const auto put = editor_.edit().replace(kernels, with);
    if (!put.ok()) {
      waits_ += region.size();
      return;
    }
    move(*put, graph_.lane(kernels.front()));
    count(region, kernels, in + out, with);
  }

  /// The copies stay on the stream: before and behind them its order holds. What is between is the
  /// device's.
  void move(const std::vector<Launched>& put, const Lane& from) {
    std::vector<TaskId> there;
    for (std::size_t i = 1; i + 1 < put.size(); ++i) there.push_back(put[i].device);
    Editor& edit = editor_.edit();
    edit.spec_of(put.front().device).kind = edit.spec_of(put.back().device).kind = TaskKind::copy;
    for (const TaskId task : there) edit.spec_of(task).lane = device_lane(from);
    edit.depend(there.front(), put.front().device, DependencyKind::data);
    edit.depend(put.back().device, there.back(), DependencyKind::data);
  }

  /// Of each rank one: its regions take turns.
  LaneId device_lane(const Lane& from) {
    const auto [found, is_new] = lanes_.try_emplace(from.rank, none<LaneId>);
    if (is_new) {
      Lane lane;
      lane.kind = LaneKind::stream;
      lane.rank = from.rank;
      lane.device = from.device;
      lane.number = 9003;
      lane.name = settings_.device.name;
      found->second = editor_.edit().add_lane(lane);
    }
    return found->second;
  }

  void count(const std::vector<Match>& region, const std::vector<TaskId>& kernels, double bytes,
             const std::vector<NewWork>& with) {
    ++regions_;
    matches_ += region.size();
    copied_bytes_ += bytes;
    copies_ += with.front().duration_ns + with.back().duration_ns;
    for (const Match& match : region) there_ += match.cost.duration_ns;
    for (const TaskId kernel : kernels) {
      before_ += graph_.duration_ns(kernel);
      flops_ += std::max(0.0, editor_.about(kernel).amount.flops);
    }
  }

  editing::KernelEditor editor_;
  const TaskGraph& graph_;
  const OperatorPatterns& patterns_;
  const Settings& settings_;
  editing::LaunchTimes launch_;
  std::map<std::int32_t, LaneId> lanes_;
  std::optional<Error> refused_;  ///< the first
  std::size_t refusals_ = 0;
  std::size_t waits_ = 0;
  std::size_t regions_ = 0;
  std::size_t matches_ = 0;
  std::int64_t before_ = 0;
  std::int64_t there_ = 0;
  std::int64_t copies_ = 0;
  double copied_bytes_ = 0;
  double flops_ = 0;
  double all_flops_ = 0;
  double all_ns_ = 0;
};

Precision precision_of(std::string_view name) {
  if (name == "fp32") return Precision::fp32;
  if (name == "fp16") return Precision::fp16;
  if (name == "bf16") return Precision::bf16;
  return name == "int8" ? Precision::int8 : Precision::unknown;
}

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  auto patterns = OperatorPatterns::find(scenario.catalogue, params.text(patterns_param));
  if (!patterns.ok()) return std::move(patterns).error().with_context("parameter 'patterns'");
  const auto device = scenario.catalogue.accelerator(params.text(device_param));
  if (!device.ok()) return Error(device.error()).with_context("parameter 'device'");
  const Settings settings{.device = **device,
                          .bytes_per_ns = params.number(bandwidth_param) * 1e-9,
                          .latency_ns = params.integer(latency_param),
                          .precision = precision_of(params.text(precision_param))};
  return Offload(scenario, *patterns, settings).run();
}

constexpr std::array<std::string_view, 6> assumptions = {
    "The device has an instruction for each pattern, which takes the sum of its operators' times "
    "by "
    "the device's execution model, or by the roofline of a GPU; no error of it is known, so that "
    "the range is 0.8 to 1.25.",
    "Weights of forward products lie on the device, as does what a region passes on within it.",
    "Copies take latency + bytes / bandwidth and are put into the stream, which waits for the "
    "region; the device works for one region of a rank at a time.",
    "A region begins when all that any of its kernels waited for is there; what waited for one of "
    "them waits for the copy back.",
    "Each copy and each instruction is started by a call as long as a usual launch.",
    "One kernel after the other on a stream uses what the one before made."};
constexpr std::array<std::string_view, 4> ignores = {
    "loads of weights and programs before the first step, and updated weights",
    "maps that other kernels use besides the next one on the stream",
    "memory of either device, and conversions of numbers",
    "regions of several streams that pass data to each other: each copies it back"};
constexpr std::array params = {patterns_param, device_param, bandwidth_param, latency_param,
                               precision_param};

constexpr OptimizationInfo info = {
    .name = "offload_pattern",
    .summary = "Chains of operators that match a pattern run on another accelerator.",
    .paper =
        "T. Moreau et al., A Hardware-Software Blueprint for Flexible Deep Learning "
        "Specialization (VTA), IEEE Micro, 2019; Z. Chen et al., Bring Your Own Codegen to Deep "
        "Learning Compiler, arXiv, 2021",
    .recipe =
        "Of the patterns that the next kernels of a stream match, the longest takes them. Matches "
        "in a row are a region: a copy in, one task per match on the device, a copy out. The "
        "copies stand where the kernels stood; a match whose shapes are not recorded stays.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "the device's file: time the patterns on it; bandwidth, latency: a copy "
        "of some MB and one of some bytes.",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::device};

}  // namespace
}  // namespace foretrace::offload_pattern_parts

namespace foretrace::optimizations {
extern const OptimizationInfo offload_pattern;
constinit const OptimizationInfo offload_pattern = offload_pattern_parts::info;
}  // namespace foretrace::optimizations
