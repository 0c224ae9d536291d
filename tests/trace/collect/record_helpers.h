// Recordings made by hand, through the writer's thread and the reader.
#pragma once

#include <string>
#include <string_view>

#include "tests/trace/formats/write_helpers.h"
#include "trace/collect/record_writer.h"
#include "trace/collect/recording.h"

namespace foretrace::trace::collector {

/// The table of a recording without a file.
[[nodiscard]] inline LoadedTrace table_of(const Recording& recording) {
  LoadedTrace trace;
  fill_table(recording, trace);
  return trace;
}

/// A number for the text.
[[nodiscard]] inline TextNumber add_text(Recording& recording, std::string_view text) {
  if (recording.texts.empty()) {
    recording.texts.emplace_back();
  }
  recording.texts.emplace_back(text);
  return static_cast<TextNumber>(recording.texts.size() - 1);
}

[[nodiscard]] inline RecordSink sink_to(std::string& file) {
  return [&file](std::string_view bytes, std::size_t) {
    file += bytes;
    return 0;
  };
}

}  // namespace foretrace::trace::collector
