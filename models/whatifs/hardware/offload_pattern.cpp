// Offload by pattern: chains of operators that another device has an instruction for go to it.
//
//   before   stream   [a][conv][relu][b]
//   after    stream   [a][copy in]                    [copy out][b]
//            device               [conv and relu there]
//   Regions next to each other share one pair of copies: what a region passes on to the next one
//   stays on the device. Whoever waited for a kernel of a region waits for the copy back.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/hardware/offload_cost.h"
#include "models/whatifs/hardware/operator_calls.h"
#include "models/whatifs/hardware/operator_pattern.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/group_place.h"

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
                                       .doc = "Bandwidth between both devices, each way.",
                                       .minimum = 1,
                                       .maximum = 1e15};
constexpr ParamInfo latency_param = {.name = "latency",
                                     .type = ParamType::time,
                                     .unit = "us",
                                     .default_text = "10 us",
                                     .doc = "Latency of a copy, whatever its size.",
                                     .minimum = 0,
                                     .maximum = 1e9,
                                     .optimistic = "2 us",
                                     .pessimistic = "50 us"};
constexpr ParamInfo precision_param = {.name = "precision",
                                       .type = ParamType::text,
                                       .default_text = "recorded",
                                       .doc = "Precision of the numbers on that device.",
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

/// Matches in a row, of one step and one phase.
struct Region {
  std::vector<Match> matches;
  std::vector<TaskId> kernels;
  std::unique_ptr<GroupPlace> place;  ///< of the kernels; grows with them
};

class Offload {
 public:
  Offload(const WhatIfInput& scenario, const OperatorPatterns& patterns, const Settings& settings)
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
        "of {:.1f} MB; coverage {:.1f} % of kernel time, {:.1f} % of the FLOPs that are known{}",
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

  /// Of operators in a row, of one step and one phase.
  [[nodiscard]] std::vector<std::string_view> names_of(std::span<const OperatorCall> calls) const {
    std::vector<std::string_view> names;
    for (const OperatorCall& call : calls.first(std::min(calls.size(), longest_chain))) {
      if (call.name.empty() || !in_one_pass(graph_, calls.front().main, call.main)) break;
      names.push_back(call.name);
    }
    return names;
  }

  /// Matches from left to right; those that follow each other are one region.
  void of_stream(const std::vector<TaskId>& work) {
    const std::vector<OperatorCall> calls = operator_calls(editor_, work);
    Region region;
    for (std::size_t at = 0; at < calls.size();) {
      auto match = match_at(std::span(calls).subspan(at));
      if (!match) {
        close(region);
        ++at;
        continue;
      }
      at += match->pattern->chain.size();
      if (extend(region, *match)) continue;
      close(region);
      if (extend(region, *match)) continue;
      close(region);
      ++waits_;
    }
    close(region);
  }

  /// The longest match whose costs are known and between whose kernels nothing waits.
  std::optional<Match> match_at(std::span<const OperatorCall> calls) {
    const std::vector<std::string_view> names = names_of(calls);
    if (names.empty()) return std::nullopt;
    std::optional<Error> refused;
    bool waits = false;
    for (const OperatorPattern* pattern = patterns_.match(names); pattern != nullptr;
         pattern = patterns_.match(names, pattern)) {
      auto match = match_of(*pattern, calls.first(pattern->chain.size()));
      if (!match.ok()) {
        if (!refused) refused = match.error();
      } else if (editor_.edit().can_be_one(match->kernels)) {
        return *std::move(match);
      } else {
        waits = true;
      }
    }
    if (waits) {
      ++waits_;
    } else if (refused) {
      ++refusals_;
      if (!refused_) refused_ = refused;
    }
    return std::nullopt;
  }

  Result<Match> match_of(const OperatorPattern& pattern, std::span<const OperatorCall> calls) {
    Match match;
    match.pattern = &pattern;
    for (const OperatorCall& call : calls) {
      FORETRACE_TRY(const auto& there, work_of(call.main));
      if (match.kernels.empty()) {
        match.cost = there.cost;
        match.first_bytes = there.first_bytes;
      } else {
        match.cost.duration_ns += there.cost.duration_ns;
        match.cost.low = std::min(match.cost.low, there.cost.low);
        match.cost.high = std::max(match.cost.high, there.cost.high);
      }
      match.other_bytes += there.other_bytes;
      match.output_bytes = there.output_bytes;
      match.kernels.insert(match.kernels.end(), call.kernels.begin(), call.kernels.end());
    }
    return match;
  }

  const Result<OffloadWork>& work_of(TaskId kernel) {
    const std::pair key(graph_.work_id(kernel), graph_.phase(kernel));
    auto found = works_.find(key);
    if (found == works_.end()) {
      auto there = offload_work(editor_, kernel, settings_.device, settings_.precision);
      found = works_.emplace(key, std::move(there)).first;
    }
    return found->second;
  }

  /// Takes the match, unless it is of another step or phase, or a wait lies before it.
  bool extend(Region& region, Match& match) {
    const bool is_new = region.kernels.empty();
    if (!is_new && !in_one_pass(graph_, region.kernels.front(), match.kernels.front())) {
      return false;
    }
    if (is_new) region.place = std::make_unique<GroupPlace>(editor_.edit(), GroupPlace::Of::device);
    for (const TaskId kernel : match.kernels) {
      if (!region.place->add(kernel)) return false;
    }
    region.kernels.insert(region.kernels.end(), match.kernels.begin(), match.kernels.end());
    region.matches.push_back(std::move(match));
    return true;
  }

  void close(Region& region) {
    if (!region.matches.empty()) offload(region);
    region.matches.clear();
    region.kernels.clear();
    region.place.reset();
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
    return {settings_.latency_ns + to_whole(ns), Provenance::assumed, 1, 1};
  }

  void offload(const Region& region) {
    double in = region.matches.front().first_bytes;
    for (const Match& match : region.matches) in += match.other_bytes;
    const double out = region.matches.back().output_bytes;
    std::vector<NewWork> with = {new_work("copy in for offload", TaskKind::copy, copy_cost(in))};
    for (const Match& match : region.matches) {
      with.push_back(new_work("offloaded " + match.pattern->name, TaskKind::kernel, match.cost));
    }
    with.push_back(new_work("copy out after offload", TaskKind::copy, copy_cost(out)));
    const auto put = editor_.edit().replace(region.kernels, with);
    if (!put.ok()) {
      waits_ += region.matches.size();
      return;
    }
    move(*put, region);
    count(region, in + out, with);
  }

  /// The copies stay on the stream: before and behind them its order holds. What is between is the
  /// device's.
  void move(const std::vector<Launched>& put, const Region& region) {
    Editor& edit = editor_.edit();
    const LaneId lane = device_lane(graph_.lane(region.kernels.front()));
    for (std::size_t i = 1; i + 1 < put.size(); ++i) {
      TaskSpec& spec = edit.spec_of(put[i].device);
      spec.lane = lane;
      spec.layer = graph_.layer(region.matches[i - 1].kernels.front());
    }
    edit.depend(put[1].device, put.front().device, DependencyKind::data);
    edit.depend(put.back().device, put[put.size() - 2].device, DependencyKind::data);
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

  void count(const Region& region, double bytes, const std::vector<NewWork>& with) {
    ++regions_;
    matches_ += region.matches.size();
    copied_bytes_ += bytes;
    copies_ += with.front().duration_ns + with.back().duration_ns;
    for (const Match& match : region.matches) there_ += match.cost.duration_ns;
    for (const TaskId kernel : region.kernels) {
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
  std::map<std::pair<WorkId, Phase>, Result<OffloadWork>> works_;
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

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto patterns,
                OperatorPatterns::find(scenario.catalogue, params.text(patterns_param))
                    .with_context("parameter 'patterns'"));
  FORETRACE_TRY(
      const auto device,
      scenario.catalogue.accelerator(params.text(device_param)).with_context("parameter 'device'"));
  const Settings settings{.device = *device,
                          .bytes_per_ns = params.number(bandwidth_param) * 1e-9,
                          .latency_ns = params.integer(latency_param),
                          .precision = precision_of(params.text(precision_param))};
  return Offload(scenario, patterns, settings).run();
}

constexpr std::array<std::string_view, 6> assumptions = {
    "The device has an instruction for each pattern, which takes the sum of its operators' times "
    "by the device's execution model, or by the roofline of a GPU; no error of it is known, so "
    "that the range is 0.8 to 1.25.",
    "Weights of forward products lie on the device, as does what a region passes on within it: "
    "the first operand of a product, the largest tensor of another operator. Other operands are "
    "copied.",
    "Copies take latency + bytes / bandwidth and are inserted into the stream, which waits for the "
    "region; the device works for one region of a rank at a time.",
    "A region begins when all that any of its kernels waited for is there; what waited for one of "
    "them waits for the copy back.",
    "Each copy and each instruction is started by a call as long as a usual launch.",
    "One operator after the other on a stream uses what the one before made; kernels in a row of "
    "the same operator, inputs and layer are one call of it, unless a kernel comes twice."};
constexpr std::array<std::string_view, 4> ignores = {
    "loads of weights and programs before the first step, and updated weights",
    "results that other kernels use besides the next one on the stream",
    "memory of either device, and conversions of numbers",
    "regions of several streams that pass data to each other: each copies it back"};
constexpr std::array params = {patterns_param, device_param, bandwidth_param, latency_param,
                               precision_param};

constexpr std::array trends = {Trend{&bandwidth_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "offload_pattern",
    .summary = "Chains of operators that match a pattern run on another accelerator.",
    .paper =
        "T. Moreau et al., A Hardware-Software Blueprint for Flexible Deep Learning "
        "Specialization (VTA), IEEE Micro, 2019; Z. Chen et al., Bring Your Own Codegen to Deep "
        "Learning Compiler, arXiv, 2021",
    .recipe =
        "Of the patterns that the next operators of a stream match, the longest takes them whose "
        "shapes are recorded and between whose kernels nothing waits. Matches in a row, of one "
        "step and phase, are a region: a copy in, one task per match on the device, a copy out. "
        "The copies stand where the kernels stood.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "the device's file: time the patterns on it; bandwidth, latency: a copy "
        "of some MB and one of some bytes.",
    .identity = {.none_because = "regions go to another device"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::kernels};

}  // namespace foretrace::offload_pattern_parts
