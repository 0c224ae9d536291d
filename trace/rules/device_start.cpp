// Why each device operation starts when it does: launch latency, gap on its stream, another stream.
// What recorded times show beyond that must be explained (inferred source, a kernel that filled
// the device, backlog from before the window) or is counted as unexplained.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sim/graph/occupancy.h"
#include "trace/rules/assembly.h"
#include "trace/rules/constants.h"
#include "trace/rules/device_info.h"

namespace foretrace::trace::rules {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 4;

class DeviceStarts {
 public:
  explicit DeviceStarts(Assembly& assembly) : a_(assembly) {
    by_end_.resize(a_.ops.size());
    for (std::size_t i = 0; i < by_end_.size(); ++i) {
      by_end_[i] = static_cast<std::uint32_t>(i);
    }
    std::sort(by_end_.begin(), by_end_.end(), [&](std::uint32_t x, std::uint32_t y) {
      return a_.ops[x].end_ns != a_.ops[y].end_ns ? a_.ops[x].end_ns < a_.ops[y].end_ns : x < y;
    });
    late_limit_ = std::max(late_start_ns, a_.slack_ns);
  }

  void run() {
    std::stable_sort(a_.sources.begin(), a_.sources.end(),
                     [](const Source& x, const Source& y) { return x.op < y.op; });
    for (const Item& item : a_.items) {
      if (item.kind != Item::Kind::op) {
        continue;
      }
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

  void launched(std::uint32_t i) {
    DeviceOp& op = a_.ops[i];
    const HostCall& call = a_.calls[op.call];
    op.anchored_at_start =
        call.kind == CallKind::graph_launch || is_blocking(call.kind) || op.start_ns < call.end_ns;
    const std::int64_t anchor = op.anchored_at_start ? call.start_ns : call.end_ns;
    const std::int64_t offset = op.start_ns - anchor;
    const std::int64_t typical = op.anchored_at_start ? a_.medians.start_anchor_ns[index(call.api)]
                                                      : a_.medians.launch_ns[index(call.api)];
    op.latency_ns = std::max<std::int64_t>(std::min(typical, offset), 0);

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

  /// Staging of a large pageable copy is part of the copy call, not a delay to explain.
  [[nodiscard]] std::int64_t allowed_delay(const DeviceOp& op, const HostCall& call) const {
    const Descriptor& arguments =
        a_.events.descriptors[index(a_.events.descriptor[index(op.event)])];
    return call.kind == CallKind::blocking_copy && arguments.bytes > staged_copy_bytes
               ? std::max(staging_limit_ns, late_limit_)
               : late_limit_;
  }

  /// Inside a graph the recorded gap follows the stream, unless another stream explains it.
  void inside_graph(std::uint32_t i, std::int64_t tail_end) {
    DeviceOp& op = a_.ops[i];
    const std::int64_t gap = op.start_ns - tail_end;
    if (gap > late_limit_ && find_cause(i, tail_end)) {
      return;
    }
    op.gap_ns = a_.options.constant_latency && gap <= late_limit_ ? op.gap_ns : gap;
    if (gap > late_limit_) {
      unexplained(gap - typical_gap(a_, op));
    }
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
      op.latency_ns = std::max<std::int64_t>(offset, 0);
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
    if (find_cause(i, ready)) {
      return;
    }
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
    if (booked) {
      return;
    }
    if (op.previous != nothing && a_.ops[op.previous].end_ns == ready) {
      op.gap_ns = op.start_ns - ready;
    } else {
      op.latency_ns = std::max<std::int64_t>(offset, 0);
    }
  }

  /// True if the delay is longer than all the work that the device did before: only then can it be
  /// backlog from before the window.
  [[nodiscard]] bool is_backlog(const DeviceOp& op, std::int64_t delay) const {
    if (op.previous != nothing || delay <= initial_backlog_ns) {
      return false;
    }
    std::int64_t done = 0;
    for (const DeviceOp& other : a_.ops) {
      if (other.start_ns < op.start_ns &&
          a_.streams[other.stream].device == a_.streams[op.stream].device) {
        done += std::min(other.end_ns, op.start_ns) - other.start_ns;
      }
    }
    return delay > done;
  }

  /// Looks for the operation of another stream that made this one wait since `ready`.
  bool find_cause(std::uint32_t i, std::int64_t ready) {
    return (a_.options.rules.inference && find_ended(i, ready)) ||
           (a_.options.rules.capacity && find_filling(i, ready));
  }

  /// The latest operation of another stream that ended just before the start.
  bool find_ended(std::uint32_t i, std::int64_t ready) {
    const DeviceOp& op = a_.ops[i];
    const std::int64_t latest = op.start_ns + source_tolerance_ns;
    const std::int64_t earliest = std::max(op.start_ns - cause_before_ns, ready);
    auto at = std::partition_point(by_end_.begin(), by_end_.end(),
                                   [&](std::uint32_t x) { return a_.ops[x].end_ns <= latest; });
    while (at != by_end_.begin()) {
      const DeviceOp& other = a_.ops[*--at];
      if (other.end_ns < earliest) {
        return false;
      }
      if (may_cause(other, op)) {
        found_.push_back({.op = i,
                          .source_op = *at,
                          .origin = EdgeOrigin::inferred,
                          .lag_ns = op.start_ns - other.end_ns});
        ++a_.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::inferred)];
        return true;
      }
    }
    return false;
  }

  /// A kernel of another stream that ran across the whole wait and was still running.
  bool find_filling(std::uint32_t i, std::int64_t ready) {
    const DeviceOp& op = a_.ops[i];
    std::uint32_t best = nothing;
    for (const Stream& stream : a_.streams) {
      const auto after =
          std::partition_point(stream.ops.begin(), stream.ops.end(),
                               [&](std::uint32_t x) { return a_.ops[x].start_ns < op.start_ns; });
      if (after == stream.ops.begin()) {
        continue;
      }
      const std::uint32_t candidate = *(after - 1);
      const DeviceOp& other = a_.ops[candidate];
      const bool across = other.start_ns <= ready + late_limit_ && other.end_ns > op.start_ns;
      const bool longer = best == nothing || other.end_ns - other.start_ns >
                                                 a_.ops[best].end_ns - a_.ops[best].start_ns;
      if (across && longer && other.kind != TaskKind::copy && other.kind != TaskKind::set &&
          may_cause(other, op)) {
        best = candidate;
      }
    }
    if (best == nothing) {
      return false;
    }
    const DeviceOp& other = a_.ops[best];
    const double recorded = static_cast<double>(op.start_ns - other.start_ns) /
                            static_cast<double>(other.end_ns - other.start_ns);
    const double fraction =
        a_.options.constant_latency ? predicted_fraction(other, op).value_or(recorded) : recorded;
    found_.push_back({.op = i,
                      .source_op = best,
                      .origin = EdgeOrigin::capacity,
                      .fraction = static_cast<float>(fraction)});
    ++a_.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::capacity)];
    return true;
  }

