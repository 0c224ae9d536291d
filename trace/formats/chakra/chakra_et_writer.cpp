// Writer of Chakra execution traces (.et, schema 0.0.4) that ASTRA-sim's feeder takes:
// GlobalMetadata, then one node per task of the graph and one per stretch of host time before a
// task.
//
//   trace                                  Chakra
//   host thread: [segment][launch] ...     COMP is_cpu_op=true -> COMP is_cpu_op=true -> ...
//   stream:      kernel, kernel            COMP is_cpu_op=false -> (data_deps, same stream) -> COMP
//   NCCL kernel, size known                COMM_COLL with comm_type, comm_size, pg_name
//   synchronization, event wait            data_deps on the device work that is waited for
//
// data_deps hold what must END before a node starts: order on threads and streams too, which
// converters that follow operators only lose. Durations are whole microseconds, rounded so that
// each lane keeps its sum. What the format has no place for (ns, latencies, gaps, starts) stands in
// attributes called foretrace.*: other programs skip them, our reader gives the same graph back.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/links.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/chakra/chakra_fields.h"
#include "trace/formats/chakra/node_message.h"
#include "trace/formats/writer.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace::writers::chakra_et_parts {
namespace {

namespace chakra = formats::chakra;
using chakra::NodeMessage;

// Node ids: a task and the stretch before it. 0 is no node.
std::uint64_t node_of(TaskId task) { return 2 * std::uint64_t{index(task)} + 2; }
std::uint64_t segment_of(TaskId task) { return 2 * std::uint64_t{index(task)} + 1; }

class ChakraWriter {
 public:
  ChakraWriter(const BuiltGraph& built, const ByteSink& sink)
      : built_(built),
        graph_(built.graph),
        sink_(sink),
        last_(graph_.context().lanes.size(), none<TaskId>),
        previous_(graph_.size(), none<TaskId>),
        written_ns_(graph_.context().lanes.size()) {
    for (const Step& step : graph_.context().steps) {
      marks_[step.begin] = {step_begin_attribute, step.number};
      marks_[step.end] = {step_end_attribute, step.number};
    }
  }

  Result<WriteReport> write() {
    bool ok = sink_(chakra::metadata_message());
    for (std::size_t i = 0; ok && i < graph_.size(); ++i) {
      ok = write_task(make_id<TaskId>(i));
    }
    if (!ok) {
      return Error{ErrorCode::io, "the trace cannot be written"};
    }
    if (unsized_ > 0) {
      report_.left_out.push_back(fmt::format(
          "the meaning of {} collectives: their kind or size is not recorded, they are written as "
          "device work with its duration",
          unsized_));
    }
    if (lags_ > 0) {
      report_.left_out.push_back(
          fmt::format("{} latencies and gaps: Chakra cannot store them; foretrace reads them from "
                      "its own attributes",
                      lags_));
    }
    return report_;
  }

 private:
  // Whole microseconds of the next stretch of a lane: what rounding took is given later.
  std::uint64_t microseconds(LaneId lane, std::int64_t duration_ns) {
    std::int64_t& until = written_ns_[index(lane)];
    const std::int64_t before = until / 1000;
    until += duration_ns;
    return static_cast<std::uint64_t>(until / 1000 - before);
  }

  bool write_task(TaskId task) {
    const LaneId lane = graph_.lane_id(task);
    previous_[index(task)] = std::exchange(last_[index(lane)], task);
    return (!has_segment(task) || write_segment(task)) && write_node(task);
  }

  [[nodiscard]] bool has_segment(TaskId task) const {
    return is_host(graph_.kind(task)) && graph_.segment_ns(task) > 0;
  }

  // The node whose end is the start of a task, if the task has no dependencies but its lane.
  [[nodiscard]] std::uint64_t before(TaskId task) const {
    if (has_segment(task)) return segment_of(task);
    const TaskId previous = previous_[index(task)];
    return previous == none<TaskId> ? 0 : node_of(previous);
  }

  bool write_segment(TaskId task) {
    NodeMessage node(segment_of(task), "host time", chakra::comp);
    const TaskId previous = previous_[index(task)];
    if (previous != none<TaskId>) {
      node.after({node_of(previous)});
    }
    const std::int64_t duration = graph_.segment_ns(task);
    node.microseconds(chakra::node_duration, microseconds(graph_.lane_id(task), duration));
    node.boolean("is_cpu_op", true);
    node.signed_number("tid", graph_.lane(task).number);
    node.signed_number(duration_attribute, duration);
    return finish(node);
  }

  bool write_node(TaskId task) {
    const Work& work = graph_.work(task);
    NodeMessage node(node_of(task), graph_.name(task), type_of(task));
    std::vector<std::uint64_t> data;
    std::vector<std::int64_t> timing;
    collect(task, data, timing);
    node.after(data);
    const std::int64_t start =
        built_.recorded_start_ns.empty() ? -1 : built_.recorded_start_ns[index(task)];
    if (start > 0) {
      node.microseconds(chakra::node_start, static_cast<std::uint64_t>(start) / 1000);
    }
    const std::int64_t duration = graph_.duration_ns(task);
    node.microseconds(chakra::node_duration, microseconds(graph_.lane_id(task), duration));
    const bool device = is_device(graph_.kind(task));
    node.boolean("is_cpu_op", !device);
    node.signed_number(device ? "stream" : "tid", graph_.lane(task).number);
    node.signed_number(duration_attribute, duration);
    if (start >= 0) {
      node.signed_number(start_attribute, start);
    }
    if (device && previous_[index(task)] == none<TaskId> && graph_.segment_ns(task) > 0) {
      node.signed_number(delay_attribute, graph_.segment_ns(task));
    }
    node.signed_number(kind_attribute, static_cast<std::int64_t>(graph_.kind(task)));
    if (!timing.empty()) {
      node.list(timing_attribute, timing);
    }
    describe(task, work, node);
    return finish(node);
  }

