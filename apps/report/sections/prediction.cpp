// The predicted step beside the simulated recording.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/report/pages.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

double speedup_of(std::int64_t before, std::int64_t after) {
  return static_cast<double>(before) / static_cast<double>(std::max<std::int64_t>(1, after));
}

std::string prediction_headline(const ResultAnswer& answer) {
  const std::int64_t before = answer.replay.run.answer.step_ns;
  const driver::Prediction& prediction = *answer.prediction;
  const std::int64_t after = prediction.run.answer.step_ns;
  std::string line = fmt::format(
      "{} {} now, {} predicted ({}, {})", step_word(answer.replay.run.answer), time_text(before),
      time_text(after, before), change_text(after, before), factor_text(speedup_of(before, after)));
  if (prediction.low_ns != prediction.high_ns) {
    line += fmt::format(", between {} and {}", time_text(prediction.low_ns, before),
                        time_text(prediction.high_ns, before));
  }
  return line;
}

std::string noise_text(const ResultAnswer& answer) {
  const driver::Replay& replay = answer.replay;
  const double change = change_of(answer.prediction->run.answer.step_ns, replay.run.answer.step_ns);
  return replay.scatter > 0 && std::abs(change) <= replay.scatter
             ? fmt::format("within the {} by which the recorded steps scatter: noise",
                           percent_text(replay.scatter))
             : std::string();
}

}  // namespace

Sections prediction(const ResultAnswer& answer) {
  if (answer.prediction == nullptr) {
    return {};
  }
  const driver::Prediction& prediction = *answer.prediction;
  Section section{
      .key = "prediction", .headline = prediction_headline(answer), .remark = noise_text(answer)};
  if (answer.predicted != nullptr) {
    section.line("rests on",
                 provenance_text(*answer.predicted) + " of the predicted critical path");
  }
  section.datum("speedup", Value::factor(speedup_of(answer.replay.run.answer.step_ns,
                                                    prediction.run.answer.step_ns)));
  Section steps = steps_section("predicted", prediction.run.steps, prediction.run.answer);
  steps.datum("low_ns", Value::time(prediction.low_ns));
  steps.datum("high_ns", Value::time(prediction.high_ns));
  return {std::move(section), std::move(steps)};
}

}  // namespace foretrace::report::sections
