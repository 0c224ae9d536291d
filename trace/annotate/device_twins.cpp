#include "trace/annotate/device_twins.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>

namespace foretrace::trace {
namespace {

/// Work is equal if it does the same on the same amount of data.
using WorkKey = std::tuple<std::int32_t, NameId, std::array<std::int32_t, 3>,
                           std::array<std::int32_t, 3>, std::int64_t>;

WorkKey work_of(const EventTable& events, std::size_t event) {
  const std::int32_t rank = events.tracks[index(events.track[event])].rank;
  const std::size_t row = index(events.descriptor[event]);
  const Descriptor work = row < events.descriptors.size() ? events.descriptors[row] : Descriptor{};
  return {rank, events.name[event], work.grid, work.block, work.bytes};
}

struct Agreement {
  Phase phase = Phase::unknown;
  std::uint32_t layer = 0;
  bool is_known = false;
  bool has_one_phase = true;
};

void take(Agreement& agreement, Phase phase, std::uint32_t layer) {
  if (!agreement.is_known) {
    agreement = {.phase = phase, .layer = layer, .is_known = true};
    return;
  }
  if (agreement.phase != phase) agreement.has_one_phase = false;
  if (agreement.layer != layer) agreement.layer = 0;
}

bool is_open(const Attribution& attribution, const std::vector<EventId>& launches, std::size_t i) {
  return launches[i] == none<EventId> && attribution.events.is_device_event(make_id<EventId>(i)) &&
         attribution.result.phase[i] == Phase::unknown;
}

void give(Attribution& attribution, std::size_t event, Phase phase, PhaseEvidence evidence) {
  attribution.result.phase[event] = phase;
  attribution.result.evidence[event] = evidence;
}

void match_equal_work(Attribution& attribution, const std::vector<EventId>& launches) {
  const EventTable& events = attribution.events;
  std::map<WorkKey, Agreement> agreements;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_open(attribution, launches, i)) agreements.try_emplace(work_of(events, i));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (launches[i] == none<EventId>) continue;
    const auto place = agreements.find(work_of(events, i));
    if (place != agreements.end()) {
      take(place->second, attribution.result.phase[i], attribution.result.layer[i]);
    }
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_open(attribution, launches, i)) continue;
    const Agreement& agreement = agreements.at(work_of(events, i));
    if (!agreement.is_known || !agreement.has_one_phase) continue;
    if (agreement.phase == Phase::unknown) continue;
    give(attribution, i, agreement.phase, PhaseEvidence::twin);
    attribution.result.layer[i] = agreement.layer;
  }
}

/// Streams run in order, so work between two of one phase is of that phase.
void fill_between(Attribution& attribution, const std::vector<EventId>& launches) {
  const EventTable& events = attribution.events;
  std::vector<EventId> order;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i))) order.push_back(make_id<EventId>(i));
  }
  std::sort(order.begin(), order.end(), [&events](EventId a, EventId b) {
    return std::tuple(events.track[index(a)], events.start_ns[index(a)], a) <
           std::tuple(events.track[index(b)], events.start_ns[index(b)], b);
  });
  EventId before = none<EventId>;
  std::vector<EventId> waiting;
  for (const EventId event : order) {
    const bool is_new_stream =
        before != none<EventId> && events.track[index(before)] != events.track[index(event)];
    if (is_new_stream ||
        (!waiting.empty() && events.track[index(waiting.front())] != events.track[index(event)])) {
      before = none<EventId>;
      waiting.clear();
    }
    if (is_open(attribution, launches, index(event))) {
      waiting.push_back(event);
      continue;
    }
    const Phase phase = attribution.result.phase[index(event)];
    if (before != none<EventId> && phase != Phase::unknown &&
        attribution.result.phase[index(before)] == phase) {
      for (const EventId e : waiting) give(attribution, index(e), phase, PhaseEvidence::context);
    }
    waiting.clear();
    before = event;
  }
}

}  // namespace

void attribute_twins(Attribution& attribution, const std::vector<EventId>& launches) {
  bool has_open = false;
  for (std::size_t i = 0; i < launches.size() && !has_open; ++i) {
    has_open = is_open(attribution, launches, i);
  }
  if (!has_open) return;
  match_equal_work(attribution, launches);
  if (attribution.use.has(PhaseEvidence::context)) fill_between(attribution, launches);
}

}  // namespace foretrace::trace
