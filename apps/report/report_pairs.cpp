// The page of `whatif --pairs`.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_answers.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::PairRanking;
using driver::RankedPair;
using driver::Ranking;
using driver::Replay;

// Longer lists are cut; --json has them whole.
constexpr std::size_t longest_pairs_list = 15;

std::string pair_text(const RankedPair& pair) {
  return fmt::format("{}, then {}", pair.first->name, pair.second->name);
}

std::string verdict(std::int64_t together, std::int64_t sum, std::int64_t tolerance) {
  if (std::abs(together - sum) <= tolerance) {
    return "as sum";
  }
  return together > sum ? "less" : "more";
}

/// Both figures of a pair, and whether both together give what they give alone.
std::vector<std::string> cells_of(const Replay& replay, const Ranking& ranking,
                                  const PairRanking& pairs, const RankedPair& pair) {
  const std::int64_t before = replay.run.answer.step_ns;
  const std::string name = fmt::format("  {}", pair.first->name);
  const std::string step = time_text(pair.step_ns, before);
  const std::string change = change_text(pair.step_ns, before);
  if (ranking.by == driver::RankBy::memory) {
    const std::int64_t live = ranking.memory->live_bytes;
    return {name,
            bytes_text(pair.memory->live_bytes),
            signed_bytes_text(pair.memory->live_bytes - live),
            signed_bytes_text(pair.added_live_bytes - live),
            verdict(pair.memory->live_bytes, pair.added_live_bytes, pairs.tolerance_bytes),
            step,
            change};
  }
  return {
      name,
      step,
      change,
      change_text(pair.added_ns, before),
      verdict(pair.step_ns, pair.added_ns, pairs.tolerance_ns),
      pair.memory ? bytes_text(pair.memory->live_bytes) : "",
      pair.memory ? signed_bytes_text(pair.memory->live_bytes - ranking.memory->live_bytes) : ""};
}

std::string pairs_table(const Replay& replay, const Ranking& ranking, const PairRanking& pairs) {
  const bool by_memory = ranking.by == driver::RankBy::memory;
  const std::string title = ranking.memory ? strong("live peak") : "";
  const std::string change = ranking.memory ? strong("change") : "";
  Table table({left, right, right, right, left, right, right});
  table.row({strong("two together"), by_memory ? title : strong("step"), strong("change"),
             strong("sum"), strong("gives"), by_memory ? strong("step") : title,
             by_memory ? strong("change") : change});
  const std::size_t shown = std::min(pairs.rows.size(), longest_pairs_list);
  for (std::size_t i = 0; i < shown; ++i) {
    table.row(cells_of(replay, ranking, pairs, pairs.rows[i]));
    table.row({fmt::format("    then {}", pairs.rows[i].second->name), "", "", "", "", "", ""});
  }
  if (shown < pairs.rows.size()) {
    table.row({fmt::format("  ... {} more", pairs.rows.size() - shown), "", "", "", "", "", ""});
  }
  return table.text(0);
}

std::string illegal_text(const PairRanking& pairs) {
  if (pairs.illegal.empty()) {
    return {};
  }
  std::string text = "\n" + strong("not together") + "\n";
  for (const driver::IllegalPair& pair : pairs.illegal) {
    text += paragraph(fmt::format("  {}, {}: ", pair.first, pair.second), pair.reason);
  }
  return text;
}

}  // namespace

std::string pairs_headline(const Replay& replay, const Ranking& ranking, const PairRanking& pairs) {
  const std::int64_t before = replay.run.answer.step_ns;
  if (pairs.rows.empty()) {
    return fmt::format("no two of {} can be together", plural(pairs.singles.size(), "what-if"));
  }
  const RankedPair& best = pairs.rows.front();
  std::string line =
      fmt::format("best of {}: {}, {} {} -> {} ({}, {})", plural(pairs.rows.size(), "pair"),
                  pair_text(best), replay.run.answer.is_span ? "span" : "step", time_text(before),
                  time_text(best.step_ns, before), change_text(best.step_ns, before),
                  factor_text(best.speedup));
  if (ranking.by == driver::RankBy::memory && best.memory) {
    line += fmt::format(", live peak {} -> {}", bytes_text(ranking.memory->live_bytes),
                        bytes_text(best.memory->live_bytes));
  }
  return line;
}

std::string pairs_page(const driver::Recording& recording, const Replay& replay,
                       const Ranking& ranking, const PairRanking& pairs) {
  std::string page =
      paragraph("", pairs_headline(replay, ranking, pairs)) + "\n" +
      row("trace", trace_text(recording)) + row("replay", replay_headline(replay)) +
      tensors_row(recording.built) + flag_rows(recording.built.honesty) +
      row("combined",
          fmt::format("the best {} of the what-ifs that gain {} alone, with their defaults (--top "
                      "changes that): {}",
                      pairs.singles.size(),
                      ranking.by == driver::RankBy::memory ? "memory" : "time",
                      fmt::join(pairs.singles, ", ")));
  if (!pairs.rows.empty()) {
    page += "\n" + pairs_table(replay, ranking, pairs);
    page += paragraph("  ",
                      fmt::format("sum: if both gains added up; less or more: by over {}",
                                  ranking.by == driver::RankBy::memory
                                      ? bytes_text(pairs.tolerance_bytes)
                                      : time_text(pairs.tolerance_ns, replay.run.answer.step_ns)));
  }
  return page + illegal_text(pairs);
}

}  // namespace foretrace::app
