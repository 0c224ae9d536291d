// What-ifs tried one by one, ordered by what they give.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/breakdown_parts.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/memory/memory_report.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report::sections {
namespace {

// On the short page; --details shows all.
constexpr std::size_t most_ranking_rows = 12;

// Less is 0.0 % on the page.
constexpr double least_scatter = 0.0005;

/// With the settings of an example.
std::string name_of(const Ranked& row) {
  return std::string(row.info->name) + (row.settings.empty() ? "" : ":" + row.settings);
}

bool has_examples(const Ranking& ranking) {
  return std::any_of(ranking.rows.begin(), ranking.rows.end(),
                     [](const Ranked& row) { return !row.settings.empty(); });
}

/// "97.1 % of the step is device copies (940 ms)": what a change would have to shorten.
std::string largest_part(const ResultAnswer& answer) {
  const Breakdown& breakdown = answer.session.analysis().breakdown;
  const auto* const most =
      std::max_element(breakdown_parts.begin(), breakdown_parts.end(),
                       [&breakdown](const BreakdownPart& one, const BreakdownPart& other) {
                         return breakdown.*one.time_ns < breakdown.*other.time_ns;
                       });
  const StepAnswer& step = answer.session.run().answer;
  const std::int64_t time_ns = breakdown.*most->time_ns;
  const bool has_gpu_work = breakdown.compute_ns + breakdown.memory_copy_ns > 0;
  return fmt::format("{} of the {} is {} ({})", percent_text(share_of(time_ns, step.step_ns)),
                     step_word(step), has_gpu_work ? name_in_sentence(*most) : "CPU work",
                     time_text(time_ns, step.step_ns));
}

std::string ranking_headline(const ResultAnswer& answer) {
  const Ranking& ranking = *answer.ranking;
  const StepAnswer& step = answer.session.run().answer;
  const std::int64_t before = step.step_ns;
  if (ranking.rows.empty()) {
    return fmt::format("no what-if applies (of {}){}", ranking.left_out.size(),
                       ranking.by == RankBy::memory ? "" : ": " + largest_part(answer));
  }
  const Ranked& best = ranking.rows.front();
  if (ranking.by == RankBy::memory) {
    return fmt::format("best of {} by memory: {}, live peak {} -> {} ({}), {} {}",
                       ranking.rows.size(), name_of(best), bytes_text(ranking.memory->live_bytes),
                       bytes_text(best.memory->live_bytes),
                       signed_bytes_text(best.memory->live_bytes - ranking.memory->live_bytes),
                       step_word(step), change_text(best.step_ns, before));
  }
  const bool helps = is_worth_it(best);
  const std::string found = fmt::format(
      "best of {}: {}, {} {} -> {} ({}, {}{}{})", ranking.rows.size(), name_of(best),
      step_word(step), time_text(before), time_text(best.step_ns, before),
      change_text(best.step_ns, before), factor_text(best.speedup),
      best.samples == 1 ? "" : " per sample", best.is_noise && helps ? ", within noise" : "");
  return helps ? found : fmt::format("nothing here helps: {}; {}", largest_part(answer), found);
}

/// What puts a row into perspective.
std::string remark_of(const Ranked& row) {
  std::string remark = row.settings;
  const auto add = [&remark](std::string_view text) {
    remark += fmt::format("{}{}", remark.empty() ? "" : "; ", text);
  };
  if (row.samples != 1) {
    const std::string gain = fmt::format("{} per sample", factor_text(row.speedup));
    add(row.settings.empty() ? fmt::format("{} samples: {}", factor_text(row.samples), gain)
                             : gain);
  } else if (row.is_noise) {
    add("noise");
  }
  if (!row.fits) add("does not fit");
  if (!row.doubts.empty()) add("low confidence: " + row.doubts.front().brief);
  return remark;
}

/// Where each column stands depends on what the ranking is by.
Table ranking_rows(const ResultAnswer& answer) {
  const Ranking& ranking = *answer.ranking;
  const std::int64_t before = answer.session.step_ns();
  const bool by_memory = ranking.by == RankBy::memory;
  const bool has_memory = ranking.memory.has_value();
  Table table{.key = "rows",
              .name = "ranking",
              .title = "what-if",
              .columns = {{"name"},
                          {"step_ns", "", Show::never},
                          {"low_ns", "", Show::never},
                          {"high_ns", "", Show::never},
                          {"speedup", "", Show::never},
                          {"time_ratio", "", Show::never},
                          {"samples", "", Show::never},
                          {"noise", "", Show::never},
                          {"memory", "", Show::never}},
              .brief = most_ranking_rows};
  const bool with_examples = has_examples(ranking);
  if (with_examples) table.columns.push_back({"example", "", Show::never});
  const std::vector<Column> time_columns = {{"", "step"}, {"", "change"}, {"", "range"}};
  const Narrow memory_narrow = by_memory ? Narrow::kept : Narrow::left_out;
  const std::vector<Column> memory_columns = {{.title = "live peak", .narrow = memory_narrow},
                                              {.title = "change", .narrow = memory_narrow},
                                              {.title = "reserved"}};
  const auto append = [&](const std::vector<Column>& columns, std::size_t count) {
    table.columns.insert(table.columns.end(), columns.begin(),
                         columns.begin() + static_cast<std::ptrdiff_t>(count));
  };
  if (by_memory) append(memory_columns, 3);
  append(time_columns, by_memory ? 2 : 3);
  // Settings need the room.
  if (has_memory && !by_memory && !with_examples) append(memory_columns, 2);
  table.columns.push_back({"", ""});
  for (const Ranked& row : ranking.rows) {
    std::vector<Value> cells = {
        Value::words(row.info->name), Value::time(row.step_ns),
        Value::time(row.low_ns),      Value::time(row.high_ns),
        Value::factor(row.speedup),   Value::factor(time_ratio_of(before, row.step_ns)),
        Value::plain(row.samples),    Value::flag(row.is_noise),
        need_value(row.memory)};
    if (with_examples) cells.push_back(Value::words(row.settings));
    const auto add_memory = [&](bool with_reserved) {
      cells.push_back(Value::bytes(row.memory->live_bytes));
      cells.push_back(Value::bytes_change(row.memory->live_bytes - ranking.memory->live_bytes));
      if (with_reserved) {
        cells.push_back(Value::words(
            bytes_range_text(row.memory->reserved.low_bytes, row.memory->reserved.high_bytes)));
      }
    };
    if (by_memory) add_memory(true);
    cells.push_back(Value::time(row.step_ns));
    cells.push_back(Value::change(change_of(row.step_ns, before)));
    if (!by_memory) {
      cells.push_back(Value::words(time_range_text(row.low_ns, row.high_ns, before)));
    }
    if (has_memory && !by_memory && !with_examples) add_memory(false);
    cells.push_back(Value::words(remark_of(row)));
    table.add(std::move(cells));
  }
  return table;
}

std::vector<std::string_view> names_of(const Ranking& ranking, Unranked::Cause cause) {
  std::vector<std::string_view> list;
  for (const Unranked& unranked : ranking.left_out) {
    if (unranked.cause == cause) list.push_back(unranked.name);
  }
  return list;
}

void add_reasons(const Ranking& ranking, Unranked::Cause cause, Section& section) {
  for (const Unranked& unranked : ranking.left_out) {
    if (unranked.cause != cause) continue;
    section.notes.push_back({unranked.reason, fmt::format("  {}: ", unranked.name)});
  }
}

/// Names in a paragraph for causes that everybody knows, others with their text.
Section left_out_section(const Ranking& ranking) {
  Section section{.key = "not_ranked", .title = "not in the ranking", .show = Show::details};
  if (const auto list = names_of(ranking, Unranked::Cause::needs_parameter); !list.empty()) {
    section.note(fmt::format("need a value (foretrace explain NAME): {}", fmt::join(list, ", ")));
  }
  if (const auto list = names_of(ranking, Unranked::Cause::is_formula); !list.empty()) {
    section.note(fmt::format("rough formulas, tried by name only: {}", fmt::join(list, ", ")));
  }
  if (const auto list = names_of(ranking, Unranked::Cause::finds_nothing); !list.empty()) {
    section.note(
        fmt::format("do not apply here (--apply NAME says why): {}", fmt::join(list, ", ")));
  }
  add_reasons(ranking, Unranked::Cause::does_not_fit, section);
  return section;
}

/// "27 not ranked: 20 need a value, 7 do not apply (--details)".
std::string not_ranked_text(const Ranking& ranking) {
  if (ranking.left_out.empty()) return {};
  std::string text =
      fmt::format("{} not ranked: {} need a value, {} do not apply", ranking.left_out.size(),
                  names_of(ranking, Unranked::Cause::needs_parameter).size(),
                  names_of(ranking, Unranked::Cause::finds_nothing).size());
  if (const auto formulas = names_of(ranking, Unranked::Cause::is_formula).size(); formulas > 0) {
    text += fmt::format(", {} are rough formulas", formulas);
  }
  if (const auto errors = names_of(ranking, Unranked::Cause::error).size(); errors > 0) {
    text += fmt::format(", {} failed", errors);
  }
  if (const auto large = names_of(ranking, Unranked::Cause::does_not_fit).size(); large > 0) {
    text += fmt::format(", {} no longer fit the device", large);
  }
  return text + " (--details)";
}

std::string recorded_memory(const Ranking& ranking) {
  const ReservedRange& reserved = ranking.memory->reserved;
  const Ends ends = bytes_ends(reserved.low_bytes, reserved.high_bytes);
  return fmt::format("{} live at the peak, {} to {} reserved, on device {}",
                     bytes_text(ranking.memory->live_bytes), ends.low, ends.high,
                     ranking.memory->device);
}

}  // namespace

