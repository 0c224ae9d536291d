// When the threads of a graph do something that is recorded: what lies between is silence.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

/// Starts and ends of a thread's operators, annotations and calls, and the calls themselves.
struct Activity {
  static constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

  std::int32_t rank = 0;
  std::vector<std::int64_t> boundaries;                        ///< sorted
  std::vector<std::pair<std::int64_t, std::int64_t>> calls{};  ///< start and end, sorted

  /// True if one runtime call covers the stretch: the thread is inside CUDA, not silent.
  [[nodiscard]] bool inside_call(std::int64_t from, std::int64_t to) const;
};

/// Whether the ends of steps, at which nothing happens, are boundaries.
enum class StepEnds : std::uint8_t { count, ignore };

/// One per thread of the assembly.
[[nodiscard]] std::vector<Activity> activity_of(const Assembly& assembly, StepEnds steps);

}  // namespace foretrace::trace::rules
