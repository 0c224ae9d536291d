// How much worse a run may be than the one before: what a gate in front of a merge asks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apps/questions/compare/compare.h"
#include "sim/core/result.h"

namespace foretrace {

enum class GateFigure : std::uint8_t { step, memory };
[[nodiscard]] std::string_view to_string(GateFigure figure);

/// By how much a figure may grow at most, of what it was before; below 0: it has to fall.
struct Gate {
  GateFigure figure = GateFigure::step;
  double share = 0;
};

/// "step=+3%,memory=+5%". Errors: no such figure, one twice, no share.
[[nodiscard]] Result<std::vector<Gate>> parse_gates(std::string_view text);

/// A gate and what it found.
struct GateCheck {
  Gate gate;
  std::int64_t before = 0;  ///< ns or bytes
  std::int64_t after = 0;

  [[nodiscard]] double change() const;  ///< of before
  [[nodiscard]] bool holds() const;
};

/// In the order of the gates. Error: one of the runs does not have such a figure.
[[nodiscard]] Result<std::vector<GateCheck>> check_gates(const Comparison& comparison,
                                                         std::span<const Gate> gates);

}  // namespace foretrace
