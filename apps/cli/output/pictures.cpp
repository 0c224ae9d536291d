#include "apps/cli/output/pictures.h"

#include <vector>

#include <fmt/format.h>

#include "apps/cli/output/outputs.h"
#include "apps/report/svg/memory_picture.h"
#include "apps/report/svg/timeline_picture.h"
#include "apps/report/text.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::app {
namespace {

/// A simulated run, and what it is called.
struct PicturedRun {
  std::string label;
  const TaskGraph& graph;
  const Run& run;
  const HeldMemory& memory;
};

Status draw_memory(const std::string& path, std::string_view title,
                   std::span<const PicturedRun> runs) {
  std::vector<svg::MemoryPanel> panels;
  for (const PicturedRun& run : runs) {
    for (const MemoryCurve& curve : run.memory.curves) {
      std::string name = run.label.empty() ? std::string(title) : run.label;
      if (run.memory.curves.size() > 1) {
        name += fmt::format(", rank {}, device {}", curve.rank, curve.device);
      }
      panels.push_back({std::move(name), "", run.graph, curve, run.run.timeline.span_ns});
    }
  }
  if (panels.empty()) {
    return Error{ErrorCode::no_match,
                 "--memory-svg: the trace records no device memory; record with "
                 "profile_memory=True, or with record_shapes=True for an estimate"};
  }
  return write_file(path, svg::memory_picture(panels));
}

/// What the picture shows, in one sentence.
std::string sentence(const Session& session, const Answer* answer) {
  const std::string_view unit = session.run().answer.is_span ? "run" : "step";
  const std::string now = report::time_text(session.step_ns());
  if (answer != nullptr) {
    return fmt::format("With {} a {} takes {} instead of {}", answer->name(), unit,
                       report::time_text(answer->step_ns(), session.step_ns()), now);
  }
  const Breakdown& parts = session.analysis().breakdown;
  return fmt::format("A {} takes {}: the GPU computes for {} and waits {} for the CPU", unit, now,
                     report::time_text(parts.compute_ns, session.step_ns()),
                     report::time_text(parts.host_bound_ns, session.step_ns()));
}

Result<std::int64_t> measured_step(const PictureOptions& options) {
  if (options.measured.empty()) return std::int64_t{0};
  const Result<double> step = parse_quantity(options.measured, ParamType::time);
  if (step.ok() && !options.timeline.empty() && *step >= 1 && *step < 1e17) return to_whole(*step);
  return Error{ErrorCode::bad_usage,
               step.ok() && options.timeline.empty()
                   ? std::string("--measured-step marks a step in a picture; add --svg FILE")
                   : fmt::format("--measured-step: got {}, expected a time such as '6.09 ms'",
                                 in_quotes(options.measured))};
}

}  // namespace

void add_pictures(Arguments& app, PictureOptions& options) {
  app.add_option("--svg", options.timeline,
                 "draw two steps of the simulated timeline as a picture (SVG)")
      .type_name("FILE");
  app.add_option("--measured-step", options.measured,
                 "with --svg: mark what a step of the changed run was measured to take")
      .type_name("TIME");
  app.add_option("--memory-svg", options.memory,
                 "draw device memory over time, stacked by category (SVG)")
      .type_name("FILE");
}

Status draw_pictures(const PictureOptions& options, const Session& session, const Answer* answer) {
  FORETRACE_TRY(const std::int64_t measured_ns, measured_step(options));
  if (options.timeline.empty() && options.memory.empty()) return ok_status();
  const std::string_view title = file_name_of(session.recording().path);
  std::vector<PicturedRun> runs = {
      {"as recorded", session.graph(), session.run(), session.memory()}};
  if (answer != nullptr) {
    runs.push_back({"with " + answer->name(), answer->graph(), answer->run(), answer->memory()});
  }
  if (!options.timeline.empty()) {
    std::vector<svg::TimelineView> views;
    views.reserve(runs.size());
    for (const PicturedRun& run : runs) {
      views.push_back({run.label,
                       fmt::format("{}{}", report::time_text(run.run.answer.step_ns),
                                   run.run.answer.is_span ? " in all" : " per step"),
                       run.graph, run.run.timeline, run.memory.curves});
    }
    svg::TimelinePicture picture;
    picture.title = sentence(session, answer);
    picture.subtitle = std::string(title);
    picture.measured_step_ns = measured_ns;
    FORETRACE_TRY(write_file(options.timeline, svg::timeline_picture(picture, views)));
  }
  return options.memory.empty() ? ok_status() : draw_memory(options.memory, title, runs);
}

}  // namespace foretrace::app
