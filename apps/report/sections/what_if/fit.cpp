// The what-ifs that bring a run under the size of a memory, at least time.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

// Longer lists are cut; documents have them whole.
constexpr std::size_t most_fit_rows = 8;

std::string set_text(const FitAnswer& answer, const FitSet& set) {
  std::string text;
  for (const std::size_t number : set.choices) {
    text += fmt::format("{}{}", text.empty() ? "" : " + ",
                        fmt::join(answer.choices[number].texts, " with "));
  }
  return text;
}

std::string need_text(const FitAnswer& answer, const FitSet& set) {
  return (set.need.is_least ? "at least " : "") + bytes_text(answer.target.needed_bytes(set.need));
}

/// "fits", or "may fit" where its own range goes beyond, or not all tensors are known.
std::string verdict_text(const FitAnswer& answer, const FitSet& set) {
  return answer.target.surely_fits(set.need) ? "fits" : "may fit";
}

/// ", up to 26 GiB" where the range of a need goes beyond the size.
std::string beyond_text(const FitAnswer& answer, const FitSet& set) {
  const std::int64_t high = answer.target.high_bytes(set.need);
  return high > answer.target.capacity_bytes ? ", up to " + bytes_text(high) : std::string();
}

std::string fit_headline(const FitAnswer& answer) {
  const std::string size = target_text(answer.target);
  if (answer.fits_now()) {
    return fmt::format("{} {} as it is: {} needed{}", verdict_text(answer, answer.now), size,
                       need_text(answer, answer.now), beyond_text(answer, answer.now));
  }
  if (!answer.best) {
    return answer.smallest
               ? fmt::format("nothing fits {}: {} now; the least found: {} with {}", size,
                             need_text(answer, answer.now), need_text(answer, *answer.smallest),
                             set_text(answer, *answer.smallest))
               : fmt::format("nothing fits {}: {} now, and no applicable what-if changes tensors",
                             size, need_text(answer, answer.now));
  }
  const FitSet& best = *answer.best;
  return fmt::format(
      "{} {} with {}: {} -> {} needed{}, {} -> {} ({}), between {} and {}",
      verdict_text(answer, best), size, set_text(answer, best), need_text(answer, answer.now),
      need_text(answer, best), beyond_text(answer, best), time_text(answer.now.step_ns),
      time_text(best.step_ns, answer.now.step_ns), change_text(best.step_ns, answer.now.step_ns),
      time_text(best.low_ns, answer.now.step_ns), time_text(best.high_ns, answer.now.step_ns));
}

/// What a policy makes of it without any what-if; those that do not get through are left out.
std::string policies_text(const FitAnswer& answer) {
  std::string text;
  for (const BudgetTry& tried : answer.policies) {
    if (!tried.fits) continue;
    text += fmt::format("{}--memory-budget with --when-full {}: {}", text.empty() ? "" : "; ",
                        tried.name, time_text(tried.step_ns, answer.now.step_ns));
  }
  return text;
}

/// Members of a set, each with the what-if that goes with it on a row of its own.
std::vector<std::string> members_of(const FitAnswer& answer, const FitSet& set) {
  std::vector<std::string> members;
  for (const std::size_t number : set.choices) {
    for (const std::string& text : answer.choices[number].texts) {
      const bool is_companion = &text != answer.choices[number].texts.data();
      members.push_back((members.empty() ? "" : is_companion ? "with " : "+ ") + text);
    }
  }
  if (members.empty()) members.emplace_back("(nothing)");
  return members;
}

/// One row of figures, and below it a row per further member.
Row set_row(const FitAnswer& answer, const FitSet& set, Show show) {
  const std::vector<std::string> members = members_of(answer, set);
  const auto what_ifs = with_set(std::span<const std::string>{}, answer, set);
  Row row{.cells = {Value::texts(what_ifs).as(members[0]), Value::time(set.step_ns),
                    set.choices.empty() ? Value{}
                                        : Value::change(change_of(set.step_ns, answer.now.step_ns)),
                    Value::bytes(answer.target.needed_bytes(set.need)),
                    Value::words(need_range_text(answer.target, set.need)), Value::time(set.low_ns),
                    Value::time(set.high_ns), Value::bytes(answer.target.low_bytes(set.need)),
                    Value::bytes(answer.target.high_bytes(set.need)),
                    Value::flag(answer.target.fits(set.need)), need_value(set.need)},
          .show = show};
  for (std::size_t i = 1; i < members.size(); ++i) {
    row.below.push_back({.cells = {Value::words(members[i])}, .is_for_pages = true});
  }
  return row;
}

Table sets_table(std::string key, std::string title) {
  return {.key = std::move(key),
          .title = std::move(title),
          .columns = {{"what_ifs"},
                      {"step_ns", "step"},
                      {"", "change"},
                      {"needed_bytes", "needs"},
                      {"", "between"},
                      {"low_ns", "", Show::never},
                      {"high_ns", "", Show::never},
                      {"needed_low_bytes", "", Show::never},
                      {"needed_high_bytes", "", Show::never},
                      {"fits", "", Show::never},
                      {"memory", "", Show::never}}};
}

/// The figures of one set, as documents have them.
Value set_value(const FitAnswer& answer, const std::optional<FitSet>& set) {
  if (!set) return Value::none();
  const Table names = sets_table("", "");
  const Row row = set_row(answer, *set, Show::never);
  Value::Object members;
  for (std::size_t i = 0; i < names.columns.size(); ++i) {
    if (!names.columns[i].key.empty()) members.push_back({names.columns[i].key, row.cells[i]});
  }
  return Value::object(std::move(members));
}

