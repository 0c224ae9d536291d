// Evidence: how far predictions were off where somebody measured, from configs/evidence.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/ranged.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view evidence_schema = "foretrace.evidence/1";

/// What is off by different amounts. Collectives by the size of their buffer: as the model of a
/// machine has them, and between sizes of a curve that was measured of it.
enum class MeasuredKind : std::uint8_t {
  training,
  expert_training,
  prompts,
  decoding,
  memory,
  small_collectives,
  medium_collectives,
  large_collectives,
  small_curves,
  medium_curves,
  large_curves
};
inline constexpr std::size_t measured_kind_count = 11;
[[nodiscard]] std::string_view to_string(MeasuredKind kind);
/// Buffers of so many bytes and more are medium, and large.
inline constexpr std::array<double, 2> collective_class_bytes = {1024.0 * 1024, 64.0 * 1024 * 1024};
[[nodiscard]] MeasuredKind measured_kind(double collective_bytes, bool is_curve);

/// What the families of a kind are told apart by: "framework" and "accelerator", of collectives
/// "machine" and "collective".
struct FamilyAxes {
  std::string_view first;
  std::string_view second;
};
[[nodiscard]] FamilyAxes axes_of(MeasuredKind kind);

/// Programs of one framework on one accelerator, or one collective of one machine.
struct EvidenceFamily {
  std::string first;
  std::string second;
  std::uint32_t cells = 0;        ///< different configurations
  std::uint32_t least_ranks = 1;  ///< of those
  std::uint32_t most_ranks = 1;
  std::vector<std::string> publishers;  ///< who measured them, by name; empty: not kept
  /// Eight of ten measured figures are the prediction times low to high, half of them are below
  /// typical.
  Ranged factor{1, 1, 1};
};

/// With fewer nothing says what a new one is off by: the largest of n holds the next n times in
/// n + 1, and eight of ten are asked for.
inline constexpr std::size_t least_families = 4;

struct EvidenceKind {
  FamilyAxes axes{"framework", "accelerator"};
  std::vector<EvidenceFamily> families;
  /// For a family that is not among them: up to this many times as much or as little.
  double new_family = 1;
  [[nodiscard]] bool knows_new() const { return families.size() >= least_families; }
};

struct Evidence {
  std::array<EvidenceKind, measured_kind_count> kinds;
  [[nodiscard]] const EvidenceKind& of(MeasuredKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
};

/// What is predicted.
struct EvidenceCase {
  std::string_view first;
  std::string_view second;
  std::uint32_t ranks = 1;
};
/// How far it may be off, as factors around 1, and on what that rests, in words.
struct EvidenceRange {
  Ranged factor;
  std::string basis;
  bool is_new = false;  ///< no family holds the case
};
/// The range of its family; the basis tells where measured figures of that lie to one side. A case
/// that no family holds, or that has fewer or more ranks than any of its family, has that of a new
/// family, wider with each axis that is new; no less than its framework has on other accelerators.
[[nodiscard]] EvidenceRange evidence_range(const EvidenceKind& kind, const EvidenceCase& asked);

[[nodiscard]] Result<Evidence> parse_evidence(std::string_view text, const std::string& where);
/// Of a folder of configs; null where it has none.
[[nodiscard]] Result<std::shared_ptr<const Evidence>> read_evidence(const std::string& directory);

}  // namespace foretrace
