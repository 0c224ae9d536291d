#include "models/editing/tensors/saved_cut.h"

#include <string>

#include "sim/graph/links.h"
#include "tests/models/toy_run.h"

using foretrace::index;
using foretrace::make_id;
using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::TaskId;
using foretrace::TensorCategory;
using foretrace::TensorId;
using foretrace::editing::choose_saved;
using foretrace::editing::OperatorRun;
using foretrace::editing::SavedCut;
using foretrace::editing::TensorUses;
using foretrace::test::ToyRun;

namespace {

/// A product makes 8 kB (map 0), two pointwise operators 16 kB (1) and 24 kB (2) from it, one after
/// the other; the backward reads 24 kB, 16 kB and, unless it is gone, 8 kB. Another stream waits.
TaskGraph pass(bool first_is_kept) {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto op = [&](const char* name, const char* shapes, Phase phase) {
    return run.kernel({.name = name,
                       .duration_ns = 1000,
                       .operator_name = name,
                       .shapes = shapes,
                       .phase = phase});
  };
  const auto call = [](TaskId kernel) { return make_id<TaskId>(index(kernel) - 1); };
  const TaskId product = op("product", "[[1]]", Phase::forward);
  const TaskId wider = op("wider", "[[2000]]", Phase::forward);
  run.bystander(side, wider, 10);
  const TaskId widest = op("widest", "[[4000]]", Phase::forward);
  op("product", "[[6000]]", Phase::forward);
  op("product_backward", "[[6000]]", Phase::backward);
  op("widest_backward", "[[4000]]", Phase::backward);
  if (first_is_kept) op("wider_backward", "[[2000]]", Phase::backward);
  op("end", "[[1]]", Phase::backward);
  const TaskId end = run.host_task("end", foretrace::TaskKind::mark, 0, 0, Phase::backward);
  const auto keep = [&](TaskId made, std::int64_t bytes, TaskId freed) {
    run.builder().add_tensor({.bytes = bytes,
                              .requested_bytes = bytes,
                              .category = TensorCategory::activation,
                              .allocated_in = call(made),
                              .freed_in = freed});
  };
  keep(product, 8192, first_is_kept ? end : call(widest));
  keep(wider, 16384, end);
  keep(widest, 24064, end);
  return run.build();
}

SavedCut cut_of(const TaskGraph& graph, const TensorUses& uses) {
  return choose_saved(graph, uses, [&](const OperatorRun& run) {
    const TaskId kernel = foretrace::launched_by(graph, run.launches.front()).front();
    return graph.name(kernel).find("product") == std::string::npos;
  });
}

}  // namespace

TEST_CASE("saved cut: of maps that follow from each other the smallest is kept") {
  const TaskGraph graph = pass(true);
  const TensorUses uses(graph);
  const SavedCut cut = cut_of(graph, uses);
  CHECK(cut.kept_bytes == 8192 + 16384 + 24064);
  CHECK(cut.saved_bytes == 8192);
  CHECK(cut.dropped == std::vector<TensorId>{TensorId{1}, TensorId{2}});
  CHECK(cut.again == std::vector<std::uint32_t>{1, 3});  // run 2 is the other stream's
}

TEST_CASE("saved cut: what is gone by then is not kept for it") {
  const TaskGraph graph = pass(false);
  const TensorUses uses(graph, TensorUses::Repeats::not_backward);
  const SavedCut cut = cut_of(graph, uses);
  CHECK(cut.kept_bytes == 16384 + 24064);
  CHECK(cut.saved_bytes == 16384);
  CHECK(cut.dropped == std::vector<TensorId>{TensorId{2}});
}
