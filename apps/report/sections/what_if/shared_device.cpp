// Two runs on one device: what each way to share it makes of both.
#include "apps/questions/sharing/shared_device.h"

#include <fmt/format.h>

#include "apps/report/section.h"
#include "apps/report/text.h"
#include "sim/core/text.h"

namespace foretrace::report::sections {
namespace {

// Documents name the ways alike on all devices; on pages MPS is what NVIDIA's have.
std::string_view way_name(const SharedDevice& answer, Sharing sharing) {
  if (sharing == Sharing::mps && !answer.has_mps) return "side by side";
  return to_string(sharing);
}

std::string shared_headline(const SharedDevice& answer) {
  if (!answer.fits()) {
    return fmt::format("does not fit: the two need {} and {} of {}",
                       bytes_text(answer.alone[0].memory_bytes),
                       bytes_text(answer.alone[1].memory_bytes), answer.accelerator);
  }
  const SharedWay& best = answer.ways.front();
  return fmt::format(
      "combined throughput {} is {:.2f}x that of one job alone: {} -> {} ({}) and {} -> {} ({})",
      best.sharing == Sharing::mps && !answer.has_mps
          ? std::string("side by side")
          : fmt::format("by {}", way_name(answer, best.sharing)),
      best.together(), time_text(answer.alone[0].step_ns),
      time_text(best.runs.first.step_ns, answer.alone[0].step_ns),
      percent_text(best.runs.first_share), time_text(answer.alone[1].step_ns),
      time_text(best.runs.second.step_ns, answer.alone[1].step_ns),
      percent_text(best.runs.second_share));
}

Value run_value(const SharedDevice& answer, std::size_t i) {
  const StepPrediction& alone = answer.alone[i];
  Value::List doubts;
  for (const std::string& doubt : answer.doubts[i]) doubts.push_back(Value::words(doubt));
  return Value::object(
      {{"path", Value::words(answer.paths[i])},
       {"step_ns", Value::time(alone.step_ns)},
       {"memory_bytes", alone.memory_bytes < 0 ? Value::none() : Value::bytes(alone.memory_bytes)},
       {"doubt", Value::list(std::move(doubts))}});
}

}  // namespace

Sections shared_device(const SharedDevice& answer) {
  Section section{.key = "ways", .headline = shared_headline(answer)};
  section.fact(
      "accelerator", "device",
      answer.accelerator.empty() ? Value::none("not known") : Value::words(answer.accelerator));
  for (std::size_t i = 0; i < 2; ++i) {
    const StepPrediction& alone = answer.alone[i];
    section.line(
        i == 0 ? "first" : "second",
        fmt::format("{}, step {} alone{}", file_name_of(answer.paths[i]), time_text(alone.step_ns),
                    alone.memory_bytes < 0 ? std::string(", memory not known")
                                           : fmt::format(", {}", bytes_text(alone.memory_bytes))));
  }
  section.datum("runs", Value::list({run_value(answer, 0), run_value(answer, 1)}));
  Table table{.key = "ways",
              .title = "shared by",
              .columns = {{"sharing"},
                          {"first_step_ns", "first"},
                          {"first_share", "speed"},
                          {"second_step_ns", "second"},
                          {"second_share", "speed"},
                          {"together", "together"},
                          {"fits", "fits"}}};
  for (const SharedWay& way : answer.ways) {
    table.add({Value::words(to_string(way.sharing)).as(std::string(way_name(answer, way.sharing))),
               Value::time(way.runs.first.step_ns), Value::share(way.runs.first_share),
               Value::time(way.runs.second.step_ns), Value::share(way.runs.second_share),
               Value::factor(way.together()),
               way.runs.knows_memory || !way.runs.fits ? Value::flag(way.runs.fits)
                                                       : Value::none("not known")});
  }
  section.tables = {std::move(table)};
  section.note(fmt::format(
      "speed: step alone / step beside the other; together: the sum of both, where 1 is the "
      "throughput of one job alone. Time slices: a job waits while the other uses the device. {}: "
      "kernels run at the same time as far as the blocks of both fit on the device. {}Each job is "
      "assumed to have its own CPU cores",
      answer.has_mps ? "MPS" : "Side by side",
      answer.has_mps
          ? "MIG halves: each runs as with --apply mig_slice, on the largest profile that fits "
            "twice (3 of 7 slices if the multiprocessors of the product are unknown). "
          : ""));
  if (!answer.without_mig.empty()) section.note(answer.without_mig);
  section.note(
      fmt::format("No range is stated. On the pairs of training jobs that Gavel measured under "
                  "MPS, where only the rates of jobs alone are known, the same model is {:.0f} % "
                  "off on average and does not predict which pairs combine well: its rates rank "
                  "(correlation {:.2f}) as if all pairs were slowed equally",
                  pair_mean_error * 100, pair_rank_correlation));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
