// Drawing of timelines for trace viewers: tracks, slices, arrows.
#include "sim/result/export/chrome_trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/utf8.h"
#include "sim/graph/links.h"
#include "sim/result/export/chrome_layout.h"
#include "sim/result/export/chrome_text.h"
#include "sim/result/export/module_slices.h"

namespace foretrace {
namespace {

/// Chrome's reserved colour names; Perfetto colours by name and ignores them.
std::string_view colour_of(Phase phase) {
  switch (phase) {
    case Phase::unknown: return "grey";
    case Phase::forward: return "thread_state_running";
    case Phase::backward: return "thread_state_iowait";
    case Phase::update: return "thread_state_runnable";
    case Phase::data_loading: return "rail_animation";
    case Phase::communication: return "rail_response";
  }
  return "grey";
}

/// An arrow is drawn for these even where another dependency decided the start.
bool always_drawn(DependencyKind kind) {
  return kind == DependencyKind::launch || kind == DependencyKind::event_wait ||
         kind == DependencyKind::synchronization || kind == DependencyKind::hand_over ||
         kind == DependencyKind::control;
}

/// Order of a lane needs no arrow: the track shows it.
bool never_drawn(DependencyKind kind) {
  return kind == DependencyKind::none || kind == DependencyKind::program_order ||
         kind == DependencyKind::stream_order || kind == DependencyKind::boundary;
}

/// Writes one view: processes, slices, then arrows.
class ViewWriter {
 public:
  ViewWriter(ChromeText& out, const ChromeTraceView& view, std::size_t& next_process,
             std::size_t& next_arrow)
      : out_(out),
        graph_(view.graph),
        timeline_(view.timeline),
        view_(view),
        layout_(view.graph, view.timeline),
        label_(view.label.empty() ? "" : fmt::format("{}: ", view.label)),
        next_process_(next_process),
        next_arrow_(next_arrow) {}

  void write() {
    name_tracks();
    write_steps();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      write_task(make_id<TaskId>(i));
    }
    write_modules();
    write_counters();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      write_arrows(make_id<TaskId>(i));
    }
  }

 private:
  struct Track {
    std::size_t process = 0;
    std::size_t thread = 0;
  };

  std::size_t process_of(const Lane& lane) {
    const std::int32_t device = lane.device >= 0 ? lane.device : no_device;
    const auto [it, added] = processes_.try_emplace({lane.rank, device}, next_process_);
    if (added) {
      ++next_process_;
      name_process(it->second, lane.rank, device);
    }
    return it->second;
  }

