#include "apps/driver/formats.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/driver/load.h"
#include "apps/driver/predict.h"
#include "trace/build_graph.h"
#include "trace/reader.h"

namespace foretrace::driver {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> all_files(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> list;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->is_regular_file(failed)) {
      list.push_back(at->path().lexically_relative(folder).generic_string());
    }
  }
  if (failed) {
    return Error{ErrorCode::io, fmt::format("{}: cannot list: {}", folder, failed.message())};
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string without_path(std::string message, const std::string& path) {
  const std::string prefix = path + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

void count_events(const trace::EventTable& events, FormatRow& row) {
  std::set<std::int32_t> ranks;
  row.rows = events.size();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i))) {
      ++row.operations;
      row.kernels += events.kind[i] == trace::EventKind::kernel ? 1 : 0;
      ranks.insert(events.tracks[index(events.track[i])].rank);
    }
  }
  row.ranks = ranks.size();
}

void replay_file(trace::LoadedTrace trace, FormatRow& row) {
  Result<trace::BuiltGraph> built = trace::build_graph(trace.events);
  if (!built) {
    row.no_replay = without_path(built.error().message, trace.events.info.path);
    return;
  }
  Recording recording{.path = trace.events.info.path,
                      .events = std::move(trace.events),
                      .report = {},
                      .built = std::move(built).value(),
                      .accelerator = {}};
  const Result<Replay> replayed = replay(recording);
  if (!replayed) {
    row.no_replay = replayed.error().message;
    return;
  }
  row.span_error = replayed->span_error;
}

FormatRow row_of(const std::string& folder, const std::string& file) {
  FormatRow row;
  row.file = file;
  const std::string path = (fs::path(folder) / file).string();
  const auto start = std::chrono::steady_clock::now();
  Result<trace::LoadedTrace> loaded = trace::read_trace(path, {});
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!loaded) {
    row.refusal = without_path(loaded.error().message, path);
    return row;
  }
  row.format = loaded->events.info.format;
  row.report = loaded->report;
  count_events(loaded->events, row);
  replay_file(std::move(loaded).value(), row);
  return row;
}

}  // namespace

double FormatRow::speed() const {
  return seconds > 0 ? static_cast<double>(report.bytes) / 1e6 / seconds : 0;
}

Result<std::vector<FormatRow>> format_table(const std::string& folder) {
  Result<std::vector<std::string>> files = all_files(folder);
  if (!files) {
    return std::move(files).error();
  }
  std::vector<FormatRow> rows;
  for (const std::string& file : *files) {
    rows.push_back(row_of(folder, file));
  }
  return rows;
}

}  // namespace foretrace::driver
