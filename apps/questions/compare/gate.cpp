#include "apps/questions/compare/gate.h"

#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/core/settings_text.h"

namespace foretrace {
namespace {

constexpr std::string_view gate_form = "expected a share such as step=+3%,memory=+5%";

Result<double> gate_share(const std::string& figure, std::string_view text) {
  const auto wrong = [&] {
    return Error{ErrorCode::bad_usage,
                 fmt::format("gate: {}: got '{}', {}", figure, text, gate_form)};
  };
  std::string_view digits = text;
  if (digits.empty() || digits.back() != '%') return wrong();
  digits.remove_suffix(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double percent = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return wrong();
  if (digits.size() < text.size() - 1 && digits.starts_with('-')) return wrong();  // "+-3%"
  if (!std::isfinite(percent) || percent <= -100) return wrong();
  return percent / 100;
}

Result<GateFigure> gate_figure(const std::string& name) {
  for (const GateFigure figure : {GateFigure::step, GateFigure::memory}) {
    if (name == to_string(figure)) return figure;
  }
  return Error{ErrorCode::bad_usage,
               fmt::format("gate: unknown figure '{}', expected step or memory", name)};
}

}  // namespace

std::string_view to_string(GateFigure figure) {
  return figure == GateFigure::step ? "step" : "memory";
}

Result<std::vector<Gate>> parse_gates(std::string_view text) {
  FORETRACE_TRY(const NamedSettings settings,
                parse_named_settings("gate", "gate:" + std::string(text)));
  std::vector<Gate> gates;
  for (const auto& [name, value] : settings.parameters) {
    FORETRACE_TRY(const GateFigure figure, gate_figure(name));
    FORETRACE_TRY(const double share, gate_share(name, value));
    gates.push_back({figure, share});
  }
  if (gates.empty()) {
    return Error{ErrorCode::bad_usage, fmt::format("gate: got '', {}", gate_form)};
  }
  return gates;
}

double GateCheck::change() const {
  return static_cast<double>(after - before) / static_cast<double>(before);
}

bool GateCheck::holds() const {
  const auto was = static_cast<double>(before);
  // What is as long as allowed passes, also where the product is rounded.
  return static_cast<double>(after) <= was + was * gate.share + was * 1e-12;
}

Result<std::vector<GateCheck>> check_gates(const Comparison& comparison,
                                           std::span<const Gate> gates) {
  std::vector<GateCheck> checks;
  for (const Gate& gate : gates) {
    GateCheck check{gate, comparison.before_ns, comparison.after_ns};
    if (gate.figure == GateFigure::memory) {
      check.before = comparison.peak ? comparison.peak->before_bytes : 0;
      check.after = comparison.peak ? comparison.peak->after_bytes : 0;
    }
    if (check.before <= 0 || check.after <= 0) {
      return Error{ErrorCode::no_match, fmt::format("gate: {}: {}", to_string(gate.figure),
                                                    gate.figure == GateFigure::memory
                                                        ? "expected tensors in both recordings"
                                                        : "expected a step in both recordings")};
    }
    checks.push_back(check);
  }
  return checks;
}

}  // namespace foretrace
