// The page of `whatif --rank-all`.
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::RankBy;
using driver::Ranked;
using driver::Ranking;
using driver::Replay;

/// Names in a paragraph for causes that everybody knows; errors with their text.
std::string left_out_text(const Ranking& ranking) {
  using driver::Unranked;
  if (ranking.left_out.empty()) {
    return {};
  }
  const auto names = [&](Unranked::Cause cause) {
    std::vector<std::string_view> list;
    for (const Unranked& unranked : ranking.left_out) {
      if (unranked.cause == cause) {
        list.push_back(unranked.name);
      }
    }
    return fmt::format("{}", fmt::join(list, ", "));
  };
  std::string page = "\n" + strong("not in the ranking") + "\n";
  if (const std::string list = names(Unranked::Cause::needs_parameter); !list.empty()) {
    page += paragraph("  ", "need a parameter (foretrace explain NAME): " + list);
  }
  if (const std::string list = names(Unranked::Cause::finds_nothing); !list.empty()) {
    page += paragraph("  ", "find nothing to change here (--apply NAME says why): " + list);
  }
  for (const Unranked& unranked : ranking.left_out) {
    if (unranked.cause == Unranked::Cause::error ||
        unranked.cause == Unranked::Cause::does_not_fit) {
      page += paragraph(fmt::format("  {}: ", unranked.name), unranked.reason);
    }
  }
  return page;
}

std::string range_text(std::int64_t low, std::int64_t high, std::int64_t scale) {
  return fmt::format("{} .. {}", time_text(low, scale), time_text(high, scale));
}

std::string time_table(const Ranking& ranking, std::int64_t before) {
  Table table({left, right, right, right, left, left});
  table.row(
      {strong("what-if"), strong("step"), strong("change"), strong("speed"), strong("range"), ""});
  for (const Ranked& rank : ranking.rows) {
    table.row({fmt::format("  {}", rank.optimization->name), time_text(rank.step_ns, before),
               change_text(rank.step_ns, before), factor_text(rank.speedup),
               range_text(rank.low_ns, rank.high_ns, before), rank.is_noise ? "noise" : ""});
  }
  return table.text(0);
}

/// Time first or memory first, whichever was asked for.
std::string time_and_memory_table(const Ranking& ranking, std::int64_t before) {
  const bool by_memory = ranking.by == RankBy::memory;
  const std::int64_t live = ranking.memory->live_bytes;
  Table table({left, right, right, left, right, right, left});
  table.row(by_memory
                ? std::vector<std::string>{strong("what-if"), strong("live peak"), strong("change"),
                                           strong("reserved"), strong("step"), strong("change"), ""}
                : std::vector<std::string>{strong("what-if"), strong("step"), strong("change"),
                                           strong("range"), strong("live peak"), strong("change"),
                                           ""});
  for (const Ranked& rank : ranking.rows) {
    const driver::MemoryNeed& need = *rank.memory;
    const std::string name = fmt::format("  {}", rank.optimization->name);
    const std::string noise = rank.is_noise ? "noise" : "";
    const std::string peak = bytes_text(need.live_bytes);
    const std::string saved = signed_bytes_text(need.live_bytes - live);
    const std::string step = time_text(rank.step_ns, before);
    const std::string change = change_text(rank.step_ns, before);
    if (by_memory) {
      table.row({name, peak, saved,
                 bytes_range_text(need.reserved.low_bytes, need.reserved.high_bytes), step, change,
                 noise});
    } else {
      table.row({name, step, change, time_range_text(rank.low_ns, rank.high_ns, before), peak,
                 saved, noise});
    }
  }
  return table.text(0);
}

std::string memory_text(const Ranking& ranking) {
  const driver::ReservedRange& reserved = ranking.memory->reserved;
  return fmt::format("{} live at the peak, {} to {} reserved, on device {}",
                     bytes_text(ranking.memory->live_bytes), bytes_text(reserved.low_bytes),
                     bytes_text(reserved.high_bytes), ranking.memory->device);
}

}  // namespace

std::string ranking_headline(const Replay& replay, const Ranking& ranking) {
  const std::int64_t before = replay.run.answer.step_ns;
  if (ranking.rows.empty()) {
    return fmt::format("none of {} applies to this trace",
                       plural(ranking.left_out.size(), "what-if"));
  }
  const Ranked& best = ranking.rows.front();
  if (ranking.by == RankBy::memory) {
    return fmt::format("best of {} by memory: {}, live peak {} -> {} ({}), {} {}",
                       ranking.rows.size(), best.optimization->name,
                       bytes_text(ranking.memory->live_bytes), bytes_text(best.memory->live_bytes),
                       signed_bytes_text(best.memory->live_bytes - ranking.memory->live_bytes),
                       replay.run.answer.is_span ? "span" : "step",
                       change_text(best.step_ns, before));
  }
  return fmt::format("best of {}: {}, {} {} -> {} ({}, {})", ranking.rows.size(),
                     best.optimization->name, replay.run.answer.is_span ? "span" : "step",
                     time_text(before), time_text(best.step_ns, before),
                     change_text(best.step_ns, before), factor_text(best.speedup));
}

std::string ranking_page(const driver::Recording& recording, const Replay& replay,
                         const Ranking& ranking) {
  const std::int64_t before = replay.run.answer.step_ns;
  std::string page = strong(ranking_headline(replay, ranking)) + "\n\n" +
                     row("trace", trace_text(recording)) + row("replay", replay_headline(replay)) +
                     flag_rows(recording.built.honesty);
  if (ranking.memory) {
    page += row("memory", memory_text(ranking)) + tensors_row(recording.built);
  }
  if (!ranking.rows.empty()) {
    page += "\n" +
            (ranking.memory ? time_and_memory_table(ranking, before) : time_table(ranking, before));
    const std::string scatter = replay.scatter == 0
                                    ? std::string()
                                    : fmt::format(
                                          "; noise: within the {} by which the recorded steps "
                                          "scatter",
                                          percent_text(replay.scatter));
    page += paragraph("  ", "each alone, with its default parameters" + scatter);
  }
  return page + left_out_text(ranking);
}

}  // namespace foretrace::app
