#include "trace/annotate/regions.h"

#include <algorithm>
#include <limits>

namespace foretrace::trace {
namespace {

enum class Part : std::uint8_t {
  ignored,   ///< step marks, Python frames, runtime calls: what is inside counts
  whole,     ///< loader, optimizer, outermost operator: what is inside belongs to it
  remainder  ///< annotation, module: gives what its content leaves
};

Part part_of(Attribution& attribution, EventId event) {
  const NameMeaning meaning = attribution.meanings(event);
  if (meaning.is_step) return Part::ignored;
  if (meaning.evidence == PhaseEvidence::loader || meaning.evidence == PhaseEvidence::optimizer) {
    return Part::whole;
  }
  switch (attribution.events.kind[index(event)]) {
    case EventKind::cpu_op:
      return meaning.evidence == PhaseEvidence::annotation ? Part::remainder : Part::whole;
    case EventKind::user_annotation: return Part::remainder;
    case EventKind::python_function:
      return meaning.evidence == PhaseEvidence::module ? Part::remainder : Part::ignored;
    case EventKind::runtime:
    case EventKind::overhead:
    case EventKind::kernel:
    case EventKind::copy:
    case EventKind::set:
    case EventKind::gpu_annotation:
    case EventKind::other: return Part::ignored;
  }
  return Part::ignored;
}

/// Cuts one track into regions: at any time the innermost open one that is not ignored.
class TrackCutter {
 public:
  TrackCutter(Attribution& attribution, std::vector<HostRegion>& regions)
      : attribution_(attribution), regions_(regions) {}

  void cut(TrackId track) {
    open_.clear();
    reached_ns_ = std::numeric_limits<std::int64_t>::min();
    for (const EventId event : attribution_.nesting.of(track)) {
      const std::int64_t start_ns = attribution_.events.start_ns[index(event)];
      close_until(start_ns);
      if (!open_.empty() && part_of(attribution_, open_.back()) == Part::whole) continue;
      if (part_of(attribution_, event) == Part::ignored) continue;
      emit(start_ns);
      open_.push_back(event);
    }
    close_until(std::numeric_limits<std::int64_t>::max());
  }

 private:
  void close_until(std::int64_t time_ns) {
    while (!open_.empty() && attribution_.events.end_ns(open_.back()) <= time_ns) {
      emit(attribution_.events.end_ns(open_.back()));
      open_.pop_back();
    }
  }

  /// Gives the time since the last border to the innermost open event.
  void emit(std::int64_t until_ns) {
    if (!open_.empty()) {
      const EventId event = open_.back();
      const std::int64_t start_ns =
          std::max(reached_ns_, attribution_.events.start_ns[index(event)]);
      if (until_ns > start_ns) {
        regions_.push_back({.track = attribution_.events.track[index(event)],
                            .start_ns = start_ns,
                            .end_ns = until_ns,
                            .name = attribution_.events.name[index(event)],
                            .phase = attribution_.result.phase[index(event)],
                            .layer = attribution_.result.layer[index(event)]});
      }
    }
    reached_ns_ = std::max(reached_ns_, until_ns);
  }

  Attribution& attribution_;
  std::vector<HostRegion>& regions_;
  std::vector<EventId> open_;
  std::int64_t reached_ns_ = 0;
};

}  // namespace

std::vector<HostRegion> find_regions(Attribution& attribution) {
  std::vector<HostRegion> regions;
  TrackCutter cutter(attribution, regions);
  for (std::size_t t = 0; t < attribution.events.tracks.size(); ++t) {
    cutter.cut(make_id<TrackId>(t));
  }
  return regions;
}

}  // namespace foretrace::trace
