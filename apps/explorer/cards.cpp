#include "apps/explorer/cards.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/questions/compare/compare.h"
#include "apps/report/pages/compare.h"
#include "apps/report/pages/critical_path.h"
#include "apps/report/pages/result.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "apps/session/analysis.h"
#include "sim/core/parallel.h"

namespace foretrace::explorer {
namespace {

Result<Analysis> analysis_of(const PageInput& input, const TaskGraph& graph, const Run& run,
                             const RunOptions& options) {
  FORETRACE_TRY(Analysis analysis, analyse(graph, run, options));
  add_reserved(input.recording, input.replay.run.timeline, graph, analysis);
  return analysis;
}

}  // namespace

Variant variant_of(std::string name, std::vector<std::string> apply, Prediction prediction,
                   const HowTos& how_tos) {
  Variant variant{.name = std::move(name), .apply = std::move(apply)};
  for (const Applied& applied : prediction.applied) {
    const WhatIfInfo& info = *applied.info;
    variant.title += (variant.title.empty() ? "" : " + ") + report::in_words(info.name);
    variant.summary += (variant.summary.empty() ? "" : "; ") + std::string(info.summary);
    variant.paper += (variant.paper.empty() ? "" : "; ") + std::string(info.paper);
    std::ranges::move(lines_of(how_tos, info.name), std::back_inserter(variant.how));
  }
  variant.prediction = std::move(prediction);
  return variant;
}

Result<Answers> Answers::of(const PageInput& input, const RunOptions& options) {
  FORETRACE_TRY(Analysis baseline,
                analysis_of(input, input.recording.graph(), input.replay.run, options));
  return Answers(input, options, std::move(baseline));
}

Status Answers::answer(Variant& variant) const {
  const PageInput& input = *input_;
  const Prediction& prediction = variant.prediction;
  FORETRACE_TRY(const Analysis predicted,
                analysis_of(input, prediction.graph, prediction.run, options_));
  const report::Page page = report::result_page({.recording = input.recording,
                                                 .replay = input.replay,
                                                 .baseline = baseline_,
                                                 .prediction = &prediction,
                                                 .predicted = &predicted});
  ComparedRun before = compared_run(input.recording, input.replay);
  before.measured_ns.reset();  // a prediction is beside the simulated step, here as everywhere
  const ComparedRun after = compared_run(variant.title, prediction);
  FORETRACE_TRY(const Comparison comparison, compare_runs(before, after));
  variant.document = report::json_of(page);
  variant.cards = {{"Why " + variant.title + " changes the time",
                    report::html_of(report::compare_page({before, after, comparison})), "why"},
                   {"What this prediction rests on", report::html_of(page), "whatif"}};
  return ok_status();
}

Status Answers::answer(PageInput& recorded) const {
  constexpr std::size_t groups = 10;  // as critical-path shows without --top
  const PathReport path =
      path_report(recorded.recording.graph(), recorded.replay.run, groups, options_);
  const report::Page page = report::result_page(
      {.recording = recorded.recording, .replay = recorded.replay, .baseline = baseline_});
  recorded.document = report::json_of(page);
  recorded.cards = {
      {"What bounds it now",
       report::html_of(report::critical_path_page({recorded.recording, recorded.replay, path})),
       "critical-path"},
      {"The recording, and how far its graph can be trusted", report::html_of(page), "simulate"}};
  return ok_status();
}

Status answer_all(PageInput& input, const RunOptions& options) {
  FORETRACE_TRY(const Answers answers, Answers::of(input, options));
  FORETRACE_TRY(answers.answer(input));
  FORETRACE_TRY(choose_variants(input));
  std::vector<Status> done(input.variants.size(), ok_status());
  for_each_index(input.variants.size(), [&](std::size_t i) {
    Variant& variant = input.variants[i];
    if (!variant.left_out.empty() && variant.name != input.shown) return;
    add_facts(input.recording, input.replay.run, variant.prediction);
    done[i] = answers.answer(variant);
  });
  for (Status& status : done) {
    FORETRACE_TRY(status);
  }
  return ok_status();
}

}  // namespace foretrace::explorer
