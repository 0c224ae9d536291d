// What edits of a graph are told: new work with its calls, and how to do it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/graph/change.h"
#include "sim/graph/task.h"

namespace foretrace {

/// What a new duration rests on.
struct Trust {
  Provenance provenance = Provenance::scaled;
  float low = 1.0F;  ///< bounds as a factor of the duration
  float high = 1.0F;
};

/// Which part of a task's time a factor acts on.
enum class ScaleOf : std::uint8_t {
  duration,  ///< the task itself
  segment,   ///< the host time (device: the gap) before it
  duration_and_segment
};

/// From which point of a call the latency of its work counts.
enum class LatencyFrom : std::uint8_t { end, start };

/// A host call that is put in.
struct NewCall {
  WorkId work{};
  std::int64_t duration_ns = 0;
  std::int64_t segment_ns = 0;  ///< host time before it
  std::int64_t latency_ns = 0;  ///< from the call to the earliest start of its work
  LatencyFrom latency_from = LatencyFrom::end;
  Provenance provenance = Provenance::assumed;
};
/// Device work that is put in, with its call.
struct NewWork {
  WorkId work{};
  std::int64_t duration_ns = 0;
  Trust trust{};
  std::int64_t gap_ns = 0;  ///< after the operation before it on its stream
  NewCall call{};           ///< left out where what it is like has no call of its own
};
/// What a work is called, in texts that the graph need not know.
struct WorkTexts {
  std::string_view name;
  std::string_view operator_name;
  std::string_view shapes;  ///< JSON, as Work has them
  std::string_view types;
};
/// Device work and the call that enqueues it; none if it has no call of its own.
struct Launched {
  TaskId call = none<TaskId>;
  TaskId device = none<TaskId>;
};

enum class Partners : std::uint8_t {
  both,  ///< launches whose device work all goes, device work whose launch goes, other halves
  alone  ///< just the tasks that are named
};
struct RemoveOptions {
  SegmentOf host = SegmentOf::keep;    ///< host time before calls that go
  SegmentOf device = SegmentOf::keep;  ///< of the first operation of a stream
  Partners partners = Partners::both;
};

/// Which of the places of a group its stand-in takes, among those that keep both laws.
enum class Stands : std::uint8_t { first, last };

struct MergeOptions {
  std::int64_t duration_ns = -1;  ///< of the merged task; -1: the sum
  Trust trust{};                  ///< of a duration that is given; a sum is as good as its parts
};

/// The call that enqueues a part of its own.
struct SplitLaunch {
  std::int64_t duration_ns = 0;
  std::int64_t segment_ns = 0;
};
struct SplitOptions {
  std::size_t parts = 2;
  std::int64_t gap_ns = 0;  ///< before each part but the first
  /// Each further part gets a call of its own; without it, one call enqueues all of them.
  std::optional<SplitLaunch> launch = std::nullopt;
};

enum class Onto : std::uint8_t {
  same_lanes,  ///< copies follow the original on its lanes: more of the same work
  new_lanes,   ///< every copy has lanes of its own, on the same ranks and devices
  new_ranks    ///< every copy has ranks of its own, behind those that exist
};
struct Copies {
  std::vector<std::vector<TaskId>> tasks;          ///< per copy, in the order of the originals
  std::vector<std::map<LaneId, LaneId>> new_lane;  ///< per copy
};

}  // namespace foretrace