  /// When the resource model says the blocker has placed its last block; nullopt where it does not
  /// fill the device or its grid is not recorded.
  [[nodiscard]] std::optional<double> predicted_fraction(const DeviceOp& blocker,
                                                         const DeviceOp& waiter) const {
    const std::int32_t id = a_.streams[blocker.stream].device;
    for (const DeviceProperties& device : a_.events.info.devices) {
      if (device.id == id) {
        const std::optional<double> fraction =
            fill_fraction(shape_of(blocker), shape_of(waiter), device_info(device));
        return fraction && *fraction > 0 ? fraction : std::nullopt;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Work shape_of(const DeviceOp& op) const {
    const Descriptor& arguments =
        a_.events.descriptors[index(a_.events.descriptor[index(op.event)])];
    Work work;
    work.grid = arguments.grid;
    work.block = arguments.block;
    work.registers_per_thread = arguments.registers_per_thread;
    work.shared_memory_bytes = arguments.shared_memory_bytes;
    return work;
  }

  /// Another stream of the same device, placed earlier in program order.
  [[nodiscard]] bool may_cause(const DeviceOp& other, const DeviceOp& op) const {
    return other.stream != op.stream && other.position < op.position &&
           a_.streams[other.stream].device == a_.streams[op.stream].device;
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
  std::vector<std::uint32_t> by_end_;
  std::vector<Source> found_;
  std::int64_t late_limit_ = 0;
};

}  // namespace

void device_start(Assembly& assembly) { DeviceStarts(assembly).run(); }

}  // namespace foretrace::trace::rules