Sections ranking(const ResultAnswer& answer) {
  if (answer.ranking == nullptr) {
    return {};
  }
  const Ranking& ranking = *answer.ranking;
  Section section{.key = "ranking",
                  .path = "ranking",
                  .headline = ranking_headline(answer),
                  .scale_ns = answer.session.step_ns()};
  section.datum("by", Value::words(ranking.by == RankBy::memory ? "memory" : "time"));
  section.datum("memory", need_value(ranking.memory));
  if (ranking.memory) {
    section.line("memory", recorded_memory(ranking));
  }
  Value::List left_out;
  for (const Unranked& unranked : ranking.left_out) {
    left_out.push_back(Value::object({{"name", Value::words(unranked.name)},
                                      {"cause", Value::words(name_of(unranked.cause))},
                                      {"reason", Value::words(unranked.reason)}}));
  }
  section.tables.push_back(ranking_rows(answer));
  section.datum("left_out", Value::list(std::move(left_out)));
  if (!ranking.rows.empty()) {
    std::string how = "each alone, with its default parameters";
    if (has_examples(ranking)) how += " or the example settings in its row";
    if (answer.session.replay().scatter >= least_scatter) {
      how += fmt::format("; noise: within the {} scatter of the recorded steps",
                         percent_text(answer.session.replay().scatter));
    }
    section.note(how);
  }
  if (const std::string text = not_ranked_text(ranking); !text.empty()) {
    section.notes.push_back({text, "  ", Show::brief});
  }
  add_reasons(ranking, Unranked::Cause::error, section);
  return {std::move(section), left_out_section(ranking)};
}

}  // namespace foretrace::report::sections
