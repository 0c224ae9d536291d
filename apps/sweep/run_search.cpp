#include "apps/sweep/run_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "apps/sweep/points/judge.h"
#include "apps/sweep/search_walk.h"
#include "sim/core/parallel.h"

namespace foretrace::sweeping {
namespace {

using SearchClock = std::chrono::steady_clock;

// Threads take so many pieces of a generation each, so that a slow point holds up few others.
constexpr std::size_t pieces_per_thread = 4;
constexpr std::size_t most_search_threads = 256;

class SearchRunner {
 public:
  SearchRunner(const Sweep& sweep, const Evaluation& evaluation, const SweepSettings& settings,
               Store& store)
      : sweep_(sweep), settings_(settings), store_(store), judge_(sweep), walk_(sweep) {
    const std::size_t machine = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    const std::size_t threads = settings.threads != 0 ? settings.threads : machine;
    for (std::size_t i = 0; i < std::min(threads, most_search_threads); ++i) {
      evaluators_.push_back(evaluation.evaluator());
    }
    summary_.points = sweep.space.size();
  }

  Result<SweepRun> run() {
    const Status seen = store_.for_each(sweep_, [&](const PointResult& row) {
      note_best(row);
      walk_.know(row);
      return ok_status();
    });
    FORETRACE_TRY(seen);
    summary_.found = walk_.known();
    start_ = SearchClock::now();
    for (auto missing = walk_.next(); !missing.empty(); missing = walk_.next()) {
      FORETRACE_TRY(compute(missing));
      tell();
    }
    summary_.seconds = seconds();
    FORETRACE_TRY(store_.finish());
    return summary_;
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(SearchClock::now() - start_).count();
  }

  Status compute(std::span<const std::uint64_t> asked) {
    std::vector<PointResult> missing;
    for (const std::uint64_t point : asked) {
      PointResult one{.point = point};
      one.where.resize(sweep_.axes().size());
      sweep_.space.at(point, one.where);
      missing.push_back(std::move(one));
    }
    const std::size_t threads = std::min(evaluators_.size(), missing.size());
    const std::size_t pieces = std::min(threads * pieces_per_thread, missing.size());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;  // of the store and what follows
    std::optional<Error> problem;
    for_each_index(
        threads,
        [&](std::size_t thread) {
          for (std::size_t piece = next++; piece < pieces; piece = next++) {
            const std::size_t first = piece * missing.size() / pieces;
            const std::size_t last = (piece + 1) * missing.size() / pieces;
            const std::span<PointResult> some = std::span(missing).subspan(first, last - first);
            evaluators_[thread]->evaluate(some);
            const std::lock_guard<std::mutex> lock(mutex);
            if (problem) return;
            if (Status added = store_.add(some); !added.ok()) problem = std::move(added).error();
          }
        },
        threads);
    if (problem) return *problem;
    summary_.computed += missing.size();
    for (PointResult& one : missing) {
      note_best(one);
      walk_.know(std::move(one));
    }
    return ok_status();
  }

  void note_best(const PointResult& row) {
    if (!settings_.progress || !judge_.is_feasible(row)) return;
    const double cost = judge_.cost(row, 0);
    if (std::isfinite(cost) && (!best_ || cost < *best_)) best_ = cost;
  }

  void tell() {
    if (!settings_.progress) return;
    SweepProgress now;
    now.points = sweep_.search.points;
    now.done = std::min<std::uint64_t>(walk_.known(), now.points);
    now.per_second = static_cast<double>(summary_.computed) / std::max(seconds(), 1e-3);
    now.seconds_left = static_cast<double>(now.points - now.done) / std::max(now.per_second, 1e-9);
    if (best_) now.best = sweep_.objectives.front().is_maximized ? -*best_ : *best_;
    settings_.progress(now);
  }

  const Sweep& sweep_;
  const SweepSettings& settings_;
  Store& store_;
  Judge judge_;
  SearchWalk walk_;
  std::vector<std::unique_ptr<PointEvaluator>> evaluators_;  ///< one per thread
  std::optional<double> best_;
  SweepRun summary_;
  SearchClock::time_point start_{};
};

}  // namespace

Result<SweepRun> run_search(const Sweep& sweep, const Evaluation& evaluation,
                            const SweepSettings& settings, Store& store) {
  return SearchRunner(sweep, evaluation, settings, store).run();
}

}  // namespace foretrace::sweeping
