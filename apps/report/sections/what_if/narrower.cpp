// Which further measurement makes the range of a prediction narrower.
#include "apps/session/narrower.h"

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

Value range_value(const Measurement& row) {
  return Value::object({{"low_ns", Value::time(row.low_ns)},
                        {"high_ns", Value::time(row.high_ns)},
                        {"width", Value::share(row.width)}});
}

/// "unprofiled step makes it 37.60 .. 50.90 ms, 48.2 % as wide".
std::string best_text(const NarrowerAnswer& narrower, std::int64_t scale) {
  constexpr double half = 0.5;
  if (narrower.rows.empty()) return "no further measurement does: only a recording of the change";
  const Measurement& best = narrower.rows.front();
  const std::string range = time_range_text(best.low_ns, best.high_ns, scale);
  return fmt::format("{} ({}): {}, {} as wide{}", best.name, best.how, range,
                     percent_text(best.width),
                     best.width <= half                ? ""
                     : narrower.together.width <= half ? "; all together halve it"
                                                       : "; none halves it");
}

}  // namespace

Sections narrower(const ResultAnswer& answer) {
  if (answer.narrower == nullptr || answer.predicted == nullptr) return {};
  const NarrowerAnswer& narrower = *answer.narrower;
  const std::int64_t before = answer.session.step_ns();
  Section section{.key = "narrower", .path = "narrower", .title = "a narrower range"};
  section.line("measure", best_text(narrower, before));
  section.datum("together", range_value(narrower.together));
  Table table{.key = "measurements",
              .title = "if measured as predicted",
              .columns = {{"name"},
                          {"low_ns", "", Show::never},
                          {"high_ns", "", Show::never},
                          {"", "range"},
                          {"width", "width"},
                          {.key = "how", .title = "how", .is_prose = true}}};
  const auto add = [&table, before](const Measurement& row, bool is_for_pages) {
    table.rows.push_back(
        {.cells = {Value::words(row.name), Value::time(row.low_ns), Value::time(row.high_ns),
                   Value::words(time_range_text(row.low_ns, row.high_ns, before)),
                   Value::share(row.width), Value::words(row.how)},
         .is_for_pages = is_for_pages});
  };
  for (const Measurement& row : narrower.rows) add(row, false);
  if (narrower.rows.size() > 1) {
    Measurement all = narrower.together;
    all.name = "all together";
    add(all, true);
  }
  section.tables.push_back(std::move(table));
  section.note(
      "width: of the range on a logarithmic scale, afterwards over now; what remains is what "
      "differs from run to run and with the size of the change");
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
