#include "trace/rules/check_work.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "trace/io/text.h"

namespace foretrace::trace::rules {
namespace {

/// Events of unknown kinds, and where most of them lie.
struct Unknown {
  std::size_t count = 0;
  std::string where;
};

Unknown find_unknown(const EventTable& events) {
  Unknown unknown;
  std::map<std::string_view, std::size_t> by_place;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::other) {
      ++unknown.count;
      const Track& track = events.tracks[index(events.track[i])];
      const std::string_view process = events.names[track.process_text];
      ++by_place[process.empty() ? events.names[track.name] : process];
    }
  }
  const auto most =
      std::max_element(by_place.begin(), by_place.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  unknown.where = most == by_place.end() ? std::string() : shortened(most->first, 60);
  return unknown;
}

}  // namespace

Status check_work(const Assembly& assembly) {
  const EventTable& events = assembly.events;
  if (assembly.threads.empty() && assembly.ops.empty()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: no device work, no steps and no host operators among {} events; "
                             "nothing to simulate",
                             events.info.path, events.size())};
  }
  // Recordings of the host alone have hardly any event of an unknown kind (up to 3 % of 2,324).
  constexpr std::size_t fewest_unknown = 1000;
  constexpr std::size_t largest_share = 10;  // one in ten
  constexpr std::size_t fewest_per_operation = 100;
  const Unknown unknown = find_unknown(events);
  if (unknown.count >= fewest_unknown && unknown.count * largest_share >= events.size() &&
      assembly.ops.size() * fewest_per_operation < unknown.count) {
    return Error{
        ErrorCode::no_match,
        fmt::format("{}: unsupported accelerator: {} of {} events are of unknown kinds{}, {} are "
                    "device work, so nothing can be replayed",
                    events.info.path, unknown.count, events.size(),
                    unknown.where.empty() ? std::string()
                                          : fmt::format(", most of them of '{}'", unknown.where),
                    assembly.ops.size())};
  }
  return ok_status();
}

}  // namespace foretrace::trace::rules
