// From a trace file to a task graph, with everything that was learnt on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "models/accelerator.h"
#include "sim/core/result.h"
#include "trace/build_graph.h"
#include "trace/events.h"
#include "trace/import_report.h"

namespace foretrace::driver {

struct LoadOptions {
  bool strict = false;  ///< any dropped event is an error
  trace::BuildOptions build;
  bool memory_graph = false;  ///< a timeline of memory alone becomes a graph of tensors
  /// Called now and then with bytes read and the file's size (0 if unknown).
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

/// A recorded run: its events, its graph, and the accelerator it ran on where that is known.
struct Recording {
  std::string path;
  trace::EventTable events;
  trace::ImportReport report;
  trace::BuiltGraph built;
  std::optional<Accelerator> accelerator;

  [[nodiscard]] const TaskGraph& graph() const { return built.graph; }
};

[[nodiscard]] Result<Recording> load(const std::string& path, const LoadOptions& options = {});

}  // namespace foretrace::driver
