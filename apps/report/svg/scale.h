// Axes with round ticks: times, bytes and plain numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::svg {

/// A place on an axis and what stands there.
struct Tick {
  double value = 0;
  std::string label;
};

/// From 0 to `largest` in steps of 1, 2 or 5 times a power of ten, at most `most` of them (2 or
/// more), all in one unit: "0", "20", "40 ms".
[[nodiscard]] std::vector<Tick> time_ticks(std::int64_t largest_ns, std::size_t most);
/// The same in KiB, MiB or GiB: "0", "1 GiB", "2 GiB".
[[nodiscard]] std::vector<Tick> byte_ticks(std::int64_t largest_bytes, std::size_t most);
/// From `low` to `high`, both included if they are round.
[[nodiscard]] std::vector<Tick> number_ticks(double low, double high, std::size_t most);

}  // namespace foretrace::svg
