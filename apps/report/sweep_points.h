// Points of a sweep as lines of CSV: all of them, however many there are.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "apps/sweep/store/select.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// Who reads the lines: programs take texts as they are, spreadsheets would run some (csv_name).
enum class CsvReaders : std::uint8_t { anyone, programs };

/// A line of names, then one per selected point: its number, the values of its axes, whether it is
/// feasible, its metrics and why it failed. Numbers are exact: equal stores give equal bytes.
[[nodiscard]] Status write_points(const sweeping::StoredSweep& stored,
                                  const sweeping::PointQuestion& question,
                                  const std::function<bool(std::string_view)>& sink,
                                  CsvReaders readers = CsvReaders::anyone);

}  // namespace foretrace::report
