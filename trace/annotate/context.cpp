#include "trace/annotate/context.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace foretrace::trace {
namespace {

/// A piece of evidence on the time line of one thread. Phase unknown: the border of a step.
struct Anchor {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Phase phase = Phase::unknown;
  Phase beyond = Phase::unknown;  ///< of the next anchor that is no update
};

/// Where a thread shows no evidence.
struct Gap {
  Anchor before;
  Anchor after;
  std::uint32_t operators = 0;  ///< outermost ones in it
};

bool starts_before(const Anchor& a, const Anchor& b) {
  return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
}

/// The process that an engine thread and the training loop share.
using ProcessKey = std::pair<std::int32_t, std::int64_t>;
ProcessKey process_of(const Track& track) { return {track.rank, track.process}; }

bool is_root(const Attribution& attribution, EventId event) {
  const EventId parent = attribution.nesting.parent_of(event);
  return attribution.result.phase[index(event)] != Phase::unknown &&
         (parent == none<EventId> || attribution.result.phase[index(parent)] == Phase::unknown);
}

class ContextPass {
 public:
  explicit ContextPass(Attribution& attribution)
      : attribution_(attribution),
        events_(attribution.events),
        result_(attribution.result),
        has_calls_(attribution.events.size(), false) {}

  void run() {
    survey();
    for (std::size_t t = 0; t < events_.tracks.size(); ++t) {
      const auto track = make_id<TrackId>(t);
      if (attribution_.is_autograd_track[t] || !has_operators(track)) continue;
      if (attribution_.is_training[t]) {
        fill_training(track);
      } else {
        fill_inference(track);
      }
    }
  }

 private:
  /// Which ranks number their forward, and when the engine threads of each process are busy.
  void survey() {
    for (const Track& track : events_.tracks) {
      makes_nodes_[track.rank] = false;
    }
    for (const EventId event : attribution_.nesting.order) {
      const Phase phase = result_.phase[index(event)];
      const std::size_t track = index(events_.track[index(event)]);
      if (events_.kind[index(event)] == EventKind::runtime) note_call(event);
      if (phase == Phase::forward && result_.evidence[index(event)] == PhaseEvidence::flow) {
        makes_nodes_[events_.tracks[track].rank] = true;
      }
      if (attribution_.is_autograd_track[track] &&
          attribution_.nesting.parent_of(event) == none<EventId>) {
        engine_[process_of(events_.tracks[track])].push_back(
            {events_.start_ns[index(event)], events_.end_ns(event), phase});
      }
    }
  }

  void note_call(EventId event) {
    while (event != none<EventId> && !has_calls_[index(event)]) {
      has_calls_[index(event)] = true;
      event = attribution_.nesting.parent_of(event);
    }
  }

  [[nodiscard]] bool has_operators(TrackId track) const {
    const auto order = attribution_.nesting.of(track);
    return std::any_of(order.begin(), order.end(), [this](EventId event) {
      const EventKind kind = events_.kind[index(event)];
      return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
    });
  }

  void give(EventId event, Phase phase) {
    result_.phase[index(event)] = phase;
    result_.evidence[index(event)] = PhaseEvidence::context;
  }

  void fill_inference(TrackId track) {
    for (const EventId event : attribution_.nesting.of(track)) {
      if (result_.phase[index(event)] == Phase::unknown) give(event, Phase::forward);
    }
  }

  /// Evidence of the thread, of the engine that it waits for, and the borders of its steps.
  [[nodiscard]] std::vector<Anchor> anchors_of(TrackId track) const {
    std::vector<Anchor> anchors;
    const auto engine = engine_.find(process_of(events_.tracks[index(track)]));
    if (engine != engine_.end()) anchors = engine->second;
    for (const StepWindow& step : result_.steps) {
      if (step.rank != events_.tracks[index(track)].rank) continue;
      anchors.push_back({step.start_ns, step.start_ns, Phase::unknown});
      anchors.push_back({step.end_ns, step.end_ns, Phase::unknown});
    }
    for (const EventId event : attribution_.nesting.of(track)) {
      const Phase phase = result_.phase[index(event)];
      // Communication says nothing about the phase around it.
      if (phase == Phase::communication || !is_root(attribution_, event)) continue;
      anchors.push_back({events_.start_ns[index(event)], events_.end_ns(event), phase});
    }
    std::sort(anchors.begin(), anchors.end(), starts_before);
    Phase beyond = Phase::unknown;
    for (std::size_t i = anchors.size(); i-- > 0;) {
      anchors[i].beyond = beyond;
      if (anchors[i].phase != Phase::update) beyond = anchors[i].phase;
    }
    return anchors;
  }

  void fill_training(TrackId track) {
    const std::vector<Anchor> anchors = anchors_of(track);
    const std::vector<std::uint32_t> operators = operators_between(track, anchors);
    std::size_t next = 0;
    for (const EventId event : attribution_.nesting.of(track)) {
      if (result_.phase[index(event)] != Phase::unknown) continue;
      if (belongs_to_parent(event)) {
        give(event, result_.phase[index(attribution_.nesting.parent_of(event))]);
        continue;
      }
      next = first_from(anchors, next, event);
      // Evidence inside it: a container of several phases, not one of them.
      if (next < anchors.size() && anchors[next].start_ns < events_.end_ns(event)) continue;
      const Gap gap{next == 0 ? Anchor{} : anchors[next - 1],
                    next == anchors.size() ? Anchor{} : anchors[next], operators[next]};
      const Phase phase = between(gap, event);
      if (phase != Phase::unknown) give(event, phase);
    }
  }