void add_set(Section& section, const FitAnswer& answer, const FitSet& set, std::string title) {
  Table table = sets_table("", std::move(title));
  table.rows.push_back(set_row(answer, set, Show::always));
  section.tables.push_back(std::move(table));
}

/// Those that fit, or those that do not.
void add_singles(Section& section, const FitAnswer& answer, bool fitting) {
  Table table = sets_table("", fitting ? "each alone, fits" : "each alone, does not fit");
  table.longest = most_fit_rows;
  table.show = Show::details;
  for (const FitSet& set : answer.singles) {
    if (set.fits == fitting) table.rows.push_back(set_row(answer, set, Show::details));
  }
  section.tables.push_back(std::move(table));
}

std::string searched_text(const FitAnswer& answer) {
  const std::string what =
      fmt::format("{} of at most {}, out of {} that change tensors", plural(answer.sets, "set"),
                  plural(answer.most_members, "what-if"), plural(answer.choices.size(), "setting"));
  return answer.is_complete
             ? fmt::format("{}; all were tried, {} fit", what, count_text(answer.fitting))
             : fmt::format("{}; the {} most promising were tried, {} fit; a better one may exist",
                           what, count_text(answer.trials), count_text(answer.fitting));
}

/// The command that shows the chosen set in full.
std::string repeat_text(const ResultAnswer& answer) {
  std::string text = "foretrace whatif TRACE";
  for (const std::string& what_if : with_set(answer.what_ifs, *answer.fit, *answer.fit->best)) {
    const bool is_plain = what_if.find_first_of(" '&;|<>$*") == std::string::npos;
    text += fmt::format(" --apply {}{}{}", is_plain ? "" : "\"", what_if, is_plain ? "" : "\"");
  }
  return text;
}

/// What --csv prints: what the page says, a row per set.
Table chosen_table(const FitAnswer& answer) {
  Table table = sets_table("", "");
  table.name = "chosen";
  table.show = Show::never;
  table.columns.insert(table.columns.begin(), Column{"role"});
  const auto add = [&](std::string_view role, const FitSet& set) {
    Row row = set_row(answer, set, Show::always);
    row.cells.insert(row.cells.begin(), Value::words(role));
    row.below.clear();
    table.rows.push_back(std::move(row));
  };
  add("now", answer.now);
  if (answer.best) add("least time", *answer.best);
  for (const FitSet& set : answer.next) add("next", set);
  if (answer.smallest) add("least memory", *answer.smallest);
  return table;
}

Section fit_page_section(const ResultAnswer& asked) {
  const FitAnswer& answer = *asked.fit;
  Section section{.key = "sets", .headline = fit_headline(answer), .scale_ns = answer.now.step_ns};
  section.line("compared", comparison_text(answer.target), Show::details);
  section.line("policies", policies_text(answer));
  if (!answer.fits_now()) {
    section.line("searched", searched_text(answer));
    section.line(
        "equal",
        fmt::format("steps within {} of the shortest count as equal; fewer what-ifs are preferred",
                    percent_text(answer.tolerance)),
        Show::details);
  }
  add_set(section, answer, answer.now, "now");
  if (answer.best) {
    add_set(section, answer, *answer.best,
            answer.best->choices.size() == 1 ? "least time" : "least time, together");
  }
  if (!answer.next.empty()) {
    Table next = sets_table("", "next best");
    next.brief = 3;
    for (const FitSet& set : answer.next) {
      next.rows.push_back(set_row(answer, set, Show::always));
    }
    section.tables.push_back(std::move(next));
  }
  if (answer.smallest) {
    add_set(section, answer, *answer.smallest,
            answer.smallest->fits ? "least memory of all" : "least memory of all, but too much");
  }
  section.tables.push_back(chosen_table(answer));
  add_singles(section, answer, true);
  add_singles(section, answer, false);
  if (answer.best) {
    section.notes.push_back({repeat_text(asked)});
    section.note("shows the first of them in full, with its data and assumptions");
  }
  return section;
}

}  // namespace

Sections fit(const ResultAnswer& asked) {
  if (asked.fit == nullptr) {
    return {};
  }
  const FitAnswer& answer = *asked.fit;
  Section document{.key = "fit", .path = "fit", .show = Show::never};
  document.datum("target", target_value(answer.target));
  document.datum("now", set_value(answer, answer.now));
  document.datum("best", set_value(answer, answer.best));
  for (const auto& [key, sets] :
       {std::pair{"next", &answer.next}, std::pair{"singles", &answer.singles}}) {
    Table table = sets_table(key, "");
    for (const FitSet& set : *sets) table.rows.push_back(set_row(answer, set, Show::never));
    document.tables.push_back(std::move(table));
  }
  document.datum("smallest", set_value(answer, answer.smallest));
  Value::List policies;
  for (const BudgetTry& tried : answer.policies) {
    policies.push_back(
        Value::object({{"when_full", Value::words(tried.name)},
                       {"fits", Value::flag(tried.fits)},
                       {"step_ns", tried.fits ? Value::time(tried.step_ns) : Value::none()}}));
  }
  document.datum("policies", Value::list(std::move(policies)));
  document.datum("searched", Value::object({{"most_members", Value::count(answer.most_members)},
                                            {"settings", Value::count(answer.choices.size())},
                                            {"sets", Value::count(answer.sets)},
                                            {"tried", Value::count(answer.trials)},
                                            {"fitting", Value::count(answer.fitting)},
                                            {"complete", Value::flag(answer.is_complete)},
                                            {"tolerance", Value::share(answer.tolerance)}}));
  return {std::move(document), fit_page_section(asked)};
}

}  // namespace foretrace::report::sections
