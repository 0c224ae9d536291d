#include "apps/report/sections/energy.h"

#include <fmt/format.h>

namespace foretrace::report {

namespace {

std::string joules_text(double joules) {
  return joules >= 100 ? fmt::format("{:.0f} J", joules) : fmt::format("{:.3g} J", joules);
}

}  // namespace

std::string energy_text(const Energy& energy) {
  return fmt::format("{} per step and device, between {} and {}, {:.0f} W on average; {}",
                     joules_text(energy.joules), joules_text(energy.low_joules),
                     joules_text(energy.high_joules), energy.watts,
                     energy.provenance == Provenance::table
                         ? "by shares of the board's limit that were measured on it"
                         : "assumed: shares of the board's limit as on an H200");
}

Value energy_value(const Energy& energy) {
  return Value::object({{"joules", Value::plain(energy.joules)},
                        {"low_joules", Value::plain(energy.low_joules)},
                        {"high_joules", Value::plain(energy.high_joules)},
                        {"mean_watts", Value::plain(energy.watts)},
                        {"provenance", Value::words(to_string(energy.provenance))}});
}

Section energy_section(const std::string& path, const std::string& label, const Energy& energy) {
  Section section{.key = path + "_energy", .path = path};
  section.datum("energy", energy_value(energy));
  section.line(label, energy_text(energy), Show::details);
  return section;
}

std::string energy_failure_text(const Error& error) { return "left out: " + error.message; }

Section energy_failure(const Error& error) {
  Section section{.key = "energy_failure"};
  section.line("energy", energy_failure_text(error));
  return section;
}

}  // namespace foretrace::report
