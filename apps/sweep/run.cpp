#include "apps/sweep/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "apps/sweep/points/judge.h"
#include "apps/sweep/reuse.h"
#include "apps/sweep/run_search.h"
#include "apps/sweep/store/store.h"
#include "sim/core/parallel.h"

namespace foretrace::sweeping {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_threads = 1024;
// A worker takes as many points as it computes in this time: little is lost when it is cut off.
constexpr double piece_seconds = 0.25;
constexpr std::size_t largest_piece = 1024;
constexpr std::uint64_t longest_stretch = 1U << 16U;
// Rows are committed together: so many, or what there is after so long.
constexpr std::size_t rows_per_commit = 8192;
constexpr double seconds_per_commit = 0.5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Hands out points, takes results, writes them.
class SweepRunner {
 public:
  SweepRunner(const Sweep& sweep, const Evaluation& evaluation, const SweepSettings& settings,
              Store& store)
      : sweep_(sweep),
        evaluation_(evaluation),
        settings_(settings),
        store_(store),
        is_there_(sweep.space.size()),
        judge_(sweep) {
    summary_.points = sweep.space.size();
  }

  Status see_store() {
    return store_.for_each_number([&](std::uint64_t point) {
      if (point < is_there_.size()) {
        is_there_[point] = true;
        ++summary_.found;
      }
    });
  }

  Result<SweepRun> run() {
    start_ = last_commit_ = Clock::now();
    const std::size_t wanted = settings_.threads != 0
                                   ? settings_.threads
                                   : std::max<std::size_t>(1, std::thread::hardware_concurrency());
    const std::size_t threads = std::min(wanted, most_threads);
    for_each_index(
        threads, [&](std::size_t) { work(); }, threads);
    write(true);
    if (problem_) return *problem_;
    summary_.seconds = seconds_since(start_);
    summary_.unwanted = unwanted_;
    FORETRACE_TRY(store_.finish());
    return summary_;
  }

 private:
  void work() {
    const std::unique_ptr<PointEvaluator> evaluator = evaluation_.evaluator();
    Judge judge(sweep_);
    std::vector<PointResult> wanted;
    std::uint64_t stretch = 4;  // numbers to look at in one go
    std::size_t piece = 4;      // points to compute in one go
    while (!has_stopped_) {
      const std::uint64_t first = next_.fetch_add(stretch);
      if (first >= summary_.points) return;
      if (collect(first, std::min(first + stretch, summary_.points), judge, wanted)) write(false);
      stretch = wanted.size() < piece ? std::min(2 * stretch, longest_stretch) : stretch;
      for (std::size_t at = 0; at < wanted.size() && !has_stopped_;) {
        const std::span<PointResult> some =
            std::span(wanted).subspan(at, std::min(piece, wanted.size() - at));
        at += some.size();
        const Clock::time_point before = Clock::now();
        evaluator->evaluate(some);
        const double fitting = static_cast<double>(some.size()) * piece_seconds /
                               std::max(seconds_since(before), 1e-6);
        piece = static_cast<std::size_t>(
            std::clamp(fitting, 1.0, static_cast<double>(std::min(2 * piece, largest_piece))));
        stretch = std::min<std::uint64_t>(stretch, std::max<std::uint64_t>(4 * piece, 64));
        {
          const std::lock_guard<std::mutex> lock(pending_mutex_);
          std::move(some.begin(), some.end(), std::back_inserter(pending_));
        }
        write(false);
      }
    }
  }

