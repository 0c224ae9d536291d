#include "apps/sweep/feed.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "apps/sweep/reuse.h"

namespace foretrace::sweeping {
namespace {

using FeedClock = std::chrono::steady_clock;

// Rows are committed together: so many, or what there is after so long.
constexpr std::size_t rows_of_commit = 8192;
constexpr double seconds_of_commit = 0.5;

double seconds_from(FeedClock::time_point start) {
  return std::chrono::duration<double>(FeedClock::now() - start).count();
}

}  // namespace

SweepFeed::SweepFeed(Sweep sweep, SweepSettings settings, Store store)
    : sweep_(std::move(sweep)),
      settings_(std::move(settings)),
      store_(std::move(store)),
      judge_(sweep_),
      where_(sweep_.axes().size()) {
  summary_.points = sweep_.space.size();
}

Result<std::unique_ptr<SweepFeed>> SweepFeed::open(Sweep sweep, const std::string& folder,
                                                   SweepSettings settings) {
  FORETRACE_TRY(auto store, open_store(sweep, folder, settings));
  std::unique_ptr<SweepFeed> feed(
      new SweepFeed(std::move(sweep), std::move(settings), std::move(store)));
  FORETRACE_TRY(const auto evaluation, prepare(feed->sweep_, feed->settings_.catalogue));
  feed->inputs_ = evaluation->inputs();
  feed->summary_.doubts = evaluation->doubts();
  FORETRACE_TRY(const auto reuse,
                ready_store(feed->sweep_, feed->settings_, feed->inputs_, feed->store_));
  feed->summary_.old_rows = reuse.old_rows;
  feed->summary_.reused = reuse.reused;
  FORETRACE_TRY(feed->see_store());
  feed->start_ = feed->last_commit_ = FeedClock::now();
  return feed;
}

Status SweepFeed::see_store() {
  if (is_search(sweep_.method)) {
    walk_ = std::make_unique<SearchWalk>(sweep_);
    Status seen = store_.for_each(sweep_, [&](const PointResult& row) {
      walk_->know(row);
      return ok_status();
    });
    summary_.found = walk_->known();
    return seen;
  }
  is_there_.assign(sweep_.space.size(), false);
  return store_.for_each_number([&](std::uint64_t point) {
    if (point >= is_there_.size()) return;
    is_there_[point] = true;
    ++summary_.found;
  });
}

std::vector<std::uint64_t> SweepFeed::take(std::size_t most) {
  auto taken = walk_ != nullptr ? take_from_search(most) : take_from_grid(most);
  given_ += taken.size();
  return taken;
}

std::vector<std::uint64_t> SweepFeed::take_from_grid(std::size_t most) {
  std::vector<std::uint64_t> taken;
  for (; next_ < summary_.points && taken.size() < most; ++next_) {
    if (is_there_[next_]) continue;
    PointResult one{.point = next_};
    sweep_.space.at(next_, where_);
    if (std::uint64_t skipped = judge_.unwanted_from(next_, where_, one.reason); skipped > 0) {
      skipped = std::min(skipped, summary_.points - next_);
      summary_.unwanted += skipped;
      next_ += skipped - 1;
    } else if (one.reason.empty()) {
      taken.push_back(next_);
    } else {
      one.where = where_;
      pending_.push_back(std::move(one));
    }
  }
  return taken;
}

std::vector<std::uint64_t> SweepFeed::take_from_search(std::size_t most) {
  if (generation_.empty() && given_ == 0) {
    generation_ = walk_->next();
    std::reverse(generation_.begin(), generation_.end());
  }
  std::vector<std::uint64_t> taken;
  while (taken.size() < most && !generation_.empty()) {
    taken.push_back(generation_.back());
    generation_.pop_back();
  }
  return taken;
}

Status SweepFeed::add(std::vector<PointResult> rows) {
  for (PointResult& row : rows) {
    if (row.point >= summary_.points) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: received point {}, expected one below {}", sweep_.path,
                               row.point, summary_.points)};
    }
    if (row.reason.empty() && row.metrics.size() != sweep_.metrics.size()) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: received point {} with {} metrics, expected {}", sweep_.path,
                               row.point, row.metrics.size(), sweep_.metrics.size())};
    }
    row.where.resize(where_.size());
    sweep_.space.at(row.point, row.where);
    if (judge_.is_feasible(row)) {
      const double cost = judge_.cost(row, 0);
      if (std::isfinite(cost) && (!best_ || cost < *best_)) best_ = cost;
    }
    if (walk_ != nullptr) walk_->know(row);
  }
  given_ -= std::min<std::uint64_t>(given_, rows.size());
  std::move(rows.begin(), rows.end(), std::back_inserter(pending_));
  const bool is_due =
      pending_.size() >= rows_of_commit || seconds_from(last_commit_) >= seconds_of_commit;
  return is_due ? write() : ok_status();
}

Status SweepFeed::write() {
  FORETRACE_TRY(store_.add(pending_));
  summary_.computed += pending_.size();
  pending_.clear();
  last_commit_ = FeedClock::now();
  return ok_status();
}

Result<SweepRun> SweepFeed::finish() {
  FORETRACE_TRY(write());
  summary_.seconds = seconds();
  FORETRACE_TRY(store_.finish());
  return summary_;
}

double SweepFeed::seconds() const { return seconds_from(start_); }

SweepProgress SweepFeed::progress() const {
  const std::uint64_t computed = summary_.computed + pending_.size();
  SweepProgress now;
  now.points = walk_ != nullptr ? sweep_.search.points : summary_.points;
  now.done = std::min(summary_.found + computed + summary_.unwanted, now.points);
  now.per_second = static_cast<double>(computed) / std::max(seconds(), 1e-3);
  now.seconds_left = static_cast<double>(now.points - now.done) / std::max(now.per_second, 1e-9);
  if (best_) now.best = sweep_.objectives.front().is_maximized ? -*best_ : *best_;
  return now;
}

Result<std::unique_ptr<SweepWorker>> SweepWorker::open(const std::string& text,
                                                       const std::string& folder,
                                                       CataloguePtr catalogue) {
  FORETRACE_TRY(auto sweep, parse_sweep(text, "sweep", folder));
  std::unique_ptr<SweepWorker> worker(new SweepWorker(std::move(sweep)));
  FORETRACE_TRY(worker->evaluation_, prepare(worker->sweep_, std::move(catalogue)));
  return worker;
}

Result<std::vector<PointResult>> SweepWorker::evaluate(std::span<const std::uint64_t> points) {
  std::vector<PointResult> rows;
  rows.reserve(points.size());
  for (const std::uint64_t point : points) {
    if (point >= sweep_.space.size()) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("point {}: expected one below {}", point, sweep_.space.size())};
    }
    PointResult one{.point = point};
    one.where.resize(sweep_.axes().size());
    sweep_.space.at(point, one.where);
    rows.push_back(std::move(one));
  }
  std::unique_ptr<PointEvaluator> evaluator;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      evaluator = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (evaluator == nullptr) evaluator = evaluation_->evaluator();
  evaluator->evaluate(rows);
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(evaluator));
  return rows;
}

}  // namespace foretrace::sweeping
