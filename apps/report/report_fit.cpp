// The page of `whatif --fit`.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_answers.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::FitAnswer;
using driver::FitSet;

// Longer lists are cut; --json has them whole.
constexpr std::size_t longest_list = 8;

/// Members of a set, each with the what-if that goes with it on a row of its own.
std::vector<std::string> rows_of(const FitAnswer& answer, const FitSet& set) {
  std::vector<std::string> rows;
  for (const std::size_t number : set.choices) {
    for (const std::string& text : answer.choices[number].texts) {
      const bool is_companion = &text != answer.choices[number].texts.data();
      rows.push_back((rows.empty() ? "  " : is_companion ? "    with " : "  + ") + text);
    }
  }
  return rows;
}

std::string choice_text(const driver::FitChoice& choice) {
  return fmt::format("{}", fmt::join(choice.texts, " with "));
}

std::string set_text(const FitAnswer& answer, const FitSet& set) {
  std::string text;
  for (const std::size_t number : set.choices) {
    text += (text.empty() ? "" : " + ") + choice_text(answer.choices[number]);
  }
  return text;
}

std::string need_text(const FitAnswer& answer, const FitSet& set) {
  return bytes_text(answer.target.needed_bytes(set.need));
}

/// One row of figures, and below it a row per further member.
void add_set(Table& table, const FitAnswer& answer, const FitSet& set) {
  const std::int64_t before = answer.now.step_ns;
  std::vector<std::string> rows = rows_of(answer, set);
  if (rows.empty()) rows.emplace_back("  (nothing)");
  table.row({rows[0], time_text(set.step_ns, before),
             set.choices.empty() ? "" : change_text(set.step_ns, before), need_text(answer, set),
             need_range_text(answer.target, set.need)});
  for (std::size_t i = 1; i < rows.size(); ++i) {
    table.row({rows[i], "", "", "", ""});
  }
}

void add_part(Table& table, std::string_view title) { table.row({strong(title), "", "", "", ""}); }

std::string searched_text(const FitAnswer& answer) {
  const std::string what =
      fmt::format("{} of at most {}, out of {} that edit tensors", plural(answer.sets, "set"),
                  plural(answer.most_members, "what-if"), plural(answer.choices.size(), "setting"));
  return answer.is_complete
             ? fmt::format("{}, all of them tried; {} fit", what, count_text(answer.fitting))
             : fmt::format("{}, the {} most promising tried; {} fit, a better one may be missed",
                           what, count_text(answer.trials), count_text(answer.fitting));
}

/// Those that fit, or those that do not, up to a number.
void add_singles(Table& table, const FitAnswer& answer, bool fitting) {
  std::size_t count = 0;
  for (const FitSet& set : answer.singles) {
    if (set.fits != fitting) continue;
    if (count == 0) add_part(table, fitting ? "each alone, fits" : "each alone, does not fit");
    if (++count <= longest_list) add_set(table, answer, set);
  }
  if (count > longest_list) {
    table.row({fmt::format("  ... {} more", count - longest_list), "", "", "", ""});
  }
}

std::string sets_table(const FitAnswer& answer) {
  Table table({left, right, right, right, left});
  table.row({strong("now"), strong("step"), strong("change"), strong("needs"), strong("between")});
  add_set(table, answer, answer.now);
  if (answer.best) {
    add_part(table, answer.best->choices.size() == 1 ? "least time" : "least time, together");
    add_set(table, answer, *answer.best);
  }
  if (!answer.next.empty()) {
    add_part(table, "next best");
    for (const FitSet& set : answer.next) add_set(table, answer, set);
  }
  if (answer.smallest) {
    add_part(table,
             answer.smallest->fits ? "least memory of all" : "least memory of all, too much");
    add_set(table, answer, *answer.smallest);
  }
  add_singles(table, answer, true);
  add_singles(table, answer, false);
  return table.text(0);
}

/// The command that shows the chosen set in full.
std::string repeat_text(const FitAnswer& answer, std::span<const std::string> stack,
                        const FitSet& set) {
  std::string text = "foretrace whatif TRACE";
  for (const std::string& what_if : driver::with_set(stack, answer, set)) {
    const bool is_plain = what_if.find_first_of(" '&;|<>$*") == std::string::npos;
    text += fmt::format(" --apply {}{}{}", is_plain ? "" : "\"", what_if, is_plain ? "" : "\"");
  }
  return text;
}

}  // namespace

std::string target_text(const driver::MemoryTarget& target) {
  return target.name.empty()
             ? bytes_text(target.capacity_bytes)
             : fmt::format("{} of {}", bytes_text(target.capacity_bytes), target.name);
}

std::string comparison_text(const driver::MemoryTarget& target) {
  return fmt::format(
      "{} with what a fresh process reserves (or the recorded one, if that is less) and {} of "
      "driver context; the range goes from live blocks and {} of context to all that the recorded "
      "process had cached",
      target_text(target), bytes_text(target.context_high_bytes),
      bytes_text(target.context_low_bytes));
}

std::string need_range_text(const driver::MemoryTarget& target, const driver::MemoryNeed& need) {
  return bytes_range_text(target.low_bytes(need), target.high_bytes(need));
}

std::string fit_headline(const FitAnswer& answer) {
  const std::string size = target_text(answer.target);
  if (answer.fits_now()) {
    return fmt::format("fits {} as it is: {} needed", size, need_text(answer, answer.now));
  }
  if (!answer.best) {
    return answer.smallest
               ? fmt::format("nothing fits {}: {} now, {} at least with {}", size,
                             need_text(answer, answer.now), need_text(answer, *answer.smallest),
                             set_text(answer, *answer.smallest))
               : fmt::format("nothing fits {}: {} now, and no what-if here edits tensors", size,
                             need_text(answer, answer.now));
  }
  const FitSet& best = *answer.best;
  return fmt::format("fits {} with {}: {} -> {} needed, {} -> {} ({})", size,
                     set_text(answer, best), need_text(answer, answer.now), need_text(answer, best),
                     time_text(answer.now.step_ns), time_text(best.step_ns, answer.now.step_ns),
                     change_text(best.step_ns, answer.now.step_ns));
}

std::string fit_page(const driver::Recording& recording, const driver::Replay& replay,
                     const FitAnswer& answer, std::span<const std::string> stack) {
  std::string page = paragraph("", fit_headline(answer)) + "\n" +
                     row("trace", trace_text(recording)) + row("replay", replay_headline(replay)) +
                     tensors_row(recording.built) + flag_rows(recording.built.honesty) +
                     row("compared", comparison_text(answer.target));
  if (!answer.fits_now()) {
    page += row("searched", searched_text(answer));
    page += row("equal", fmt::format("steps within {} of the least: fewer what-ifs win",
                                     percent_text(answer.tolerance)));
  }
  page += "\n" + sets_table(answer);
  if (answer.best) {
    page += "\n" + paragraph("  ", repeat_text(answer, stack, *answer.best)) +
            paragraph("  ", "tells more about it: what it rests on, assumes and leaves out");
  }
  return page;
}

}  // namespace foretrace::app
