// Rankings, pairs, what fits and the largest batch as JSON.
#include <cmath>

#include <nlohmann/json.hpp>

#include "apps/driver/answers/fit.h"
#include "apps/driver/answers/max_batch.h"
#include "apps/driver/answers/ranking.h"
#include "apps/report/document_parts.h"

namespace foretrace::driver {
namespace {

/// Null where no tensor is recorded.
Json need_json(const std::optional<MemoryNeed>& need) {
  if (!need) {
    return nullptr;
  }
  return {{"rank", need->rank},
          {"device", need->device},
          {"live_peak_bytes", need->live_bytes},
          {"reserved_bytes", need->reserved_bytes()},
          {"reserved_low_bytes", need->reserved.low_bytes},
          {"reserved_high_bytes", need->reserved.high_bytes}};
}

Json target_json(const MemoryTarget& target) {
  return {{"accelerator", target.name.empty() ? Json(nullptr) : Json(target.name)},
          {"capacity_bytes", target.capacity_bytes},
          {"context_low_bytes", target.context_low_bytes},
          {"context_high_bytes", target.context_high_bytes}};
}

void add_need(const MemoryTarget& target, const MemoryNeed& need, Json& object) {
  object["needed_bytes"] = target.needed_bytes(need);
  object["needed_low_bytes"] = target.low_bytes(need);
  object["needed_high_bytes"] = target.high_bytes(need);
  object["fits"] = target.fits(need);
  object["memory"] = need_json(need);
}

Json set_json(const FitAnswer& answer, const FitSet& set) {
  Json what_ifs = Json::array();
  for (const std::string& text : with_set(std::span<const std::string>{}, answer, set)) {
    what_ifs.push_back(text);
  }
  Json object = {{"what_ifs", std::move(what_ifs)},
                 {"step_ns", set.step_ns},
                 {"low_ns", set.low_ns},
                 {"high_ns", set.high_ns}};
  add_need(answer.target, set.need, object);
  return object;
}

Json sets_json(const FitAnswer& answer, const std::vector<FitSet>& sets) {
  Json list = Json::array();
  for (const FitSet& set : sets) {
    list.push_back(set_json(answer, set));
  }
  return list;
}

Json line_json(const BatchLine& line) {
  return {{"slope", line.slope},
          {"offset", line.offset},
          {"straight", line.is_straight()},
          {"worst_error", line.worst_error}};
}

Json point_json(const BatchAnswer& answer, const BatchPoint& point) {
  Json provenance = Json::object();
  for (std::size_t i = 0; i < point.provenance.size(); ++i) {
    if (point.provenance[i] > 0) {
      provenance[std::string(to_string(static_cast<Provenance>(i)))] = point.provenance[i];
    }
  }
  Json object = {{"batch", point.batch},
                 {"step_ns", point.step_ns},
                 {"low_ns", point.low_ns},
                 {"high_ns", point.high_ns},
                 {"samples_per_second", point.samples_per_second},
                 {"provenance", std::move(provenance)}};
  add_need(answer.target, point.need, object);
  return object;
}

}  // namespace

Json ranking_json(const Ranking& ranking) {
  Json rows = Json::array();
  for (const Ranked& row : ranking.rows) {
    rows.push_back({{"name", row.optimization->name},
                    {"step_ns", row.step_ns},
                    {"low_ns", row.low_ns},
                    {"high_ns", row.high_ns},
                    {"speedup", row.speedup},
                    {"samples", row.samples},
                    {"noise", row.is_noise},
                    {"memory", need_json(row.memory)}});
  }
  Json left_out = Json::array();
  for (const Unranked& unranked : ranking.left_out) {
    left_out.push_back({{"name", unranked.name}, {"reason", unranked.reason}});
  }
  return {{"by", ranking.by == RankBy::memory ? "memory" : "time"},
          {"memory", need_json(ranking.memory)},
          {"rows", std::move(rows)},
          {"left_out", std::move(left_out)}};
}

Json pairs_json(const PairRanking& pairs) {
  Json rows = Json::array();
  for (const RankedPair& row : pairs.rows) {
    const std::int64_t difference = row.step_ns - row.added_ns;
    rows.push_back(
        {{"first", row.first->name},
         {"second", row.second->name},
         {"step_ns", row.step_ns},
         {"low_ns", row.low_ns},
         {"high_ns", row.high_ns},
         {"speedup", row.speedup},
         {"sum_of_parts_ns", row.added_ns},
         {"together", std::abs(difference) <= pairs.tolerance_ns ? "as the sum"
                      : difference > 0                           ? "less than the sum"
                                                                 : "more than the sum"},
         {"other_order_ns", nullptr},
         {"memory", need_json(row.memory)},
         {"sum_of_parts_live_bytes", row.memory ? Json(row.added_live_bytes) : Json(nullptr)}});
  }
  Json illegal = Json::array();
  for (const IllegalPair& pair : pairs.illegal) {
    illegal.push_back({{"first", pair.first}, {"second", pair.second}, {"reason", pair.reason}});
  }
  return {{"top", pairs.most_singles},
          {"singles", pairs.singles},
          {"tried", pairs.tried},
          {"tolerance_ns", pairs.tolerance_ns},
          {"tolerance_bytes", pairs.tolerance_bytes},
          {"rows", std::move(rows)},
          {"illegal", std::move(illegal)}};
}

Json fit_json(const FitAnswer& answer) {
  return {{"target", target_json(answer.target)},
          {"now", set_json(answer, answer.now)},
          {"best", answer.best ? set_json(answer, *answer.best) : Json(nullptr)},
          {"next", sets_json(answer, answer.next)},
          {"smallest", answer.smallest ? set_json(answer, *answer.smallest) : Json(nullptr)},
          {"singles", sets_json(answer, answer.singles)},
          {"searched",
           {{"most_members", answer.most_members},
            {"settings", answer.choices.size()},
            {"sets", answer.sets},
            {"tried", answer.trials},
            {"fitting", answer.fitting},
            {"complete", answer.is_complete},
            {"tolerance", answer.tolerance}}}};
}

/// How the border was searched for, and smaller batches that do not fit.
Json scan_json(const BatchScan& scan) {
  Json gaps = Json::array();
  for (const BatchGap& gap : scan.gaps) {
    gaps.push_back({{"from", gap.from}, {"to", gap.to}});
  }
  return {{"possible_batch", scan.possible},
          {"granule_above", scan.granule_above},
          {"granule_below", scan.granule_below},
          {"tried", scan.trials},
          {"gaps", std::move(gaps)}};
}

Json max_batch_json(const BatchAnswer& answer) {
  Json points = Json::array();
  for (const BatchPoint& point : answer.points) {
    points.push_back(point_json(answer, point));
  }
  return {{"target", target_json(answer.target)},
          {"recorded_batch", answer.recorded_batch},
          {"passes_per_step", answer.passes},
          {"max_batch", answer.max_batch},
          {"limit_of_model", answer.is_limit_of_model},
          {"scan", scan_json(answer.scan)},
          {"at_most_batch", answer.at_most_batch ? Json(*answer.at_most_batch) : Json(nullptr)},
          {"sampled", answer.sampled},
          {"step_line_ns", line_json(answer.step_line)},
          {"live_line_bytes", line_json(answer.live_line)},
          {"batches", std::move(points)}};
}

}  // namespace foretrace::driver
