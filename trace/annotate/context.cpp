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
      : attribution_(attribution), events_(attribution.events), result_(attribution.result) {}

  void run() {
    survey();
    for (std::size_t t = 0; t < events_.tracks.size(); ++t) {
      const TrackId track = make_id<TrackId>(t);
      if (attribution_.is_autograd_track[t] || !has_operators(track)) continue;
      if (trains_[events_.tracks[t].rank]) {
        fill_training(track);
      } else {
        fill_inference(track);
      }
    }
  }

 private:
  /// Which ranks train, and when the engine threads of each process are busy.
  void survey() {
    for (const Track& track : events_.tracks) trains_[track.rank] = false;
    for (const EventId event : attribution_.nesting.order) {
      const Phase phase = result_.phase[index(event)];
      const std::size_t track = index(events_.track[index(event)]);
      if (phase == Phase::backward || phase == Phase::update) {
        trains_[events_.tracks[track].rank] = true;
      }
      if (attribution_.is_autograd_track[track] &&
          attribution_.nesting.parent_of(event) == none<EventId>) {
        engine_[process_of(events_.tracks[track])].push_back(
            {events_.start_ns[index(event)], events_.end_ns(event), phase});
      }
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
    return anchors;
  }

  void fill_training(TrackId track) {
    const std::vector<Anchor> anchors = anchors_of(track);
    auto next = anchors.begin();
    for (const EventId event : attribution_.nesting.of(track)) {
      if (result_.phase[index(event)] != Phase::unknown) continue;
      const EventId parent = attribution_.nesting.parent_of(event);
      if (parent != none<EventId> && result_.evidence[index(parent)] == PhaseEvidence::context) {
        give(event, result_.phase[index(parent)]);
        continue;
      }
      while (next != anchors.end() && next->start_ns < events_.start_ns[index(event)]) ++next;
      // Evidence inside it: a container of several phases, not one of them.
      if (next != anchors.end() && next->start_ns < events_.end_ns(event)) continue;
      const Anchor before = next == anchors.begin() ? Anchor{} : *(next - 1);
      const Anchor after = next == anchors.end() ? Anchor{} : *next;
      const Phase phase = between(before.phase, after.phase);
      if (phase == Phase::unknown) continue;
      const bool is_enclosed = before.phase == after.phase;
      if (phase == Phase::forward && !is_enclosed && is_clearing(event)) continue;
      give(event, phase);
    }
  }

  /// The phase of work between two pieces of evidence of one thread. Unknown stands for the border
  /// of a step or of the trace.
  static Phase between(Phase before, Phase after) {
    if (before == after) return before;
    // Input preparation, the loss, and all of the forward where nothing else marks it.
    const bool is_step_begin = before == Phase::unknown || before == Phase::data_loading;
    if (after == Phase::forward && is_step_begin) return Phase::forward;
    if (after == Phase::backward && before != Phase::communication) return Phase::forward;
    // Unscaling and clipping of finished gradients.
    if (before == Phase::backward && after == Phase::update) return Phase::update;
    return Phase::unknown;
  }

  /// zero_grad without its range: nothing but zero_ of gradients looks like this.
  [[nodiscard]] bool is_clearing(EventId event) {
    while (event != none<EventId>) {
      if (attribution_.meanings(event).clears) return true;
      event = attribution_.nesting.parent_of(event);
      if (event != none<EventId> && events_.kind[index(event)] != EventKind::cpu_op) return false;
    }
    return false;
  }

  Attribution& attribution_;
  const EventTable& events_;
  Annotation& result_;
  std::map<std::int32_t, bool> trains_;               // by rank
  std::map<ProcessKey, std::vector<Anchor>> engine_;  // busy intervals of engine threads
};

}  // namespace

void attribute_by_context(Attribution& attribution) { ContextPass(attribution).run(); }

}  // namespace foretrace::trace
