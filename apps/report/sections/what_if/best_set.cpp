// The what-ifs that together give most, and what each of them adds.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/questions/search/choices.h"
#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

// On the short page; --details shows all.
constexpr std::size_t brief_front_rows = 5;

std::int64_t sample_time(const ChosenSet& set) { return to_whole(set.time_per_sample()); }

std::string choice_text(const WhatIfChoice& choice) {
  return fmt::format("{}", fmt::join(choice.texts, " with "));
}

std::string names_of(const BestSetAnswer& answer, const ChosenSet& set) {
  std::string text;
  for (const std::size_t number : set.choices) {
    text += (text.empty() ? "" : " + ") + choice_text(answer.choices[number]);
  }
  return text.empty() ? "(nothing)" : text;
}

/// In the order in which they give most.
std::string names_in_order(const BestSetAnswer& answer) {
  std::string text;
  for (const SetMember& member : answer.members) {
    text += (text.empty() ? "" : " + ") + choice_text(answer.choices[member.choice]);
  }
  return text;
}

std::string best_set_headline(const ResultAnswer& asked) {
  const BestSetAnswer& answer = *asked.best_set;
  const std::int64_t before = sample_time(answer.now);
  if (!answer.best && answer.nearest) {
    return fmt::format("nothing fits {}: the least found is {}, with {}",
                       target_text(*answer.target), bytes_text(*answer.nearest->needed_bytes),
                       names_of(answer, *answer.nearest));
  }
  if (!answer.best) {
    const double scatter = asked.session.replay().scatter;
    const bool is_scatter = answer.by == RankBy::time && scatter > 0 && answer.tolerance == scatter;
    return fmt::format(
        "no set of what-ifs saves {} here{}: {} {} as it is",
        answer.by == RankBy::memory ? "memory" : "time",
        is_scatter ? fmt::format(" beyond the {} scatter of steps", percent_text(scatter)) : "",
        step_word(asked.session.run().answer), time_text(before));
  }
  const ChosenSet& best = *answer.best;
  std::string text = fmt::format(
      "best set: {}, {} {} -> {} ({}, {}{}), between {} and {}", names_in_order(answer),
      step_word(asked.session.run().answer), time_text(answer.now.step_ns),
      time_text(best.step_ns, answer.now.step_ns), change_text(best.step_ns, answer.now.step_ns),
      factor_text(best.speedup), best.samples == 1 ? "" : " per sample",
      time_text(answer.low_ns, before), time_text(answer.high_ns, before));
  if (best.live_bytes) {
    text += fmt::format(", live peak {} -> {}", bytes_text(*answer.now.live_bytes),
                        bytes_text(*best.live_bytes));
  }
  return text;
}

std::string set_search_text(const BestSetAnswer& answer) {
  const std::string what = plural(answer.choices.size(), "what-if");
  const std::string sets =
      answer.complete_size > 1
          ? fmt::format("all sets of at most {} out of {}", answer.complete_size, what)
          : fmt::format("the most promising sets out of {} (--trials tries more)", what);
  const bool grows = answer.most_members > answer.complete_size;
  return fmt::format("{}{}; {} simulated", sets,
                     grows ? ", then larger ones by the largest addition and single exchanges" : "",
                     count_text(answer.trials));
}

Value change_between(const ChosenSet& after, const ChosenSet& before) {
  return Value::change(change_of(sample_time(after), sample_time(before)));
}

Value live_value(const ChosenSet& set) {
  return set.live_bytes ? Value::bytes(*set.live_bytes) : Value::none();
}

/// Of the step, over that without a choice.
Value time_ratio_value(const BestSetAnswer& answer, const ChosenSet& set) {
  return Value::factor(time_ratio_of(answer.now.step_ns, set.step_ns));
}