  void name_process(std::size_t process, std::int32_t rank, std::int32_t device) {
    std::string name =
        label_ + (device == no_device ? fmt::format("rank {} host", rank)
                                      : fmt::format("rank {} device {}", rank, device));
    for (const DeviceInfo& info : graph_.context().devices) {
      if (device != no_device && info.rank == rank && info.device == device && !info.name.empty()) {
        name += fmt::format(" ({})", info.name);
      }
    }
    out_.event(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})",
               process, json_string(name));
    out_.event(
        R"({{"ph":"M","name":"process_sort_index","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
        process);
  }

  void name_thread(Track track, std::string_view name) {
    out_.event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
               track.process, track.thread, json_string(name));
    out_.event(
        R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
        track.process, track.thread, track.thread);
  }

  // Thread numbers: 1 is the track of steps, lanes follow, then modules and instants.
  void name_tracks() {
    const std::vector<Lane>& lanes = graph_.context().lanes;
    std::vector<bool> used(lanes.size(), false);
    for (const LaneId lane : graph_.columns().lane) {
      used[index(lane)] = true;
    }
    tracks_.resize(lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      // Lanes of no rank hold what joins the ranks of a job: nobody ran it.
      if (!used[i] || lanes[i].kind == LaneKind::origin || lanes[i].rank < 0) continue;
      tracks_[i] = {process_of(lanes[i]), i + 2};
      const char* const word = lanes[i].kind == LaneKind::host_thread ? "thread" : "stream";
      name_thread(tracks_[i], lanes[i].name.empty() ? fmt::format("{} {}", word, lanes[i].number)
                                                    : lanes[i].name);
    }
  }

  void write_counters() {
    for (const ChromeCounter& counter : view_.counters) {
      const auto process = processes_.find({counter.rank, counter.device});
      if (process != processes_.end()) {
        exporting::write_counter(out_, counter, process->second);
      }
    }
    for (const ChromeInstants& instants : view_.instants) {
      const auto process = processes_.find({instants.rank, instants.device});
      if (process != processes_.end() && !instants.list.empty()) {
        const Track track{process->second, tracks_.size() + 3};
        name_thread(track, instants.title);
        exporting::write_instants(out_, instants, track.process, track.thread);
      }
    }
  }

  void write_steps() {
    for (const Step& step : graph_.context().steps) {
      const auto host = processes_.find({step.rank, no_device});
      if (host == processes_.end()) continue;
      const Track track{host->second, 1};
      if (named_steps_.try_emplace(step.rank, true).second) {
        name_thread(track, "steps");
      }
      const std::int64_t begin = timeline_.start_ns(step.begin);
      const std::int64_t end = timeline_.end_ns(step.end);
      out_.event(R"({{"ph":"X","cat":"step","name":"step {}","pid":{},"tid":{},"ts":{},"dur":{}}})",
                 step.number, track.process, track.thread, Microseconds{begin},
                 Microseconds{std::max<std::int64_t>(0, end - begin)});
    }
  }

  void write_modules() {
    for (const LaneId stream : module_streams(graph_)) {
      const Track track{tracks_[index(stream)].process, tracks_.size() + 2};
      name_thread(track, "modules");
      for (const ModuleSlice& slice : module_slices(graph_, timeline_, stream)) {
        out_.event(R"({{"ph":"X","cat":"module","name":{},"pid":{},"tid":{},"ts":{},"dur":{}}})",
                   json_string(slice.name), track.process, track.thread,
                   Microseconds{slice.begin_ns}, Microseconds{slice.end_ns - slice.begin_ns});
      }
    }
  }

  [[nodiscard]] bool has_track(TaskId task) const {
    return tracks_[index(graph_.lane_id(task))].thread != 0;
  }

  void write_task(TaskId task) {
    if (!has_track(task) || layout_.slice_of(task) != task) return;
    write_segment(task);
    if (layout_.is_mark(task)) return;
    const Work& work = graph_.work(task);
    const Track track = tracks_[index(graph_.lane_id(task))];
    const std::int64_t start = timeline_.start_ns(task);
    const std::int64_t end = layout_.slice_end(task);
    std::string args =
        fmt::format(R"("task":{},"kind":"{}")", index(task), to_string(graph_.kind(task)));
    const auto add = [&args](std::string_view key, std::string_view value) {
      if (!value.empty()) {
        args += fmt::format(R"(,"{}":{})", key, json_string(value));
      }
    };
    add("operator", graph_.names()[work.operator_name]);
    add("layer", graph_.names()[graph_.context().layers[index(graph_.layer(task))].name]);
    add("shapes", graph_.names()[work.shapes]);
    if (graph_.provenance(task) != Provenance::measured) {
      add("provenance", to_string(graph_.provenance(task)));
    }
    if (layout_.is_pair(task)) {
      args += fmt::format(R"(,"waited_us":{})", Microseconds{layout_.waited_ns(task)});
    }
    const std::string_view phase = to_string(graph_.phase(task));
    out_.event(
        R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"cname":"{}","args":{{"phase":"{}",{}}}}})",
        phase, json_string(graph_.name(task)), track.process, track.thread, Microseconds{start},
        Microseconds{end - start}, colour_of(graph_.phase(task)), phase, args);
  }

  // The host time before a task, cut where the trace named its parts.
  void write_segment(TaskId task) {
    const std::int64_t segment = graph_.segment_ns(task);
    if (segment <= 0 || !is_host(graph_.kind(task))) return;
    const TaskId before = layout_.previous(task);
    std::int64_t at = before == none<TaskId> ? 0 : timeline_.end_ns(before);
    const std::int64_t end = std::min(at + segment, timeline_.start_ns(task));
    const std::vector<SegmentPart>& parts = graph_.context().segment_parts;
    while (next_part_ < parts.size() && index(parts[next_part_].task) < index(task)) {
      ++next_part_;
    }
    for (; next_part_ < parts.size() && parts[next_part_].task == task; ++next_part_) {
      const SegmentPart& part = parts[next_part_];
      const std::int64_t stop = std::min(end, at + part.duration_ns);
      write_host_slice(task, graph_.names()[part.label], {at, stop});
      at = std::max(at, stop);
    }
    write_host_slice(task, "", {at, end});
  }

  void write_host_slice(TaskId task, std::string_view name,
                        std::pair<std::int64_t, std::int64_t> time) {
    if (time.second <= time.first) return;
    const Track track = tracks_[index(graph_.lane_id(task))];
    out_.event(
        R"({{"ph":"X","cat":"host","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"cname":"{}"}})",
        json_string(name.empty() ? "host" : name), track.process, track.thread,
        Microseconds{time.first}, Microseconds{time.second - time.first},
        name.empty() ? "generic_work" : colour_of(graph_.phase(task)));
  }

  [[nodiscard]] std::int64_t reached_ns(const Link& dependency) const {
    return timeline_.points[index(dependency.source)] + dependency.lag_ns;
  }

  /// The task itself, or, of a join between ranks, the task that came to it last.
  [[nodiscard]] TaskId shown_source(TaskId task) const {
    if (has_track(task)) return task;
    TaskId last = task;
    std::int64_t latest = -1;
    for (const Link& dependency : sources(graph_, task)) {
      if (reached_ns(dependency) > latest && has_track(task_of(dependency.source))) {
        latest = reached_ns(dependency);
        last = task_of(dependency.source);
      }
    }
    return last;
  }

  void write_arrows(TaskId task) {
    if (!has_track(task)) return;
    for (const Link& dependency : sources(graph_, task)) {
      if (never_drawn(dependency.kind)) continue;
      const TaskId source = shown_source(task_of(dependency.source));
      const bool decided =
          reached_ns(dependency) >= timeline_.start_ns(task) && dependency.fraction == 0.0F;
      if (has_track(source) && layout_.slice_of(source) != layout_.slice_of(task) &&
          (decided || always_drawn(dependency.kind))) {
        write_arrow(source, task, dependency.kind);
      }
    }
  }

  // Viewers want the head not before the tail: it lies at the later of both starts.
  void write_arrow(TaskId source, TaskId task, DependencyKind kind) {
    const TaskId target = layout_.slice_of(task);
    const std::int64_t tail = layout_.tail_ns(source);
    const std::int64_t head = std::max(timeline_.start_ns(target), tail);
    if (!layout_.is_mark(target) && head > layout_.slice_end(target)) return;
    const Track from = tracks_[index(graph_.lane_id(source))];
    const Track to = tracks_[index(graph_.lane_id(target))];
    const std::string_view name = to_string(kind);
    ++next_arrow_;
    out_.event(R"({{"ph":"s","cat":"{0}","name":"{0}","id":{1},"pid":{2},"tid":{3},"ts":{4}}})",
               name, next_arrow_, from.process, from.thread, Microseconds{tail});
    out_.event(
        R"({{"ph":"f","bp":"e","cat":"{0}","name":"{0}","id":{1},"pid":{2},"tid":{3},"ts":{4}}})",
        name, next_arrow_, to.process, to.thread, Microseconds{head});
  }

  ChromeText& out_;
  const TaskGraph& graph_;
  const Timeline& timeline_;
  const ChromeTraceView& view_;
  ChromeLayout layout_;
  std::string label_;
  std::size_t& next_process_;
  std::size_t& next_arrow_;
  std::size_t next_part_ = 0;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> processes_;
  std::map<std::int32_t, bool> named_steps_;
  std::vector<Track> tracks_;
};

}  // namespace

Status write_chrome_trace(std::span<const ChromeTraceView> views, const TextSink& sink) {
  ChromeText out(sink);
  out.text(R"({"displayTimeUnit":"ns","otherData":{"made_by":"foretrace"},"traceEvents":[)");
  // Process numbers start above every thread number: a thread that shares the number of its
  // process would be taken for its main thread.
  std::size_t next_process = 1;
  for (const ChromeTraceView& view : views) {
    next_process = std::max(next_process, view.graph.context().lanes.size() + 4);
  }
  std::size_t next_arrow = 0;
  for (const ChromeTraceView& view : views) {
    ViewWriter(out, view, next_process, next_arrow).write();
    if (!out.ok()) break;
  }
  out.text("\n]}\n");
  out.flush();
  if (!out.ok()) {
    return Error{ErrorCode::io, "the timeline could not be written"};
  }
  return ok_status();
}

}  // namespace foretrace
