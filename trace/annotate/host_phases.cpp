#include "trace/annotate/host_phases.h"

#include <set>
#include <utility>

namespace foretrace::trace {
namespace {

struct Claim {
  Phase phase = Phase::unknown;
  PhaseEvidence evidence = PhaseEvidence::none;
};

/// True for the marks that only the thread of a training loop has.
bool is_loop_mark(const NameMeaning& meaning) {
  return meaning.is_step || meaning.evidence == PhaseEvidence::loader ||
         meaning.evidence == PhaseEvidence::optimizer;
}

/// A thread of the autograd engine has nodes and, outside them, nothing of a training loop. A few
/// forward operators may stand there if the trace began inside a node that recomputes.
std::vector<bool> find_autograd_tracks(const Attribution& attribution, NameMeanings& meanings) {
  const Nesting& nesting = attribution.nesting;
  std::vector<bool> in_node(attribution.events.size(), false);
  std::vector<bool> found;
  for (std::size_t t = 0; t < attribution.events.tracks.size(); ++t) {
    std::size_t nodes = 0;
    std::size_t forward = 0;
    bool has_marks = false;
    for (const EventId event : nesting.of(make_id<TrackId>(t))) {
      const EventId parent = nesting.parent_of(event);
      const bool is_nested = parent != none<EventId> && in_node[index(parent)];
      const NameMeaning meaning = meanings(event);
      in_node[index(event)] = is_nested || meaning.is_autograd_node;
      if (is_nested) continue;
      if (meaning.is_autograd_node) ++nodes;
      if (is_loop_mark(meaning)) has_marks = true;
      if (meaning.evidence == PhaseEvidence::module ||
          attribution.links.side[index(event)] == AutogradSide::forward) {
        ++forward;
      }
    }
    found.push_back(!has_marks && nodes > 4 * forward);
  }
  return found;
}

/// An operator that calls the operator that made an autograd node is forward as a whole.
std::vector<bool> forward_operators(Attribution& attribution) {
  const EventTable& events = attribution.events;
  std::vector<bool> is_forward(events.size(), false);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (attribution.links.side[i] != AutogradSide::forward) continue;
    auto event = make_id<EventId>(i);
    while (event != none<EventId> && !is_forward[index(event)]) {
      is_forward[index(event)] = true;
      event = attribution.nesting.parent_of(event);
      if (event == none<EventId> || events.kind[index(event)] != EventKind::cpu_op) break;
      if (attribution.links.side[index(event)] == AutogradSide::backward) break;
      if (!attribution.meanings(event).is_composite) break;
    }
  }
  return is_forward;
}

/// What the event itself says.
Claim own_claim(Attribution& attribution, EventId event, bool is_forward) {
  const NameMeaning meaning = attribution.meanings(event);
  const Claim named = meaning.phase != Phase::unknown && attribution.use.has(meaning.evidence)
                          ? Claim{meaning.phase, meaning.evidence}
                          : Claim{};
  const bool is_weak =
      named.phase == Phase::unknown || named.evidence == PhaseEvidence::operator_name;
  if (is_weak && attribution.use.has(PhaseEvidence::flow)) {
    if (attribution.links.side[index(event)] == AutogradSide::backward) {
      return {Phase::backward, PhaseEvidence::flow};
    }
    if (is_forward) return {Phase::forward, PhaseEvidence::flow};
  }
  return named;
}

/// True if forward work inside it is recomputation: it runs because the backward asked for it.
bool is_backward_proper(const Claim& claim) {
  return claim.phase == Phase::backward && claim.evidence != PhaseEvidence::annotation;
}

/// What holds inside `outer` for an event that claims `own`.
Claim combine(const Claim& outer, const Claim& own) {
  if (own.phase == Phase::unknown) return outer;
  if (outer.phase == Phase::unknown) return own;
  if (own.evidence == PhaseEvidence::operator_name) return outer;
  if (own.phase == Phase::forward) {
    // Forward work in a loader is the loader's: transforms on the device, collate functions.
    if (is_backward_proper(outer) || outer.phase == Phase::data_loading) return outer;
  }
  return own;
}

void claim_ranges(Attribution& attribution) {
  Annotation& result = attribution.result;
  const std::vector<bool> is_forward = forward_operators(attribution);
  for (const EventId event : attribution.nesting.order) {
    const EventId parent = attribution.nesting.parent_of(event);
    Claim outer;
    if (parent != none<EventId>) {
      outer = {result.phase[index(parent)], result.evidence[index(parent)]};
    } else if (attribution.is_autograd_track[index(attribution.events.track[index(event)])] &&
               attribution.use.has(PhaseEvidence::autograd)) {
      outer = {Phase::backward, PhaseEvidence::autograd};
    }
    const Claim claim = combine(outer, own_claim(attribution, event, is_forward[index(event)]));
    result.phase[index(event)] = claim.phase;
    result.evidence[index(event)] = claim.evidence;
  }
}

void find_training(Attribution& attribution) {
  const EventTable& events = attribution.events;
  std::set<std::int32_t> ranks;
  for (const EventId event : attribution.nesting.order) {
    const Phase phase = attribution.result.phase[index(event)];
    if (phase == Phase::backward || phase == Phase::update) {
      ranks.insert(events.tracks[index(events.track[index(event)])].rank);
    }
  }
  for (const Track& track : events.tracks) {
    attribution.is_training.push_back(ranks.contains(track.rank));
  }
}

/// Operators on lists of tensors, and what is in them: in training they update parameters, or clip
/// and clear their gradients; inference copies inputs with them.
void claim_list_operators(Attribution& attribution) {
  Annotation& result = attribution.result;
  for (const EventId event : attribution.nesting.order) {
    if (!attribution.is_training[index(attribution.events.track[index(event)])]) continue;
    if (result.phase[index(event)] != Phase::unknown) continue;
    const EventId parent = attribution.nesting.parent_of(event);
    const bool is_inside =
        parent != none<EventId> && result.evidence[index(parent)] == PhaseEvidence::operator_name;
    if (!is_inside && !attribution.meanings(event).is_on_list) continue;
    result.phase[index(event)] = Phase::update;
    result.evidence[index(event)] = PhaseEvidence::operator_name;
  }
}

}  // namespace

