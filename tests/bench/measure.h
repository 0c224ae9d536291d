// Measuring: CPU time, medians of interleaved runs, programs beside us.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace foretrace::bench {

/// Rows of ratios.json: name and value.
using Ratios = std::vector<std::pair<std::string, double>>;

/// CPU time of this thread, in seconds.
[[nodiscard]] double cpu_seconds();

/// Median CPU seconds of one call of each run. All take turns, so that a busy machine hits them
/// alike; short runs are called several times in a row per turn, so that the clock and the caches
/// that the others left behind do not count.
[[nodiscard]] std::vector<double> median_seconds(const std::vector<std::function<void()>>& runs,
                                                 int rounds);

/// The middle of the values; of an even number the lower one of the two in the middle.
[[nodiscard]] double median(std::vector<double> values);

/// What a program wrote to its standard output; empty if it cannot be run or fails.
[[nodiscard]] std::string output_of(const std::string& command);

}  // namespace foretrace::bench
