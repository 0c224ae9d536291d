#include "apps/explorer/cards.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/driver/analysis.h"
#include "apps/driver/compare/compare.h"
#include "apps/report/pages.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"

namespace foretrace::explorer {
namespace {

Result<driver::Analysis> analysis_of(const PageInput& input, const TaskGraph& graph,
                                     const driver::Run& run, const driver::RunOptions& options) {
  Result<driver::Analysis> analysis = driver::analyse(graph, run, options);
  if (!analysis.ok()) return analysis;
  driver::add_reserved(input.recording, input.replay.run.timeline, graph, *analysis);
  return analysis;
}

}  // namespace

Variant variant_of(std::string name, std::vector<std::string> apply, driver::Prediction prediction,
                   const driver::HowTos& how_tos) {
  Variant variant{.name = std::move(name), .apply = std::move(apply)};
  for (const driver::Applied& applied : prediction.applied) {
    const OptimizationInfo& info = *applied.optimization;
    variant.title += (variant.title.empty() ? "" : " + ") + report::in_words(info.name);
    variant.summary += (variant.summary.empty() ? "" : "; ") + std::string(info.summary);
    variant.paper += (variant.paper.empty() ? "" : "; ") + std::string(info.paper);
    std::ranges::move(driver::lines_of(how_tos, info.name), std::back_inserter(variant.how));
  }
  variant.prediction = std::move(prediction);
  return variant;
}

Result<Card> why_card(const PageInput& input, const Variant& variant) {
  const driver::ComparedRun before = driver::compared_run(input.recording, input.replay);
  const driver::ComparedRun after = driver::compared_run(variant.title, variant.prediction);
  const Result<driver::Comparison> comparison = driver::compare_runs(before, after);
  if (!comparison.ok()) return comparison.error();
  return Card{"Why " + variant.title + " changes the time",
              report::html_of(report::compare_page({before, after, *comparison}))};
}

Result<Card> rests_on_card(const PageInput& input, const Variant& variant,
                           const driver::RunOptions& options) {
  const driver::Prediction& prediction = variant.prediction;
  const Result<driver::Analysis> baseline =
      analysis_of(input, input.recording.graph(), input.replay.run, options);
  if (!baseline.ok()) return baseline.error();
  const Result<driver::Analysis> predicted =
      analysis_of(input, prediction.graph, prediction.run, options);
  if (!predicted.ok()) return predicted.error();
  return Card{"What this prediction rests on",
              report::html_of(report::result_page({.recording = input.recording,
                                                   .replay = input.replay,
                                                   .baseline = *baseline,
                                                   .prediction = &prediction,
                                                   .predicted = &*predicted}))};
}

Result<std::vector<Card>> recorded_cards(const PageInput& input,
                                         const driver::RunOptions& options) {
  constexpr std::size_t groups = 12;
  const driver::PathReport path =
      driver::path_report(input.recording.graph(), input.replay.run, groups, options);
  const Result<driver::Analysis> analysis =
      analysis_of(input, input.recording.graph(), input.replay.run, options);
  if (!analysis.ok()) return analysis.error();
  return std::vector<Card>{
      {"What bounds it now",
       report::html_of(report::critical_path_page({input.recording, input.replay, path}))},
      {"The recording, and how far its graph can be trusted",
       report::html_of(report::result_page(
           {.recording = input.recording, .replay = input.replay, .baseline = *analysis}))}};
}

}  // namespace foretrace::explorer
