// How far the phases agree with evidence they were not allowed to use, and how much they cover.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "trace/annotate/evidence.h"

namespace foretrace::trace {

/// annotate() with one kind of evidence left out.
[[nodiscard]] Annotation annotate_without(const EventTable& events, PhaseEvidence left_out);

/// What one kind of evidence says against what all the others say. Operators and device work
/// count; communication does not, because it is recognized by name on both sides.
struct Confusion {
  struct Cell {
    std::uint64_t count = 0;     ///< operators and device events
    std::int64_t device_ns = 0;  ///< durations of the device events among them
  };
  PhaseEvidence kind = PhaseEvidence::none;
  /// [phase that only this evidence gives][phase found without it]
  std::array<std::array<Cell, phase_count>, phase_count> cells{};

  [[nodiscard]] Cell agreed() const;
  [[nodiscard]] Cell disagreed() const;
  [[nodiscard]] Cell undecided() const;  ///< found nothing without this evidence
  Confusion& operator+=(const Confusion& other);
};

/// agreed / (agreed + disagreed); 1 if neither occurs.
[[nodiscard]] double agreement_by_count(const Confusion& confusion);
[[nodiscard]] double agreement_by_time(const Confusion& confusion);

[[nodiscard]] Confusion compare_without(const EventTable& events, PhaseEvidence kind);

inline constexpr std::size_t phase_evidence_count =
    static_cast<std::size_t>(PhaseEvidence::twin) + 1;

/// Device time that has a phase and, of forward and backward work, a layer.
struct Coverage {
  std::int64_t device_ns = 0;
  std::array<std::int64_t, phase_count> by_phase_ns{};
  std::array<std::int64_t, phase_evidence_count> by_evidence_ns{};
  std::int64_t model_ns = 0;          ///< forward and backward
  std::int64_t model_layered_ns = 0;  ///< of these with a layer
};
[[nodiscard]] Coverage coverage_of(const EventTable& events, const Annotation& annotation);

}  // namespace foretrace::trace
