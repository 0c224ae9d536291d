// Uses each installed library once: opens a graph of two kernels and asks what can be asked of it,
// then components, jobs and requests that are not there.
#include <cstdio>
#include <utility>

#include <foretrace/engine/pull.h>
#include <foretrace/graph/graph_builder.h>
#include <foretrace/plans/export.h>
#include <foretrace/plans/recorded.h>
#include <foretrace/plans/training.h>
#include <foretrace/questions/compare.h>
#include <foretrace/questions/memory.h>
#include <foretrace/questions/search.h>
#include <foretrace/serving.h>
#include <foretrace/session.h>
#include <foretrace/trace/reader.h>
#include <foretrace/what_ifs.h>

namespace {

int fail(const char* what) {
  std::fprintf(stderr, "consumer: %s\n", what);
  return 1;
}

/// Questions beyond one stack.
int ask_more(const foretrace::Session& session, const foretrace::Answer& half) {
  const auto reasons = foretrace::reasons_of(half);
  if (!reasons.ok() || reasons->change_ns() != -21) return fail("no reasons for 21 ns");
  const auto ranking = foretrace::rank_all(session);
  if (!ranking.ok()) return fail(ranking.error().message.c_str());
  if (!foretrace::rank_pairs(session, *ranking, 2).ok()) return fail("no pairs");
  if (!foretrace::find_best_set(session, {}, {}).ok()) return fail("no search");
  if (foretrace::fit_memory(session, {}, {}).ok()) return fail("a fit without tensors");
  if (foretrace::find_max_batch(session, {}, {}).ok()) return fail("a batch without tensors");
  if (foretrace::communication_of(session).collectives != 0) return fail("collectives");
  if (foretrace::plan_recording(session, {}).ok()) return fail("a plan without a cluster");
  if (foretrace::read_training({}, "no such file").ok()) return fail("read a missing run");
  if (foretrace::read_serving({}, "no such file").ok()) return fail("read missing requests");
  auto* volatile exporting = &foretrace::export_chakra;  // is there
  return exporting == nullptr ? fail("no export") : 0;
}

}  // namespace

int main() {
  foretrace::GraphBuilder builder;
  const foretrace::LaneId stream = builder.add_lane({.kind = foretrace::LaneKind::stream});
  const foretrace::WorkId work = builder.add_work({.kind = foretrace::TaskKind::kernel});
  for (const int duration : {30, 12}) {
    builder.add_task({.lane = stream,
                      .work = work,
                      .kind = foretrace::TaskKind::kernel,
                      .duration_ns = duration});
  }
  auto graph = std::move(builder).build();
  if (!graph.ok()) return fail(graph.error().message.c_str());
  if (foretrace::simulate(*graph).span_ns != 42) return fail("30 ns and 12 ns do not make 42 ns");
  if (foretrace::what_ifs::all().empty()) return fail("no what-ifs");
  if (foretrace::trace::readers::all().empty()) return fail("no trace readers");
  if (foretrace::open("no such file").ok()) return fail("opened a missing file");
  foretrace::Recording recording;
  recording.built.graph = *std::move(graph);
  const auto session = foretrace::Session::of(std::move(recording));
  if (!session.ok()) return fail(session.error().message.c_str());
  const auto half =
      session->ask({foretrace::with::scale({.factor = 0.5, .select = "kind=kernel"})});
  if (!half.ok()) return fail(half.error().message.c_str());
  if (half->step_ns() != 21) return fail("half of 42 ns is not 21 ns");
  return ask_more(*session, *half);
}
