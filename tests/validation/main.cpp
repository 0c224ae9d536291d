// foretrace-validate: how right predictions are on published tables, and on what papers claim.
#include <array>
#include <exception>
#include <string>
#include <vector>

#include "apps/cli/arguments/command.h"
#include "apps/cli/command_line.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/cli/run_program.h"
#include "apps/questions/validate/folders.h"
#include "apps/report/writers.h"
#include "tests/validation/report/pages.h"
#include "tests/validation/report/ranges.h"
#include "tests/validation/table_options.h"

namespace foretrace::app {
namespace {

struct ValidateOptions {
  CommonOptions common;
  TableOptions tables;
  std::string data;
  std::string pairs;
  bool claims = false;
  bool markdown = false;
};

/// The page, or its tables with every column.
int answer_validation(const report::Page& page, const ValidateOptions& options) {
  return options.markdown && !options.common.json ? answer(report::markdown_of(page))
                                                  : answer(page, options.common);
}

Exit predict_claims(const ValidateOptions& options, const CataloguePtr& known) {
  FORETRACE_TRY(check_folder(options.data));
  const auto rows = while_busy(options.common, "predicting what papers report",
                               [&] { return claim_table(known, options.data); });
  FORETRACE_TRY(rows);
  return answer_validation(report::claims_page(*rows), options);
}

Exit predict_pairs(const ValidateOptions& options, const CataloguePtr& known) {
  const auto pairs = while_busy(options.common, "trying two what-ifs at a time",
                                [&] { return what_if_pairs(known, options.pairs); });
  FORETRACE_TRY(pairs);
  return answer_validation(report::pairs_page(*pairs), options);
}

Exit predict_tables(const ValidateOptions& options, const CataloguePtr& known) {
  FORETRACE_TRY(const auto report, while_busy(options.common, "predicting tables", [&] {
                  return tables_of_folders(*known, options.tables);
                }));
  if (!options.tables.ranges.empty()) {
    FORETRACE_TRY(write_file(options.tables.ranges,
                             validation::evidence_text(validation::ranges_of(report.tables))));
  }
  return answer_validation(report::tables_page(report), options);
}

Exit run(const ValidateOptions& options) {
  const bool asks_claims = options.claims && !options.data.empty();
  if (asks_claims + !options.tables.folders.empty() + !options.pairs.empty() != 1) {
    return Error{ErrorCode::bad_usage,
                 "expected one of --tables FOLDER, --claims with --data FOLDER and --pairs "
                 "RECORDING"};
  }
  FORETRACE_TRY(const CataloguePtr known, catalogue());
  if (!options.pairs.empty()) return predict_pairs(options, known);
  return asks_claims ? predict_claims(options, known) : predict_tables(options, known);
}

void declare(Arguments& cli, ValidateOptions& options) {
  add_tables(cli, options.tables);
  cli.add_flag("--claims", options.claims,
               "predict what papers report on the nearest recording, and say where it differs");
  cli.add_option("--pairs", options.pairs,
                 "try every two what-ifs together on this recording, beside each alone");
  cli.add_option("--data", options.data, "folder with the recordings that claims are about");
  cli.add_flag("--markdown", options.markdown, "print Markdown tables with every column");
  add_page(cli, options.common);
  add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace-validate --tables validation",
        "predict the rows of every table of measured figures in validation/"},
       {"foretrace-validate --tables validation --tables validation_2 --ranges ranges.json",
        "keep how far they are off, as ranges of predictions rest on it"},
       {"foretrace-validate --claims --data traces", "predict what papers report"},
       {"foretrace-validate --pairs run.ftr.gz --markdown", "see where gains do not add up"}});
}

constexpr CommandInfo command = {
    "validate", Group::judge, "measure the accuracy of predictions on published tables and claims",
    set_up<ValidateOptions, declare, run>};

}  // namespace
}  // namespace foretrace::app

/// The program has one command, which its name stands for.
int main(int argc, char** argv) {
  using namespace foretrace::app;
  hold_standard_streams();
  ignore_write_signals();
  try {
    find_configs(FORETRACE_SOURCE_CONFIGS);
    constexpr std::array commands = {&command};
    std::string name(command.name);
    std::vector<char*> words(argv, argv + argc);
    words.insert(words.begin() + 1, name.data());
    return run_command_line(argc + 1, words.data(),
                            {.version = FORETRACE_VERSION, .commands = commands});
  } catch (const std::exception& error) {
    clear_progress();
    tell(std::string("internal error: ") + error.what());
    return exit_internal;
  }
}
