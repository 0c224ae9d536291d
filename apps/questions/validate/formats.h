// What becomes of every file of a folder: read, by which reader, with what left out, how fast; or
// refused, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "trace/table/import_report.h"

namespace foretrace {

/// One file.
struct FormatRow {
  std::string file;     ///< relative to the folder
  std::string format;   ///< reader; empty: refused
  std::string refusal;  ///< why, without the path
  trace::ImportReport report;
  std::uint64_t rows = 0;  ///< events with a duration, or nodes
  std::uint64_t kernels = 0;
  std::uint64_t operations = 0;        ///< kernels, copies and sets
  std::uint64_t ranks = 0;             ///< processes with device work; 0: none
  double seconds = 0;                  ///< to read it
  std::optional<double> span_error{};  ///< of the replay: simulated / measured - 1
  std::string no_replay{};             ///< why there is none

  /// Decompressed MB per second; 0 if unknown.
  [[nodiscard]] double speed() const;
};

/// Every file below a folder, by name.
[[nodiscard]] Result<std::vector<FormatRow>> format_table(const std::string& folder);

}  // namespace foretrace
