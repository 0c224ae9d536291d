// Time to train: of each batch that was asked about, and of the fastest.
#include "apps/report/pages/cluster/training.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

Value ns_value(double ns) { return Value::time(to_whole(ns)); }

/// Minutes or hours, as people speak of such times.
std::string long_text(double ns) {
  const double minutes = ns / 60e9;
  if (minutes < 1) return time_text(to_whole(ns));
  return minutes < 120 ? fmt::format("{:.1f} min", minutes) : fmt::format("{:.1f} h", minutes / 60);
}

/// Of those that fit, if one does.
const TrainingTime& fastest(const TrainingPart& part) {
  return *std::min_element(part.times.begin(), part.times.end(), [](const auto& a, const auto& b) {
    return a.fits != b.fits ? a.fits : a.total_ns.typical < b.total_ns.typical;
  });
}

std::string training_headline(const TrainingTime& best) {
  if (!best.fits) {
    return fmt::format(
        "does not fit: a step needs more memory than a device has; {} to the target with a batch "
        "of {:.0f} if it fitted",
        long_text(best.total_ns.typical), best.batch);
  }
  return fmt::format("{} to the target ({} .. {}) with a batch of {:.0f}: {:.0f} steps of {}",
                     long_text(best.total_ns.typical), long_text(best.total_ns.low),
                     long_text(best.total_ns.high), best.batch, best.steps.typical,
                     time_text(to_whole(best.step_ns.typical)));
}

}  // namespace

Sections training_context(const TrainingPart& part) {
  const TrainingTime& best = fastest(part);
  const double stepping = best.steps.typical * best.step_ns.typical;
  Section section{.key = "input", .path = "input", .headline = training_headline(best)};
  section.fact("path", "run", Value::words(part.run.of));
  section.line("steps", fmt::format("{}, {} of the time", long_text(stepping),
                                    percent_text(stepping / best.total_ns.typical)));
  if (best.evaluations.typical > 0) {
    section.line("evaluations", fmt::format("{:.0f} of {}", best.evaluations.typical,
                                            time_text(to_whole(best.evaluation_ns.typical))));
  }
  if (part.run.start_ns > 0) section.line("start", long_text(part.run.start_ns));
  Section figures{.key = "figures", .show = Show::never};
  figures.datum("total_ns", ns_value(best.total_ns.typical));
  figures.datum("low_ns", ns_value(best.total_ns.low));
  figures.datum("high_ns", ns_value(best.total_ns.high));
  return {std::move(section), std::move(figures)};
}

Sections training_batches(const TrainingPart& part) {
  const bool all_fit = std::all_of(part.times.begin(), part.times.end(),
                                   [](const TrainingTime& time) { return time.fits; });
  Table table{.key = "batches",
              .columns = {{"batch", "batch"},
                          {"samples", "samples"},
                          {"epochs", "epochs"},
                          {"steps", "steps"},
                          {"step_ns", "step", Show::always, false, -1},
                          {"evaluations", "evaluations"},
                          {"evaluation_ns", "each", Show::always, false, -1},
                          {"total_ns", "total", Show::always, false, -1},
                          {"low_ns", "low", Show::details, false, -1},
                          {"high_ns", "high", Show::details, false, -1},
                          {"fits", "fits", all_fit ? Show::details : Show::always},
                          {"between", "", Show::never}}};
  bool any_between = false;
  for (const TrainingTime& time : part.times) {
    any_between = any_between || time.is_between;
    const auto total = [](double ns) { return ns_value(ns).as(long_text(ns)); };
    const double epoch = part.run.samples_per_epoch;
    table.add({Value::plain(time.batch),
               Value::plain(time.samples.typical)
                   .as(count_text(static_cast<std::uint64_t>(time.samples.typical)) +
                       (time.is_between ? " *" : "")),
               epoch > 0 ? Value::plain(time.samples.typical / epoch)
                               .as(fmt::format("{:.2f}", time.samples.typical / epoch))
                         : Value::none(),
               Value::count(static_cast<std::uint64_t>(time.steps.typical)),
               ns_value(time.step_ns.typical),
               Value::count(static_cast<std::uint64_t>(time.evaluations.typical)),
               ns_value(time.evaluation_ns.typical), total(time.total_ns.typical),
               total(time.total_ns.low), total(time.total_ns.high), Value::flag(time.fits),
               Value::flag(time.is_between)});
  }
  Section section{.key = "batches", .title = "by batch", .tables = {std::move(table)}};
  if (any_between) {
    section.note(
        "*: between the samples of two batches of the file, linear in the logarithm of the batch");
  }
  section.note(
      "the number of samples that each batch needs is from the file: only training measures it");
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
