// Evidence: how far predicted steps were off where somebody measured them, from configs/evidence.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/transformer.h"
#include "sim/core/ranged.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view evidence_schema = "foretrace.evidence/1";

/// What kinds of step are off by different amounts.
enum class MeasuredKind : std::uint8_t { training, expert_training, prompts, decoding };
inline constexpr std::size_t measured_kind_count = 4;
[[nodiscard]] std::string_view to_string(MeasuredKind kind);
[[nodiscard]] MeasuredKind measured_kind(const TransformerSpec& model, Pass pass);

/// Programs of one framework on one accelerator.
struct EvidenceFamily {
  std::string framework;
  std::string accelerator;
  std::uint32_t cells = 0;        ///< different configurations
  std::uint32_t least_ranks = 1;  ///< of those
  std::uint32_t most_ranks = 1;
  Ranged factor;  ///< eight of ten measured steps are the prediction times low to high
};

struct EvidenceKind {
  std::vector<EvidenceFamily> families;
  /// For a family that is not among them: a step is up to this many times as long or as short.
  double new_family = 1;
  /// Four families or more: with fewer nothing says what a new one is off by.
  [[nodiscard]] bool knows_new() const { return families.size() >= 4; }
};

struct Evidence {
  std::array<EvidenceKind, measured_kind_count> kinds;
  [[nodiscard]] const EvidenceKind& of(MeasuredKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
};

/// A step that is predicted.
struct EvidenceCase {
  std::string_view framework;
  std::string_view accelerator;
  std::uint32_t ranks = 1;
};
/// What its range is, as factors of the step around 1, and on what it rests, in words.
struct EvidenceRange {
  Ranged factor;
  std::string basis;
};
/// The range of its family. A case that no family holds, or that has fewer or more ranks than any of
/// its family, has that of a new family, wider with each of framework, accelerator and ranks that
/// is new.
[[nodiscard]] EvidenceRange evidence_range(const EvidenceKind& kind, const EvidenceCase& asked);

/// What the framework's file states of its own steps, else what the evidence says; nothing for a
/// file that stands alone and states nothing.
[[nodiscard]] std::optional<EvidenceRange> evidence_range(const Framework& framework,
                                                          MeasuredKind kind,
                                                          std::string_view accelerator,
                                                          std::uint32_t ranks);

[[nodiscard]] Result<Evidence> parse_evidence(std::string_view text, const std::string& where);
/// Of a catalogue's folder; null where it has none.
[[nodiscard]] Result<std::shared_ptr<const Evidence>> find_evidence(const Catalogue& catalogue);

}  // namespace foretrace
