// foretrace validate: how right replays and predictions are on a folder of real recordings.
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/cli/answers.h"
#include "apps/cli/busy.h"
#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/help.h"
#include "apps/cli/options.h"
#include "apps/driver/validate/claims.h"
#include "apps/driver/validate/formats.h"
#include "apps/driver/validate/validate_jobs.h"
#include "apps/driver/validate/validation.h"
#include "apps/report/pages.h"
#include "apps/report/writers.h"

namespace foretrace::commands {
namespace {

struct Options {
  app::CommonOptions common;
  std::string data;
  bool markdown = false;
  bool formats = false;
  bool jobs = false;
  bool claims = false;
};

/// The page, or its tables with every column.
int answer(const report::Page& page, const Options& options) {
  return options.markdown && !options.common.json ? app::answer(report::markdown_of(page))
                                                  : app::answer(page, options.common);
}

int run_formats(const Options& options) {
  const auto rows = app::while_busy(options.common, "reading every file",
                                    [&] { return driver::format_table(options.data); });
  return rows.ok() ? answer(report::formats_page(*rows), options) : app::failure(rows.error());
}

int run_jobs(const Options& options) {
  const auto rows = app::while_busy(options.common, "replaying jobs",
                                    [&] { return driver::job_table(options.data); });
  return rows.ok() ? answer(report::jobs_page(*rows), options) : app::failure(rows.error());
}

int run_claims(const Options& options) {
  const auto rows = app::while_busy(options.common, "predicting what papers report",
                                    [&] { return driver::claim_table(options.data); });
  return rows.ok() ? answer(report::claims_page(*rows), options) : app::failure(rows.error());
}

int run(const Options& options) {
  app::start_logging(options.common);
  if (options.claims) {
    return run_claims(options);
  }
  if (options.formats) {
    return run_formats(options);
  }
  if (options.jobs) {
    return run_jobs(options);
  }
  const Result<driver::ReplayTable> table = app::while_busy(
      options.common, "replaying recordings", [&] { return driver::replay_table(options.data); });
  if (!table) {
    return app::failure(table.error());
  }
  const Result<std::vector<driver::PairRow>> pairs = app::while_busy(
      options.common, "predicting pairs", [&] { return driver::pair_table(options.data); });
  if (!pairs) {
    return app::failure(pairs.error());
  }
  return answer(report::validation_page({*table, *pairs}), options);
}

std::function<int()> setup(CLI::App& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("--data", options->data, "folder with recordings")->required();
  cli.add_flag("--markdown", options->markdown, "print Markdown tables with every column");
  cli.add_flag("--formats", options->formats,
               "read every file: its format, damage and speed, or why it is refused");
  cli.add_flag("--jobs", options->jobs, "replay recordings of several ranks as one job each");
  cli.add_flag("--claims", options->claims,
               "predict what papers report on the nearest recording, and say where it differs");
  app::add_page(cli, options->common);
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace validate --data traces",
       "replay every recording below traces/ and predict the known pairs"}};
  app::add_examples(cli, examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo validate;
const CommandInfo validate = {
    "validate", "measure the accuracy of replays and predictions on real recordings", setup};

}  // namespace foretrace::commands
