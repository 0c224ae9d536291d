// foretrace sweep: computes every point of a design space, and shows what came of it.
#include "apps/report/pages/cluster/sweep.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/dask_sweep.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/report/sweep/picture.h"
#include "apps/report/sweep_points.h"
#include "apps/report/text.h"
#include "apps/sweep/run.h"
#include "apps/sweep/space/expression.h"
#include "apps/sweep/store/select.h"
#include "sim/core/whole.h"

namespace foretrace::commands::sweep_parts {
namespace {

constexpr std::size_t usual_rows = 20;
constexpr std::size_t most_reasons = 3;
constexpr std::size_t most_rows = 1'000'000;

struct Options {
  app::CommonOptions common;
  std::string path;
  std::string folder;
  std::size_t jobs = 0;
  std::size_t top = 0;
  bool fresh = false;
  bool show = false;
  bool pareto = false;
  std::string where;
  std::string svg;
  std::string dask;
};

Error bad_usage(std::string message) { return {ErrorCode::bad_usage, std::move(message)}; }

Status check(const Options& options) {
  if (options.show) {
    if (!options.folder.empty() || options.fresh || options.jobs > 0 || !options.dask.empty()) {
      return bad_usage("sweep: --show only reads the folder; leave out -o, -j, --dask and --fresh");
    }
    return ok_status();
  }
  if (!options.dask.empty() && options.jobs > 0) {
    return bad_usage(
        "sweep: -j sets the threads of this machine, --dask uses those of its workers; leave out "
        "one");
  }
  if (options.folder.empty()) {
    return bad_usage(
        "sweep: no folder for the results, expected `sweep SWEEP.json -o FOLDER`, or `sweep FOLDER "
        "--show`");
  }
  return ok_status();
}

std::string duration_text(double seconds) {
  const auto whole = to_whole(std::min(seconds, 1e9));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string progress_line(const sweeping::Sweep& sweep, const sweeping::SweepProgress& now) {
  std::string line =
      fmt::format("{} of {} points, {} per second, {} left", report::count_text(now.done),
                  report::count_text(now.points), report::rate_text(now.per_second),
                  duration_text(now.seconds_left));
  if (!now.best) return line;
  const std::string& what = sweep.objectives.front().value.text();
  return line + (what == "step_ns"
                     ? fmt::format(", best step {}",
                                   report::time_text(static_cast<std::int64_t>(*now.best)))
                     : fmt::format(", best {} {:.6g}", what, *now.best));
}

Result<sweeping::PointQuestion> question_of(const Options& options, const sweeping::Sweep& sweep,
                                            bool is_whole) {
  sweeping::PointQuestion question;
  question.pareto = options.pareto;
  question.top = options.top;
  if (!is_whole && question.top == 0) question.top = usual_rows;
  if (!options.where.empty()) {
    FORETRACE_TRY(question.where,
                  sweeping::Expression::parse(options.where, sweep.names).with_context("--where"));
  }
  return question;
}

/// Every point as CSV, unless some are asked for.
app::Exit show_lines(const Options& options, const sweeping::StoredSweep& stored) {
  FORETRACE_TRY(const auto question, question_of(options, stored.sweep, true));
  std::string text;
  const Status written = report::write_points(stored, question, [&](std::string_view lines) {
    text += lines;
    return true;
  });
  FORETRACE_TRY(written);
  return app::answer(text);
}

Status draw(const Options& options, const sweeping::StoredSweep& stored) {
  FORETRACE_TRY(const auto question, question_of(options, stored.sweep, true));
  FORETRACE_TRY(const auto picture, report::sweep_picture(stored, question));
  return app::write_file(options.svg, picture);
}

app::Exit show(const Options& options, const std::string& folder, const sweeping::SweepRun* run) {
  FORETRACE_TRY(const auto stored, sweeping::open_stored(folder));
  if (!options.svg.empty()) {
    FORETRACE_TRY(draw(options, stored));
  }
  if (options.common.csv && options.common.table.empty()) return show_lines(options, stored);
  FORETRACE_TRY(const auto question, question_of(options, stored.sweep, false));
  std::vector<sweeping::SelectedPoint> points;
  FORETRACE_TRY(const auto counts,
                sweeping::select_points(stored, question, [&](const auto& point) {
                  points.push_back(point);
                  return ok_status();
                }));
  const auto code =
      counts.feasible > 0 || counts.rows == 0 ? app::exit_done : app::exit_answer_is_no;
  FORETRACE_TRY(auto failures, stored.store.reasons(most_reasons));
  const report::SweepAnswer answer{stored.sweep, counts, std::move(points), std::move(failures),
                                   run};
  return app::answer(report::sweep_page(answer), options.common, code);
}

app::Exit run_there(const Options& options) {
  const auto end =
      app::run_dask_sweep({.path = options.path,
                           .folder = options.folder,
                           .address = options.dask,
                           .fresh = options.fresh,
                           .shows_progress = app::progress_bar(options.common, "") != nullptr});
  FORETRACE_TRY(end);
  if (end->was_interrupted) return end->code;
  for (const std::string& doubt : end->run.doubts) spdlog::warn("{}", doubt);
  return show(options, options.folder, &end->run);
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(check(options));
  const std::vector<std::string> inputs = {
      options.path, sweeping::store_file(options.show ? options.path : options.folder)};
  FORETRACE_TRY(app::check_outputs(std::array{options.svg}, inputs));
  if (options.show) return show(options, options.path, nullptr);
  FORETRACE_TRY(const auto sweep, sweeping::read_sweep(options.path));
  // What is wrong with the question is known before the work.
  FORETRACE_TRY(question_of(options, sweep, false));
  if (!options.dask.empty()) return run_there(options);
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  sweeping::SweepSettings settings{.catalogue = known,
                                   .threads = options.jobs,
                                   .fresh = options.fresh,
                                   .version = FORETRACE_VERSION};
  const auto bar = app::progress_bar(options.common, "");
  if (bar) {
    settings.progress = [&](const sweeping::SweepProgress& now) {
      app::show_progress(progress_line(sweep, now));
    };
  }
  const auto done = sweeping::run_sweep(sweep, options.folder, settings);
  if (bar) app::clear_progress();
  FORETRACE_TRY(done);
  for (const std::string& doubt : done->doubts) spdlog::warn("{}", doubt);
  return show(options, options.folder, &*done);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("SWEEP", options.path,
                 "a sweep (schema foretrace.sweep/1), or with --show a folder of results")
      .required();
  cli.add_option("-o,--output", options.folder,
                 "folder for the results; the same command again resumes an interrupted sweep")
      .type_name("FOLDER");
  cli.add_option("-j,--jobs", options.jobs, "threads (as many as the machine has)")
      .type_name("N")
      .in_range(1, 1024);
  cli.add_option("--dask", options.dask,
                 "compute on the workers of the Dask scheduler at this address")
      .type_name("ADDRESS");
  cli.add_flag("--fresh", options.fresh, "discard the results in the folder");
  cli.add_flag("--show", options.show, "only show results; with --csv every point");
  cli.add_option("--top", options.top, "how many points, best first (20)")
      .type_name("N")
      .in_range(1, most_rows);
  cli.add_flag("--pareto", options.pareto, "only points that no other beats in every objective");
  cli.add_option("--where", options.where,
                 "only points that satisfy this: \"micro <= 4 && memory_bytes < 40 GiB\"")
      .type_name("EXPR");
  cli.add_option("--svg", options.svg,
                 "draw the points (SVG): objectives against each other, and what each axis decides")
      .type_name("FILE");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples({{"foretrace sweep examples/recipes/sweeps/resnet_whatifs.json -o results",
                     "10,000 combinations of what-ifs on a recorded run"},
                    {"foretrace sweep results --show --pareto",
                     "the combinations that are best in time or in memory"},
                    {"foretrace sweep results --show --csv --where \"speedup > 2\"",
                     "every combination that more than doubles throughput, as CSV"}});
}

}  // namespace

extern constexpr CommandInfo info = {"sweep", app::Group::plan,
                                     "compute a design space, show its best points",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::sweep_parts
