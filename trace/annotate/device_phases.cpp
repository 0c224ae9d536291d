#include "trace/annotate/device_phases.h"

#include <algorithm>

#include "sim/core/text.h"
#include "trace/annotate/device_twins.h"
#include "trace/table/linked_operator.h"

namespace foretrace::trace {
namespace {

struct Call {
  std::uint64_t key;
  EventId event;
};

/// Ranks of one table repeat each other's correlations.
std::uint64_t correlation_key(const EventTable& events, std::size_t event) {
  const std::int32_t rank = events.tracks[index(events.track[event])].rank;
  return (std::uint64_t{static_cast<std::uint32_t>(rank)} << 32U) | events.correlation[event];
}

/// An upload that position alone called forward, or nothing: a batch on its way to the device.
bool is_batch_upload(const Attribution& attribution, EventId event) {
  const Annotation& result = attribution.result;
  if (attribution.events.kind[index(event)] != EventKind::copy) return false;
  if (!contains(attribution.events.name_of(event), "HtoD") &&
      !contains(attribution.events.name_of(event), "HostToDevice")) {
    return false;
  }
  const Phase phase = result.phase[index(event)];
  return phase == Phase::unknown ||
         (phase == Phase::forward && result.evidence[index(event)] == PhaseEvidence::context);
}

/// The copy, its call and the operators around it that nothing else places.
void give_upload(Attribution& attribution, EventId event, EventId launch) {
  Annotation& result = attribution.result;
  const auto give = [&result](EventId e) {
    result.phase[index(e)] = Phase::data_loading;
    result.evidence[index(e)] = PhaseEvidence::context;
  };
  give(event);
  for (EventId e = launch; e != none<EventId>; e = attribution.nesting.parent_of(e)) {
    const EventKind kind = attribution.events.kind[index(e)];
    const bool is_part = kind == EventKind::runtime || kind == EventKind::cpu_op;
    const bool is_open = result.phase[index(e)] == Phase::unknown ||
                         result.evidence[index(e)] == PhaseEvidence::context;
    if (!is_part || !is_open || result.phase[index(e)] == Phase::data_loading) return;
    give(e);
  }
}

void inherit(Annotation& result, EventId event, EventId launch) {
  result.phase[index(event)] = result.phase[index(launch)];
  result.evidence[index(event)] = result.evidence[index(launch)];
  result.layer[index(event)] = result.layer[index(launch)];
  result.operator_event[index(event)] = result.operator_event[index(launch)];
}

/// A compiled program says of its kernels in which pass they are.
void attribute_program(Attribution& attribution, EventId event) {
  const EventTable& events = attribution.events;
  const Descriptor& descriptor = events.descriptors[index(events.descriptor[index(event)])];
  const std::string_view said = captured_phase(events.names[descriptor.text]);
  const Phase phase = said == "forward"    ? Phase::forward
                      : said == "backward" ? Phase::backward
                      : said == "update"   ? Phase::update
                                           : Phase::unknown;
  if (phase == Phase::unknown) return;
  attribution.result.phase[index(event)] = phase;
  attribution.result.evidence[index(event)] = PhaseEvidence::operator_name;
}

void attribute_projected_annotation(Attribution& attribution, EventId event) {
  const NameMeaning meaning = attribution.meanings(event);
  if (meaning.phase == Phase::unknown || !attribution.use.has(meaning.evidence)) return;
  attribution.result.phase[index(event)] = meaning.phase;
  attribution.result.evidence[index(event)] = meaning.evidence;
}

}  // namespace

std::vector<EventId> find_launches(const EventTable& events) {
  std::vector<Call> calls;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime && events.correlation[i] != 0) {
      calls.push_back({correlation_key(events, i), make_id<EventId>(i)});
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.key < b.key; });
  std::vector<EventId> launches(events.size(), none<EventId>);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!events.is_device_event(make_id<EventId>(i)) || events.correlation[i] == 0) continue;
    const std::uint64_t key = correlation_key(events, i);
    const auto call = std::lower_bound(calls.begin(), calls.end(), key,
                                       [](const Call& a, std::uint64_t k) { return a.key < k; });
    if (call != calls.end() && call->key == key) launches[i] = call->event;
  }
  return launches;
}

void attribute_device(Attribution& attribution) {
  const EventTable& events = attribution.events;
  Annotation& result = attribution.result;
  const std::vector<EventId> launches = find_launches(events);
  std::vector<bool> is_collective(events.names.size(), false);
  for (std::size_t n = 0; n < is_collective.size(); ++n) {
    is_collective[n] = is_collective_kernel(events.names[make_id<NameId>(n)]);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto event = make_id<EventId>(i);
    if (events.kind[i] == EventKind::gpu_annotation) {
      attribute_projected_annotation(attribution, event);
    }
    if (!events.is_device_event(event)) continue;
    if (launches[i] != none<EventId>) inherit(result, event, launches[i]);
    if (attribution.use.has(PhaseEvidence::operator_name)) attribute_program(attribution, event);
    if (events.kind[i] == EventKind::kernel && is_collective[index(events.name[i])] &&
        attribution.use.has(PhaseEvidence::collective)) {
      result.phase[i] = Phase::communication;
      result.evidence[i] = PhaseEvidence::collective;
    }
    if (attribution.use.has(PhaseEvidence::context) &&
        attribution.is_training[index(events.track[i])] && launches[i] != none<EventId> &&
        is_batch_upload(attribution, event)) {
      give_upload(attribution, event, launches[i]);
    }
  }
  if (attribution.use.has(PhaseEvidence::twin)) attribute_twins(attribution, launches);
}

}  // namespace foretrace::trace
