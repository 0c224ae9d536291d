// Allocator replay: how many requests and frees per second the model of the caching allocator does.
#include <filesystem>
#include <random>
#include <string>

#include "models/hardware/memories/allocator_replay.h"
#include "sim/engine/pull/pull.h"
#include "tests/bench/engine_ratios.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"

namespace foretrace::bench {
namespace {

/// A step of training: activations come one by one and go in reverse, temporaries in between.
AllocatorProgram made_up_step() {
  AllocatorProgram program;
  std::mt19937_64 random(1);
  const auto add = [&](std::int64_t bytes) {
    program.bytes.push_back(bytes);
    program.stream.push_back(0);
    return static_cast<std::uint32_t>(program.bytes.size() - 1);
  };
  std::vector<std::uint32_t> kept;
  for (int layer = 0; layer < 2000; ++layer) {
    kept.push_back(add(static_cast<std::int64_t>(512 + random() % (8U << 20U))));
    program.events.push_back({kept.back(), true});
    const std::uint32_t scratch = add(static_cast<std::int64_t>(512 + random() % (2U << 20U)));
    program.events.push_back({scratch, true});
    program.events.push_back({scratch, false});
  }
  while (!kept.empty()) {
    program.events.push_back({kept.back(), false});
    kept.pop_back();
  }
  return program;
}

AllocatorProgram recorded_program(const std::string& path) {
  const auto loaded = trace::read_trace(path, {});
  if (!loaded.ok()) return {};
  const auto built = trace::build_graph(loaded->events);
  if (!built.ok()) return {};
  const auto curves = track_memory(built->graph, simulate(built->graph));
  return curves.empty() ? AllocatorProgram{} : allocator_program(built->graph, curves.front());
}

double million_events_per_second(const AllocatorProgram& program) {
  // A pass over the events and nothing else; the allocator starts empty every time.
  constexpr std::size_t passes = 4;
  const double seconds = median_seconds({[&] {
                                          ReplayOptions options;
                                          options.most_passes = passes;
                                          const AllocatorReplay replay =
                                              replay_allocator(program, options);
                                          if (replay.use.allocated_bytes < 0) std::abort();
                                        }},
                                        9)[0];
  const AllocatorReplay once = replay_allocator(program, {.most_passes = passes});
  return static_cast<double>(program.events.size() * once.passes) / seconds / 1e6;
}

}  // namespace

void memory_ratios(Ratios& out) {
  out.emplace_back("allocator_million_events_per_s", million_events_per_second(made_up_step()));
  const std::string path = FORETRACE_SHARED_DIR "/traces/hta/mem_2rank_v100_rank1.json.gz";
  if (std::filesystem::exists(path)) {
    out.emplace_back("allocator_million_events_per_s_real",
                     million_events_per_second(recorded_program(path)));
  }
}

}  // namespace foretrace::bench
