#include "trace/annotate/sequence.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>

namespace foretrace::trace {
namespace {

/// The operator that made the node with this number.
struct Maker {
  std::int32_t rank = 0;
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  TrackId track{};
  EventId event{};
};

/// An operator that runs a node.
struct Runner {
  SequenceNumber sequence;
  std::int32_t rank = 0;
};

/// Forward threads are numbered by PyTorch, tracks by the system: what was seen to belong together.
struct ThreadVote {
  std::int32_t rank = 0;
  std::int64_t forward_thread = 0;
  TrackId track{};
  std::uint32_t votes = 0;
};

class SequenceLinker {
 public:
  SequenceLinker(const EventTable& events, const Nesting& nesting, AutogradLinks& links)
      : events_(events), nesting_(nesting), links_(links) {}

  void run(NameMeanings& meanings) {
    split(meanings);
    for (std::size_t t = 0; t < events_.tracks.size(); ++t) collect_makers(make_id<TrackId>(t));
    std::sort(makers_.begin(), makers_.end(), [](const Maker& a, const Maker& b) {
      return std::tuple(a.rank, a.number, a.start_ns, a.event) <
             std::tuple(b.rank, b.number, b.start_ns, b.event);
    });
    for (const Runner& runner : runners_) vote(runner);
    for (const Runner& runner : runners_) link(runner);
  }

 private:
  /// Numbers of forward operators by event; backward operators apart.
  void split(NameMeanings& meanings) {
    number_.assign(events_.size(), -1);
    for (const SequenceNumber& sequence : events_.sequence_numbers) {
      if (sequence.number < 0 || index(sequence.event) >= events_.size()) continue;
      const Track& track = events_.tracks[index(events_.track[index(sequence.event)])];
      // 0 on forward operators, on backward operators the number of the forward thread, from 1.
      const bool is_backward = sequence.forward_thread < 0
                                   ? meanings(sequence.event).is_autograd_node
                                   : sequence.forward_thread > 0;
      if (is_backward) {
        runners_.push_back({sequence, track.rank});
        links_.side[index(sequence.event)] = AutogradSide::backward;
      } else {
        number_[index(sequence.event)] = sequence.number;
      }
    }
  }

  void collect_makers(TrackId track) {
    EventId last = none<EventId>;
    for (const EventId event : nesting_.of(track)) {
      const std::int64_t number = number_[index(event)];
      if (number < 0) continue;
      if (last != none<EventId> && number_[index(last)] != number) {
        add_maker(last, number_[index(last)] < number);
      }
      last = event;
    }
    if (last != none<EventId>) add_maker(last, false);
  }

  /// `made_node`: the counter grew after it. Else it made one only if a backward operator says so.
  void add_maker(EventId event, bool made_node) {
    const TrackId track = events_.track[index(event)];
    makers_.push_back({events_.tracks[index(track)].rank, number_[index(event)],
                       events_.start_ns[index(event)], track, event});
    if (made_node) links_.side[index(event)] = AutogradSide::forward;
  }

  /// Makers with this runner's number that started before it; of very many the last ones.
  [[nodiscard]] std::span<const Maker> candidates(const Runner& runner) const {
    constexpr std::ptrdiff_t most = 64;  // threads of a process that run forward
    const auto wanted = std::tuple(runner.rank, runner.sequence.number,
                                   events_.start_ns[index(runner.sequence.event)]);
    const auto end = std::lower_bound(
        makers_.begin(), makers_.end(), wanted, [](const Maker& maker, const auto& key) {
          return std::tuple(maker.rank, maker.number, maker.start_ns) < key;
        });
    auto begin = end;
    while (begin != makers_.begin() && end - begin < most && (begin - 1)->rank == runner.rank &&
           (begin - 1)->number == runner.sequence.number) {
      --begin;
    }
    return {begin, end};
  }

  /// A number that only one thread has tells which track the forward thread is.
  void vote(const Runner& runner) {
    const std::span<const Maker> makers = candidates(runner);
    if (makers.empty() || makers.front().track != makers.back().track) return;
    for (const Maker& maker : makers) {
      if (maker.track != makers.front().track) return;
    }
    for (ThreadVote& known : votes_) {
      if (known.rank == runner.rank && known.track == makers.front().track &&
          known.forward_thread == runner.sequence.forward_thread) {
        ++known.votes;
        return;
      }
    }
    votes_.push_back({runner.rank, runner.sequence.forward_thread, makers.front().track, 1});
  }

