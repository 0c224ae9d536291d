// What a trace viewer shows beside slices: values over time, and what happens at one time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/task.h"

namespace foretrace {

class ChromeText;

/// A value over time, drawn as an area on the process of a device.
struct ChromeCounter {
  struct Sample {
    std::int64_t time_ns = 0;
    std::int64_t value = 0;
  };
  std::string name{};
  std::int32_t rank = 0;
  std::int32_t device = no_device;
  std::vector<Sample> samples{};  ///< by time; of equal times the last one counts
};

/// Something that happens at one time.
struct ChromeInstant {
  std::string name{};
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;  ///< an argument of the event
};

/// Instants of one device, on a track of their own.
struct ChromeInstants {
  std::string title{};
  std::int32_t rank = 0;
  std::int32_t device = no_device;
  std::vector<ChromeInstant> list{};  ///< by time
};

namespace exporting {

void write_counter(ChromeText& out, const ChromeCounter& counter, std::size_t process);
/// On this thread of the process.
void write_instants(ChromeText& out, const ChromeInstants& instants, std::size_t process,
                    std::size_t thread);

}  // namespace exporting

}  // namespace foretrace
