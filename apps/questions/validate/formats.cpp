#include "apps/questions/validate/formats.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/session/replay/replay.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"
#include "trace/ranks/job.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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

/// "PATH: what" -> "what", "ARCHIVE:member: what" -> "member: what".
std::string without_path(std::string message, const std::string& path) {
  if (!message.starts_with(path + ":")) return message;
  const std::size_t start = message.find_first_not_of(' ', path.size() + 1);
  return start == std::string::npos ? std::string() : message.substr(start);
}

void count_events(const trace::EventTable& events, FormatRow& row) {
  std::set<std::int32_t> ranks;
  row.rows += events.size();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i))) {
      ++row.operations;
      row.kernels += events.kind[i] == trace::EventKind::kernel ? 1 : 0;
      ranks.insert(events.tracks[index(events.track[i])].rank);
    }
  }
  row.ranks = ranks.size();
}

/// The nodes of an execution trace are its rows.
void count_nodes(const trace::NodeGraph& nodes, FormatRow& row) {
  row.rows += nodes.size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool device = nodes.place[i] == trace::NodePlace::device;
    row.operations += device ? 1 : 0;
    row.kernels += device && nodes.kind[i] == trace::NodeKind::compute ? 1 : 0;
  }
  row.ranks = 1;
}

/// Replays what a graph was built of; the recording keeps the events only while it is needed.
void replay_graph(trace::EventTable events, Result<trace::BuiltGraph> built, FormatRow& row) {
  if (!built) {
    row.no_replay = without_path(built.error().message, events.info.path);
    return;
  }
  Recording recording;
  recording.path = events.info.path;
  recording.events = std::move(events);
  recording.built = std::move(built).value();
  const Result<Replay> replayed = replay(recording);
  if (!replayed) {
    row.no_replay = replayed.error().message;
    return;
  }
  if (replayed->measured.span_ns == 0) {
    row.no_replay = "simulated; no recorded times to compare with";
    return;
  }
  row.span_error = replayed->span_error;
}

void add_report(const trace::ImportReport& part, trace::ImportReport& whole) {
  whole.events += part.events;
  whole.kept += part.kept;
  whole.bytes += part.bytes;
  whole.warnings.insert(whole.warnings.end(), part.warnings.begin(), part.warnings.end());
  for (const trace::Damage& damage : part.damage) {
    const auto known = std::find_if(whole.damage.begin(), whole.damage.end(), [&](const auto& d) {
      return d.kind == damage.kind && d.reason == damage.reason;
    });
    if (known != whole.damage.end()) {
      known->count += damage.count;
    } else {
      whole.damage.push_back(damage);
    }
  }
}

/// The ranks of a job in one file: an archive, or a recording of several processes.
void add_job(std::vector<trace::FoundTrace> found, const std::string& path, FormatRow& row) {
  Result<std::vector<trace::RankTrace>> ranks = trace::settle_ranks(std::move(found));
  if (!ranks) {
    row.refusal = without_path(ranks.error().message, path);
    return;
  }
  for (const trace::RankTrace& rank : *ranks) {
    row.format = rank.trace.events.info.format;
    add_report(rank.trace.report, row.report);
    count_events(rank.trace.events, row);
    if (rank.trace.nodes() != nullptr) {
      count_nodes(*rank.trace.nodes(), row);
    }
  }
  row.ranks = ranks->size();
  Result<trace::BuiltJob> built = trace::build_job(*ranks, {});
  if (!built) {
    row.no_replay = without_path(built.error().message, path);
  } else {
    replay_graph(std::move(ranks->front().trace.events), std::move(built->built), row);
  }
}

FormatRow row_of(const std::string& folder, const std::string& file) {
  const std::string path = (fs::path(folder) / file).string();
  FormatRow row;
  row.file = file;
  const Stopwatch watch;
  Result<std::vector<trace::FoundTrace>> found = trace::read_input(path, {});
  row.seconds = watch.seconds();
  if (!found) {
    row.refusal = without_path(found.error().message, path);
    return row;
  }
  if (found->size() > 1) {
    add_job(std::move(found).value(), path, row);
    return row;
  }
  trace::LoadedTrace& loaded = found->front().trace;
  row.format = loaded.events.info.format;
  row.report = loaded.report;
  count_events(loaded.events, row);
  if (loaded.nodes() != nullptr) {
    count_nodes(*loaded.nodes(), row);
  }
  Result<trace::BuiltGraph> built = trace::build_graph(loaded);
  replay_graph(std::move(loaded.events), std::move(built), row);
  return row;
}

}  // namespace

double FormatRow::speed() const {
  return seconds > 0 ? static_cast<double>(report.bytes) / 1e6 / seconds : 0;
}

Result<std::vector<FormatRow>> format_table(const std::string& folder) {
  FORETRACE_TRY(std::vector<std::string> files, all_files(folder));
  std::vector<FormatRow> rows;
  rows.reserve(files.size());
  for (const std::string& file : files) {
    rows.push_back(row_of(folder, file));
  }
  return rows;
}

}  // namespace foretrace
