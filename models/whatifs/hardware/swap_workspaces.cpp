#include "models/whatifs/hardware/swap_workspaces.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/links.h"

namespace foretrace {
namespace {

// The allocator leaves up to 1 MiB with a block that it does not split.
constexpr std::int64_t largest_tail = std::int64_t{1} << 20;

class Swapper {
 public:
  Swapper(Editor& editor, const MemoryProfile& from, const MemoryProfile& to)
      : editor_(editor), graph_(editor.graph()), from_(from), to_(to) {}

  WorkspaceSwap run() {
    if (graph_.context().tensors.empty()) return {};
    edit_calls();
    visit_launches();
    edit_persistent();
    return swap_;
  }

 private:
  [[nodiscard]] std::string_view name(NameId id) const { return graph_.names()[id]; }

  void edit_calls() {
    const auto& tensors = graph_.context().tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = tensors[i];
      if (tensor.category != TensorCategory::workspace) continue;
      const std::string_view owner = name(tensor.operator_name);
      const std::int64_t before = from_.per_call_bytes(owner);
      if (before == 0 || tensor.bytes < before || tensor.bytes > before + largest_tail) continue;
      const std::int64_t after = to_.per_call_bytes(owner);
      has_workspace_.insert(tensor.operator_name);
      if (after == before) continue;
      editor_.edit_tensor({make_id<TensorId>(i), after, after, Provenance::table});
      ++swap_.edited;
    }
  }

  /// Kernels of operators that take a workspace, with the calls that launch them.
  void visit_launches() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto kernel = make_id<TaskId>(i);
      if (graph_.kind(kernel) != TaskKind::kernel) continue;
      const Work& work = graph_.work(kernel);
      if (work.operator_name == NameId{}) continue;
      const TaskId launch = launch_of(graph_, kernel);
      if (launch == none<TaskId>) continue;
      const std::string_view owner = name(work.operator_name);
      use_persistent(from_, owner, launch, kernel, before_);
      use_persistent(to_, owner, launch, kernel, after_);
      const std::int64_t bytes = to_.per_call_bytes(owner);
      if (bytes > 0 && !has_workspace_.contains(work.operator_name)) {
        add_to_call(launch, kernel, bytes);
      }
    }
  }

  using Handle = std::pair<LaneId, LaneId>;  // host thread and stream
  using Handles = std::map<std::string_view, std::pair<std::int64_t, std::set<Handle>>>;

  void use_persistent(const MemoryProfile& profile, std::string_view owner, TaskId launch,
                      TaskId kernel, Handles& handles) const {
    for (const LibraryWorkspace& workspace : profile.persistent) {
      if (!workspace.serves(owner)) continue;
      auto& [bytes, users] = handles[workspace.library];
      bytes = workspace.bytes;
      users.insert({graph_.lane_id(launch), graph_.lane_id(kernel)});
    }
  }

  void add_to_call(TaskId launch, TaskId kernel, std::int64_t bytes) {
    Tensor tensor{.bytes = bytes,
                  .requested_bytes = bytes,
                  .device = graph_.lane(kernel).device,
                  .category = TensorCategory::workspace,
                  .phase = graph_.phase(kernel),
                  .provenance = Provenance::table,
                  .layer = graph_.layer(kernel),
                  .stream = graph_.lane_id(kernel),
                  .allocated_in = launch,
                  .freed_in = launch};
    editor_.add_tensor(tensor, name(graph_.work(kernel).operator_name));
    ++swap_.added;
  }

  static std::int64_t sum_of(const Handles& handles) {
    std::int64_t sum = 0;
    for (const auto& [library, use] : handles) {
      sum += use.first * static_cast<std::int64_t>(use.second.size());
    }
    return sum;
  }

  /// They are part of what was there before the window: of what nothing else explains, and where
  /// that is too little, of what was only assumed to be something else.
  void edit_persistent() {
    swap_.persistent_before = sum_of(before_);
    swap_.persistent_after = sum_of(after_);
    if (swap_.persistent_after == swap_.persistent_before) return;
    const auto& tensors = graph_.context().tensors;
    std::vector<std::size_t> base;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].allocated_in == none<TaskId> && tensors[i].freed_in == none<TaskId>) {
        base.push_back(i);
      }
    }
    std::stable_sort(base.begin(), base.end(), [&](std::size_t a, std::size_t b) {
      const bool a_known = tensors[a].category != TensorCategory::unknown;
      const bool b_known = tensors[b].category != TensorCategory::unknown;
      return a_known != b_known ? b_known : tensors[a].bytes > tensors[b].bytes;
    });
    std::int64_t gone = swap_.persistent_before;
    std::int64_t come = swap_.persistent_after;
    for (const std::size_t i : base) {
      // A window that shows the first use of a library has its workspace in it, not before it.
      const std::int64_t taken = std::min(gone, tensors[i].bytes);
      const std::int64_t bytes = tensors[i].bytes - taken + std::exchange(come, 0);
      gone -= taken;
      if (bytes != tensors[i].bytes) {
        editor_.edit_tensor({make_id<TensorId>(i), bytes, bytes, Provenance::table});
      }
    }
  }

  Editor& editor_;
  const TaskGraph& graph_;
  const MemoryProfile& from_;
  const MemoryProfile& to_;
  std::set<NameId> has_workspace_;
  Handles before_;
  Handles after_;
  WorkspaceSwap swap_;
};

}  // namespace

WorkspaceSwap swap_workspaces(Editor& editor, const MemoryProfile& from, const MemoryProfile& to) {
  return Swapper(editor, from, to).run();
}

std::string move_workspaces(Editor& editor, const MemoryProfile& from, const MemoryProfile& to) {
  if (from.name.empty() || to.name.empty()) return {};
  const WorkspaceSwap swap = swap_workspaces(editor, from, to);
  if (swap.edited == 0 && swap.added == 0 && swap.persistent_before == swap.persistent_after) {
    return {};
  }
  constexpr double to_mebibytes = 0x1p-20;
  return fmt::format(
      "workspaces of libraries: {} calls get another size, {} get one, persistent ones {:.1f} MiB "
      "-> {:.1f} MiB",
      swap.edited, swap.added, static_cast<double>(swap.persistent_before) * to_mebibytes,
      static_cast<double>(swap.persistent_after) * to_mebibytes);
}

}  // namespace foretrace
