#include "tests/bench/peer_graph.h"

#include <cmath>
#include <cstdio>
#include <fstream>

#include "sim/graph/links.h"

namespace foretrace::bench {
namespace {

[[nodiscard]] std::int64_t number_of(Point point) {
  return point == no_point ? -1 : static_cast<std::int64_t>(index(point));
}

[[nodiscard]] std::int64_t lag_of(const TaskGraph& graph, const Dependency& dependency) {
  const double share = static_cast<double>(dependency.fraction) *
                       static_cast<double>(graph.duration_ns(task_of(dependency.source)));
  return dependency.lag_ns + static_cast<std::int64_t>(std::llround(share));
}

void write(std::ofstream& out, const std::vector<std::int64_t>& column) {
  for (const std::int64_t value : column) {
    out << value << '\n';
  }
}

void read(std::ifstream& in, std::vector<std::int64_t>& column, std::size_t size) {
  column.resize(size);
  for (std::int64_t& value : column) {
    in >> value;
  }
}

}  // namespace

PeerGraph peer_graph(const TaskGraph& graph) {
  PeerGraph peer;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    peer.lane.push_back(static_cast<std::int64_t>(index(graph.lane_id(task))));
    peer.duration_ns.push_back(graph.duration_ns(task));
    peer.segment_ns.push_back(graph.segment_ns(task));
    peer.first.push_back(static_cast<std::int64_t>(peer.dependencies.size()));
    for (const Link& link : sources(graph, task)) {
      if (link.on_lane()) {
        continue;
      }
      peer.dependencies.push_back(
          {number_of(link.source), number_of(link.late_after), lag_of(graph, link)});
    }
  }
  peer.first.push_back(static_cast<std::int64_t>(peer.dependencies.size()));
  return peer;
}

bool write_peer_graph(const PeerGraph& graph, const std::string& path) {
  std::ofstream out(path);
  out << graph.lane.size() << '\n' << graph.dependencies.size() << '\n';
  write(out, graph.lane);
  write(out, graph.duration_ns);
  write(out, graph.segment_ns);
  write(out, graph.first);
  for (const PeerDependency& dependency : graph.dependencies) {
    out << dependency.source << ' ' << dependency.late_after << ' ' << dependency.lag_ns << '\n';
  }
  return out.good();
}

PeerGraph read_peer_graph(const std::string& path) {
  std::ifstream in(path);
  std::size_t tasks = 0;
  std::size_t dependencies = 0;
  in >> tasks >> dependencies;
  PeerGraph graph;
  read(in, graph.lane, tasks);
  read(in, graph.duration_ns, tasks);
  read(in, graph.segment_ns, tasks);
  read(in, graph.first, tasks + 1);
  graph.dependencies.resize(dependencies);
  for (PeerDependency& dependency : graph.dependencies) {
    in >> dependency.source >> dependency.late_after >> dependency.lag_ns;
  }
  return graph;
}

bool write_longest_path(const TaskGraph& graph, const Timeline& timeline, const std::string& path) {
  std::ofstream out(path);
  const std::size_t root = graph.size();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool first = graph.topology().sources[i][lane_slot] == no_point;
    out << root << ' ' << i << ' ' << (first ? graph.segment_ns(task) : 0) << '\n';
    out << i << ' ' << root + 1 << ' ' << graph.duration_ns(task) << '\n';
    for (const Link& dependency : sources(graph, task)) {
      const bool counts =
          dependency.late_after == no_point ||
          timeline.points[index(dependency.source)] > timeline.points[index(dependency.late_after)];
      if (!counts) {
        continue;
      }
      const TaskId source = task_of(dependency.source);
      const std::int64_t ran = is_end(dependency.source) ? graph.duration_ns(source) : 0;
      out << index(source) << ' ' << i << ' ' << ran + lag_of(graph, dependency) << '\n';
    }
  }
  return out.good();
}

}  // namespace foretrace::bench
