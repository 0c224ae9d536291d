// Which trace was read, what was damaged in it, and what its graph is.
#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {

Sections recording(const ResultAnswer& answer) {
  const Recording& recording = answer.session.recording();
  Section input = input_section(recording.path, recording.events.info);
  input.datum("accelerator",
              recording.accelerator ? Value::words(recording.accelerator->name) : Value::none());
  input.datum("accelerator_note", Value::words(recording.accelerator_note));
  return {std::move(input), import_section(recording.report), trace_section(recording)};
}

Sections replay_row(const ResultAnswer& answer) {
  return {replay_section(answer.session.replay())};
}

Sections flags(const ResultAnswer& answer) {
  return {flags_section(answer.session.recording().built)};
}

Sections graph(const ResultAnswer& answer) {
  const Recording& recording = answer.session.recording();
  const std::uint64_t dependencies = recording.graph().topology().dependency_count();
  Section section{.key = "graph"};
  section.line("graph",
               fmt::format("{}, {} dependencies", plural(recording.graph().size(), "task"),
                           count_text(dependencies)),
               Show::details);
  section.datum("tasks", Value::count(recording.graph().size()));
  section.datum("dependencies", Value::count(dependencies));
  if (!recording.built.memory_note.empty()) {
    section.datum("memory_rests_on", Value::words(recording.built.memory_note));
  }
  section.datum("warnings", Value::texts(recording.built.warnings));
  return {std::move(section)};
}

Sections timeline(const ResultAnswer& answer) {
  if (answer.timeline.empty()) {
    return {};
  }
  Section section{.key = "timeline"};
  section.notes.push_back(
      {fmt::format("timeline written to {}; open it at ui.perfetto.dev", answer.timeline), ""});
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
