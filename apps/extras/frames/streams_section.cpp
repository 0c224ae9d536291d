// Scores of frames on engines, and loads of queries on a system.

#include <fmt/format.h>

#include "apps/extras/frames/streams_sections.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

Value score_value(double score) { return Value::plain(score).as(fmt::format("{:.1f}", score)); }

Value time_value(double ns) {
  return Value::time(to_whole(ns)).as(fmt::format("{:.3f} ms", ns * 1e-6));
}

Value models_of(const streams::ScenarioScore& score) {
  Value::List models;
  for (const streams::ModelScore& model : score.models) {
    models.push_back(Value::object({{"model", Value::words(model.name)},
                                    {"frames", Value::plain(model.frames)},
                                    {"dropped", Value::plain(model.dropped)},
                                    {"late", Value::plain(model.late)},
                                    {"real_time", Value::plain(model.real_time)},
                                    {"energy", Value::plain(model.energy)},
                                    {"experience", Value::plain(model.experience)},
                                    {"score", Value::plain(model.score)}}));
  }
  return Value::list(std::move(models));
}

}  // namespace

Sections streamed_scores(const StreamedAnswer& answer) {
  Section section{.key = "scores"};
  section.datum("path", Value::words(answer.streams.path));
  Value::List scenarios;
  for (const streams::ScenarioScore& score : answer.answer.scores) {
    scenarios.push_back(Value::object({{"scenario", Value::words(score.name)},
                                       {"score", Value::plain(score.score)},
                                       {"busy", Value::share(score.busy)},
                                       {"models", models_of(score)}}));
  }
  section.datum("scenarios", Value::list(std::move(scenarios)));
  if (answer.answer.scores.empty()) return {std::move(section)};
  double sum = 0;
  Table table{.name = "scores",
              .title = "scenario",
              .columns = {{"scenario"},
                          {"score", "score"},
                          {"busy", "engines busy"},
                          {"dropped", "dropped"},
                          {"late", "late"},
                          {"worst", "lowest model"}}};
  for (const streams::ScenarioScore& score : answer.answer.scores) {
    sum += score.score;
    std::int64_t frames = 0;
    std::int64_t dropped = 0;
    std::int64_t late = 0;
    const streams::ModelScore* worst = nullptr;
    for (const streams::ModelScore& model : score.models) {
      frames += model.frames;
      dropped += model.dropped;
      late += model.late;
      if (worst == nullptr || model.score < worst->score) worst = &model;
    }
    table.add(
        {Value::words(score.name), score_value(score.score), Value::share(score.busy),
         Value::plain(dropped).as(fmt::format("{} of {}", dropped, frames)), Value::plain(late),
         Value::words(
             worst == nullptr ? "" : fmt::format("{} {:.1f}", worst->name, 100 * worst->score))});
  }
  section.headline =
      fmt::format("{}: mean score {:.1f} of 100", plural(answer.answer.scores.size(), "scenario"),
                  sum / static_cast<double>(answer.answer.scores.size()));
  section.tables.push_back(std::move(table));
  section.note(
      "score: 100 x mean over models of real time x energy x share of frames that ran; real time "
      "is 1 / (1 + e^(k x ms past the deadline))");
  return {std::move(section)};
}

Sections streamed_loads(const StreamedAnswer& answer) {
  Section section{.key = "loads"};
  if (!answer.answer.loads.empty() && answer.answer.scores.empty()) {
    section.headline = plural(answer.answer.loads.size(), "load");
  }
  Table table{.key = "loads",
              .name = "loads",
              .title = "load",
              .columns = {{"kind"},
                          {"queries", "queries"},
                          {"share", "share"},
                          {"percentile_ns", "latency at it"},
                          {"mean_ns", "mean"},
                          {"samples_per_s", "samples/s"},
                          {"skipped", "skipped"},
                          {"highest_rate", "most within bound"}}};
  bool too_few = false;
  for (const LoadAnswer& load : answer.answer.loads) {
    too_few = too_few || load.too_few;
    const streams::LoadFigures& figures = load.figures;
    table.add({Value::words(load.request.kind), Value::plain(load.request.queries),
               Value::share(load.request.share),
               time_value(static_cast<double>(figures.percentile_ns)), time_value(figures.mean_ns),
               Value::plain(figures.samples_per_s).as(rate_text(figures.samples_per_s, 1)),
               Value::plain(figures.skipped),
               load.rate ? Value::plain(*load.rate).as(rate_text(*load.rate, 1) + " /s")
                         : Value::none()});
  }
  table.show = answer.answer.loads.empty() ? Show::never : Show::always;
  section.tables.push_back(std::move(table));
  if (too_few) {
    section.note(
        "server without a rate: too few queries for this bound, which even all of them at once "
        "meet; its figures are at the rate that batches sustain");
  }
  return {std::move(section)};
}

}  // namespace foretrace::report