/// What documents say of a set.
Value set_figures(const BestSetAnswer& answer, const std::optional<ChosenSet>& set) {
  if (!set) return Value::none();
  const auto bytes = [](const std::optional<std::int64_t>& known) {
    return known ? Value::bytes(*known) : Value::none();
  };
  return Value::object({{"what_ifs", Value::texts(texts_of_set({}, answer, *set))},
                        {"step_ns", Value::time(set->step_ns)},
                        {"samples", Value::plain(set->samples)},
                        {"speedup", Value::factor(set->speedup)},
                        {"time_ratio", time_ratio_value(answer, *set)},
                        {"live_bytes", bytes(set->live_bytes)},
                        {"needed_bytes", bytes(set->needed_bytes)},
                        {"fits", Value::flag(set->fits)}});
}

Value list_of_sets(const BestSetAnswer& answer, const std::vector<ChosenSet>& sets) {
  Value::List values;
  for (const ChosenSet& set : sets) values.push_back(set_figures(answer, set));
  return Value::list(std::move(values));
}

/// A row per member: what it adds to those above it, what it gives alone, what its loss costs.
Table members_table(const BestSetAnswer& answer) {
  const bool has_memory = answer.now.live_bytes.has_value();
  Table table{.key = "members",
              .name = "one_by_one",
              .title = "one after the other",
              .columns = {{"what_if"},
                          {"", "step"},
                          {"", "change"},
                          {"", "adds"},
                          {"", "alone"},
                          {"", "left out"},
                          {"", has_memory ? "live peak" : ""},
                          {"so_far", "", Show::never},
                          {"alone", "", Show::never},
                          {"without", "", Show::never}}};
  const ChosenSet* before = &answer.now;
  for (const SetMember& member : answer.members) {
    std::vector<Value> cells = {Value::words(choice_text(answer.choices[member.choice]))};
    if (member.so_far) {
      cells.push_back(Value::time(sample_time(*member.so_far)));
      cells.push_back(change_between(*member.so_far, answer.now));
      cells.push_back(change_between(*member.so_far, *before));
      before = &*member.so_far;
    } else {
      cells.insert(cells.end(), 3, Value::none());
    }
    cells.push_back(member.alone ? change_between(*member.alone, answer.now) : Value::none());
    cells.push_back(!member.without        ? Value::none()
                    : member.without->fits ? change_between(*member.without, *answer.best)
                                           : Value::none("no room"));
    cells.push_back(has_memory && member.so_far ? live_value(*member.so_far) : Value{});
    cells.push_back(set_figures(answer, member.so_far));
    cells.push_back(set_figures(answer, member.alone));
    cells.push_back(set_figures(answer, member.without));
    table.add(std::move(cells));
  }
  return table;
}

/// What --csv prints.
Table flat_members(const BestSetAnswer& answer) {
  Table table{.name = "members",
              .columns = {{"what_if"},
                          {"step_ns"},
                          {"samples"},
                          {"speedup"},
                          {"time_ratio"},
                          {"live_bytes"},
                          {"speedup_alone"},
                          {"speedup_without"}},
              .show = Show::never};
  const auto speedup = [](const std::optional<ChosenSet>& set) {
    return set ? Value::factor(set->speedup) : Value::none();
  };
  for (const SetMember& member : answer.members) {
    const std::optional<ChosenSet>& so_far = member.so_far;
    table.add({Value::words(choice_text(answer.choices[member.choice])),
               so_far ? Value::time(so_far->step_ns) : Value::none(),
               so_far ? Value::plain(so_far->samples) : Value::none(), speedup(so_far),
               so_far ? time_ratio_value(answer, *so_far) : Value::none(),
               so_far ? live_value(*so_far) : Value::none(), speedup(member.alone),
               speedup(member.without)});
  }
  return table;
}

Table sets_of(const BestSetAnswer& answer, std::string title, std::span<const ChosenSet> sets) {
  const bool has_memory = answer.now.live_bytes.has_value();
  Table table{.title = std::move(title),
              .columns = {{"", "", Show::always, false, 0, true},
                          {"", "step"},
                          {"", "change"},
                          {"", has_memory ? "live peak" : ""},
                          {"", has_memory ? "change" : ""}}};
  for (const ChosenSet& set : sets) {
    const bool saves = has_memory && !set.choices.empty();
    table.add({Value::words(names_of(answer, set)), Value::time(sample_time(set)),
               set.choices.empty() ? Value{} : change_between(set, answer.now),
               has_memory ? live_value(set) : Value{},
               saves ? Value::bytes_change(*set.live_bytes - *answer.now.live_bytes) : Value{}});
  }
  return table;
}

