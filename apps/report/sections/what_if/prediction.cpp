// The predicted step beside the simulated recording.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/range.h"
#include "apps/session/replay/memory_need.h"
#include "apps/session/spread.h"

namespace foretrace::report::sections {
namespace {

std::string between_text(const Prediction& prediction, std::int64_t before) {
  if (prediction.low_ns == prediction.high_ns) return {};
  const Ends ends = time_ends(prediction.low_ns, prediction.high_ns, before);
  return fmt::format(", between {} and {}", ends.low, ends.high);
}

/// What efficiency is measured against, where that is not the recorded rate: as many samples per
/// step without the other devices, by accumulation.
std::string baseline_text(const Answer& predicted, const RunSpread& spread) {
  const double alone = predicted.speedup() * static_cast<double>(spread.recorded_devices) /
                       (spread.efficiency * static_cast<double>(spread.devices));
  if (!std::isfinite(alone) || std::abs(alone - 1) < 0.005) return {};
  const std::string who =
      spread.recorded_devices == 1
          ? std::string("one GPU")
          : count_text(static_cast<std::uint64_t>(spread.recorded_devices)) + " GPUs";
  return fmt::format("; {} doing the same work: {}", who, factor_text(alone));
}

/// "8 GPUs: 1,348 samples/s, 7.43x (93 % efficiency); step 182.0 -> 189.9 ms".
std::string spread_line(const ResultAnswer& answer, const RunSpread& spread) {
  const std::int64_t before = answer.session.step_ns();
  const std::int64_t after = answer.predicted->step_ns();
  const std::string rate =
      spread.samples_per_s ? rate_text(*spread.samples_per_s) + " samples/s, " : std::string();
  return fmt::format("{} GPUs: {}{}{} ({:.0f} % efficiency{}); {} {} now, {} predicted ({})",
                     count_text(static_cast<std::uint64_t>(spread.devices)), rate,
                     factor_text(answer.predicted->speedup()), rate.empty() ? " the samples/s" : "",
                     100 * spread.efficiency, baseline_text(*answer.predicted, spread),
                     step_word(answer.session.run().answer), time_text(before),
                     time_text(after, before), change_text(after, before));
}

std::string throughput_text(const Throughput& throughput) {
  const std::string ratio = factor_text(throughput.ratio);
  return throughput.now ? fmt::format(", {} -> {} samples/s ({})", rate_text(*throughput.now),
                                      rate_text(*throughput.predicted), ratio)
                        : fmt::format(", samples/s {}", ratio);
}

/// The step that is predicted, whether or not it has room.
std::string step_line(const ResultAnswer& answer, const std::optional<RunSpread>& spread) {
  const std::int64_t before = answer.session.step_ns();
  const Prediction& prediction = answer.predicted->prediction();
  const auto& throughput = answer.predicted->throughput();
  if (spread && throughput) return spread_line(answer, *spread) + between_text(prediction, before);
  const std::int64_t after = prediction.run.answer.step_ns;
  std::string line =
      fmt::format("{} {} now, {} predicted ({}", step_word(answer.session.run().answer),
                  time_text(before), time_text(after, before), change_text(after, before));
  // Where the work of a step changes, its time alone does not say what is gained.
  line += throughput ? ")" + throughput_text(*throughput)
                     : fmt::format(", {})", factor_text(speedup_of(before, after, 1)));
  line += between_text(prediction, before);
  const bool is_formula =
      std::any_of(prediction.applied.begin(), prediction.applied.end(),
                  [](const auto& applied) { return applied.info->basis == Basis::formula; });
  return line + (is_formula ? ", by a rough formula" : "");
}

/// What a side of the range is made of, each part as a share of the step.
std::string side_text(const RangeSide& side) {
  struct Part {
    std::string_view name;
    double size;
  };
  const Part parts_of_side[] = {{"what-if", side.recipe},
                                {"host", side.host},
                                {"communication", side.communication},
                                {"size of the change", side.change},
                                {"scatter of steps", side.scatter},
                                {"model of the job", side.model},
                                {"accelerator", side.device},
                                {"replay", side.rest},
                                {"profiler", side.profiler}};
  std::string text;
  for (const Part& part : parts_of_side) {
    if (part.size < 0.0005) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.name,
                        percent_text(std::expm1(part.size)));
  }
  if (side.doubt != 1) {
    text += fmt::format("; all {} because confidence is low", factor_text(side.doubt));
  }
  return text;
}

Value side_value(const RangeSide& side) {
  return Value::object({{"recipe", Value::plain(side.recipe)},
                        {"host", Value::plain(side.host)},
                        {"communication", Value::plain(side.communication)},
                        {"change", Value::plain(side.change)},
                        {"scatter", Value::plain(side.scatter)},
                        {"model", Value::plain(side.model)},
                        {"device", Value::plain(side.device)},
                        {"rest", Value::plain(side.rest)},
                        {"doubt", Value::plain(side.doubt)},
                        {"profiler", Value::plain(side.profiler)},
                        {"total", Value::plain(side.total())}});
}

Value throughput_value(const Throughput& throughput) {
  const auto rate = [](const std::optional<double>& value) {
    return value ? Value::plain(*value) : Value::none();
  };
  return Value::object({{"samples", Value::plain(throughput.samples)},
                        {"ratio", Value::plain(throughput.ratio)},
                        {"samples_per_second_now", rate(throughput.now)},
                        {"samples_per_second_predicted", rate(throughput.predicted)}});
}

Value spread_value(const RunSpread& spread) {
  return Value::object(
      {{"devices", Value::plain(spread.devices)},
       {"recorded_devices", Value::plain(spread.recorded_devices)},
       {"efficiency", Value::share(spread.efficiency)},
       {"samples_per_second",
        spread.samples_per_s ? Value::plain(*spread.samples_per_s) : Value::none()}});
}

Value fit_value(const MemoryTarget& target, const MemoryNeed& need) {
  return Value::object({{"accelerator", Value::words(target.name)},
                        {"capacity_bytes", Value::bytes(target.capacity_bytes)},
                        {"needed_bytes", Value::bytes(target.needed_bytes(need))},
                        {"fits", Value::flag(target.fits(need))}});
}

/// The step with its range, for documents.
Section predicted_steps(const Answer& answer, const std::optional<RunSpread>& spread) {
  const Prediction& prediction = answer.prediction();
  Section steps = steps_section("predicted", prediction.run.steps, prediction.run.answer);
  steps.datum("low_ns", Value::time(prediction.low_ns));
  steps.datum("high_ns", Value::time(prediction.high_ns));
  steps.datum("range",
              Value::object({{"declared_low_ns", Value::time(prediction.declared_low_ns)},
                             {"declared_high_ns", Value::time(prediction.declared_high_ns)},
                             {"faster", side_value(prediction.faster)},
                             {"slower", side_value(prediction.slower)}}));
  if (answer.throughput()) steps.datum("throughput", throughput_value(*answer.throughput()));
  if (spread) steps.datum("spread", spread_value(*spread));
  if (answer.target()) {
    steps.datum("device_memory", fit_value(*answer.target(), *answer.need()));
  }
  return steps;
}

std::string noise_text(const ResultAnswer& answer) {
  const Replay& replay = answer.session.replay();
  const double change =
      change_of(answer.predicted->run().answer.step_ns, replay.run.answer.step_ns);
  const auto& throughput = answer.predicted->throughput();
  const bool is_throughput = throughput && std::abs(throughput->ratio - 1) > replay.scatter;
  return replay.scatter > 0 && std::abs(change) <= replay.scatter && !is_throughput
             ? fmt::format("within the {} scatter of the recorded steps: noise",
                           percent_text(replay.scatter))
             : std::string();
}

}  // namespace

