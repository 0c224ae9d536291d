#include "apps/driver/validate/folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace foretrace::driver {

namespace fs = std::filesystem;

Result<std::vector<std::string>> traces_below(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> list;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().lexically_relative(folder).generic_string();
    constexpr std::array suffixes = {".json", ".json.gz", ".ftr", ".ftr.gz"};
    const bool trace =
        at->path().filename() != "pairs.json" &&
        std::any_of(suffixes.begin(), suffixes.end(),
                    [&name](std::string_view suffix) { return name.ends_with(suffix); });
    if (at->is_regular_file(failed) && trace) {
      list.push_back(name);
    }
  }
  if (failed) {
    return Error{ErrorCode::io, fmt::format("{}: cannot list: {}", folder, failed.message())};
  }
  std::sort(list.begin(), list.end());
  return list;
}

bool has_device_work(const trace::EventTable& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i))) {
      return true;
    }
  }
  return false;
}

bool has_host_calls(const trace::EventTable& events) {
  return std::find(events.kind.begin(), events.kind.end(), trace::EventKind::runtime) !=
         events.kind.end();
}

}  // namespace foretrace::driver