  [[nodiscard]] std::optional<TrackId> track_of(const Runner& runner) const {
    const ThreadVote* best = nullptr;
    for (const ThreadVote& known : votes_) {
      if (known.rank != runner.rank || known.forward_thread != runner.sequence.forward_thread) {
        continue;
      }
      if (best == nullptr || known.votes > best->votes) best = &known;
    }
    return best == nullptr ? std::nullopt : std::optional(best->track);
  }

  void link(const Runner& runner) {
    const std::span<const Maker> makers = candidates(runner);
    if (makers.empty()) return;
    const Maker* chosen = &makers.back();
    const std::optional<TrackId> track = track_of(runner);
    for (const Maker& maker : makers) {  // by start: the last one on the right track stays
      if (track && maker.track == *track && (chosen->track != *track || &maker > chosen)) {
        chosen = &maker;
      }
    }
    links_.source[index(runner.sequence.event)] = chosen->event;
    links_.side[index(chosen->event)] = AutogradSide::forward;
  }

  const EventTable& events_;
  const Nesting& nesting_;
  AutogradLinks& links_;
  std::vector<std::int64_t> number_;  // per event: of a forward operator, -1 none
  std::vector<Maker> makers_;
  std::vector<Runner> runners_;
  std::vector<ThreadVote> votes_;
};

/// The operator that starts at this moment, else the innermost around it.
EventId operator_at(const EventTable& events, const Nesting& nesting, const Flow& flow) {
  if (index(flow.track) >= events.tracks.size()) return none<EventId>;
  const std::span<const EventId> order = nesting.of(flow.track);
  const auto after = std::upper_bound(order.begin(), order.end(), flow.time_ns,
                                      [&events](std::int64_t time_ns, EventId event) {
                                        return time_ns < events.start_ns[index(event)];
                                      });
  constexpr int deepest = 256;  // bounds the time on hostile input
  EventId event = after == order.begin() ? none<EventId> : *(after - 1);
  for (int depth = 0; depth < deepest && event != none<EventId>; ++depth) {
    const bool is_around = events.end_ns(event) >= flow.time_ns;
    if (is_around && events.kind[index(event)] == EventKind::cpu_op) return event;
    event = nesting.parent_of(event);
  }
  return none<EventId>;
}

void link_flow(const EventTable& events, const Nesting& nesting, const Flow& start,
               const Flow& finish, AutogradLinks& links) {
  const EventId forward = operator_at(events, nesting, start);
  const EventId backward = operator_at(events, nesting, finish);
  if (forward == none<EventId> || backward == none<EventId> || forward == backward) return;
  // Numbers are exact where they exist; a flow only marks a time.
  if (links.source[index(backward)] != none<EventId>) return;
  if (links.side[index(forward)] == AutogradSide::backward) return;
  links.side[index(forward)] = AutogradSide::forward;
  links.side[index(backward)] = AutogradSide::backward;
  links.source[index(backward)] = forward;
}

void link_flows(const EventTable& events, const Nesting& nesting, AutogradLinks& links) {
  std::vector<const Flow*> flows;
  flows.reserve(events.flows.size());
  for (const Flow& flow : events.flows) {
    if (index(flow.track) < events.tracks.size()) flows.push_back(&flow);
  }
  const auto key = [&events](const Flow* flow) {
    return std::tuple(events.tracks[index(flow->track)].rank, flow->id, flow->time_ns,
                      !flow->is_start);
  };
  std::stable_sort(flows.begin(), flows.end(),
                   [&key](const Flow* a, const Flow* b) { return key(a) < key(b); });
  const Flow* start = nullptr;
  for (const Flow* flow : flows) {
    if (flow->is_start) {
      start = flow;
    } else if (start != nullptr && start->id == flow->id &&
               events.tracks[index(start->track)].rank == events.tracks[index(flow->track)].rank) {
      link_flow(events, nesting, *start, *flow, links);
    }
  }
}

}  // namespace

AutogradLinks link_autograd(const EventTable& events, const Nesting& nesting,
                            NameMeanings& meanings) {
  AutogradLinks links;
  links.side.assign(events.size(), AutogradSide::none);
  links.source.assign(events.size(), none<EventId>);
  if (!events.sequence_numbers.empty()) SequenceLinker(events, nesting, links).run(meanings);
  link_flows(events, nesting, links);
  return links;
}

}  // namespace foretrace::trace
