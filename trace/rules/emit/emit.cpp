#include "trace/rules/emit/emit.h"

#include <utility>

#include "sim/graph/graph_builder.h"
#include "trace/rules/emit/rank_emitter.h"

namespace foretrace::trace::rules {

Result<BuiltGraph> emit(Assembly& assembly) {
  GraphBuilder builder;
  for (const Communicator& communicator : assembly.communicators) {
    builder.add_communicator(communicator);
  }
  std::vector<std::int64_t> recorded;
  RankEmitter emitter(assembly, builder, recorded);
  emitter.begin(0);
  while (!emitter.done()) {
    emitter.advance();
  }
  emitter.end();
  Result<BuiltGraph> built =
      finish_graph(std::move(builder), std::move(recorded), emitter.measured(), assembly.honesty);
  if (built.ok()) {
    AddedTensors tensors = emitter.take_tensors();
    built->memory = std::move(tensors.devices);
    built->memory_note = memory_note(built->memory);
    built->parameters = std::move(tensors.parameters);
    built->origin_ns = assembly.origin_ns;
    built->thread_tracks = emitter.thread_tracks(built->graph.context().lanes.size());
  }
  return built;
}

Result<BuiltGraph> finish_graph(GraphBuilder builder, std::vector<std::int64_t> recorded,
                                std::vector<MeasuredStep> steps, Honesty honesty) {
  std::vector<TaskId> new_id;
  FORETRACE_TRY(TaskGraph graph, std::move(builder).build(new_id));
  BuiltGraph built{
      .graph = std::move(graph), .honesty = std::move(honesty), .steps = std::move(steps)};
  built.recorded_start_ns.resize(recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const std::size_t at = new_id.empty() ? i : index(new_id[i]);
    built.recorded_start_ns[at] = recorded[i];
  }
  return built;
}

}  // namespace foretrace::trace::rules
