#include "trace/collect/stop_report.h"

#include <ctime>

#include <fmt/format.h>

#include "trace/collect/record_writer.h"
#include "trace/io/text.h"

namespace foretrace::trace::collector {

std::string utc_text(std::int64_t seconds) {
  constexpr std::int64_t last_second = std::int64_t{1} << 40;
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (seconds < 0 || seconds > last_second || ::gmtime_r(&time, &parts) == nullptr) {
    return std::to_string(seconds);
  }
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string stop_warning(const ftr::Pairs& facts) {
  const std::string_view why = ftr::value_of(facts, stopped_fact);
  if (why.empty()) {
    return {};
  }
  const std::int64_t until = ftr::number_of(facts, recorded_until_fact, 0);
  return fmt::format("recorded until {} only, the program continued: {}",
                     until > 0 ? utc_text(until) : "its first call", shortened(why));
}

std::string cut_warning(const ftr::Pairs& facts) {
  return !ftr::value_of(facts, device_work_fact).empty()
             ? std::string()
             : "the recording has no end: the program ended by a signal, by abort or by _exit, and "
               "about its last second is missing";
}

}  // namespace foretrace::trace::collector
