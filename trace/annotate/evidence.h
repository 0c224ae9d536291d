// Sets of evidence, and annotation that may use only some of it.
#pragma once

#include <cstdint>

#include "trace/annotate/annotate.h"

namespace foretrace::trace {

/// Which kinds of evidence an annotation may rest on.
class EvidenceSet {
 public:
  [[nodiscard]] static constexpr EvidenceSet all() { return EvidenceSet(~0U); }
  [[nodiscard]] static constexpr EvidenceSet only(PhaseEvidence kind) {
    return EvidenceSet(bit(kind));
  }
  [[nodiscard]] constexpr EvidenceSet with(PhaseEvidence kind) const {
    return EvidenceSet(bits_ | bit(kind));
  }
  [[nodiscard]] constexpr EvidenceSet without(PhaseEvidence kind) const {
    return EvidenceSet(bits_ & ~bit(kind));
  }
  [[nodiscard]] constexpr bool has(PhaseEvidence kind) const { return (bits_ & bit(kind)) != 0; }

 private:
  explicit constexpr EvidenceSet(std::uint32_t bits) : bits_(bits) {}
  [[nodiscard]] static constexpr std::uint32_t bit(PhaseEvidence kind) {
    return 1U << static_cast<unsigned>(kind);
  }
  std::uint32_t bits_;
};

/// annotate() that ignores the evidence outside `use`. For tests of one kind against the others.
[[nodiscard]] Annotation annotate_with(const EventTable& events, EvidenceSet use);

}  // namespace foretrace::trace
