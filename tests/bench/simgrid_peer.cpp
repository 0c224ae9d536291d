// The same graph in SimGrid: one actor per resource, a semaphore per task that others wait for.
//
// foretrace_simgrid_peer GRAPH prints the makespan in ns and the CPU seconds of the simulation
// alone (building is not counted). Tasks are sleeps, which cost SimGrid less than executions. A
// task's end is known when it starts, so waiters are woken then and sleep until their time: lags,
// starts as sources and conditions cost no extra actor.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "tests/bench/measure.h"
#include "tests/bench/peer_graph.h"

namespace {

using foretrace::bench::PeerDependency;
using foretrace::bench::PeerGraph;
namespace sg4 = simgrid::s4u;

/// 1 ns is 1e-3 simulated seconds: far above SimGrid's timing precision of 1e-9 s.
constexpr double second = 1e-3;

struct Run {
  PeerGraph graph;
  std::vector<std::int64_t> points;
  std::vector<int> dependents;
  std::vector<sg4::SemaphorePtr> known;  ///< per task with dependents
};

std::size_t task_of(std::int64_t point) { return static_cast<std::size_t>(point) / 2; }

std::int64_t release_of(const Run& run, const PeerDependency& dependency) {
  const std::int64_t source = run.points[static_cast<std::size_t>(dependency.source)];
  if (dependency.late_after >= 0 &&
      source <= run.points[static_cast<std::size_t>(dependency.late_after)]) {
    return 0;
  }
  return source + dependency.lag_ns;
}

void resource(Run& run, const std::vector<std::size_t>& tasks) {
  std::int64_t free_ns = 0;
  for (const std::size_t task : tasks) {
    std::int64_t start = std::max<std::int64_t>(0, free_ns + run.graph.segment_ns[task]);
    const auto first = static_cast<std::size_t>(run.graph.first[task]);
    const auto last = static_cast<std::size_t>(run.graph.first[task + 1]);
    for (std::size_t i = first; i < last; ++i) {
      const PeerDependency& dependency = run.graph.dependencies[i];
      run.known[task_of(dependency.source)]->acquire();
      if (dependency.late_after >= 0) {
        run.known[task_of(dependency.late_after)]->acquire();
      }
    }
    for (std::size_t i = first; i < last; ++i) {
      start = std::max(start, release_of(run, run.graph.dependencies[i]));
    }
    const double until = static_cast<double>(start) * second;
    if (until > sg4::Engine::get_clock()) {
      sg4::this_actor::sleep_until(until);
    }
    free_ns = start + run.graph.duration_ns[task];
    run.points[2 * task] = start;
    run.points[2 * task + 1] = free_ns;
    for (int i = 0; i < run.dependents[task]; ++i) {
      run.known[task]->release();
    }
    sg4::this_actor::sleep_until(static_cast<double>(free_ns) * second);
  }
}

void count_dependents(Run& run) {
  run.dependents.assign(run.graph.lane.size(), 0);
  for (const PeerDependency& dependency : run.graph.dependencies) {
    ++run.dependents[task_of(dependency.source)];
    if (dependency.late_after >= 0) {
      ++run.dependents[task_of(dependency.late_after)];
    }
  }
  for (const int count : run.dependents) {
    run.known.push_back(count == 0 ? nullptr : sg4::Semaphore::create(0));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const std::string path = argv[1];
  sg4::Engine engine(&argc, argv);
  Run run;
  run.graph = foretrace::bench::read_peer_graph(path);
  run.points.assign(2 * run.graph.lane.size(), 0);
  count_dependents(run);
  std::vector<std::vector<std::size_t>> lanes;
  for (std::size_t task = 0; task < run.graph.lane.size(); ++task) {
    const auto lane = static_cast<std::size_t>(run.graph.lane[task]);
    lanes.resize(std::max(lanes.size(), lane + 1));
    lanes[lane].push_back(task);
  }
  auto* const zone = sg4::create_full_zone("zone");
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const std::string name = fmt::format("r{}", lane);
    auto* const host = zone->create_host(name, 1e9);
    sg4::Actor::create(name, host, [&run, &tasks = lanes[lane]] { resource(run, tasks); });
  }
  zone->seal();
  const double start = foretrace::bench::cpu_seconds();
  engine.run();
  const double seconds = foretrace::bench::cpu_seconds() - start;
  const std::int64_t latest = *std::max_element(run.points.begin(), run.points.end());
  const auto clock = static_cast<std::int64_t>(std::llround(sg4::Engine::get_clock() / second));
  if (clock != latest) {
    return 3;
  }
  std::printf("%lld %.9f\n", static_cast<long long>(clock), seconds);
  return 0;
}
