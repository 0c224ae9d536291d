#include "apps/sweep/reuse.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/judge.h"
#include "sim/core/config_text.h"
#include "sim/core/parallel.h"

namespace foretrace::sweeping {
namespace {

// A bit per point is kept.
constexpr std::uint64_t most_points = std::uint64_t{1} << 32U;

/// Where the metrics of the new sweep stand in rows of the old one; none if one is `missing`.
std::optional<std::vector<std::size_t>> places_of(const Sweep& sweep, const Sweep& old,
                                                  std::string_view& missing) {
  std::vector<std::size_t> places;
  for (const MetricInfo& metric : sweep.metrics) {
    const auto found =
        std::find_if(old.metrics.begin(), old.metrics.end(),
                     [&](const MetricInfo& other) { return other.name == metric.name; });
    if (found == old.metrics.end()) {
      missing = metric.name;
      return std::nullopt;
    }
    places.push_back(static_cast<std::size_t>(found - old.metrics.begin()));
  }
  return places;
}

std::string identity(const Sweep& sweep, std::span<const double> where) {
  Digest digest;
  digest.add(json_text(sweep.document_at(where)));
  return digest.text();
}

struct OldRow {
  std::vector<double> metrics;
  std::string reason;
};
using OldRows = std::unordered_map<std::string, OldRow>;

// Points that a thread looks at in one go.
constexpr std::uint64_t points_per_piece = 4096;
constexpr std::uint64_t most_walked = std::uint64_t{1} << 32U;

/// Those of a stretch of the space that were there before.
std::vector<PointResult> applying_within(const Sweep& sweep, const OldRows& rows, Judge& judge,
                                         std::uint64_t first) {
  std::vector<PointResult> applying;
  std::vector<double> where(sweep.axes().size());
  const std::uint64_t last = std::min(first + points_per_piece, sweep.space.size());
  for (std::uint64_t point = first; point < last; ++point) {
    sweep.space.at(point, where);
    std::string reason;
    if (!judge.is_wanted(where, reason) || !reason.empty()) continue;
    const auto found = rows.find(identity(sweep, where));
    if (found == rows.end()) continue;
    applying.push_back({point, where, found->second.metrics, found->second.reason});
  }
  return applying;
}

/// Whether points have the same numbers in both: rows stay where they are.
bool has_same_numbers(const Sweep& a, const Sweep& b) {
  const auto is_same = [](const Axis& one, const Axis& other) {
    return one.pointer == other.pointer && one.group == other.group &&
           one.values.size() == other.values.size() &&
           std::equal(one.values.begin(), one.values.end(), other.values.begin(),
                      [](const ConfigValue& x, const ConfigValue& y) {
                        return json_text(x) == json_text(y);
                      });
  };
  return a.space.numbers_grid() && b.space.numbers_grid() &&
         json_text(a.document) == json_text(b.document) && a.axes().size() == b.axes().size() &&
         std::equal(a.axes().begin(), a.axes().end(), b.axes().begin(), is_same);
}

/// In the order of their numbers, found by all threads.
std::vector<PointResult> applying_rows(const Sweep& sweep, const OldRows& rows) {
  if (rows.empty()) return {};
  const std::uint64_t pieces = (sweep.space.size() + points_per_piece - 1) / points_per_piece;
  std::vector<std::vector<PointResult>> found(pieces);
  std::atomic<std::uint64_t> next = 0;
  const std::size_t threads = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  for_each_index(
      threads,
      [&](std::size_t) {
        Judge judge(sweep);
        for (std::uint64_t piece = next++; piece < pieces; piece = next++) {
          found[piece] = applying_within(sweep, rows, judge, piece * points_per_piece);
        }
      },
      threads);
  std::vector<PointResult> all;
  for (std::vector<PointResult>& some : found) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

Result<Reuse> reuse_store(const Sweep& sweep, const StoreFacts& facts, Store& store) {
  FORETRACE_TRY(auto before, store.facts());
  const auto refuse = [&](const std::string& why) {
    return Error{
        ErrorCode::bad_usage,
        fmt::format(
            "the folder contains results {}: choose another one, or compute all of them again",
            why)};
  };
  Reuse reuse;
  if (before.version != facts.version) {
    return refuse(fmt::format("of version {} of the program", in_quotes(before.version)));
  }
  const bool is_same_sweep = before.sweep == facts.sweep;
  if (before.inputs != facts.inputs) {
    return refuse(is_same_sweep ? "of other files (a trace or a config has changed since)"
                                : "of another sweep");
  }
  FORETRACE_TRY(const auto columns, store.metrics());
  // Another version may have computed others.
  const bool has_same_metrics =
      std::equal(columns.begin(), columns.end(), sweep.metrics.begin(), sweep.metrics.end(),
                 [](const auto& name, const auto& metric) { return name == metric.name; });
  if (is_same_sweep && has_same_metrics) {
    const bool was_moved = before.path != facts.path || before.folder != facts.folder;
    FORETRACE_TRY(was_moved ? store.update(facts) : ok_status());
    return reuse;
  }

  FORETRACE_TRY(const auto old, stored_sweep(store));
  std::string_view missing;
  const auto places = places_of(sweep, old, missing);
  OldRows rows;
  std::vector<PointResult> applying;
  const bool keeps_numbers = has_same_numbers(sweep, old);
  Judge judge(sweep);
  Judge before_judge(old);
  const Status read = store.for_each(old, [&](const PointResult& row) {
    ++reuse.old_rows;
    std::string undefined;  // by a constraint, which may be another one now
    if (!places || !before_judge.is_wanted(row.where, undefined) || !undefined.empty()) {
      return ok_status();
    }
    OldRow kept{.metrics = {}, .reason = row.reason};
    if (row.reason.empty()) {
      for (const std::size_t place : *places) kept.metrics.push_back(row.metrics[place]);
    }
    if (!keeps_numbers) {
      rows.emplace(identity(old, row.where), std::move(kept));
    } else if (judge.is_wanted(row.where, undefined) && undefined.empty()) {
      applying.push_back({row.point, row.where, std::move(kept.metrics), std::move(kept.reason)});
    }
    return ok_status();
  });
  FORETRACE_TRY(read);

  // A space that is too large to be walked has no rows of another one.
  if (!keeps_numbers && sweep.space.size() <= most_walked) applying = applying_rows(sweep, rows);
  if (applying.empty() && reuse.old_rows > 0) {
    return refuse(places ? "of another sweep, none of which is a point of this one"
                         : fmt::format("without the metric '{}' of this sweep", missing));
  }
  reuse.reused = applying.size();
  FORETRACE_TRY(store.reset(sweep, facts, applying));
  return reuse;
}

Result<Store> open_store(const Sweep& sweep, const std::string& folder,
                         const SweepSettings& settings) {
  if (sweep.space.size() > most_points && !is_search(sweep.method)) {
    return Error{
        ErrorCode::bad_config,
        fmt::format(
            "{}: {} points, expected at most 2^32{}", sweep.path, sweep.space.size(),
            sweep.method == Method::grid
                ? "; the methods \"random\", \"nsga2\" and \"annealing\" take spaces of any size"
                : "")};
  }
  return Store::open(folder, settings.fresh ? WhenDamaged::replace : WhenDamaged::refuse);
}

Result<Reuse> ready_store(const Sweep& sweep, const SweepSettings& settings,
                          const std::string& inputs, Store& store) {
  const StoreFacts facts{.sweep = sweep.text,
                         .path = sweep.path,
                         .folder = sweep.folder,
                         .inputs = inputs,
                         .version = settings.version};
  if (!store.is_empty() && !settings.fresh) return reuse_store(sweep, facts, store);
  FORETRACE_TRY(store.reset(sweep, facts, {}));
  return Reuse{};
}

}  // namespace foretrace::sweeping
