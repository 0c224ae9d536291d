#include "apps/report/svg/slices.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/result/export/chrome_layout.h"
#include "trace/annotate/names.h"

namespace foretrace::svg {
namespace {

Fill fill_of(const TaskGraph& graph, TaskId task) {
  switch (graph.kind(task)) {
    case TaskKind::collective:
    case TaskKind::transfer: return Fill::communication;
    case TaskKind::copy:
    case TaskKind::set: return Fill::movement;
    case TaskKind::synchronization: return Fill::wait;
    case TaskKind::launch:
    case TaskKind::wait: return Fill::call;
    case TaskKind::host:
    case TaskKind::mark: return Fill::host;
    case TaskKind::kernel: break;
  }
  switch (graph.phase(task)) {
    case Phase::forward: return Fill::forward;
    case Phase::backward: return Fill::backward;
    case Phase::update: return Fill::update;
    case Phase::data_loading: return Fill::loading;
    case Phase::communication: return Fill::communication;
    case Phase::unknown: break;
  }
  return Fill::other;
}

Fill fill_of_region(std::string_view label) {
  const bool loads = contains_ignore_case(label, "dataloader") ||
                     trace::phase_of_words(label) == Phase::data_loading;
  return loads ? Fill::loading : Fill::host;
}

class Rows {
 public:
  Rows(const TaskGraph& graph, const Timeline& timeline, const RowWindow& window)
      : graph_(graph), timeline_(timeline), layout_(graph, timeline), window_(window) {
    strips_.assign(graph.context().lanes.size(),
                   Strip(window.begin_ns, window.end_ns, window.pixels));
  }

  std::vector<LaneRow> run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (layout_.slice_of(task) != task) {
        continue;
      }
      segment(task);
      if (!layout_.is_mark(task)) {
        add(task, timeline_.start_ns(task), layout_.slice_end(task), fill_of(graph_, task));
      }
    }
    return rows();
  }

 private:
  void add(TaskId task, std::int64_t begin_ns, std::int64_t end_ns, Fill fill) {
    end_ns = std::min(end_ns, window_.stop_ns);
    if (end_ns > window_.begin_ns && begin_ns < end_ns) {
      strips_[index(graph_.lane_id(task))].add(begin_ns, end_ns, fill);
    }
  }

  // The host time before a task, cut where the trace named its parts.
  void segment(TaskId task) {
    if (graph_.segment_ns(task) <= 0 || !is_host(graph_.kind(task))) {
      return;
    }
    const TaskId before = layout_.previous(task);
    std::int64_t at = before == none<TaskId> ? 0 : timeline_.end_ns(before);
    const std::int64_t end = std::min(at + graph_.segment_ns(task), timeline_.start_ns(task));
    const std::vector<SegmentPart>& parts = graph_.context().segment_parts;
    while (next_part_ < parts.size() && parts[next_part_].task < task) {
      ++next_part_;
    }
    for (; next_part_ < parts.size() && parts[next_part_].task == task; ++next_part_) {
      const SegmentPart& part = parts[next_part_];
      const std::int64_t stop = std::min(end, at + part.duration_ns);
      add(task, at, stop, fill_of_region(graph_.names()[part.label]));
      at = std::max(at, stop);
    }
    const bool loads = graph_.phase(task) == Phase::data_loading;
    add(task, at, end, loads ? Fill::loading : Fill::host);
  }

  [[nodiscard]] std::vector<LaneRow> rows() const {
    const std::vector<Lane>& lanes = graph_.context().lanes;
    std::set<std::int32_t> ranks;
    for (const Lane& lane : lanes) {
      if (lane.rank >= 0) {
        ranks.insert(lane.rank);
      }
    }
    std::vector<LaneRow> streams;
    std::vector<LaneRow> threads;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const Lane& lane = lanes[i];
      if (lane.kind == LaneKind::origin || lane.rank < 0 || strips_[i].covered_ns() <= 0) {
        continue;
      }
      const bool host = lane.kind == LaneKind::host_thread;
      std::string label = lane.name.empty()
                              ? fmt::format("{} {}", host ? "thread" : "stream", lane.number)
                              : lane.name;
      if (ranks.size() > 1) {
        label = fmt::format("rank {}: {}", lane.rank, label);
      }
      (host ? threads : streams)
          .push_back({std::move(label), strips_[i].runs(), strips_[i].covered_ns(), !host});
    }
    const auto busier = [](const LaneRow& a, const LaneRow& b) { return a.busy_ns > b.busy_ns; };
    std::stable_sort(streams.begin(), streams.end(), busier);
    std::stable_sort(threads.begin(), threads.end(), busier);
    streams.insert(streams.end(), threads.begin(), threads.end());
    return streams;
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  ChromeLayout layout_;
  RowWindow window_;
  std::vector<Strip> strips_;  // per lane
  std::size_t next_part_ = 0;
};

}  // namespace

DeviceGap longest_gap(std::span<const LaneRow> rows, std::size_t pixels) {
  std::vector<bool> works(pixels, false);
  std::vector<bool> loads(pixels, false);
  std::size_t first = pixels;  // before the first and behind the last work is no gap
  std::size_t last = 0;
  for (const LaneRow& row : rows) {
    for (const Run& run : row.runs) {
      const std::size_t end = std::min(run.first + run.count, pixels);
      for (std::size_t pixel = run.first; pixel < end; ++pixel) {
        if (row.is_device) works[pixel] = true;
        if (!row.is_device && run.fill == Fill::loading) loads[pixel] = true;
      }
      if (row.is_device) {
        first = std::min(first, run.first);
        last = std::max(last, end);
      }
    }
  }
  DeviceGap longest;
  for (std::size_t from = first; from < last;) {
    std::size_t to = from;
    while (to < last && !works[to]) ++to;
    if (to - from > longest.count) {
      const auto at = [&loads](std::size_t pixel) {
        return loads.begin() + static_cast<std::ptrdiff_t>(pixel);
      };
      const auto loading = std::count(at(from), at(to), true);
      longest = {from, to - from, 2 * static_cast<std::size_t>(loading) >= to - from};
    }
    from = std::max(to, from + 1);
  }
  return longest;
}

std::vector<LaneRow> lane_rows(const TaskGraph& graph, const Timeline& timeline,
                               const RowWindow& window) {
  return Rows(graph, timeline, window).run();
}

}  // namespace foretrace::svg
