// Why each device operation starts when it does: launch latency, gap on its stream, another stream.
// What recorded times show beyond that must be explained (inferred source, a kernel that filled
// the device, backlog from before the window) or is counted as unexplained.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/late_starts.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::device_start_parts {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 4;

class DeviceStarts {
 public:
  explicit DeviceStarts(Assembly& assembly)
      : a_(assembly), starts_(assembly), late_limit_(std::max(late_start_ns, assembly.slack_ns)) {}

  void run() {
    std::stable_sort(a_.sources.begin(), a_.sources.end(),
                     [](const Source& x, const Source& y) { return x.op < y.op; });
    for (const Item& item : a_.items) {
      if (item.kind != Item::Kind::op) continue;
      if (a_.ops[item.index].call == nothing) {
        without_call(item.index);
      } else {
        launched(item.index);
      }
    }
    a_.sources.insert(a_.sources.end(), found_.begin(), found_.end());
    std::stable_sort(a_.sources.begin(), a_.sources.end(),
                     [](const Source& x, const Source& y) { return x.op < y.op; });
  }

 private:
  /// Work from before the window: the first of a stream is pinned, the others follow it.
  void without_call(std::uint32_t i) {
    DeviceOp& op = a_.ops[i];
    ++a_.honesty.pre_window_operations;
    if (a_.streams[op.stream].is_beside && follow_device(i)) return;
    if (op.previous == nothing) {
      if (!find_cause(i, op.start_ns - late_limit_)) {
        op.pinned = true;
        op.gap_ns = op.start_ns - a_.origin_ns;
        ++a_.honesty.absolute_pins;
      }
      return;
    }
    const std::int64_t gap = op.start_ns - a_.ops[op.previous].end_ns;
    op.gap_ns = std::max(gap, gap_floor_ns);
    if (gap > late_limit_ && find_cause(i, a_.ops[op.previous].end_ns)) {
      op.gap_ns = std::min(gap, typical_gap(a_, op));
    }
  }

