// One-off silences: long stretches in which nothing is launched and no device works, as compilation
// and loading on first use make them, and cutting them out of a recording.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/table/events.h"

namespace foretrace::trace {

struct Silence {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string name;  ///< the shortest event that is around nearly all of it; empty: none is
};

/// By begin. Silences that come again (data that is loaded for every step) are not among them, nor
/// what comes before the first launch (but for a long call of the runtime: it creates the context)
/// and after the last work.
[[nodiscard]] std::vector<Silence> one_off_silences(const EventTable& events);

/// Takes the silences out: what comes later moves forward, what is around them gets shorter.
void cut_out(std::span<const Silence> silences, EventTable& events);

}  // namespace foretrace::trace
