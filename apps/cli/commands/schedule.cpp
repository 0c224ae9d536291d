// foretrace schedule: simulates jobs on a cluster under one or several scheduling policies.
#include "apps/scheduling/schedule.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/other_pages.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/extras/file_kinds.h"
#include "apps/report/pages/cluster/schedule.h"
#include "apps/report/schedule/schedule_report.h"
#include "models/whatifs/what_if_spec.h"

namespace foretrace::commands::schedule_parts {
namespace {

struct Options {
  app::CommonOptions common;
  std::string path;
  std::vector<std::string> policies;
  std::string events;
  std::string jobs;
  std::string timeline;
  std::string picture;
};

// Policies named on the command line stand in for those of the file.
Status replace_policies(const Options& options, scheduling::Schedule& schedule) {
  if (options.policies.empty()) return ok_status();
  schedule.policies.clear();
  for (const std::string& text : options.policies) {
    FORETRACE_TRY(auto spec, parse_what_if(text).with_context("--policy"));
    FORETRACE_TRY(auto known, scheduling::find_scheduler(spec.name).with_context("--policy"));
    FORETRACE_TRY(scheduling::make_policy(*known, spec.parameters).with_context("--policy"));
    schedule.policies.push_back({.name = spec.name, .settings = spec.parameters});
  }
  return ok_status();
}

Status write_files(const Options& options, const scheduling::Schedule& schedule,
                   const scheduling::ScheduleRun& run) {
  struct File {
    const std::string& path;
    Status (*fill)(const scheduling::Schedule&, const scheduling::ScheduleRun&, const app::Sink&);
  };
  const File files[] = {{options.events, app::write_schedule_events},
                        {options.jobs, app::write_schedule_jobs},
                        {options.timeline, app::write_schedule_timeline}};
  for (const File& file : files) {
    if (file.path.empty()) continue;
    FORETRACE_TRY(app::write_file(
        file.path, [&](const auto& sink) { return file.fill(schedule, run, sink); }));
  }
  if (options.picture.empty()) return ok_status();
  return app::write_file(options.picture, app::schedule_picture(schedule, run));
}

/// Files tell of one policy, and are none of those that the run was read from.
Status check_files(const Options& options, const scheduling::Schedule& schedule) {
  const std::array outputs = {options.events, options.jobs, options.timeline, options.picture};
  const bool writes = std::any_of(outputs.begin(), outputs.end(),
                                  [](const std::string& output) { return !output.empty(); });
  if (writes && schedule.policies.size() != 1) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("schedule: --events, --jobs, --timeline and --svg show one policy, "
                             "got {}; name one with --policy",
                             schedule.policies.size())};
  }
  if (writes && schedule.placements.size() != 1) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("schedule: --events, --jobs, --timeline and --svg show one placement, "
                             "got {}; name one in the file",
                             schedule.placements.size())};
  }
  std::vector<std::string> inputs = schedule.files;
  inputs.push_back(options.path);
  return app::check_outputs(outputs, inputs);
}

/// What has gone to `simulate` still runs here. It has no policies, and nothing to draw.
app::Exit run_without_jobs(const Options& options, const FileKind& kind) {
  const std::array outputs = {options.events, options.jobs, options.timeline, options.picture};
  const bool writes = std::any_of(outputs.begin(), outputs.end(),
                                  [](const std::string& output) { return !output.empty(); });
  if (writes || !options.policies.empty()) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("schedule: {} contains no jobs; --policy, --events, "
                             "--jobs, --timeline and --svg apply to jobs",
                             options.path)};
  }
  app::warn_with_answer(
      fmt::format("{0} contains {1}: run it with `{2} {0}`; `schedule` simulates jobs",
                  options.path, kind.holds, kind.command));
  return app::answer_file(kind, options.path, options.common);
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(const auto kind, schedule_file_kind(options.path));
  if ((kind)->command != "schedule") return run_without_jobs(options, *kind);
  FORETRACE_TRY(auto schedule, scheduling::read_schedule(options.path));
  FORETRACE_TRY(replace_policies(options, schedule));
  FORETRACE_TRY(check_files(options, schedule));
  FORETRACE_TRY(const auto runs, scheduling::run_schedule(schedule));
  FORETRACE_TRY(write_files(options, schedule, runs.front()));
  return app::answer(report::schedule_page({schedule, runs}), options.common);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("RUN", options.path, "jobs on a cluster (schema foretrace.schedule/1)").required();
  cli.add_option("--policy", options.policies,
                 "a policy instead of those of the file, NAME[:key=value,...]; may be repeated")
      .type_name("POLICY");
  cli.add_option("--events", options.events, "what happened when, as CSV").type_name("FILE");
  cli.add_option("--jobs", options.jobs, "what happened to every job, as CSV").type_name("FILE");
  cli.add_option("--timeline", options.timeline, "which job ran where, for a trace viewer")
      .type_name("FILE");
  cli.add_option("--svg", options.picture, "the same as a picture").type_name("FILE");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples({{"foretrace schedule examples/recipes/schedule/heterogeneous.json",
                     "how long jobs take on a mixed cluster under several policies"},
                    {"foretrace schedule examples/recipes/schedule/heterogeneous.json --policy "
                     "srtf --svg run.svg",
                     "one policy, and a picture of which job ran where"}});
}

}  // namespace

extern constexpr CommandInfo info = {"schedule", app::Group::plan,
                                     "simulate jobs on a cluster under scheduling policies",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::schedule_parts