  /// Points of a stretch that are wanted and not there. Those that fail at once are done:
  /// true if there were some.
  bool collect(std::uint64_t first, std::uint64_t last, Judge& judge,
               std::vector<PointResult>& wanted) {
    wanted.clear();
    std::uint64_t unwanted = 0;
    std::vector<PointResult> failed;
    std::vector<double> where(sweep_.axes().size());
    for (std::uint64_t point = first; point < last; ++point) {
      if (is_there_[point]) continue;
      sweep_.space.at(point, where);
      PointResult one{.point = point};
      if (std::uint64_t skipped = judge.unwanted_from(point, where, one.reason); skipped > 0) {
        skipped = std::min(skipped, last - point);
        unwanted += skipped;
        point += skipped - 1;
        continue;
      }
      one.where = where;
      (one.reason.empty() ? wanted : failed).push_back(std::move(one));
    }
    unwanted_ += unwanted;
    if (failed.empty()) return false;
    const std::lock_guard<std::mutex> lock(pending_mutex_);
    std::move(failed.begin(), failed.end(), std::back_inserter(pending_));
    return true;
  }

  void write(bool is_last) {
    std::unique_lock<std::mutex> store_lock(store_mutex_, std::defer_lock);
    if (is_last) {
      store_lock.lock();
    } else if (!store_lock.try_lock()) {
      return;  // another thread is writing, and will see what came in meanwhile next time
    }
    {
      const std::lock_guard<std::mutex> lock(pending_mutex_);
      const bool is_due = is_last || pending_.size() >= rows_per_commit ||
                          seconds_since(last_commit_) >= seconds_per_commit;
      if (!is_due) return;
      std::swap(pending_, writing_);
    }
    if (!writing_.empty() && !problem_) {
      if (Status status = store_.add(writing_); !status.ok()) {
        problem_ = status.error();
        has_stopped_ = true;
      }
    }
    last_commit_ = Clock::now();
    if (!problem_) {
      summary_.computed += writing_.size();
      tell(writing_);
    }
    writing_.clear();
  }

  void tell(std::span<const PointResult> rows) {
    if (!settings_.progress) return;
    for (const PointResult& row : rows) {
      if (!judge_.is_feasible(row)) continue;
      const double cost = judge_.cost(row, 0);
      if (std::isfinite(cost) && (!best_ || cost < *best_)) best_ = cost;
    }
    SweepProgress now;
    now.points = summary_.points;
    now.done = summary_.found + summary_.computed + unwanted_;
    now.per_second = static_cast<double>(summary_.computed) / std::max(seconds_since(start_), 1e-3);
    now.seconds_left = static_cast<double>(now.points - std::min(now.done, now.points)) /
                       std::max(now.per_second, 1e-9);
    if (best_) now.best = sweep_.objectives.front().is_maximized ? -*best_ : *best_;
    settings_.progress(now);
  }

  const Sweep& sweep_;
  const Evaluation& evaluation_;
  const SweepSettings& settings_;
  Store& store_;
  SweepRun summary_;
  Clock::time_point start_{};

  std::vector<bool> is_there_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> unwanted_ = 0;

  std::mutex pending_mutex_;
  std::vector<PointResult> pending_;

  std::mutex store_mutex_;  // of all below
  std::vector<PointResult> writing_;
  Clock::time_point last_commit_{};
  std::optional<Error> problem_;
  std::atomic<bool> has_stopped_ = false;
  Judge judge_;
  std::optional<double> best_;
};

Result<SweepRun> run_all(const Sweep& sweep, const Evaluation& evaluation,
                         const SweepSettings& settings, Store& store) {
  SweepRunner runner(sweep, evaluation, settings, store);
  FORETRACE_TRY(runner.see_store());
  return runner.run();
}

}  // namespace

Result<SweepRun> run_sweep(const Sweep& sweep, const std::string& folder,
                           const SweepSettings& settings) {
  FORETRACE_TRY(auto store, open_store(sweep, folder, settings));
  FORETRACE_TRY(auto evaluation, prepare(sweep, settings.catalogue));
  FORETRACE_TRY(const auto reuse, ready_store(sweep, settings, evaluation->inputs(), store));
  FORETRACE_TRY(auto run, is_search(sweep.method) ? run_search(sweep, *evaluation, settings, store)
                                                  : run_all(sweep, *evaluation, settings, store));
  run.old_rows = reuse.old_rows;
  run.reused = reuse.reused;
  run.doubts = evaluation->doubts();
  return run;
}

}  // namespace foretrace::sweeping