  /// What runs beside queues was asked for by the work that had just ended. False if none had.
  bool follow_device(std::uint32_t i) {
    DeviceOp& op = a_.ops[i];
    auto at = std::partition_point(
        starts_.by_end.begin(), starts_.by_end.end(),
        [&](std::uint32_t x) { return a_.ops[x].end_ns <= op.start_ns + source_tolerance_ns; });
    while (at != starts_.by_end.begin()) {
      const DeviceOp& other = a_.ops[*--at];
      if (!a_.streams[other.stream].is_beside && starts_.may_cause(other, op)) {
        found_.push_back({.op = i,
                          .source_op = *at,
                          .origin = EdgeOrigin::inferred,
                          .lag_ns = op.start_ns - other.end_ns});
        ++a_.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::inferred)];
        op.gap_ns = 0;
        return true;
      }
    }
    return false;
  }

  void launched(std::uint32_t i) {
    DeviceOp& op = a_.ops[i];
    const HostCall& call = a_.calls[op.call];
    op.anchored_at_start = starts_from_begin(op, call);
    const std::int64_t anchor = op.anchored_at_start ? call.start_ns : call.end_ns;
    const std::int64_t offset = op.start_ns - anchor;
    const std::int64_t typical = op.anchored_at_start ? a_.medians.start_anchor_ns[index(call.api)]
                                                      : a_.medians.launch_ns[index(call.api)];
    op.latency_ns = allowed_latency(op, std::min(typical, offset));

    const std::int64_t tail_end = op.previous == nothing ? never : a_.ops[op.previous].end_ns;
    const std::int64_t source_end = latest_source(i);
    const std::int64_t launch_ready = anchor + op.latency_ns;
    const std::int64_t ready = std::max({tail_end, source_end, launch_ready});
    op.gap_ns = op.previous == nothing ? 0 : std::min(typical_gap(a_, op), op.start_ns - tail_end);

    if (op.start_ns - ready <= allowed_delay(op, call)) {
      keep_recorded(i, offset, tail_end, source_end, launch_ready);
      return;
    }
    const bool follows_in_graph = call.kind == CallKind::graph_launch && op.previous != nothing &&
                                  a_.ops[op.previous].call == op.call;
    if (follows_in_graph && tail_end >= source_end) {
      inside_graph(i, tail_end);
      return;
    }
    explain_late(i, offset, ready);
  }

  /// Only what was submitted at the end of its call may begin before that.
  [[nodiscard]] static std::int64_t allowed_latency(const DeviceOp& op, std::int64_t latency) {
    return op.anchored_at_start ? std::max<std::int64_t>(latency, 0) : latency;
  }

  /// Graph launches and blocking copies work while their call runs, and so do launches whose kernel
  /// started before they returned; but a call that took long before it submitted its kernel (it
  /// loaded the module, it waited) did so at its end.
  [[nodiscard]] bool starts_from_begin(const DeviceOp& op, const HostCall& call) const {
    if (is_blocking(call.kind)) return true;
    if (call.kind == CallKind::graph_launch) return is_submitted_early(a_.ops[call.first_op], call);
    return op.start_ns < call.end_ns && is_submitted_early(op, call);
  }

  /// Of a graph the first node tells: a call that took long before any of them began uploads the
  /// nodes first and submits them at its end.
  [[nodiscard]] bool is_submitted_early(const DeviceOp& op, const HostCall& call) const {
    const std::int64_t usual = call.start_ns + a_.medians.start_anchor_ns[index(call.api)];
    const std::int64_t ready =
        op.previous == nothing ? usual : std::max(usual, a_.ops[op.previous].end_ns);
    const bool is_late = op.start_ns - ready > late_limit_;
    return !is_late || call.end_ns - op.start_ns > submitted_at_end_ns + a_.slack_ns;
  }

  /// Staging of a large pageable copy is part of the copy call, not a delay to explain.
  [[nodiscard]] std::int64_t allowed_delay(const DeviceOp& op, const HostCall& call) const {
    const Descriptor& arguments =
        a_.events.descriptors[index(a_.events.descriptor[index(op.event)])];
    return call.kind == CallKind::blocking_copy && arguments.bytes > staged_copy_bytes
               ? std::max(staging_limit_ns, late_limit_)
               : late_limit_;
  }

  /// Inside a graph the recorded gap follows the stream, unless another stream explains it. A long
  /// one is work of the graph that was not recorded.
  void inside_graph(std::uint32_t i, std::int64_t tail_end) {
    DeviceOp& op = a_.ops[i];
    const std::int64_t gap = op.start_ns - tail_end;
    if (gap > late_limit_ && find_cause(i, tail_end)) return;
    if (gap <= late_limit_) {
      op.gap_ns = a_.options.constant_latency ? op.gap_ns : gap;
      return;
    }
    // Nothing but the graph's own work can be in between: nodes that the profiler did not record.
    op.gap_ns = std::min(typical_gap(a_, op), gap);
    op.unrecorded_ns = gap - op.gap_ns;
    a_.honesty.unrecorded_device_ns += op.unrecorded_ns;
    ++a_.honesty.unrecorded_device_count;
  }

  /// The recorded lead-in goes to what bound the start; the others keep their medians.
  void keep_recorded(std::uint32_t i, std::int64_t offset, std::int64_t tail_end,
                     std::int64_t source_end, std::int64_t launch_ready) {
    DeviceOp& op = a_.ops[i];
    if (a_.options.constant_latency) {
      const bool on_idle_blocking = op.anchored_at_start;
      if (on_idle_blocking && launch_ready >= std::max(tail_end, source_end)) {
        op.latency_ns = offset;  // staging of a blocking copy, a graph's first launch: own figures
      }
      for_sources(i, [&](Source& source) {
        source.lag_ns = std::min(a_.medians.event_lag_ns, op.start_ns - a_.end_of_source(source));
      });
      if (op.previous != nothing) {
        op.gap_ns = typical_gap(a_, op);
      }
      return;
    }
    if (launch_ready > tail_end && launch_ready > source_end) {
      op.latency_ns = allowed_latency(op, offset);
    } else if (tail_end >= source_end) {
      op.gap_ns = op.start_ns - tail_end;
    }
    for_sources(i, [&](Source& source) {
      const std::int64_t recorded = op.start_ns - a_.end_of_source(source);
      const bool binds = source_end > tail_end && source_end >= launch_ready &&
                         a_.end_of_source(source) == source_end;
      source.lag_ns = binds ? recorded : std::min(a_.medians.event_lag_ns, recorded);
    });
  }

  /// Nothing known explains the start: another stream's end, a full device, backlog, or unknown.
  void explain_late(std::uint32_t i, std::int64_t offset, std::int64_t ready) {
    DeviceOp& op = a_.ops[i];
    for_sources(i, [&](Source& source) {
      source.lag_ns = std::min(a_.medians.event_lag_ns, op.start_ns - a_.end_of_source(source));
    });
    if (find_cause(i, ready)) return;
    if (is_backlog(op, op.start_ns - ready)) {
      op.pinned = true;
      op.gap_ns = op.start_ns - a_.origin_ns;
      a_.honesty.initial_backlog_ns = std::max(a_.honesty.initial_backlog_ns, op.start_ns - ready);
      ++a_.honesty.absolute_pins;
      return;
    }
    unexplained(op.start_ns - ready);
    book_on_latest(i, offset, ready);
  }

  /// What nothing explains stays with whatever came last: source, stream or launch.
  void book_on_latest(std::uint32_t i, std::int64_t offset, std::int64_t ready) {
    DeviceOp& op = a_.ops[i];
    bool booked = false;
    for_sources(i, [&](Source& source) {
      if (!booked && a_.end_of_source(source) == ready) {
        source.lag_ns = op.start_ns - ready;
        booked = true;
      }
    });
    if (booked) return;
    if (op.previous != nothing && a_.ops[op.previous].end_ns == ready) {
      op.gap_ns = op.start_ns - ready;
    } else {
      op.latency_ns = allowed_latency(op, offset);
    }
  }

  /// True if the delay is longer than all the work that the device did before: only then can it be
  /// backlog from before the window.
  [[nodiscard]] bool is_backlog(const DeviceOp& op, std::int64_t delay) const {
    if (op.previous != nothing || delay <= initial_backlog_ns) return false;
    std::int64_t done = 0;
    for (const DeviceOp& other : a_.ops) {
      if (other.start_ns < op.start_ns &&
          a_.streams[other.stream].device == a_.streams[op.stream].device) {
        done += std::min(other.end_ns, op.start_ns) - other.start_ns;
      }
    }
    return delay > done;
  }

  /// True if another stream's operation explains the wait since `ready`; keeps it as a source.
  bool find_cause(std::uint32_t i, std::int64_t ready) {
    // NOLINTNEXTLINE(readability-use-anyofallof): the first source found is kept
    for (const Cause& cause : a_.causes) {
      if (const std::optional<Source> source = cause.find(starts_, i, ready)) {
        found_.push_back(*source);
        ++a_.honesty.edges_by_origin[static_cast<std::size_t>(source->origin)];
        if (a_.ops[source->source_op].position > a_.ops[i].position) {
          a_.ops[i].behind = source->source_op;
          a_.ops[i].late_ns = a_.ops[i].start_ns - ready;
        }
        return true;
      }
    }
    return false;
  }

  void unexplained(std::int64_t time) {
    a_.honesty.unexplained_device_ns += time;
    ++a_.honesty.unexplained_device_count;
  }

  template <typename Visit>
  void for_sources(std::uint32_t op, Visit visit) {
    auto at = std::partition_point(a_.sources.begin(), a_.sources.end(),
                                   [&](const Source& source) { return source.op < op; });
    for (; at != a_.sources.end() && at->op == op; ++at) {
      visit(*at);
    }
  }

  [[nodiscard]] std::int64_t latest_source(std::uint32_t op) {
    std::int64_t latest = never;
    for_sources(op,
                [&](const Source& source) { latest = std::max(latest, a_.end_of_source(source)); });
    return latest;
  }

  Assembly& a_;
  LateStarts starts_;
  std::vector<Source> found_;
  std::int64_t late_limit_;
};

void explain_starts(Assembly& assembly) { DeviceStarts(assembly).run(); }

}  // namespace

extern constexpr Rule info = {
    .name = "device_start",
    .doc = "splits every start into latency, gap and source; counts the unexplained rest",
    .required = true,
    .apply = explain_starts};

}  // namespace foretrace::trace::rules::device_start_parts
