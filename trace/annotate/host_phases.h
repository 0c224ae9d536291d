// Phases of host events from what encloses them.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/annotate/evidence.h"
#include "trace/annotate/names.h"
#include "trace/annotate/nesting.h"
#include "trace/annotate/sequence.h"

namespace foretrace::trace {

/// What the passes of an annotation share.
struct Attribution {
  const EventTable& events;
  EvidenceSet use;
  Nesting nesting;
  NameMeanings meanings;
  AutogradLinks links;
  std::vector<bool> is_autograd_track{};  ///< per track: runs the backward and nothing else
  std::vector<bool> is_training{};        ///< per track: its rank shows a backward or an update
  Annotation result{};
};

/// Collects nesting, names and links, and sizes the result.
[[nodiscard]] Attribution start_attribution(const EventTable& events, EvidenceSet use);

/// Gives every host event the phase of the innermost evidence around it, and finds the ranks that
/// train.
void attribute_host_phases(Attribution& attribution);

/// Innermost cpu_op per host event.
void attribute_operators(Attribution& attribution);

}  // namespace foretrace::trace