Sections prediction(const ResultAnswer& answer) {
  if (answer.predicted == nullptr) {
    return {};
  }
  const Answer& predicted = *answer.predicted;
  const Prediction& prediction = predicted.prediction();
  const bool has_room = predicted.fits();
  const bool in_budget = answer.predicted_budget == nullptr || answer.predicted_budget->fits;
  const std::optional<RunSpread> spread = spread_of(predicted);
  Section section{.key = "prediction", .remark = noise_text(answer)};
  if (!has_room) {
    section.headline = text_of_misfit(*predicted.target(), *predicted.need());
  } else if (in_budget) {  // else the budget's own line is the first
    section.headline = step_line(answer, spread);
  }
  if (!has_room || !in_budget) section.line("if it fitted", step_line(answer, spread));
  if (spread && spread->efficiency > most_efficiency) {
    section.line("above 100 %", std::string(above_all_text));
  }
  section.line("based on",
               provenance_text(predicted.analysis()) + " of the predicted critical path");
  section.line("faster by", side_text(prediction.faster), Show::details);
  section.line("slower by", side_text(prediction.slower), Show::details);
  const std::int64_t before = answer.session.step_ns();
  section.datum("speedup", Value::factor(predicted.speedup()));
  section.datum("time_ratio", Value::factor(time_ratio_of(before, predicted.step_ns())));
  return {std::move(section), predicted_steps(predicted, spread)};
}

}  // namespace foretrace::report::sections
