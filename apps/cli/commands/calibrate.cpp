// foretrace calibrate: constants of operators fitted to measured tables, with their honest error.
#include "models/costs/calibration/calibrate.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/help.h"
#include "apps/cli/options.h"
#include "apps/report/style.h"
#include "apps/report/text.h"
#include "models/catalogue/cost_file.h"

namespace foretrace::commands {
namespace {

using Align = app::Table::Align;

struct Options {
  app::CommonOptions common;
  std::vector<std::string> tables;
  std::string accelerator;
  std::string output;
};

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string error_table(const Calibration& calibration) {
  app::Table table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::right,
                    Align::right, Align::right, Align::right});
  table.row(
      {"accelerator", "operator", "dtype", "form", "rows", "mean", "median", "90 %", "roofline"});
  for (const CalibratedOperator& fitted : calibration.operators) {
    const OperatorFit& fit = fitted.chosen.fit;
    const ErrorSummary& error = fitted.chosen.held_back;
    table.row({fitted.accelerator, std::string(to_string(fit.kind)),
               std::string(to_string(fit.precision)), std::string(to_string(fit.form)),
               app::count_text(error.rows), percent(error.mean), percent(error.median),
               percent(error.p90), percent(fitted.roofline.held_back.mean)});
  }
  return table.text(2);
}

std::string clock_lines(const Calibration& calibration) {
  std::string text;
  for (const CalibratedOperator& fitted : calibration.operators) {
    for (const SourceTerms& source : fitted.chosen.sources) {
      if (source.clock <= 1.0) continue;
      text += app::paragraph(
          "  ", fmt::format("{} on {}: {} measured at {:.2f} times the clock of the slowest source",
                            to_string(fitted.chosen.fit.kind), fitted.accelerator, source.source,
                            source.clock));
    }
  }
  return text.empty() ? "" : "\nclocks\n" + text;
}

std::string page(const Calibration& calibration, std::size_t tables, const std::string& path) {
  std::size_t rows = 0;
  for (const CalibratedOperator& fitted : calibration.operators) {
    rows += fitted.chosen.held_back.rows;
  }
  std::string text = app::strong("error on rows held back") +
                     fmt::format(": {}, {}; every third is predicted by a fit to the others\n",
                                 app::plural(tables, "table"), app::plural(rows, "row")) +
                     error_table(calibration) + clock_lines(calibration);
  if (!calibration.unused.empty()) text += "\nleft out\n";
  for (const UnusedRows& unused : calibration.unused) {
    text += app::paragraph("  ", fmt::format("{}: {}, {}", unused.what,
                                             app::plural(unused.rows, "row"), unused.reason));
  }
  return text + (path.empty() ? "\nnothing written; -o FILE keeps the constants\n"
                              : fmt::format("\nconstants written to {}\n", path));
}

// A plain name is a file of the config folder, where predictions look for it.
std::string output_path(const std::string& output) {
  const bool plain =
      !output.empty() && output.find('/') == std::string::npos && !output.ends_with(".json");
  return plain ? config_directory() + "/costs/" + output + ".json" : output;
}

/// Before the work: the constants do not replace what they are fitted to.
Status check_constants(const Options& options) {
  std::vector<std::string> inputs = options.tables;
  if (!options.accelerator.empty()) {
    inputs.push_back(config_directory() + "/accelerators/" + options.accelerator + ".json");
  }
  return app::check_output(output_path(options.output), inputs);
}

int run(const Options& options) {
  app::start_logging(options.common);
  if (const Status status = check_constants(options); !status.ok()) {
    return app::failure(status.error());
  }
  std::vector<OperatorTable> tables;
  CostFile file;
  for (const std::string& path : options.tables) {
    auto table = read_operator_table(path);
    if (!table) return app::failure(table.error());
    file.tables.push_back({table->name, table->origin, table->licence, table->paper});
    tables.push_back(std::move(*table));
  }
  std::optional<Accelerator> accelerator;
  if (!options.accelerator.empty()) {
    auto found = find_accelerator(options.accelerator);
    if (!found) return app::failure(found.error());
    accelerator = std::move(*found);
  }
  const auto calibration = foretrace::calibrate(tables, accelerator);
  if (!calibration) return app::failure(calibration.error());
  file.operators = calibration->operators;
  const std::string text = cost_file_text(file);
  const std::string path = output_path(options.output);
  if (!path.empty()) {
    const Status written = app::write_file(path, [&](const auto& sink) -> Status {
      if (sink(text)) return ok_status();
      return Error{ErrorCode::io, "cannot write"};
    });
    if (!written) return app::failure(written.error());
  }
  if (options.common.json) return app::answer(text);
  if (options.common.quiet) return app::answer(error_table(*calibration));
  return app::answer(page(*calibration, tables.size(), path));
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("TABLE", options->tables,
                 "tables of measured operators (schema foretrace-truth/1)")
      .required();
  cli.add_option("--accelerator", options->accelerator,
                 "where tables without devices were measured; of others, only its rows")
      .type_name("NAME");
  cli.add_option("-o,--output", options->output,
                 "where to write the constants: a .json file, or a name in configs/costs")
      .type_name("FILE");
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace calibrate gemm.json --accelerator a100_sxm_80gb",
       "how well products on this device can be predicted"},
      {"foretrace calibrate gemm.json --accelerator a100_sxm_80gb -o mine",
       "and keep the constants for predictions"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo calibrate;
const CommandInfo calibrate = {"calibrate", "fit costs of operators to measured tables", setup};

}  // namespace foretrace::commands
