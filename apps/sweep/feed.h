// A sweep whose points are computed elsewhere, by other processes or machines: hands out numbers of
// points, takes what came of them into the store.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/judge.h"
#include "apps/sweep/run.h"
#include "apps/sweep/search_walk.h"
#include "apps/sweep/space/sweep.h"
#include "apps/sweep/store/store.h"

namespace foretrace::sweeping {

/// One thread asks it.
class SweepFeed {
 public:
  /// Errors: those of run_sweep().
  [[nodiscard]] static Result<std::unique_ptr<SweepFeed>> open(Sweep sweep,
                                                               const std::string& folder,
                                                               SweepSettings settings);
  SweepFeed(const SweepFeed&) = delete;
  SweepFeed& operator=(const SweepFeed&) = delete;
  ~SweepFeed() = default;

  [[nodiscard]] const Sweep& sweep() const { return sweep_; }
  [[nodiscard]] const std::string& inputs() const { return inputs_; }

  /// Points that nobody has computed or was given yet: at most so many. None: all were given, or a
  /// search waits for those that were.
  [[nodiscard]] std::vector<std::uint64_t> take(std::size_t most);
  /// What came of points that were taken, each once.
  [[nodiscard]] Status add(std::vector<PointResult> rows);
  /// Writes what is left. Rows that were not added are computed by the next run.
  [[nodiscard]] Result<SweepRun> finish();

  [[nodiscard]] SweepProgress progress() const;

 private:
  SweepFeed(Sweep sweep, SweepSettings settings, Store store);
  [[nodiscard]] Status see_store();
  [[nodiscard]] std::vector<std::uint64_t> take_from_grid(std::size_t most);
  [[nodiscard]] std::vector<std::uint64_t> take_from_search(std::size_t most);
  [[nodiscard]] Status write();
  [[nodiscard]] double seconds() const;

  Sweep sweep_;
  SweepSettings settings_;
  Store store_;
  std::string inputs_;
  Judge judge_;
  SweepRun summary_;
  std::chrono::steady_clock::time_point start_{};
  std::chrono::steady_clock::time_point last_commit_{};
  std::optional<double> best_;
  std::vector<PointResult> pending_;
  std::uint64_t given_ = 0;  ///< and not come back

  std::vector<bool> is_there_;  ///< of a grid
  std::uint64_t next_ = 0;
  std::vector<double> where_;

  std::unique_ptr<SearchWalk> walk_;  ///< of a search
  std::vector<std::uint64_t> generation_;
};

/// What computes points of somebody else's sweep. Any number of threads may ask.
class SweepWorker {
 public:
  /// `text` is Sweep::text, `folder` what names of files are relative to.
  [[nodiscard]] static Result<std::unique_ptr<SweepWorker>> open(const std::string& text,
                                                                 const std::string& folder,
                                                                 CataloguePtr catalogue);
  [[nodiscard]] const std::string& inputs() const { return evaluation_->inputs(); }
  /// Error: a number that is no point.
  [[nodiscard]] Result<std::vector<PointResult>> evaluate(std::span<const std::uint64_t> points);

 private:
  explicit SweepWorker(Sweep sweep) : sweep_(std::move(sweep)) {}

  Sweep sweep_;
  std::unique_ptr<const Evaluation> evaluation_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PointEvaluator>> idle_;
};

}  // namespace foretrace::sweeping
