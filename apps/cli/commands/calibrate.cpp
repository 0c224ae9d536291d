// foretrace calibrate: constants of operators, curves of collectives and hosts of serving engines, from
// what was measured, with their honest error.
#include "models/hardware/costs/calibration/calibrate.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/commands/calibrate_engine.h"
#include "apps/cli/commands/calibrate_machine.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/report/section.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "apps/session/session.h"
#include "models/hardware/catalogue/cost_file.h"
#include "models/hardware/costs/calibration/recorded_operators.h"

namespace foretrace::commands::calibrate_parts {
namespace {

using report::Value;

struct Options {
  app::CommonOptions common;
  std::vector<std::string> tables;
  std::string accelerator;
  std::string output;
  MachineLogs machine;
  EngineLogs engine;
  std::size_t tensor = 0;
  std::size_t weight_bits = 0;
};

report::Section errors_section(const Calibration& calibration) {
  report::Table table{.columns = {{"accelerator", "accelerator"},
                                  {"operator", "operator"},
                                  {"dtype", "dtype"},
                                  {"form", "form"},
                                  {"rows", "rows"},
                                  {"mean", "mean"},
                                  {"median", "median"},
                                  {"p90", "90 %"},
                                  {"roofline_mean", "roofline"}}};
  for (const CalibratedOperator& fitted : calibration.operators) {
    const OperatorFit& fit = fitted.chosen.fit;
    const ErrorSummary& error = fitted.chosen.held_back;
    table.add({Value::words(fitted.accelerator), Value::words(to_string(fit.kind)),
               Value::words(to_string(fit.precision)), Value::words(to_string(fit.form)),
               Value::count(error.rows), Value::share(error.mean), Value::share(error.median),
               Value::share(error.p90), Value::share(fitted.roofline.held_back.mean)});
  }
  return {.key = "errors", .tables = {std::move(table)}};
}

report::Section clocks_section(const Calibration& calibration) {
  report::Section section{.key = "clocks", .title = "clocks"};
  for (const CalibratedOperator& fitted : calibration.operators) {
    for (const SourceTerms& source : fitted.chosen.sources) {
      if (source.clock <= 1.0) continue;
      section.note(fmt::format(
          "{} on {}: {} measured at {:.2f} times the clock of the slowest source",
          to_string(fitted.chosen.fit.kind), fitted.accelerator, source.source, source.clock));
    }
  }
  return section;
}

report::Section left_out_section(const Calibration& calibration) {
  report::Section section{.key = "left_out", .title = "left out"};
  for (const UnusedRows& unused : calibration.unused) {
    section.note(
        fmt::format("{}: {}, {}", unused.what, report::plural(unused.rows, "row"), unused.reason));
  }
  return section;
}

report::Page page(const Calibration& calibration, std::size_t tables, const std::string& path) {
  std::size_t rows = 0;
  for (const CalibratedOperator& fitted : calibration.operators) {
    rows += fitted.chosen.held_back.rows;
  }
  report::Section errors = errors_section(calibration);
  errors.headline = fmt::format(
      "error on held-out rows: {}, {}; every third row is predicted by a fit to the others",
      report::plural(tables, "table"), report::plural(rows, "row"));
  report::Section end{.key = "constants"};
  end.notes.push_back(
      {path.empty() ? "constants not written; -o FILE writes them" : "constants written to " + path,
       ""});
  return {.sections = {std::move(errors), clocks_section(calibration),
                       left_out_section(calibration), std::move(end)},
          .main_table = "errors"};
}

// A plain name is a file of the config folder, where predictions look for it.
std::string output_path(const std::string& output) {
  const bool plain =
      !output.empty() && output.find('/') == std::string::npos && !output.ends_with(".json");
  return plain ? app::config_directory() + "/costs/" + output + ".json" : output;
}

/// Before the work: the constants do not replace what they are fitted to.
Status check_constants(const Options& options) {
  std::vector<std::string> inputs = options.tables;
  if (!options.accelerator.empty()) {
    inputs.push_back(app::config_directory() + "/accelerators/" + options.accelerator + ".json");
  }
  return app::check_output(output_path(options.output), inputs);
}

/// Packed, or a trace of events: tables and logs are neither.
bool is_recording(const std::string& path) {
  constexpr std::size_t most = 65536;
  std::string begin(most, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(most));
  begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return begin.find('\0') != std::string::npos ||
         begin.find("\"traceEvents\"") != std::string::npos;
}

/// Of a recording the products and row operators whose shapes it holds.
Result<OperatorTable> table_of(const std::string& path, const Options& options) {
  if (!is_recording(path)) {
    FORETRACE_TRY(check_no_logs(path));
    return read_operator_table(path);
  }
  app::TraceOptions trace;
  trace.paths = {path};
  FORETRACE_TRY(const Session session, app::open_session(trace, options.common));
  const auto& accelerator = session.recording().accelerator;
  // Tables name devices as traces do.
  const bool says = accelerator && options.accelerator.empty() && !accelerator->trace_names.empty();
  OperatorTable table =
      recorded_operators(session.graph(), std::filesystem::path(path).filename().string(),
                         says ? accelerator->trace_names.front() : "");
  table.origin = log_source(path, "");
  if (!table.rows.empty()) return table;
  return Error{ErrorCode::no_match,
               path +
                   ": no kernel of a known operator with its shapes, expected a recording with "
                   "record_shapes=True"};
}

app::Exit run_engine(const Options& options) {
  EngineLogs logs = options.engine;
  logs.files = options.tables;
  logs.output = options.output;
  logs.setup.accelerator = options.accelerator;
  logs.setup.cluster = options.machine.cluster;
  logs.setup.weight_bits = static_cast<double>(options.weight_bits);
  logs.setup.tensor = static_cast<std::uint32_t>(options.tensor);
  if (logs.setup.model.empty()) {
    return Error{ErrorCode::bad_usage, "--engine: needs --model NAME, the model that was served"};
  }
  if (logs.setup.accelerator.empty() == logs.setup.cluster.empty()) {
    return Error{
        ErrorCode::bad_usage,
        "--engine: needs either --accelerator NAME or --cluster NAME, where it was served"};
  }
  return calibrate_engine(logs, options.common);
}

app::Exit run(const Options& options) {
  if (!options.engine.setup.engine.empty()) return run_engine(options);
  if (!options.machine.cluster.empty()) {
    MachineLogs logs = options.machine;
    logs.files = options.tables;
    logs.output = options.output;
    return calibrate_machine(logs, options.common);
  }
  FORETRACE_TRY(check_constants(options));
  std::vector<OperatorTable> tables;
  CostFile file;
  for (const std::string& path : options.tables) {
    FORETRACE_TRY(auto table, table_of(path, options));
    file.tables.push_back({table.name, table.origin, table.licence, table.paper});
    tables.push_back(std::move(table));
  }
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  std::optional<Accelerator> accelerator;
  if (!options.accelerator.empty()) {
    FORETRACE_TRY(const auto found, (known)->accelerator(options.accelerator));
    accelerator = *found;
  }
  FORETRACE_TRY(const auto calibration, foretrace::calibrate(*known, tables, accelerator));
  file.operators = calibration.operators;
  const std::string text = cost_file_text(file);
  const std::string path = output_path(options.output);
  if (!path.empty()) {
    FORETRACE_TRY(app::write_file(path, text));
  }
  if (options.common.json) return app::answer(text);
  if (options.common.quiet) {
    return app::answer(report::text_of({.sections = {errors_section(calibration)}},
                                       app::text_style(options.common)));
  }
  return app::answer(page(calibration, tables.size(), path), options.common);
}

void add_engine_options(app::Arguments& cli, Options& options) {
  EngineLogs& engine = options.engine;
  cli.add_option(
         "--engine", engine.setup.engine,
         "the serving engine of these benchmarks: write its file with CPU times that fit them")
      .type_name("NAME");
  cli.add_option("--model", engine.setup.model, "the served model: see foretrace list models")
      .type_name("NAME");
  cli.add_option("--precision", engine.setup.precision,
                 "precision of its arithmetic: fp16, bf16 or fp8")
      .type_name("NAME");
  cli.add_option("--weight-bits", options.weight_bits, "bits of a stored weight")
      .type_name("N")
      .in_range(1, 16);
  cli.add_option("--tensor", options.tensor, "ranks that divide its layers")
      .type_name("N")
      .in_range(1, 100'000);
  cli.add_option("--requests", engine.requests,
                 "number of requests, for benchmarks that do not print it")
      .type_name("N")
      .in_range(1, 100'000);
  cli.add_option("--prompt", engine.prompt, "prompt tokens, for benchmarks that do not print them")
      .type_name("N")
      .in_range(1, 10'000'000);
  cli.add_option("--answer", engine.answer, "answer tokens, for benchmarks that do not print them")
      .type_name("N")
      .in_range(2, 10'000'000);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("TABLE", options.tables,
                 "tables of measured operators (schema foretrace-truth/1), recordings with shapes, "
                 "sweeps of matrix products (rocblas-bench, CSV with m, n, k and us), with "
                 "--cluster output of nccl-tests or rccl-tests, or with --engine benchmarks of "
                 "vLLM or SGLang")
      .required();
  cli.add_option("--accelerator", options.accelerator,
                 "the accelerator that tables without a device were measured on; of other tables, "
                 "only its rows")
      .type_name("NAME");
  cli.add_option("--cluster", options.machine.cluster,
                 "the machine whose nodes and links the measured one has: its file with measured "
                 "collectives")
      .type_name("NAME");
  cli.add_option("--collective", options.machine.collective,
                 "kind of the collective, for logs that do not name their program")
      .type_name("KIND");
  cli.add_option("--ranks", options.machine.ranks,
                 "number of ranks, for logs that do not list them")
      .type_name("N")
      .in_range(2, 1'000'000);
  cli.add_option("--nodes", options.machine.nodes, "number of nodes of those ranks")
      .type_name("N")
      .in_range(1, 1'000'000);
  add_engine_options(cli, options);
  cli.add_option("-o,--output", options.output,
                 "write the constants, the machine or the engine to a .json file, or under a name "
                 "in configs/costs, configs/clusters or configs/serving")
      .type_name("FILE");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace calibrate gemm.json --accelerator a100_sxm_80gb",
        "how well matrix products on this device can be predicted"},
       {"foretrace calibrate gemm.json --accelerator a100_sxm_80gb -o mine",
        "the same, and store the constants for predictions"},
       {"foretrace calibrate after.json.gz -o mine",
        "from a recording, such as the one that whatif --check judged by"},
       {"foretrace calibrate all_reduce.log --cluster dgx_h100 -o mine.json",
        "the machine with its measured collectives, for --cluster mine.json"},
       {"foretrace calibrate serve.json --engine vllm --model llama3_8b --accelerator h100_sxm -o "
        "mine.json",
        "the engine's file with its CPU times, for \"engine\": \"mine.json\" of a served model"}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "calibrate", app::Group::judge,
    "fit operators, collectives or engines to what you measured, with the error on held-out rows",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::calibrate_parts