/// Whether the best set of every size is that of the size before and one more.
bool is_nested(const BestSetAnswer& answer) {
  for (std::size_t i = 0; i < answer.by_size.size(); ++i) {
    if (i >= answer.members.size() || !answer.members[i].so_far ||
        answer.members[i].so_far->choices != answer.by_size[i].choices) {
      return false;
    }
  }
  return true;
}

std::string command_text(const ResultAnswer& asked) {
  std::string text = "foretrace whatif TRACE";
  for (const std::string& what_if :
       texts_of_set(asked.what_ifs, *asked.best_set, *asked.best_set->best)) {
    const bool is_plain = what_if.find_first_of(" '&;|<>$*") == std::string::npos;
    text += fmt::format(" --apply {}{}{}", is_plain ? "" : "\"", what_if, is_plain ? "" : "\"");
  }
  return text;
}

Section best_set_page(const ResultAnswer& asked) {
  const BestSetAnswer& answer = *asked.best_set;
  Section section{
      .key = "members", .headline = best_set_headline(asked), .scale_ns = sample_time(answer.now)};
  section.line("searched", set_search_text(answer));
  if (answer.target && answer.best && answer.best->needed_bytes) {
    section.line("needs", fmt::format("{} of {}", bytes_text(*answer.best->needed_bytes),
                                      target_text(*answer.target)));
  }
  if (!answer.members.empty()) {
    Table members = members_table(answer);
    members.key.clear();  // documents have it below
    section.tables.push_back(std::move(members));
  }
  section.tables.push_back(flat_members(answer));
  if (!is_nested(answer)) {
    section.tables.push_back(sets_of(answer, "best of each size", answer.by_size));
  }
  if (answer.front.size() > 1) {
    Table front = sets_of(answer, "time against memory", answer.front);
    front.brief = brief_front_rows;
    section.tables.push_back(std::move(front));
  }
  if (!answer.members.empty()) {
    section.note(
        fmt::format("adds: to the rows above it; left out: what the set loses without it; gains "
                    "below {} are not shown{}",
                    percent_text(answer.tolerance),
                    answer.best->samples == 1 ? "" : "; steps are per recorded batch"));
    section.notes.push_back({command_text(asked)});
    section.note("shows the set in full, with its data and assumptions");
  }
  return section;
}

}  // namespace

Sections best_set(const ResultAnswer& asked) {
  if (asked.best_set == nullptr) return {};
  const BestSetAnswer& answer = *asked.best_set;
  Section document{.key = "search", .path = "search", .show = Show::never};
  document.datum("by", Value::words(answer.by == RankBy::memory ? "memory" : "time"));
  document.datum("target", answer.target ? target_value(*answer.target) : Value::none());
  document.datum("now", set_figures(answer, answer.now));
  document.datum("best", set_figures(answer, answer.best));
  document.datum("low_ns", answer.best ? Value::time(answer.low_ns) : Value::none());
  document.datum("high_ns", answer.best ? Value::time(answer.high_ns) : Value::none());
  document.datum("nearest", set_figures(answer, answer.nearest));
  document.datum("by_size", list_of_sets(answer, answer.by_size));
  document.datum("front", list_of_sets(answer, answer.front));
  document.datum("searched", Value::object({{"what_ifs", Value::count(answer.choices.size())},
                                            {"most_members", Value::count(answer.most_members)},
                                            {"complete_size", Value::count(answer.complete_size)},
                                            {"tried", Value::count(answer.trials)},
                                            {"tolerance", Value::share(answer.tolerance)}}));
  Table members = members_table(answer);
  members.show = Show::never;
  document.tables.push_back(std::move(members));
  return {std::move(document), best_set_page(asked)};
}

}  // namespace foretrace::report::sections
