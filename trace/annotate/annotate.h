// Phases, layers and steps of a trace: which part of training and of the model an event belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/task.h"
#include "trace/events.h"

namespace foretrace::trace {

/// A module of the model as the trace shows it. Index 0 is "no layer".
struct ModuleInfo {
  std::string name;  ///< "ResNet_0/Conv2d_0"
  std::uint32_t parent = 0;
};

/// A named stretch of host time, outermost regions first: loader, optimizer, step, operator.
/// Regions of one track that are not nested in another region of the list ("top level") do not
/// overlap.
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
};

/// Why a phase was given: the strongest evidence wins, in this order.
enum class PhaseEvidence : std::uint8_t {
  none,
  annotation,  ///< a record_function range that names the phase
  optimizer,   ///< Optimizer.step#X / Optimizer.zero_grad ranges
  loader,      ///< enumerate(DataLoader)#..., __next__
  autograd,    ///< autograd node or a thread that runs autograd nodes
  flow,        ///< forward -> backward flow or sequence number
  module,      ///< inside an nn.Module frame
  context      ///< operator before/after the above on the same thread in the step
};
inline constexpr std::size_t phase_evidence_count = 8;

struct Annotation {
  std::vector<Phase> phase;             ///< per event; device events inherit from their launch
  std::vector<PhaseEvidence> evidence;  ///< per event
  std::vector<std::uint32_t> layer;     ///< per event: index of modules; 0 none
  std::vector<EventId> operator_event;  ///< per event: innermost cpu_op on its thread around it
                                        ///< (device events: around their launch); none if none
  std::vector<ModuleInfo> modules;
  std::vector<HostRegion> regions;  ///< top-level regions, sorted by (track, start)
  std::vector<StepWindow> steps;    ///< sorted by (rank, start)
};

/// Attributes every event. Deterministic; never fails: what it cannot tell is unknown.
[[nodiscard]] Annotation annotate(const EventTable& events);

}  // namespace foretrace::trace