  /// Index of the first anchor that does not start before the event, not before `from`.
  [[nodiscard]] std::size_t first_from(const std::vector<Anchor>& anchors, std::size_t from,
                                       EventId event) const {
    while (from < anchors.size() && anchors[from].start_ns < events_.start_ns[index(event)]) {
      ++from;
    }
    return from;
  }

  /// Outermost operators without evidence before each anchor and after the last.
  [[nodiscard]] std::vector<std::uint32_t> operators_between(
      TrackId track, const std::vector<Anchor>& anchors) const {
    std::vector<std::uint32_t> count(anchors.size() + 1, 0);
    std::size_t next = 0;
    for (const EventId event : attribution_.nesting.of(track)) {
      if (result_.phase[index(event)] != Phase::unknown) continue;
      if (events_.kind[index(event)] != EventKind::cpu_op) continue;
      const EventId parent = attribution_.nesting.parent_of(event);
      const bool is_nested =
          parent != none<EventId> && result_.operator_event[index(parent)] != none<EventId>;
      if (is_nested) continue;
      next = first_from(anchors, next, event);
      ++count[next];
    }
    return count;
  }

  /// An operator is of one phase with the operators and calls in it.
  [[nodiscard]] bool belongs_to_parent(EventId event) {
    const EventId parent = attribution_.nesting.parent_of(event);
    if (parent == none<EventId> || result_.evidence[index(parent)] != PhaseEvidence::context) {
      return false;
    }
    return events_.kind[index(event)] == EventKind::runtime ||
           attribution_.meanings(parent).is_composite;
  }

  /// The phase of an event between two pieces of evidence of its thread. Unknown stands for the
  /// border of a step or of the trace.
  [[nodiscard]] Phase between(const Gap& gap, EventId event) {
    // Gaps of a forward pass hold 1-7 operators that make no node in the 17 traces looked at; 8-104
    // where the input of the next step is prepared between forward and backward.
    constexpr std::uint32_t most_in_forward = 7;
    const Phase before = gap.before.phase;
    // Zeroing of gradients between the loss and the backward.
    const bool is_zeroing = gap.after.phase == Phase::update && gap.after.beyond == Phase::backward;
    const Phase after = is_zeroing && before != Phase::backward ? Phase::backward : gap.after.phase;
    const bool numbers_end_forward =
        makes_nodes_.at(events_.tracks[index(events_.track[index(event)])].rank);
    if (before == after) {
      const bool is_long = gap.operators > most_in_forward;
      // A thread that waits for the engine does little; much may be an iteration without marks.
      if (before == Phase::backward && is_long) return Phase::unknown;
      if (before == Phase::forward && is_long && numbers_end_forward) return Phase::unknown;
      return before;
    }
    const bool is_step_begin = before == Phase::unknown || before == Phase::data_loading;
    if (after == Phase::forward && is_step_begin) {
      return is_no_forward(event) ? Phase::unknown : Phase::forward;  // input preparation
    }
    // All of the forward where nothing marks it. Where nodes do, the loss made the last one.
    if (after == Phase::backward && !numbers_end_forward) {
      return is_no_forward(event) ? Phase::unknown : Phase::forward;
    }
    if (before != Phase::backward) return Phase::unknown;
    // Unscaling and clipping of finished gradients; steps of optimizers without a range.
    const bool is_update =
        after == Phase::update ? works_on_device(event) : is_in_place_arithmetic(event);
    return is_update ? Phase::update : Phase::unknown;
  }

  /// Enqueues device work, other than to read a value back.
  [[nodiscard]] bool works_on_device(EventId event) {
    return has_calls_[index(event)] && !attribution_.meanings(event).reads_back;
  }

  /// zero_grad without its range, the hand-over of a batch between streams, and what is in them.
  [[nodiscard]] bool is_no_forward(EventId event) {
    constexpr int deepest = 16;  // operators in operators: real ones nest less
    for (int depth = 0; depth < deepest && event != none<EventId>; ++depth) {
      if (attribution_.meanings(event).is_no_forward) return true;
      event = attribution_.nesting.parent_of(event);
      if (event != none<EventId> && events_.kind[index(event)] != EventKind::cpu_op) return false;
    }
    return false;
  }

  /// What loops over parameters do: p.add_(g), m.mul_(b), p.addcdiv_(m, v).
  [[nodiscard]] bool is_in_place_arithmetic(EventId event) {
    return attribution_.meanings(event).updates_in_place;
  }

  Attribution& attribution_;
  const EventTable& events_;
  Annotation& result_;
  std::vector<bool> has_calls_;                       // per event: a runtime call is in it
  std::map<std::int32_t, bool> makes_nodes_;          // by rank: numbers mark the forward
  std::map<ProcessKey, std::vector<Anchor>> engine_;  // busy intervals of engine threads
};

}  // namespace

void attribute_by_context(Attribution& attribution) { ContextPass(attribution).run(); }

}  // namespace foretrace::trace
