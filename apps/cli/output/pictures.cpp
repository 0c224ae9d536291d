#include "apps/cli/output/pictures.h"

#include <vector>

#include <fmt/format.h>

#include "apps/cli/output/outputs.h"
#include "apps/report/svg/memory_picture.h"
#include "apps/report/svg/timeline_picture.h"
#include "apps/report/text.h"
#include "sim/core/text.h"

namespace foretrace::app {
namespace {

Status write(const std::string& path, const std::string& picture) {
  return write_file(path, [&](const std::function<bool(std::string_view)>& sink) {
    return sink(picture) ? ok_status()
                         : Status(Error{ErrorCode::io, "the picture could not be written"});
  });
}

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
                 "--memory-svg: the trace tells nothing of device memory; record it with "
                 "profile_memory=True, or shapes with record_shapes=True"};
  }
  return write(path, svg::memory_picture(panels));
}

}  // namespace

void add_pictures(Arguments& app, PictureOptions& options) {
  app.add_option("--svg", options.timeline,
                 "draw two steps of the simulated timeline as a picture (SVG)")
      .type_name("FILE");
  app.add_option("--memory-svg", options.memory,
                 "draw device memory over time, stacked by what it holds (SVG)")
      .type_name("FILE");
}

Status draw_pictures(const PictureOptions& options, const Session& session, const Answer* answer) {
  if (options.timeline.empty() && options.memory.empty()) return ok_status();
  const std::string_view title = file_name_of(session.recording().path);
  std::vector<PicturedRun> runs = {
      {"as recorded", session.graph(), session.run(), session.memory()}};
  if (answer != nullptr) {
    runs.push_back({"with " + answer->name(), answer->graph(), answer->run(), answer->memory()});
  }
  if (!options.timeline.empty()) {
    std::vector<svg::TimelineView> views;
    for (const PicturedRun& run : runs) {
      views.push_back({run.label,
                       fmt::format("{}{}", report::time_text(run.run.answer.step_ns),
                                   run.run.answer.is_span ? " in all" : " per step"),
                       run.graph, run.run.timeline, run.memory.curves});
    }
    svg::TimelinePicture picture;
    picture.title = std::string(title);
    FORETRACE_TRY(write(options.timeline, svg::timeline_picture(picture, views)));
  }
  return options.memory.empty() ? ok_status() : draw_memory(options.memory, title, runs);
}

}  // namespace foretrace::app