  // Kind, size and group of communication; amounts of computation.
  void describe(TaskId task, const Work& work, NodeMessage& node) {
    const chakra::NodeType type = type_of(task);
    if (type == chakra::comm_coll) {
      node.signed_number("comm_type", chakra::comm_type(work.collective));
      const auto& all = graph_.context().communicators;
      const bool is_known = work.communicator < all.size();
      const std::uint32_t ranks = is_known ? all[work.communicator].size : 0;
      // Of an all-gather what one rank gives, as in ASTRA-sim.
      const bool divides = work.collective == CollectiveKind::all_gather && ranks > 0;
      node.signed_number("comm_size", divides && work.bytes > 0 ? work.bytes / ranks : work.bytes);
      if (is_known) {
        node.text("pg_name", all[work.communicator].name);
      }
      if (ranks > 0) {
        node.signed_number("pg_size", ranks);
      }
    } else if (is_device(graph_.kind(task))) {
      if (work.flops >= 0 && work.flops < 9e18) {
        node.signed_number("num_ops", static_cast<std::int64_t>(work.flops));
      }
      if (work.bytes >= 0) {
        node.number("tensor_size", chakra::uint64_value, static_cast<std::uint64_t>(work.bytes));
      }
      unsized_ += graph_.kind(task) == TaskKind::collective ? 1 : 0;
    }
    if (!graph_.names()[work.operator_name].empty()) {
      node.text("op_name", graph_.names()[work.operator_name]);
    }
    if (const std::int32_t step = graph_.step(task); step >= 0) {
      const auto& steps = graph_.context().steps;
      node.text(step_attribute, fmt::format("{}", steps[static_cast<std::size_t>(step)].number));
    }
    if (const auto mark = marks_.find(task); mark != marks_.end()) {
      node.text(mark->second.first, fmt::format("{}", mark->second.second));
    }
  }

  // ASTRA-sim has no use for a collective without a size: it would cost nothing.
  [[nodiscard]] chakra::NodeType type_of(TaskId task) const {
    const Work& work = graph_.work(task);
    const bool sized = graph_.kind(task) == TaskKind::collective &&
                       chakra::comm_type(work.collective) >= 0 && work.bytes > 0;
    return sized ? chakra::comm_coll : chakra::comp;
  }

  void collect(TaskId task, std::vector<std::uint64_t>& data, std::vector<std::int64_t>& timing) {
    const auto add_data = [&data](std::uint64_t node) {
      if (node != 0 && std::find(data.begin(), data.end(), node) == data.end()) {
        data.push_back(node);
      }
    };
    add_data(before(task));
    const TaskId previous = previous_[index(task)];
    const bool device = is_device(graph_.kind(task));
    for (const Link& dependency : sources(graph_, task)) {
      const TaskId source = task_of(dependency.source);
      const bool of_lane = source == previous && (dependency.kind == DependencyKind::stream_order ||
                                                  dependency.kind == DependencyKind::program_order);
      if (of_lane && (!device || dependency.lag_ns == 0)) {
        continue;  // the node before says it
      }
      add_data(is_end(dependency.source) ? node_of(source) : before(source));
      add_timing(dependency, timing);
    }
  }

  void add_timing(const Dependency& dependency, std::vector<std::int64_t>& timing) {
    std::int64_t late = 0;
    if (dependency.late_after != no_point) {
      late = static_cast<std::int64_t>(2 * node_of(task_of(dependency.late_after))) +
             (is_end(dependency.late_after) ? 1 : 0);
    }
    timing.insert(
        timing.end(),
        {static_cast<std::int64_t>(node_of(task_of(dependency.source))),
         is_end(dependency.source) ? 0 : 1, static_cast<std::int64_t>(dependency.kind),
         dependency.lag_ns,
         static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(dependency.fraction)), late});
    lags_ += dependency.lag_ns != 0 ? 1 : 0;
  }

  bool finish(NodeMessage& node) {
    ++report_.events;
    return sink_(node.delimited());
  }

  const BuiltGraph& built_;
  const TaskGraph& graph_;
  const ByteSink& sink_;
  WriteReport report_;
  std::vector<TaskId> last_;              // by lane: the task before
  std::vector<TaskId> previous_;          // by task
  std::vector<std::int64_t> written_ns_;  // by lane
  std::map<TaskId, std::pair<std::string_view, std::int64_t>> marks_;
  std::uint64_t unsized_ = 0;
  std::uint64_t lags_ = 0;
};

Result<WriteReport> write(const LoadedTrace& trace, const ByteSink& sink) {
  FORETRACE_TRY(BuiltGraph built, build_graph(trace));
  return ChakraWriter(built, sink).write();
}

}  // namespace

extern constexpr WriterInfo info = {
    .name = "chakra_et",
    .summary = "Chakra execution traces for ASTRA-sim, with order on streams and synchronization",
    .suffixes = ".et .et.gz",
    .write = write,
};

}  // namespace foretrace::trace::writers::chakra_et_parts
