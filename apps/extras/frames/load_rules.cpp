// Rules: Reddi et al., MLPerf Inference Benchmark, ISCA 2020, section "scenarios". Shares and
// bounds are arguments: every benchmark states its own.
#include "apps/extras/frames/load_rules.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "sim/core/random.h"
#include "sim/core/whole.h"

namespace foretrace::streams {
namespace {

LoadFigures figures_of(std::vector<std::int64_t> latencies, double share, double samples,
                       double span_ns) {
  LoadFigures figures;
  figures.queries = static_cast<std::int64_t>(latencies.size());
  double sum = 0;
  for (const std::int64_t latency : latencies) sum += static_cast<double>(latency);
  if (!latencies.empty()) figures.mean_ns = sum / static_cast<double>(latencies.size());
  if (span_ns > 0) figures.samples_per_s = samples / span_ns * 1e9;
  figures.percentile_ns = nearest_rank(std::move(latencies), share);
  return figures;
}

/// Gaps with mean 1.
std::vector<double> drawn_arrivals(const ServerOptions& options) {
  std::mt19937_64 engine(options.seed);
  std::vector<double> arrivals;
  double at = 0;
  for (std::int64_t i = 0; i < options.queries; ++i) {
    if (i > 0) at -= std::log(unit_interval(engine()) + 0x1p-53);
    arrivals.push_back(at);
  }
  return arrivals;
}

LoadFigures served(const BatchTime& time, const ServerOptions& options,
                   std::span<const double> arrivals) {
  const double gap_ns = 1e9 / options.queries_per_s;
  std::vector<std::int64_t> latencies;
  std::int64_t free_ns = 0;
  for (std::size_t next = 0; next < arrivals.size();) {
    const auto arrives = [&](std::size_t i) { return to_whole(arrivals[i] * gap_ns); };
    const std::int64_t start = std::max<std::int64_t>(free_ns, arrives(next));
    std::size_t end = next;
    while (end < arrivals.size() && arrives(end) <= start &&
           static_cast<std::int64_t>(end - next) < options.largest_batch) {
      ++end;
    }
    free_ns = start + time(static_cast<std::int64_t>(end - next));
    for (; next < end; ++next) latencies.push_back(free_ns - arrives(next));
  }
  const auto count = static_cast<double>(arrivals.size());
  return figures_of(std::move(latencies), options.share, count, static_cast<double>(free_ns));
}

}  // namespace

std::int64_t nearest_rank(std::vector<std::int64_t> times_ns, double share) {
  if (times_ns.empty()) return 0;
  const double rank = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(times_ns.size()));
  const auto at = static_cast<std::ptrdiff_t>(std::max(1.0, rank)) - 1;
  std::nth_element(times_ns.begin(), times_ns.begin() + at, times_ns.end());
  return times_ns[static_cast<std::size_t>(at)];
}

LoadFigures single_stream(const BatchTime& time, std::int64_t queries, double share) {
  std::vector<std::int64_t> latencies;
  double span = 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    latencies.push_back(time(1));
    span += static_cast<double>(latencies.back());
  }
  return figures_of(std::move(latencies), share, static_cast<double>(queries), span);
}

LoadFigures multi_stream(const BatchTime& time, const Interval& interval, std::int64_t queries,
                         double share) {
  std::vector<std::int64_t> latencies;
  std::int64_t skipped = 0;
  std::int64_t at_ns = 0;
  std::int64_t end_ns = 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t took = time(interval.samples);
    latencies.push_back(took);
    end_ns = at_ns + took;
    // The next interval at which the system is free; those before it are skipped.
    const std::int64_t every = std::max<std::int64_t>(1, interval.every_ns);
    const std::int64_t passed = std::max<std::int64_t>(1, (took + every - 1) / every);
    if (i + 1 < queries) skipped += passed - 1;
    at_ns += passed * every;
  }
  LoadFigures figures =
      figures_of(std::move(latencies), share,
                 static_cast<double>(queries) * static_cast<double>(interval.samples),
                 static_cast<double>(end_ns));
  figures.skipped = skipped;
  return figures;
}

LoadFigures offline(const BatchTime& time, std::int64_t samples, std::int64_t largest_batch) {
  std::int64_t end_ns = 0;
  for (std::int64_t left = samples; left > 0; left -= largest_batch) {
    end_ns += time(std::min(left, largest_batch));
  }
  return figures_of({end_ns}, 1, static_cast<double>(samples), static_cast<double>(end_ns));
}

LoadFigures server(const BatchTime& time, const ServerOptions& options) {
  return served(time, options, drawn_arrivals(options));
}

double best_batch_rate(const BatchTime& time, const ServerOptions& options) {
  double most = 0;
  for (std::int64_t batch = 1; batch <= std::min(options.largest_batch, options.queries); ++batch) {
    const auto ns = static_cast<double>(std::max<std::int64_t>(1, time(batch)));
    most = std::max(most, static_cast<double>(batch) / ns * 1e9);
  }
  return most;
}

bool burst_keeps(const BatchTime& time, const ServerOptions& options, std::int64_t bound_ns) {
  const std::vector<double> at_once(static_cast<std::size_t>(options.queries), 0);
  return served(time, options, at_once).percentile_ns <= bound_ns;
}

std::optional<double> highest_rate(const BatchTime& time, const ServerOptions& options,
                                   std::int64_t bound_ns) {
  if (time(1) > bound_ns || burst_keeps(time, options, bound_ns)) return std::nullopt;
  const double most = best_batch_rate(time, options);
  const std::vector<double> arrivals = drawn_arrivals(options);
  const auto keeps = [&](double rate) {
    ServerOptions at = options;
    at.queries_per_s = rate;
    return served(time, at, arrivals).percentile_ns <= bound_ns;
  };
  if (keeps(most)) return most;
  double low = std::min(1e-3, most / 2);
  double high = std::min(1.0, most);
  while (high < most && keeps(high)) {
    low = high;
    high = std::min(2 * high, most);
  }
  if (!keeps(low)) return std::nullopt;
  while (high / low > 1.001) {
    const double middle = std::sqrt(low * high);
    (keeps(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace foretrace::streams
