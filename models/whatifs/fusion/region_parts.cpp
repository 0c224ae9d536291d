#include "models/whatifs/fusion/region_parts.h"

#include <algorithm>
#include <utility>

#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// As cuda_graph has them: a graph launch without its nodes, and between two nodes of a stream.
constexpr std::int64_t launch_base_ns = 10'000;
constexpr std::int64_t node_gap_ns = 1'000;

class RegionFinder {
 public:
  RegionFinder(const TaskGraph& graph, const std::vector<bool>& in_module, const RegionRules& rules)
      : graph_(graph), in_module_(in_module), rules_(rules) {}

  RegionParts run() {
    for (TaskId task : first_on_lanes(graph_, LaneKind::host_thread)) {
      for (; task != none<TaskId>; task = next_on_lane(graph_, task)) visit(task);
      end_run();
    }
    found_.part.assign(graph_.size(), 0);
    for (std::size_t p = 0; p < found_.parts.size(); ++p) {
      for (const TaskId call : found_.parts[p].calls) {
        found_.part[index(launched_by(graph_, call).only())] = static_cast<std::uint32_t>(p + 1);
      }
    }
    return std::move(found_);
  }

 private:
  void visit(TaskId task) {
    const bool launches = is_plain_launch(graph_, task);
    const TaskId kernel = launches ? launched_by(graph_, task).only() : none<TaskId>;
    if (kernel != none<TaskId> && in_module_[index(kernel)]) {
      // What takes long once, the first use of a kernel, is not what a graph saves.
      // Nor is a long gap on the stream: the device was doing something else.
      if (graph_.duration_ns(task) > rules_.max_segment_ns ||
          graph_.segment_ns(kernel) > rules_.max_segment_ns) {
        return break_graph();
      }
      const bool is_late = graph_.segment_ns(task) > rules_.max_segment_ns;
      if (is_late || hands_over(graph_, task)) break_graph();
      open_.calls.push_back(task);
      return;
    }
    if (graph_.kind(task) == TaskKind::wait) return;  // events do not break a graph
    if (launches && graph_.kind(task) == TaskKind::launch && kernel != none<TaskId> &&
        graph_.kind(kernel) == TaskKind::kernel) {
      return end_run();
    }
    // Copies on the device, sets and pinned copies go into a graph; what awaits its work does not.
    if (launches && kernel != none<TaskId> && !blocks(graph_, task)) return;
    break_graph();
  }

  void break_graph() {
    if (!open_.calls.empty()) run_.push_back(std::exchange(open_, {}));
  }

  void end_run() {
    break_graph();
    if (run_.empty()) return;
    ++found_.runs;
    for (RegionPart& part : run_) divide(std::move(part));
    run_.clear();
  }

  /// Further breaks go into the parts of a run by their share of its calls.
  void divide(RegionPart part) {
    std::size_t all = 0;
    for (const RegionPart& of_run : run_) all += of_run.calls.size();
    all = std::max(all, part.calls.size());
    const std::size_t pieces =
        1 + std::min(part.calls.size() - 1, rules_.breaks * part.calls.size() / all);
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto at = [&](std::size_t piece) {
        return part.calls.begin() + static_cast<std::ptrdiff_t>(part.calls.size() * piece / pieces);
      };
      found_.parts.push_back({{at(i), at(i + 1)}});
    }
  }

  const TaskGraph& graph_;
  const std::vector<bool>& in_module_;
  const RegionRules& rules_;
  RegionPart open_;
  std::vector<RegionPart> run_;
  RegionParts found_;
};

}  // namespace

RegionParts find_region_parts(const KernelEditor& editor, const std::vector<bool>& in_module,
                              const RegionRules& rules) {
  return RegionFinder(editor.graph(), in_module, rules).run();
}

RegionHost compile_calls(KernelEditor& editor, const RegionPart& part,
                         const std::vector<TaskId>& put_in, const CompiledCalls& how) {
  const TaskGraph& graph = editor.graph();
  Editor& edit = editor.edit();
  RegionHost host;
  bool is_first = true;
  for (const TaskId call : part.calls) {
    const std::int64_t segment = std::max<std::int64_t>(graph.segment_ns(call), 0);
    host.before_ns += graph.duration_ns(call) + (call == part.calls.front() ? 0 : segment);
    ++host.launches;
    if (edit.is_gone(call)) continue;
    const bool opens = call == part.calls.front();
    const std::int64_t between = how.graphs && !opens ? 0 : segment;
    const std::int64_t now = between + (is_first ? how.guard_ns : 0);
    if (now != graph.segment_ns(call)) edit.set_segment(call, now);
    if (how.graphs) {
      edit.set_duration(call, how.node_ns + (is_first ? launch_base_ns : 0));
      const TaskId kernel = launched_by(graph, call).only();
      if (!opens && graph.segment_ns(kernel) > node_gap_ns) {
        edit.set_segment(kernel, node_gap_ns, graph.provenance(kernel));
      }
    }
    const std::int64_t own =
        how.graphs ? how.node_ns + (is_first ? launch_base_ns : 0) : graph.duration_ns(call);
    host.after_ns += own + now - (opens ? segment : 0);
    is_first = false;
  }
  for (const TaskId call : put_in) {
    TaskSpec& spec = edit.spec_of(call);
    if (how.graphs) {
      spec.duration_ns = how.node_ns + (is_first ? launch_base_ns : 0);
      spec.segment_ns = 0;
    }
    if (is_first) spec.segment_ns += how.guard_ns;  // nothing else of the part is left
    is_first = false;
    host.after_ns += spec.duration_ns + spec.segment_ns;
  }
  return host;
}

}  // namespace foretrace::editing
