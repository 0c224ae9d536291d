#include "trace/collect/environment.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>

#include "trace/collect/step_report.h"
#include "trace/io/text.h"

namespace foretrace::trace::collector {
namespace {

constexpr std::size_t longest_fact = 1024;
constexpr std::int64_t latest_second = std::int64_t{1} << 40;

// "2026-11-21 16:42:00 UTC"; the number if it is no date.
std::string date_of(const ftr::Pairs& facts, std::string_view key) {
  const std::int64_t seconds = ftr::number_of(facts, key, -1);
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (seconds < 0 || seconds > latest_second || ::gmtime_r(&time, &parts) == nullptr) {
    return std::string(ftr::value_of(facts, key));
  }
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// Moments seen on both clocks; how far apart they put the two tells drift and interruptions.
std::string clocks_of(const std::vector<ClockRecord>& clocks) {
  std::vector<double> offsets;
  offsets.reserve(clocks.size());
  for (const ClockRecord& clock : clocks) {
    offsets.push_back(static_cast<double>(clock.real_time) -
                      static_cast<double>(clock.record_time));
  }
  if (offsets.empty()) {
    return "never compared";
  }
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
      facts.emplace_back(fact.name, trace::detail::shortened(value, longest_fact));
    }
  }
  if (!ftr::value_of(recording.facts, "started").empty()) {
    facts.emplace_back("started",
                       trace::detail::shortened(date_of(recording.facts, "started"), longest_fact));
  }
  if (std::string steps = step_text(recording.facts); !steps.empty()) {
    facts.emplace_back("steps", std::move(steps));
  }
  facts.emplace_back("clocks", clocks_of(recording.clocks));
  return facts;
}

}  // namespace foretrace::trace::collector
