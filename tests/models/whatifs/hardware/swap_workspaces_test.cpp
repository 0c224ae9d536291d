#include "models/whatifs/hardware/swap_workspaces.h"

#include <doctest/doctest.h>

#include "sim/engine/memory/memory_tracker.h"
#include "tests/models/toy_run.h"

namespace foretrace {
namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

MemoryProfile profile(std::int64_t per_call, std::int64_t persistent) {
  MemoryProfile made;
  made.per_call.push_back({"calls", per_call * mebi, {"aten::addmm"}});
  made.persistent.push_back({"stays", persistent * mebi, {"aten::addmm", "aten::mm"}});
  return made;
}

/// An addmm whose workspace of 1 MiB is recorded, and a product without one; 50 MiB before it all.
TaskGraph two_products() {
  test::ToyRun run;
  const TaskId first =
      run.kernel({.name = "gemm", .duration_ns = 10, .operator_name = "aten::addmm"});
  run.kernel({.name = "gemm", .duration_ns = 10, .operator_name = "aten::mm"});
  GraphBuilder& builder = run.builder();
  builder.add_tensor({.bytes = 50 * mebi});
  Tensor workspace{.bytes = mebi, .category = TensorCategory::workspace};
  workspace.operator_name = builder.add_name("aten::addmm");
  workspace.allocated_in = workspace.freed_in = TaskId{static_cast<std::uint32_t>(first) - 1};
  builder.add_tensor(workspace);
  return run.build();
}

TEST_CASE("workspaces: sizes per call and persistent ones become those of the other device") {
  const TaskGraph graph = two_products();
  Editor editor(graph);
  const WorkspaceSwap swap = swap_workspaces(editor, profile(1, 32), profile(76, 8));
  CHECK(swap.edited == 1);
  CHECK(swap.added == 0);
  CHECK(swap.persistent_before == 32 * mebi);
  CHECK(swap.persistent_after == 8 * mebi);
  auto committed = commit(graph, editor.change());
  REQUIRE(committed.ok());
  const auto curves = track_memory(committed->graph, simulate(committed->graph));
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].base_bytes == (50 - 32 + 8) * mebi);
  CHECK(curves[0].peak_bytes == (26 + 76) * mebi);
}

TEST_CASE("workspaces: operators that take one only there get one while they launch") {
  const TaskGraph graph = two_products();
  MemoryProfile to = profile(1, 32);
  to.per_call.push_back({"more", 4 * mebi, {"aten::mm"}});
  Editor editor(graph);
  const WorkspaceSwap swap = swap_workspaces(editor, profile(1, 32), to);
  CHECK(swap.edited == 0);
  CHECK(swap.added == 1);
  auto committed = commit(graph, editor.change());
  REQUIRE(committed.ok());
  CHECK(track_memory(committed->graph, simulate(committed->graph))[0].peak_bytes == 54 * mebi);
}

TEST_CASE("workspaces: a graph without tensors is left alone") {
  test::ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 10, .operator_name = "aten::addmm"});
  const TaskGraph graph = run.build();
  Editor editor(graph);
  swap_workspaces(editor, profile(1, 32), profile(76, 8));
  CHECK(editor.change().empty());
}

}  // namespace
}  // namespace foretrace
