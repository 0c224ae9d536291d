#include "trace/collect/environment.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "trace/collect/step_report.h"
#include "trace/collect/stop_report.h"
#include "trace/io/text.h"

namespace foretrace::trace::collector {
namespace {

constexpr std::size_t longest_fact = 1024;

// Moments seen on both clocks; how far apart they put the two tells drift and interruptions.
std::string clocks_of(const std::vector<ClockRecord>& clocks) {
  std::vector<double> offsets;
  offsets.reserve(clocks.size());
  for (const ClockRecord& clock : clocks) {
    offsets.push_back(static_cast<double>(clock.real_time) -
                      static_cast<double>(clock.record_time));
  }
  if (offsets.empty()) return "never compared";
  const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  return fmt::format("compared {} {}, within {:.1f} us", offsets.size(),
                     offsets.size() == 1 ? "time" : "times", (*most - *least) / 1e3);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_of(const Recording& recording) {
  struct Known {
    std::string_view key;
    const char* name;
  };
  constexpr std::array known = {Known{"command", "command"}, Known{"process", "process"},
                                Known{"local rank", "local rank"}, Known{"driver", "CUDA driver"},
                                Known{"cupti", "CUPTI"}};
  std::vector<std::pair<std::string, std::string>> facts;
  for (const Known& fact : known) {
    if (const std::string_view value = ftr::value_of(recording.facts, fact.key); !value.empty()) {
      facts.emplace_back(fact.name, trace::shortened(value, longest_fact));
    }
  }
  if (const std::int64_t started = ftr::number_of(recording.facts, "started", -1); started >= 0) {
    facts.emplace_back("started", utc_text(started));
  }
  if (std::string steps = step_text(recording.facts); !steps.empty()) {
    facts.emplace_back("steps", std::move(steps));
  }
  facts.emplace_back("clocks", clocks_of(recording.clocks));
  return facts;
}

}  // namespace foretrace::trace::collector
