// What a comparison was asked to hold: each gate, and whether it does.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/report/pages/compare.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

std::string amount_text(const GateCheck& check, std::int64_t amount) {
  return check.gate.figure == GateFigure::step
             ? time_text(amount, std::max(check.before, check.after))
             : bytes_text(amount);
}

std::string allowed_text(const Gate& gate) {
  return fmt::format("{}{:g} %", gate.share < 0 ? "" : "+", 100 * gate.share);
}

/// "step 10.0 ms -> 11.0 ms (+10.0 %, allowed +3 %)"
std::string broken_text(const GateCheck& check) {
  return fmt::format("{} {} -> {} ({}, allowed {})", to_string(check.gate.figure),
                     amount_text(check, check.before), amount_text(check, check.after),
                     change_text(check.after, check.before), allowed_text(check.gate));
}

std::string gate_headline(const std::vector<GateCheck>& gates) {
  std::string broken;
  for (const GateCheck& check : gates) {
    if (check.holds()) continue;
    broken += (broken.empty() ? "" : ", ") + broken_text(check);
  }
  return broken.empty() ? "gate passed" : "gate broken: " + broken;
}

}  // namespace

Sections compared_gates(const CompareAnswer& answer) {
  if (answer.gates.empty()) return {};
  Section section{.key = "gates", .headline = gate_headline(answer.gates)};
  Table table{.key = "gates",
              .title = "gates",
              .columns = {{"figure"},
                          {.title = "before"},
                          {.title = "after"},
                          {"change", "change"},
                          {"allowed", "allowed"},
                          {"holds", "holds"}}};
  for (const GateCheck& check : answer.gates) {
    const bool is_step = check.gate.figure == GateFigure::step;
    table.add({Value::words(to_string(check.gate.figure)),
               Value::words(amount_text(check, check.before))
                   .from(is_step ? "/before_ns" : "/memory/before_peak_bytes"),
               Value::words(amount_text(check, check.after))
                   .from(is_step ? "/after_ns" : "/memory/after_peak_bytes"),
               Value::share(check.change()).as(change_text(check.after, check.before)),
               Value::share(check.gate.share).as(allowed_text(check.gate)),
               Value::flag(check.holds())});
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
