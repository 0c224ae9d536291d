#include "apps/questions/memory/batch_scan.h"

#include <algorithm>
#include <map>

namespace foretrace {
namespace {

constexpr std::int64_t most_scanned = 128;
// Tried together, so that threads have work; those behind a batch that fits are tried in vain.
constexpr std::size_t chunk = 8;

/// Smallest power of two with at most `most_scanned` multiples from `from` to `to`.
std::int64_t granule_of(std::int64_t from, std::int64_t to) {
  std::int64_t granule = 1;
  while (to / granule - (from - 1) / granule > most_scanned) granule *= 2;
  return granule;
}

class Scanner {
 public:
  explicit Scanner(const BatchScanProblem& problem) : problem_(problem) {}

  Result<BatchScan> run() {
    const auto fits = [](const BatchTrial& trial) { return trial.fits; };
    const auto may_fit = [](const BatchTrial& trial) { return trial.may_fit; };
    FORETRACE_TRY(const std::int64_t found, largest_by(fits, problem_.guess, problem_.least - 1));
    FORETRACE_TRY(const std::int64_t possible,
                  largest_by(may_fit, std::max(found, problem_.may_guess), found));
    scan_.largest = found;
    scan_.possible = possible;
    FORETRACE_TRY(scan_above());
    FORETRACE_TRY(scan_below());
    find_gaps();
    if (scan_.largest < problem_.least) scan_.largest = 0;
    if (scan_.possible < problem_.least) scan_.possible = 0;
    scan_.trials = tried_.size();
    return scan_;
  }

 private:
  /// Those that have not been tried yet, in the order given.
  Status try_all(std::span<const std::int64_t> batches) {
    std::vector<std::int64_t> fresh;
    for (const std::int64_t batch : batches) {
      if (tried_.find(batch) == tried_.end()) fresh.push_back(batch);
    }
    if (fresh.empty()) return ok_status();
    FORETRACE_TRY(const std::vector<BatchTrial> trials, problem_.try_batches(fresh));
    FORETRACE_CHECK(trials.size() == fresh.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) tried_[fresh[i]] = trials[i];
    return ok_status();
  }

  Result<BatchTrial> try_one(std::int64_t batch) {
    FORETRACE_TRY(try_all({&batch, 1}));
    return tried_.at(batch);
  }

  /// From the guess in growing strides to a batch that passes and one that does not, then between.
  /// `low` passes, or is less than is asked for.
  template <typename Passes>
  Result<std::int64_t> largest_by(const Passes& passes, std::int64_t guess, std::int64_t low) {
    std::int64_t high = problem_.most + 1;
    std::int64_t at = std::clamp(guess, problem_.least, problem_.most);
    for (std::int64_t stride = std::max<std::int64_t>(1, at / 64); high - low > 1; stride *= 2) {
      if (at > low) {
        FORETRACE_TRY(const BatchTrial trial, try_one(at));
        (passes(trial) ? low : high) = at;
      }
      if (low >= problem_.least && high <= problem_.most) break;
      at = at <= low ? std::min(problem_.most, at + stride) : std::max(problem_.least, at - stride);
    }
    return between(passes, low, high);
  }

  /// `low` passes and `high` does not.
  template <typename Passes>
  Result<std::int64_t> between(const Passes& passes, std::int64_t low, std::int64_t high) {
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      FORETRACE_TRY(const BatchTrial trial, try_one(middle));
      (passes(trial) ? low : high) = middle;
    }
    return low;
  }

  /// The largest ones first: the first that fits is the answer, but for those up to the multiple
  /// after it.
  Status scan_above() {
    const std::int64_t granule = granule_of(scan_.largest + 1, scan_.possible);
    scan_.granule_above = granule;
    std::vector<std::int64_t> batches;
    for (std::int64_t at = scan_.possible / granule * granule; at > scan_.largest; at -= granule) {
      batches.push_back(at);
    }
    for (std::size_t from = 0; from < batches.size(); from += chunk) {
      const auto part = std::span<const std::int64_t>(batches).subspan(
          from, std::min(chunk, batches.size() - from));
      FORETRACE_TRY(try_all(part));
      const auto fitting = std::find_if(part.begin(), part.end(),
                                        [&](std::int64_t batch) { return tried_.at(batch).fits; });
      if (fitting == part.end()) continue;
      FORETRACE_TRY(scan_.largest,
                    between([](const BatchTrial& trial) { return trial.fits; }, *fitting,
                            std::min(*fitting + granule, scan_.possible + 1)));
      break;
    }
    return ok_status();
  }

  Status scan_below() {
    const std::int64_t granule = granule_of(problem_.least, scan_.largest - 1);
    scan_.granule_below = granule;
    std::vector<std::int64_t> batches;
    for (std::int64_t at = (problem_.least + granule - 1) / granule * granule; at < scan_.largest;
         at += granule) {
      batches.push_back(at);
    }
    return try_all(batches);
  }

  void find_gaps() {
    bool was_gap = false;
    for (auto at = tried_.begin(); at != tried_.end() && at->first < scan_.largest; ++at) {
      if (!at->second.fits && was_gap) {
        scan_.gaps.back().to = at->first;
      } else if (!at->second.fits) {
        scan_.gaps.push_back({at->first, at->first});
      }
      was_gap = !at->second.fits;
    }
  }

  const BatchScanProblem& problem_;
  BatchScan scan_;
  std::map<std::int64_t, BatchTrial> tried_;
};

}  // namespace

Result<BatchScan> scan_batches(const BatchScanProblem& problem) { return Scanner(problem).run(); }

}  // namespace foretrace