Attribution start_attribution(const EventTable& events, EvidenceSet use) {
  Nesting nesting = nest(events);
  NameMeanings meanings(events);
  AutogradLinks links = link_autograd(events, nesting, meanings);
  Attribution attribution{.events = events,
                          .use = use,
                          .nesting = std::move(nesting),
                          .meanings = std::move(meanings),
                          .links = std::move(links)};
  attribution.is_autograd_track = find_autograd_tracks(attribution, attribution.meanings);
  attribution.result.phase.assign(events.size(), Phase::unknown);
  attribution.result.evidence.assign(events.size(), PhaseEvidence::none);
  attribution.result.layer.assign(events.size(), 0);
  attribution.result.operator_event.assign(events.size(), none<EventId>);
  attribution.result.modules.push_back({});
  return attribution;
}

void attribute_host_phases(Attribution& attribution) {
  claim_ranges(attribution);
  find_training(attribution);
  if (attribution.use.has(PhaseEvidence::operator_name)) claim_list_operators(attribution);
}

void attribute_operators(Attribution& attribution) {
  for (const EventId event : attribution.nesting.order) {
    const EventId parent = attribution.nesting.parent_of(event);
    EventId& op = attribution.result.operator_event[index(event)];
    // 2020-21 traces record annotations among the operators.
    const NameMeaning meaning = attribution.meanings(event);
    const bool is_operator = attribution.events.kind[index(event)] == EventKind::cpu_op &&
                             !is_loop_mark(meaning) &&
                             meaning.evidence != PhaseEvidence::annotation;
    if (is_operator) {
      op = event;
    } else if (parent != none<EventId>) {
      op = attribution.result.operator_event[index(parent)];
    }
  }
}

}  // namespace foretrace::trace
