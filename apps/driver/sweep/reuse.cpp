#include "apps/driver/sweep/reuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "apps/driver/sweep/document.h"
#include "apps/driver/sweep/evaluate.h"
#include "apps/driver/sweep/judge.h"

namespace foretrace::sweeping {
namespace {

/// Where the metrics of the new sweep stand in rows of the old one; none if one is missing.
std::optional<std::vector<std::size_t>> places_of(const Sweep& sweep, const Sweep& old) {
  std::vector<std::size_t> places;
  for (const MetricInfo& metric : sweep.metrics) {
    const auto found =
        std::find_if(old.metrics.begin(), old.metrics.end(),
                     [&](const MetricInfo& other) { return other.name == metric.name; });
    if (found == old.metrics.end()) return std::nullopt;
    places.push_back(static_cast<std::size_t>(found - old.metrics.begin()));
  }
  return places;
}

std::string identity(const Sweep& sweep, std::span<const double> where) {
  Digest digest;
  digest.add(json_of(sweep.document_at(where)));
  return digest.text();
}

struct OldRow {
  std::vector<double> metrics;
  std::string reason;
};

}  // namespace

Result<Reuse> reuse_store(const Sweep& sweep, const StoreFacts& facts, Store& store) {
  auto before = store.facts();
  if (!before.ok()) return std::move(before).error();
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("the folder holds results {}: take another one, or --fresh to "
                             "compute all of them anew",
                             why)};
  };
  Reuse reuse;
  if (before->version != facts.version) {
    return refuse(fmt::format("of version {} of the program", in_quotes(before->version)));
  }
  const bool is_same_sweep = before->sweep == facts.sweep;
  if (before->inputs != facts.inputs) {
    return refuse(is_same_sweep ? "of other files (a trace or a config has changed since)"
                                : "of another sweep");
  }
  if (is_same_sweep) {
    const bool was_moved = before->path != facts.path || before->folder != facts.folder;
    if (Status noted = was_moved ? store.update(facts) : ok_status(); !noted.ok()) {
      return std::move(noted).error();
    }
    return reuse;
  }

  auto old = parse_sweep(before->sweep, before->path, before->folder);
  if (!old.ok()) return std::move(old).error();
  const auto places = places_of(sweep, *old);
  std::unordered_map<std::string, OldRow> rows;
  const Status read = store.for_each(*old, [&](const PointResult& row) {
    ++reuse.old_rows;
    if (!places) return ok_status();
    OldRow kept{.metrics = {}, .reason = row.reason};
    if (row.reason.empty()) {
      for (const std::size_t place : *places) kept.metrics.push_back(row.metrics[place]);
    }
    rows.emplace(identity(*old, row.where), std::move(kept));
    return ok_status();
  });
  if (!read.ok()) return read.error();

  std::vector<PointResult> applying;
  Judge judge(sweep);
  for (std::uint64_t point = 0; !rows.empty() && point < sweep.space.size(); ++point) {
    PointResult one{.point = point};
    one.where.resize(sweep.axes().size());
    sweep.space.at(point, one.where);
    if (!judge.is_wanted(one.where)) continue;
    const auto found = rows.find(identity(sweep, one.where));
    if (found == rows.end()) continue;
    one.metrics = found->second.metrics;
    one.reason = found->second.reason;
    applying.push_back(std::move(one));
  }
  if (applying.empty() && reuse.old_rows > 0) {
    return refuse(places ? "of another sweep, none of which is a point of this one"
                         : "that lack a metric of this sweep");
  }
  reuse.reused = applying.size();
  if (Status status = store.reset(sweep, facts, applying); !status.ok()) {
    return std::move(status).error();
  }
  return reuse;
}

}  // namespace foretrace::sweeping
