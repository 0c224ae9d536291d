// The engines against SimGrid and networkx, and a batch against single runs.
#include "tests/bench/engine_ratios.h"

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "sim/engine/event/event_driven.h"
#include "sim/engine/path/critical_path.h"
#include "sim/engine/pull/pull.h"
#include "tests/bench/bench_graphs.h"
#include "tests/bench/peer_graph.h"

namespace foretrace::bench {
namespace {

constexpr int rounds = 21;
constexpr int peer_rounds = 3;

/// What a peer prints: its answer and how long it took.
struct PeerAnswer {
  std::int64_t answer_ns = -1;
  double seconds = 0;
};

[[nodiscard]] PeerAnswer ask_peer(const std::string& command) {
  PeerAnswer best;
  std::vector<double> seconds;
  for (int round = 0; round < peer_rounds; ++round) {
    std::istringstream text(output_of(command));
    PeerAnswer answer;
    if (!(text >> answer.answer_ns >> answer.seconds)) {
      return {};
    }
    best.answer_ns = answer.answer_ns;
    seconds.push_back(answer.seconds);
  }
  best.seconds = median(seconds);
  return best;
}

[[nodiscard]] std::string scratch_file(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

/// A ratio of two programs that disagree would mean nothing: it counts as 0.
[[nodiscard]] bool agree(const std::string& row, std::int64_t ours, std::int64_t theirs) {
  if (ours == theirs) {
    return true;
  }
  fmt::print(stderr, "{}: the two disagree, {} ns here and {} ns there\n", row, ours, theirs);
  return false;
}

#ifdef FORETRACE_SIMGRID_PEER
struct SimgridRatios {
  double pull = 0;
  double event = 0;
};

[[nodiscard]] SimgridRatios against_simgrid(const std::string& what, const TaskGraph& graph) {
  const std::string path = scratch_file("foretrace_peer_graph.txt");
  if (!write_peer_graph(peer_graph(graph), path)) {
    return {};
  }
  const PeerAnswer peer = ask_peer(fmt::format("'{}' '{}'", FORETRACE_SIMGRID_PEER, path));
  std::filesystem::remove(path);
  Timeline pulled;
  Timeline driven;
  const std::vector<double> seconds =
      median_seconds({[&] { simulate(graph.topology(), graph.weights(), pulled); },
                      [&] { simulate_event_driven(graph.topology(), graph.weights(), driven); }},
                     rounds);
  const auto tasks = static_cast<double>(graph.size());
  fmt::print(stderr, "{}: {} tasks; Mtasks/s: SimGrid {:.3f}, event {:.1f}, pull {:.0f}\n", what,
             graph.size(), tasks / peer.seconds / 1e6, tasks / seconds[1] / 1e6,
             tasks / seconds[0] / 1e6);
  if (!agree(what + " pull", pulled.span_ns, peer.answer_ns) ||
      !agree(what + " event", driven.span_ns, peer.answer_ns)) {
    return {};
  }
  return {peer.seconds / seconds[0], peer.seconds / seconds[1]};
}

/// The worst of few, some and many resources.
void simgrid_rows(Ratios& out) {
  SimgridRatios worst{1e300, 1e300};
  for (const std::size_t lanes : {8U, 64U, 1024U}) {
    const SimgridRatios ratios = against_simgrid(fmt::format("SimGrid, {} resources", lanes),
                                                 synthetic_graph({.lanes = lanes}));
    worst.pull = std::min(worst.pull, ratios.pull);
    worst.event = std::min(worst.event, ratios.event);
  }
  out.emplace_back("pull_vs_simgrid", worst.pull);
  out.emplace_back("event_vs_simgrid", worst.event);
  if (!real_graph()) {
    return;
  }
  const SimgridRatios real = against_simgrid("SimGrid, real", *real_graph());
  out.emplace_back("pull_vs_simgrid_real", real.pull);
  out.emplace_back("event_vs_simgrid_real", real.event);
}
#else
void simgrid_rows(Ratios& /*out*/) {
  fmt::print(stderr, "built without SimGrid (libsimgrid-dev): no rows against it\n");
}
#endif

/// Simulation and path against the longest path over a prepared networkx graph.
void networkx_row(const std::string& name, const TaskGraph& graph, Ratios& out) {
  const std::string path = scratch_file("foretrace_longest_path.txt");
  Timeline timeline = simulate(graph);
  if (!write_longest_path(graph, timeline, path)) {
    return;
  }
  const PeerAnswer peer =
      ask_peer(fmt::format("/usr/bin/python3 '{}' '{}'", FORETRACE_NETWORKX_PEER, path));
  std::filesystem::remove(path);
  if (peer.answer_ns < 0) {
    fmt::print(stderr, "no networkx for /usr/bin/python3 (python3-networkx): no {}\n", name);
    return;
  }
  CriticalPath found;
  const double seconds = median_seconds({[&] {
                                          simulate(graph.topology(), graph.weights(), timeline);
                                          found = critical_path(graph, timeline);
                                        }},
                                        rounds)[0];
  fmt::print(stderr, "{}: {} tasks; ms: networkx {:.1f}, here {:.3f}\n", name, graph.size(),
             peer.seconds * 1e3, seconds * 1e3);
  out.emplace_back(name, agree(name, found.total_ns, peer.answer_ns) ? peer.seconds / seconds : 0);
}

void batch_row(const std::string& name, const TaskGraph& graph, Ratios& out) {
  constexpr std::size_t count = 64;
  const std::vector<Weights> variants = duration_variants(graph, count);
  Timeline timeline;
  std::vector<std::int64_t> single(count);
  std::vector<std::int64_t> batch;
  const std::vector<double> seconds =
      median_seconds({[&] {
                        for (std::size_t v = 0; v < count; ++v) {
                          simulate(graph.topology(), variants[v], timeline);
                          single[v] = timeline.span_ns;
                        }
                      },
                      [&] { batch = simulate_batch_spans(graph.topology(), variants); }},
                     rounds);
  const auto all = static_cast<double>(graph.size() * count);
  fmt::print(stderr, "{}: {} tasks x {}; Mtasks/s: single {:.0f}, batch {:.0f}\n", name,
             graph.size(), count, all / seconds[0] / 1e6, all / seconds[1] / 1e6);
  out.emplace_back(name, single == batch ? seconds[0] / seconds[1] : 0.0);
}

}  // namespace

void engine_ratios(Ratios& out) {
  simgrid_rows(out);
  const TaskGraph synthetic = synthetic_graph({});
  networkx_row("critical_path_vs_networkx", synthetic, out);
  if (real_graph()) {
    networkx_row("critical_path_vs_networkx_real", *real_graph(), out);
  }
  batch_row("batched_vs_single_pull", synthetic_graph({.lanes = 8, .conditions = 0.3}), out);
  if (real_graph()) {
    batch_row("batched_vs_single_pull_real", *real_graph(), out);
  }
  out.emplace_back("topology_bytes_per_task", synthetic.topology().bytes_per_task());
  if (real_graph()) {
    out.emplace_back("topology_bytes_per_task_real", real_graph()->topology().bytes_per_task());
  }
}

}  // namespace foretrace::bench
