// Phases, layers and steps of a trace: which part of training and of the model an event belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/task.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// A module of the model as the trace shows it. Index 0 is "no layer".
struct ModuleInfo {
  std::string name;  ///< "ResNet_0/Conv2d_0"
  std::uint32_t parent = 0;
};

/// A named stretch of host time below the step marks. Loader and optimizer ranges and outermost
/// operators are one region each; other annotations and modules give what those leave of them, so
/// the regions of a track never overlap.
struct HostRegion {
  TrackId track{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  NameId name{};
  Phase phase = Phase::unknown;
  std::uint32_t layer = 0;
};

struct StepWindow {
  std::int32_t rank = 0;
  TrackId track{};
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// A first or last window in which the profiler was just starting or stopping: no step of the
  /// workload. Leave it out of medians and step counts.
  bool degenerate = false;
};

/// Why a phase was given. Ranges nest: the innermost evidence wins, except that forward evidence
/// inside an autograd node is recomputation and stays backward.
enum class PhaseEvidence : std::uint8_t {
  none,
  annotation,     ///< a record_function range that names the phase
  optimizer,      ///< Optimizer.step#X / Optimizer.zero_grad#X ranges
  loader,         ///< enumerate(DataLoader)#..., __next__
  autograd,       ///< autograd node, backward operator, or a thread that runs autograd nodes
  flow,           ///< forward -> backward flow or sequence number
  module,         ///< inside an nn.Module frame
  python_frame,   ///< a Python frame of torch.optim, torch.autograd, torch.utils.data, ...
  operator_name,  ///< an operator that only one phase uses: _fused_adam_, _foreach_..., _amp_...
  collective,     ///< NCCL/RCCL kernels and the calls around them
  context,        ///< between two pieces of evidence of its thread or stream in the step
  twin            ///< device work without a launch: equal work has this phase everywhere else
};
[[nodiscard]] std::string_view to_string(PhaseEvidence evidence);

struct Annotation {
  std::vector<Phase> phase;             ///< per event; device events inherit from their launch
  std::vector<PhaseEvidence> evidence;  ///< per event
  std::vector<std::uint32_t> layer;     ///< per event: index of modules; 0 none
  std::vector<EventId> operator_event;  ///< per event: innermost cpu_op on its thread around it
                                        ///< (device events: around their launch); none if none
  std::vector<ModuleInfo> modules;
  std::vector<HostRegion> regions;  ///< top-level regions, sorted by (track, start)
  std::vector<StepWindow> steps;    ///< sorted by (rank, start)
  std::string steps_note;           ///< how steps were found where nothing marks them; else empty
};

/// Attributes every event. Deterministic; never fails: what it cannot tell is unknown.
[[nodiscard]] Annotation annotate(const EventTable& events);

}  // namespace foretrace::trace
