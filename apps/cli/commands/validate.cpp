// foretrace validate: how right replays and predictions are on a folder of real recordings.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/questions/validate/ablated_pairs.h"
#include "apps/questions/validate/ablation.h"
#include "apps/questions/validate/folders.h"
#include "apps/questions/validate/formats.h"
#include "apps/questions/validate/validate_jobs.h"
#include "apps/questions/validate/validation.h"
#include "apps/questions/validate/what_if_table.h"
#include "apps/report/pages/ablated_pairs.h"
#include "apps/report/pages/validation.h"
#include "apps/report/writers.h"

namespace foretrace::commands::validate_parts {
namespace {

struct Options {
  app::CommonOptions common;
  std::string data;
  std::string tables;  ///< moved to a program of its own
  bool markdown = false;
  bool formats = false;
  bool jobs = false;
  bool claims = false;  ///< moved, as --tables
  bool what_ifs = false;
  std::string ablate;
};

/// The page, or its tables with every column.
int answer(const report::Page& page, const Options& options) {
  return options.markdown && !options.common.json ? app::answer(report::markdown_of(page))
                                                  : app::answer(page, options.common);
}

app::Exit run_formats(const Options& options) {
  const auto rows = app::while_busy(options.common, "reading every file",
                                    [&] { return format_table(options.data); });
  FORETRACE_TRY(rows);
  return answer(report::formats_page(*rows), options);
}

app::Exit run_jobs(const Options& options, const CataloguePtr& known) {
  const auto rows = app::while_busy(options.common, "replaying jobs",
                                    [&] { return job_table(known, options.data); });
  FORETRACE_TRY(rows);
  return answer(report::jobs_page(*rows), options);
}

app::Exit run_what_ifs(const Options& options, const CataloguePtr& known) {
  const auto table = app::while_busy(options.common, "applying every what-if",
                                     [&] { return example_table(known, options.data); });
  FORETRACE_TRY(table);
  return answer(report::examples_page(*table), options);
}

app::Exit run_ablation(const Options& options, const CataloguePtr& known) {
  FORETRACE_TRY(const auto rules, app::while_busy(options.common, "replaying without rules", [&] {
                  return ablation_table(known, options.data, options.ablate);
                }));
  FORETRACE_TRY(const auto pairs,
                app::while_busy(options.common, "predicting pairs without rules", [&] {
                  return ablated_pairs(known, options.data, options.ablate);
                }));
  report::Page page = report::ablation_page(rules);
  report::add_ablated_pairs(pairs, page);
  return answer(page, options);
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  if (!options.tables.empty() || options.claims) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("{}: is read by foretrace-validate, a program of the "
                             "source tree: make validate",
                             options.claims ? "--claims" : "--tables")};
  }
  if (options.data.empty()) {
    return Error{ErrorCode::bad_usage, "got no --data, expected a folder of recordings"};
  }
  FORETRACE_TRY(check_folder(options.data));
  if (!options.ablate.empty()) return run_ablation(options, known);
  if (options.what_ifs) return run_what_ifs(options, known);
  if (options.formats) return run_formats(options);
  if (options.jobs) return run_jobs(options, known);
  FORETRACE_TRY(const ReplayTable table,
                app::while_busy(options.common, "replaying recordings",
                                [&] { return replay_table(known, options.data); }));
  FORETRACE_TRY(const std::vector<PairRow> pairs,
                app::while_busy(options.common, "predicting pairs",
                                [&] { return pair_table(known, options.data); }));
  return answer(report::validation_page({table, pairs}), options);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("--data", options.data, "folder with recordings");
  cli.add_option("--tables", options.tables,
                 "published tables: read by foretrace-validate instead");
  cli.add_flag("--markdown", options.markdown, "print Markdown tables with every column");
  cli.add_flag("--formats", options.formats,
               "read every file: its format, damage and speed, or why it is refused");
  cli.add_flag("--jobs", options.jobs, "replay recordings of several ranks as one job each");
  cli.add_flag("--claims", options.claims,
               "what papers report: compared by foretrace-validate instead");
  cli.add_flag("--what-ifs", options.what_ifs,
               "apply every what-if with its example settings to every recording and job");
  cli.add_option("--ablate", options.ablate,
                 "replay, and predict pairs, without this rule of building graphs, to see what it "
                 "is worth; all: without each in turn");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples({{"foretrace validate --data traces",
                     "replay every recording below traces/ and predict the known pairs"}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "validate", app::Group::judge,
    "measure the accuracy of replays and predictions on real recordings",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::validate_parts
