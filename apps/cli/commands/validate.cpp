// foretrace validate: how right replays and predictions are on a folder of real recordings.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/help.h"
#include "apps/cli/options.h"
#include "apps/cli/table_answers.h"
#include "apps/driver/validate/claims.h"
#include "apps/driver/validate/formats.h"
#include "apps/driver/validate/validate_jobs.h"
#include "apps/driver/validate/validation.h"
#include "apps/report/report_claims.h"
#include "apps/report/report_formats.h"
#include "apps/report/report_jobs.h"
#include "apps/report/report_kernels.h"
#include "apps/report/text.h"

namespace foretrace::commands {
namespace {

using driver::PairRow;
using driver::ReplayRow;
using driver::ReplayTable;
using Json = nlohmann::ordered_json;

struct Options {
  app::CommonOptions common;
  app::TableOptions tables;
  std::string data;
  bool markdown = false;
  bool formats = false;
  bool jobs = false;
  bool claims = false;
};

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string flags_of(const ReplayRow& row) {
  std::string text;
  for (const std::string& flag : row.honesty.flags) {
    text += (text.empty() ? "" : ", ") + flag;
  }
  return text;
}

/// Flags, and why more than 1 % of the span stays unexplained where it does.
std::string remarks_of(const ReplayRow& row) {
  std::string text = flags_of(row);
  if (row.unexplained_share() > 0.01) {
    const bool launches = row.honesty.unexplained_launch_ns > row.honesty.unexplained_device_ns;
    const bool recorded = row.honesty.edges_by_origin[0] > 0;
    text += (text.empty() ? "" : "; ") +
            std::string(launches   ? "launch calls held up on the host (preempted, locked)"
                        : recorded ? "device work later than all it waits for"
                                   : "cross-stream waits without cuda_sync events");
  }
  return text;
}

/// Median and largest size of a column over the rows that are not flagged.
struct Spread {
  double median = 0;
  double worst = 0;
};
template <typename Value>
Spread spread(const ReplayTable& table, Value value) {
  std::vector<double> sizes;
  for (const ReplayRow& row : table.rows) {
    if (!row.flagged()) {
      sizes.push_back(std::abs(value(row)));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes.empty() ? Spread{} : Spread{sizes[sizes.size() / 2], sizes.back()};
}

std::string summary(const ReplayTable& table) {
  const auto line = [&](const char* what, auto value) {
    const Spread found = spread(table, value);
    return fmt::format("{}: median {:.3f} %, worst {:.3f} %\n", what, 100 * found.median,
                       100 * found.worst);
  };
  const auto flagged = std::count_if(table.rows.begin(), table.rows.end(),
                                     [](const ReplayRow& row) { return row.flagged(); });
  return fmt::format("{} recordings replayed, {} of them flagged and left out of these figures\n",
                     table.rows.size(), flagged) +
         line("  span error", [](const ReplayRow& row) { return row.span_error; }) +
         line("  worst step error", [](const ReplayRow& row) { return row.worst_step_error; }) +
         line("  span error, constant latencies and gaps",
              [](const ReplayRow& row) { return row.constant_span_error; }) +
         line("  worst step error, constant latencies and gaps",
              [](const ReplayRow& row) { return row.constant_worst_step_error; });
}

std::string replay_markdown(const ReplayTable& table) {
  std::string text =
      "| trace | events | tasks | step measured / simulated ms | error | span ms | error | "
      "constant "
      "latencies: span, worst step | kernels x0 (host only) ms | x0.5 | x2 | host x0 (device busy) "
      "ms "
      "| unexplained device + launch ms (share) | flags, reasons |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const ReplayRow& row : table.rows) {
    const std::string step =
        row.measured_step_ns < 0
            ? "-"
            : fmt::format("{:.2f} / {:.2f}", ms(row.measured_step_ns), ms(row.simulated_step_ns));
    text += fmt::format(
        "| {} | {} | {} | {} | {:+.3f} % | {:.2f} | {:+.3f} % | {:+.3f} %, {:.2f} % | {:.1f} "
        "({:.1f}) "
        "| {:.1f} | {:.1f} | {:.1f} ({:.1f}) | {:.1f} + {:.1f} ({:.1f} %) | {} |\n",
        row.trace, row.events, row.tasks, step, 100 * row.step_error, ms(row.measured_span_ns),
        100 * row.span_error, 100 * row.constant_span_error,
        100 * std::abs(row.constant_worst_step_error), ms(row.reactions.device_x0_ns),
        ms(row.honesty.host_only_ns), ms(row.reactions.device_half_ns),
        ms(row.reactions.device_double_ns), ms(row.reactions.host_x0_ns),
        ms(row.honesty.device_busy_ns), ms(row.honesty.unexplained_device_ns),
        ms(row.honesty.unexplained_launch_ns), 100 * row.unexplained_share(), remarks_of(row));
  }
  return text;
}

std::string pairs_markdown(const std::vector<PairRow>& pairs) {
  std::string text =
      "| pair | what changed | what-if | before ms | predicted ms (range) | measured ms | error | "
      "why |\n|---|---|---|---|---|---|---|---|\n";
  for (const PairRow& row : pairs) {
    text += row.failure.empty()
                ? fmt::format(
                      "| {} | {} | `{}` | {:.2f} | {:.2f} ({:.2f} to {:.2f}) | {:.2f} | {:+.1f} "
                      "%{} | {} |\n",
                      row.id, row.changed_what, row.applied, ms(row.base_ns), ms(row.predicted_ns),
                      ms(row.low_ns), ms(row.high_ns), ms(row.measured_ns), 100 * row.error(),
                      row.covered() ? ", in range" : "", row.why)
                : fmt::format("| {} | {} | `{}` | | {} | | | |\n", row.id, row.changed_what,
                              row.applied, row.failure);
  }
  return text;
}

std::string coverage(const std::vector<PairRow>& pairs) {
  const driver::Coverage found = driver::coverage_of(pairs);
  return fmt::format(
      "{} of {} measured values lie in the predicted range; mean half-width {:.1f} %\n",
      found.covered, found.predicted, 100 * found.mean_half_width);
}

/// What ranges are made of, beyond what recipes declare.
std::string range_constants_markdown() {
  std::string text = "| constant of ranges | value | origin |\n|---|---|---|\n";
  for (const driver::RangeConstant& constant : driver::range_constants()) {
    text += fmt::format("| {} | {:g} | {} |\n", constant.name, constant.value, constant.origin);
  }
  return text;
}

std::string page(const ReplayTable& table, const std::vector<PairRow>& pairs) {
  using Align = app::Table::Align;
  app::Table replays({Align::left, Align::right, Align::right, Align::right, Align::left});
  replays.row({"trace", "span", "error", "constant", "flags"});
  for (const ReplayRow& row : table.rows) {
    replays.row({row.trace, app::time_text(row.measured_span_ns),
                 fmt::format("{:+.3f} %", 100 * row.span_error),
                 fmt::format("{:+.3f} %", 100 * row.constant_span_error), flags_of(row)});
  }
  app::Table predictions(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  predictions.row({"pair", "before", "predicted", "measured", "error", "range"});
  for (const PairRow& row : pairs) {
    predictions.row(row.failure.empty()
                        ? std::vector<std::string>{row.id, app::time_text(row.base_ns),
                                                   app::time_text(row.predicted_ns),
                                                   app::time_text(row.measured_ns),
                                                   fmt::format("{:+.1f} %", 100 * row.error()),
                                                   row.covered() ? "in range" : "outside"}
                        : std::vector<std::string>{row.id, row.failure, "", "", "", ""});
  }
  return summary(table) + "\n" + replays.text(2) + "\n" + coverage(pairs) + "\n" +
         predictions.text(2) + "\n" + app::kernel_error_page(pairs);
}

Json document(const ReplayTable& table, const std::vector<PairRow>& pairs) {
  Json replays = Json::array();
  for (const ReplayRow& row : table.rows) {
    replays.push_back({{"trace", row.trace},
                       {"events", row.events},
                       {"tasks", row.tasks},
                       {"span_ns", row.measured_span_ns},
                       {"span_error", row.span_error},
                       {"worst_step_error", row.worst_step_error},
                       {"constant_span_error", row.constant_span_error},
                       {"constant_worst_step_error", row.constant_worst_step_error},
                       {"device_x0_ns", row.reactions.device_x0_ns},
                       {"device_half_ns", row.reactions.device_half_ns},
                       {"device_double_ns", row.reactions.device_double_ns},
                       {"host_x0_ns", row.reactions.host_x0_ns},
                       {"host_only_ns", row.honesty.host_only_ns},
                       {"device_busy_ns", row.honesty.device_busy_ns},
                       {"unexplained_device_ns", row.honesty.unexplained_device_ns},
                       {"unexplained_launch_ns", row.honesty.unexplained_launch_ns},
                       {"flags", row.honesty.flags}});
  }
  Json left_out = Json::array();
  for (const driver::LeftOut& file : table.left_out) {
    left_out.push_back({{"trace", file.trace}, {"reason", file.reason}});
  }
  Json predictions = Json::array();
  for (const PairRow& row : pairs) {
    Json entry = {{"id", row.id}, {"applied", row.applied}};
    if (row.failure.empty()) {
      entry.update({{"base_ns", row.base_ns},
                    {"predicted_ns", row.predicted_ns},
                    {"low_ns", row.low_ns},
                    {"high_ns", row.high_ns},
                    {"measured_ns", row.measured_ns},
                    {"error", row.error()},
                    {"half_width", row.half_width()},
                    {"covered", row.covered()}});
      for (const driver::KernelErrorRow& kernels : row.kernels.rows) {
        entry["kernels"].push_back({{"class", kernels.kernel_class},
                                    {"number", kernels.kernels},
                                    {"base_ns", kernels.before_ns},
                                    {"predicted_ns", kernels.predicted_ns},
                                    {"measured_ns", kernels.measured_ns},
                                    {"mean_error", kernels.predicted.mean},
                                    {"median_error", kernels.predicted.median},
                                    {"p90_error", kernels.predicted.p90}});
      }
    } else {
      entry["failure"] = row.failure;
    }
    predictions.push_back(std::move(entry));
  }
  const driver::Coverage found = driver::coverage_of(pairs);
  Json constants = Json::array();
  for (const driver::RangeConstant& constant : driver::range_constants()) {
    constants.push_back(
        {{"name", constant.name}, {"value", constant.value}, {"origin", constant.origin}});
  }
  return {{"schema", "foretrace.validation/1"},
          {"replays", replays},
          {"left_out", left_out},
          {"pairs", predictions},
          {"coverage",
           {{"predicted", found.predicted},
            {"covered", found.covered},
            {"mean_half_width", found.mean_half_width}}},
          {"range_constants", constants}};
}

int run_formats(const Options& options) {
  const Result<std::vector<driver::FormatRow>> rows = driver::format_table(options.data);
  if (!rows) {
    return app::failure(rows.error());
  }
  return app::answer(options.common.json    ? app::formats_json(*rows)
                     : options.common.quiet ? app::formats_headline(*rows)
                     : options.markdown     ? app::formats_markdown(*rows)
                                            : app::formats_page(*rows));
}

int run_jobs(const Options& options) {
  const Result<std::vector<driver::JobRow>> rows = driver::job_table(options.data);
  if (!rows) {
    return app::failure(rows.error());
  }
  return app::answer(
      options.common.json
          ? Json{{"schema", "foretrace.validation/1"}, {"jobs", app::jobs_json(*rows)}}.dump(2) +
                "\n"
      : options.markdown ? app::jobs_markdown(*rows)
                         : app::jobs_page(*rows));
}

int run_claims(const Options& options) {
  const Result<std::vector<driver::ClaimRow>> rows = driver::claim_table(options.data);
  if (!rows) {
    return app::failure(rows.error());
  }
  return app::answer(
      options.common.json
          ? Json{{"schema", "foretrace.validation/1"}, {"claims", app::claims_json(*rows)}}.dump(
                2) +
                "\n"
      : options.common.quiet ? app::claims_headline(*rows)
      : options.markdown     ? app::claims_headline(*rows) + "\n" + app::claims_markdown(*rows)
                             : app::claims_page(*rows));
}

int run(const Options& options) {
  app::start_logging(options.common);
  if (!options.tables.folder.empty()) {
    return app::answer_tables(options.tables, options.common, options.markdown);
  }
  if (options.data.empty()) {
    return app::failure({ErrorCode::bad_usage, "got neither --data nor --tables, expected one"});
  }
  if (options.claims) {
    return run_claims(options);
  }
  if (options.formats) {
    return run_formats(options);
  }
  if (options.jobs) {
    return run_jobs(options);
  }
  Result<ReplayTable> table = driver::replay_table(options.data);
  if (!table) {
    return app::failure(table.error());
  }
  Result<std::vector<PairRow>> pairs = driver::pair_table(options.data);
  if (!pairs) {
    return app::failure(pairs.error());
  }
  if (options.common.json) {
    return app::answer(document(*table, *pairs).dump(2) + "\n");
  }
  if (options.common.quiet) {
    return app::answer(summary(*table) + coverage(*pairs));
  }
  return app::answer(options.markdown ? summary(*table) + "\n" + replay_markdown(*table) + "\n" +
                                            coverage(*pairs) + "\n" + pairs_markdown(*pairs) +
                                            "\n" + range_constants_markdown() + "\n" +
                                            app::kernel_error_markdown(*pairs)
                                      : page(*table, *pairs));
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("--data", options->data, "folder with recordings");
  app::add_tables(cli, options->tables);
  cli.add_flag("--markdown", options->markdown, "tables with every column");
  cli.add_flag("--formats", options->formats,
               "read every file, whatever it is: format, damage, speed, or why it is refused");
  cli.add_flag("--jobs", options->jobs, "replay recordings of several ranks as one job each");
  cli.add_flag("--claims", options->claims,
               "predict what papers report on the nearest recording, and say where it differs");
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace validate --data traces",
       "replay every recording below traces/ and predict the known pairs"},
      {"foretrace validate --tables validation",
       "predict the rows of every table of measured figures in validation/"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo validate;
const CommandInfo validate = {"validate", "accuracy of replays and predictions on real recordings",
                              setup};

}  // namespace foretrace::commands
