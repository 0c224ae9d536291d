#include "trace/formats/xla/xla_events.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trace/formats/common/nsys_names.h"
#include "trace/formats/json/number.h"
#include "trace/formats/json/scan.h"
#include "trace/formats/xla/xla_names.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

/// What a thread holds.
enum class Holds : std::uint8_t { host, work, copies, derived, unknown };

Holds classify_track(Track& track, std::string_view process, std::string_view thread) {
  if (process.starts_with("/host:")) {
    track.kind = Track::Kind::host_thread;
    return Holds::host;
  }
  if (!process.starts_with("/device:")) return Holds::unknown;
  const bool is_gpu = process.starts_with("/device:GPU:");
  const std::int64_t stream = stream_number(thread);
  const bool is_work = stream >= 0 || (!is_gpu && thread == "XLA Ops");
  const bool is_copies = !is_gpu && thread == "Async XLA Ops";
  if (!is_work && !is_copies) return Holds::derived;
  track.kind = Track::Kind::stream;
  const std::size_t colon = process.rfind(':');
  track.device = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(number_behind(process.substr(colon), ":", 0), 0, 1 << 20));
  track.number = stream >= 0 ? stream : track.number;
  return is_work ? Holds::work : Holds::copies;
}

/// Texts of the arguments that matter, by descriptor.
struct Arguments {
  std::int64_t step = -1;
};

Arguments take_arguments(const NameTable& names, Descriptor& descriptor) {
  Arguments found;
  std::string text(names[descriptor.text]);
  if (text.size() < 2) return found;
  const std::size_t size = text.size();
  text.append(scan_padding, ' ');
  std::string kernel;
  std::string copy;
  std::string set;
  Members members(std::string_view(text).substr(0, size));
  while (members.next()) {
    const std::string_view key = members.key().text;
    const auto value = [&] { return unescaped(without_quotes(members.value())); };
    if (key == "kernel_details") {
      kernel = value();
    } else if (key == "memcpy_details") {
      copy = value();
    } else if (key == "memset_details") {
      set = value();
    } else if (key == "step_num") {
      found.step = integer_from(members.value()).value_or(-1);
    }
  }
  apply({.kernel = kernel, .copy = copy, .set = set}, descriptor);
  return found;
}

EventKind kind_on_host(std::string_view name) {
  if (is_runtime_call(name)) return EventKind::runtime;
  return name.starts_with("$") ? EventKind::python_function : EventKind::cpu_op;
}

/// Operations of a TPU that contain others are no work of their own.
void demote_containers(EventTable& table, const std::vector<Holds>& holds) {
  std::vector<std::vector<std::size_t>> by_track(table.tracks.size());
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::size_t track = index(table.track[row]);
    const bool no_stream = stream_number(table.names[table.tracks[track].name]) < 0;
    if (holds[track] == Holds::work && no_stream) {
      by_track[track].push_back(row);
    }
  }
  const auto end = [&](std::size_t row) { return table.start_ns[row] + table.duration_ns[row]; };
  for (std::vector<std::size_t>& rows : by_track) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return table.start_ns[a] != table.start_ns[b] ? table.start_ns[a] < table.start_ns[b]
                                                    : end(a) > end(b);
    });
    std::vector<std::size_t> open;
    for (const std::size_t row : rows) {
      while (!open.empty() && end(open.back()) <= table.start_ns[row]) {
        open.pop_back();
      }
      if (!open.empty() && end(row) <= end(open.back())) {
        table.kind[open.back()] = EventKind::gpu_annotation;
      }
      open.push_back(row);
    }
  }
}

}  // namespace

void classify_xla(EventTable& table, const std::map<std::int64_t, std::string>& processes,
                  ImportReport& report) {
  std::vector<Holds> holds;
  for (Track& track : table.tracks) {
    const auto process = processes.find(track.process);
    holds.push_back(classify_track(track, process == processes.end() ? "" : process->second,
                                   table.names[track.name]));
  }
  std::vector<Arguments> arguments;
  for (Descriptor& descriptor : table.descriptors) {
    arguments.push_back(take_arguments(table.names, descriptor));
  }
  std::uint64_t work = 0;
  std::uint64_t launches = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string_view name = table.names[table.name[row]];
    EventKind& kind = table.kind[row];
    switch (holds[index(table.track[row])]) {
      case Holds::host: {
        kind = kind_on_host(name);
        const std::int64_t step = arguments[index(table.descriptor[row])].step;
        if (step >= 0) {
          kind = EventKind::user_annotation;
          table.name[row] = table.names.intern(fmt::format("ProfilerStep#{}", step));
        } else if (kind == EventKind::runtime) {
          table.info.is_hip = table.info.is_hip || name.starts_with("hip");
          launches += table.correlation[row] != 0 ? 1 : 0;
          table.name[row] = table.names.intern(std::string(plain_api_name(name)));
        }
        break;
      }
      case Holds::work:
        kind = kind_of_work(name);
        table.name[row] = table.names.intern(plain_copy_name(name));
        ++work;
        break;
      case Holds::copies: kind = EventKind::copy; break;
      case Holds::derived: kind = EventKind::gpu_annotation; break;
      case Holds::unknown: break;
    }
  }
  demote_containers(table, holds);
  if (work > 0 && launches == 0) {
    report.warnings.emplace_back(
        "no launch calls are recorded: device work keeps its recorded gaps, so CPU what-ifs have "
        "no effect");
  }
}

}  // namespace foretrace::trace::formats
