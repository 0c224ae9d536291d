// The host time on a critical path by what the host was doing.
#include "apps/session/replay/host_regions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"

namespace foretrace {
namespace {

/// The parts of the segment before a task.
std::span<const SegmentPart> parts_before(const TaskGraph& graph, TaskId task) {
  const std::vector<SegmentPart>& parts = graph.context().segment_parts;
  const auto before = [](const SegmentPart& part, TaskId id) { return part.task < id; };
  const auto first = std::lower_bound(parts.begin(), parts.end(), task, before);
  auto last = first;
  while (last != parts.end() && last->task == task) {
    ++last;
  }
  return {first, last};
}

/// Adds a piece of the path to its regions. The path may have only the end of a segment (its start
/// lies before the window): parts count from the end.
void add_piece(const TaskGraph& graph, const PathPiece& piece,
               std::map<NameId, PathGroup>& groups) {
  std::int64_t left = piece.duration_ns;
  const auto take = [&](NameId label, std::int64_t duration) {
    const std::int64_t taken = std::min(left, duration);
    if (taken > 0) {
      PathGroup& group = groups[label];
      group.on_path_ns += taken;
      ++group.pieces;
      left -= taken;
    }
  };
  const std::span<const SegmentPart> parts = parts_before(graph, piece.task);
  for (std::size_t i = parts.size(); i > 0; --i) {
    take(parts[i - 1].label, parts[i - 1].duration_ns);
  }
  take(NameId{0}, left);
}

/// The graph's weights without the host time of a region.
Weights without_region(const TaskGraph& graph, NameId label) {
  Weights weights = graph.weights();
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  if (label == NameId{0}) {
    // What no region covers is what the regions leave over.
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (is_host(graph.kind(task))) {
        std::int64_t covered = 0;
        for (const SegmentPart& part : parts_before(graph, task)) {
          covered += part.duration_ns;
        }
        (*segments)[i] = std::min((*segments)[i], covered);
      }
    }
  } else {
    for (const SegmentPart& part : graph.context().segment_parts) {
      if (part.label == label) {
        std::int64_t& segment = (*segments)[index(part.task)];
        segment = std::max<std::int64_t>(0, segment - part.duration_ns);
      }
    }
  }
  weights.segment_ns = std::move(segments);
  return weights;
}

std::vector<std::int64_t> measure(const TaskGraph& graph, const std::vector<Weights>& variants,
                                  const GainOptions& options) {
  return options.measure ? options.measure(variants)
                         : simulate_batch_spans(graph.topology(), variants);
}

}  // namespace

std::vector<PathGroup> host_regions(const TaskGraph& graph, const CriticalPath& path,
                                    const GainOptions& options) {
  std::map<NameId, PathGroup> by_label;
  for (const PathPiece& piece : path.pieces) {
    if (piece.part == PathPart::segment && is_host(graph.kind(piece.task))) {
      add_piece(graph, piece, by_label);
    }
  }
  std::vector<std::pair<NameId, PathGroup>> largest(by_label.begin(), by_label.end());
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) {
    return a.second.on_path_ns > b.second.on_path_ns;
  });
  largest.resize(std::min(largest.size(), options.count));
  // No region gives more than all host time together.
  std::vector<Weights> variants = {graph.weights(), host_x0(graph)};
  for (const auto& [label, group] : largest) {
    variants.push_back(without_region(graph, label));
  }
  const std::vector<std::int64_t> times = measure(graph, variants, options);
  const std::int64_t most = std::max<std::int64_t>(0, times[0] - times[1]);
  std::vector<PathGroup> groups;
  for (std::size_t i = 0; i < largest.size(); ++i) {
    auto& [label, group] = largest[i];
    group.label = std::string(graph.names()[label]);
    group.part = PathPart::segment;
    const auto& parts = graph.context().segment_parts;
    group.tasks = static_cast<std::size_t>(
        std::count_if(parts.begin(), parts.end(),
                      [id = label](const SegmentPart& part) { return part.label == id; }));
    group.gain_ns = std::clamp<std::int64_t>(times[0] - times[i + 2], 0, most);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace foretrace
