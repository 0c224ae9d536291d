// Load of an inference benchmark: one query after the other, queries at an interval, queries at
// random times under a bound of latency, and everything at once (the four scenarios of MLPerf
// Inference).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace foretrace::streams {

/// Time of a batch of this many samples on the system under test.
using BatchTime = std::function<std::int64_t(std::int64_t samples)>;

/// The smallest of these times that at least this share of them does not exceed (nearest rank);
/// 0 for none.
[[nodiscard]] std::int64_t nearest_rank(std::vector<std::int64_t> times_ns, double share);

struct LoadFigures {
  std::int64_t queries = 0;
  std::int64_t percentile_ns = 0;  ///< latency at the asked share
  double mean_ns = 0;
  double samples_per_s = 0;
  std::int64_t skipped = 0;  ///< multi stream: intervals at which the last query was not done
};

/// One sample at a time, the next when the last is done.
[[nodiscard]] LoadFigures single_stream(const BatchTime& time, std::int64_t queries, double share);

struct Interval {
  std::int64_t samples = 1;  ///< of a query
  std::int64_t every_ns = 0;
};
/// A query at every interval. Where the last one is not done yet, the interval passes without one.
[[nodiscard]] LoadFigures multi_stream(const BatchTime& time, const Interval& interval,
                                       std::int64_t queries, double share);

/// All samples are there at the beginning and run in batches of at most `largest_batch`.
[[nodiscard]] LoadFigures offline(const BatchTime& time, std::int64_t samples,
                                  std::int64_t largest_batch);

struct ServerOptions {
  double queries_per_s = 1;
  std::int64_t queries = 1000;
  std::int64_t largest_batch = 1;  ///< samples that wait are taken together
  double share = 0.99;
  std::uint64_t seed = 0;
};
/// Arrivals of one sample with exponentially distributed gaps.
[[nodiscard]] LoadFigures server(const BatchTime& time, const ServerOptions& options);
/// Queries per second of the batches that do most, one behind the other: no load is served faster
/// in the long run.
[[nodiscard]] double best_batch_rate(const BatchTime& time, const ServerOptions& options);
/// True if even all queries at once keep the bound: there are too few of them to tell a rate.
[[nodiscard]] bool burst_keeps(const BatchTime& time, const ServerOptions& options,
                               std::int64_t bound_ns);
/// The highest rate at which the latency keeps the bound: by bisection, to a thousandth, at most
/// what batches sustain. The same arrivals are drawn, closer together. Nothing if not even a query
/// alone keeps the bound, or if all at once do.
[[nodiscard]] std::optional<double> highest_rate(const BatchTime& time,
                                                 const ServerOptions& options,
                                                 std::int64_t bound_ns);

}  // namespace foretrace::streams
