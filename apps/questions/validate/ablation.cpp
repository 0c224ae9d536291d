#include "apps/questions/validate/ablation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/questions/validate/folders.h"
#include "apps/session/recording/load.h"
#include "sim/core/parallel.h"
#include "trace/rules/rules.h"

namespace foretrace {
namespace {

using trace::rules::Rule;

/// Less is no difference: replays scatter by the resolution of recorded times.
constexpr double least_ablated_difference = 0.001;

constexpr double GraphErrors::*all_errors[] = {
    &GraphErrors::span,    &GraphErrors::worst_step,    &GraphErrors::device_x0,
    &GraphErrors::host_x0, &GraphErrors::device_double, &GraphErrors::unexplained};

/// The difference of the error that differs most.
double difference(const AblatedTrace& trace) {
  double largest = 0;
  for (double GraphErrors::*const error : all_errors) {
    largest = std::max(largest, std::abs(trace.with.*error - trace.without.*error));
  }
  return largest;
}

/// References are those of the graph with all rules: what they are cannot depend on a rule.
Result<GraphErrors> errors_of(const Recording& recording, const trace::Honesty& reference) {
  FORETRACE_TRY(const Replay replayed, replay(recording));
  const trace::Honesty& honesty = recording.built.honesty;
  const auto share = [&](std::int64_t ns) {
    return reference.span_ns == 0
               ? 0
               : static_cast<double>(ns) / static_cast<double>(reference.span_ns);
  };
  return GraphErrors{
      .span = replayed.span_error,
      .worst_step = replayed.worst_step_error,
      .device_x0 = share(replayed.reactions.device_x0_ns - reference.host_only_ns),
      .host_x0 = share(replayed.reactions.host_x0_ns - reference.device_busy_ns),
      .device_double = share(replayed.reactions.device_double_ns - reference.span_ns),
      .unexplained = share(honesty.unexplained_device_ns + honesty.unexplained_launch_ns)};
}

/// The errors of the graph of the same events without a rule.
Result<GraphErrors> errors_without(const Recording& recording, const Rule& rule) {
  trace::BuildOptions options;
  options.without_rules.emplace(rule.name);
  FORETRACE_TRY(trace::BuiltGraph built, trace::build_graph(recording.events, options));
  Recording without;
  without.path = recording.path;
  without.built = std::move(built);
  return errors_of(without, recording.built.honesty);
}

Result<std::vector<const Rule*>> rules_called(const std::string& name) {
  if (name != "all") {
    FORETRACE_TRY(trace::rules::check_left_out({name}).with_context("rule left out"));
  }
  std::vector<const Rule*> rules;
  for (const Rule* const rule : trace::rules::in_order()) {
    if (rule->name == name || (name == "all" && !rule->required)) rules.push_back(rule);
  }
  return rules;
}

AblatedTrace without_rule(const Recording& recording, const Rule& rule, const GraphErrors& with) {
  AblatedTrace row{.trace = recording.path, .with = with, .without = {}, .failure = {}};
  Result<GraphErrors> without = errors_without(recording, rule);
  if (without.ok()) {
    row.without = *without;
    row.differs = difference(row) > least_ablated_difference;
  } else {
    row.failure = without.error().message;
  }
  return row;
}

}  // namespace

std::size_t AblatedRule::differing() const {
  return static_cast<std::size_t>(std::count_if(
      traces.begin(), traces.end(), [](const AblatedTrace& trace) { return trace.differs; }));
}

double AblatedRule::mean(GraphErrors AblatedTrace::*of, double GraphErrors::*error) const {
  double sum = 0;
  std::size_t count = 0;
  for (const AblatedTrace& trace : traces) {
    if (!trace.failure.empty()) continue;
    sum += std::abs(trace.*of.*error);
    ++count;
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, count));
}

const AblatedTrace* AblatedRule::most_moved() const {
  const AblatedTrace* most = nullptr;
  for (const AblatedTrace& trace : traces) {
    if (trace.differs && (most == nullptr || difference(trace) > difference(*most))) most = &trace;
  }
  return most;
}

Result<std::vector<AblatedRule>> ablation_table(const CataloguePtr& catalogue,
                                                const std::string& folder,
                                                const std::string& rule) {
  FORETRACE_TRY(const std::vector<const Rule*> rules, rules_called(rule));
  std::vector<AblatedRule> table;
  table.reserve(rules.size());
  for (const Rule* const one : rules) table.push_back({one->name, one->doc, {}});
  Status done = for_each_recording(catalogue, folder, [&](FolderRecording&& file) {
    Result<Recording>& recording = file.recording;
    if (!recording.ok() || recording->job != nullptr) return;
    const Result<GraphErrors> with = errors_of(*recording, recording->built.honesty);
    if (!with.ok()) return;
    recording->path = file.name;
    for_each_index(table.size(), [&](std::size_t i) {
      table[i].traces.push_back(without_rule(*recording, *rules[i], *with));
    });
  });
  FORETRACE_TRY(done);
  return table;
}

}  // namespace foretrace
