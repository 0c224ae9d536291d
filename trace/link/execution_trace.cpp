#include "trace/link/execution_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace foretrace::trace {
namespace {

// Names of calls in a row that make a place in a sequence recognizable.
constexpr std::size_t gram = 6;
// Loops repeat their rows: more places than this say nothing.
constexpr std::size_t most_places = 64;
// Calls that one side has and the other has not, in a row.
constexpr std::size_t longest_gap = 16;
// Ids are trusted if at least this share of the nodes finds an event of its id and name.
constexpr double trusted_share = 0.9;
constexpr double least_share = 0.5;

bool is_call(EventKind kind) {
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation;
}

struct Sequence {
  std::vector<std::uint32_t> rows;  // of the table, in order
  std::vector<std::string_view> names;
};

std::uint64_t hash_at(const Sequence& sequence, std::size_t at) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a, 64 bits
  for (std::size_t i = at; i < at + gram; ++i) {
    for (const char c : sequence.names[i]) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    }
    hash = (hash ^ 0xFFU) * 0x100000001B3ULL;
  }
  return hash;
}

class Link {
 public:
  Link(EventTable& events, const LoadedTrace& execution)
      : events_(events), execution_(execution), nodes_(*execution.nodes()) {
    link_.node.assign(events.size(), none<NodeId>);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      link_.nodes += nodes_.kind[i] == NodeKind::metadata ? 0 : 1;
    }
  }

  Result<ExecutionLink> run() {
    if (!match_ids()) {
      match_sequences();
    }
    if (link_.nodes == 0 || share(link_.matched) < least_share) {
      return Error{
          ErrorCode::no_match,
          fmt::format("{} and {} are not of one run: {} of {} nodes have an event of "
                      "their name in the same order",
                      events_.info.path, execution_.events.info.path, link_.matched, link_.nodes)};
    }
    add_shapes();
    return std::move(link_);
  }

 private:
  using EventOfId = std::unordered_map<std::int64_t, std::uint32_t>;

  [[nodiscard]] double share(std::uint64_t count) const {
    return static_cast<double>(count) /
           static_cast<double>(std::max<std::uint64_t>(1, link_.nodes));
  }
  [[nodiscard]] std::string_view node_name(std::size_t row) const {
    return execution_.events.names[nodes_.name[row]];
  }

  bool match_ids() { return match_ids(recorded_calls()) || match_ids(external_ids()); }

  // Newer profilers write the id that execution traces have; in older ones the external id is it.
  [[nodiscard]] EventOfId recorded_calls() const {
    EventOfId event_of;
    for (const RecordFunction& call : events_.record_functions) {
      if (is_call(events_.kind[index(call.event)])) {
        event_of.emplace(call.number, static_cast<std::uint32_t>(index(call.event)));
      }
    }
    return event_of;
  }
  [[nodiscard]] EventOfId external_ids() const {
    EventOfId event_of;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_call(events_.kind[i]) && events_.external_id[i] != 0) {
        event_of.emplace(events_.external_id[i], static_cast<std::uint32_t>(i));
      }
    }
    return event_of;
  }

  bool match_ids(const EventOfId& event_of) {
    std::vector<std::pair<std::uint32_t, NodeId>> pairs;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto found = event_of.find(nodes_.record_function[i]);
      if (nodes_.kind[i] != NodeKind::metadata && found != event_of.end() &&
          events_.name_of(make_id<EventId>(found->second)) == node_name(i)) {
        pairs.emplace_back(found->second, make_id<NodeId>(i));
      }
    }
    if (share(pairs.size()) < trusted_share) return false;
    for (const auto& [event, node] : pairs) {
      match(event, node);
    }
    link_.method = "id";
    return true;
  }

  void match(std::uint32_t event, NodeId node) {
    link_.matched += link_.node[event] == none<NodeId> ? 1 : 0;
    link_.node[event] = node;
  }

  void match_sequences() {
    link_.method = "order and name";
    std::map<std::int64_t, Sequence> threads;
    for (std::size_t i = 0; i < nodes_.size();
         ++i) {  // ids count calls in the order of their start
      if (nodes_.kind[i] != NodeKind::metadata) {
        Sequence& sequence = threads[nodes_.thread[i]];
        sequence.rows.push_back(static_cast<std::uint32_t>(i));
        sequence.names.push_back(node_name(i));
      }
    }
    const std::vector<Sequence> tracks = calls_by_track();
    for (const auto& [thread, sequence] : threads) {
      place(sequence, tracks);
    }
  }

  // Calls of each track by start, the outer one first.
  [[nodiscard]] std::vector<Sequence> calls_by_track() const {
    std::vector<Sequence> tracks(events_.tracks.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_call(events_.kind[i])) {
        tracks[index(events_.track[i])].rows.push_back(static_cast<std::uint32_t>(i));
      }
    }
    for (Sequence& track : tracks) {
      std::stable_sort(track.rows.begin(), track.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(events_.start_ns[a], -events_.duration_ns[a]) <
               std::tuple(events_.start_ns[b], -events_.duration_ns[b]);
      });
      for (const std::uint32_t row : track.rows) {
        track.names.push_back(events_.name_of(make_id<EventId>(row)));
      }
    }
    return tracks;
  }

  // Puts a thread of the execution trace where most of its rows of names fit.
  void place(const Sequence& thread, const std::vector<Sequence>& tracks) {
    std::size_t most = 0;
    std::pair<std::size_t, std::int64_t> best;  // track, offset
    for (std::size_t track = 0; track < tracks.size(); ++track) {
      for (const auto& [offset, votes] : votes_for(thread, tracks[track])) {
        link_.other_places += votes == most && most > 0 ? 1 : 0;
        if (votes > most) {
          most = votes;
          best = {track, offset};
          link_.other_places = 0;
        }
      }
    }
    if (most > 0) {
      walk(thread, tracks[best.first], best.second);
    }
  }

  static std::map<std::int64_t, std::size_t> votes_for(const Sequence& thread,
                                                       const Sequence& track) {
    std::map<std::int64_t, std::size_t> votes;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> places;
    for (std::size_t at = 0; at + gram <= track.names.size(); ++at) {
      auto& list = places[hash_at(track, at)];
      if (list.size() < most_places) {
        list.push_back(static_cast<std::uint32_t>(at));
      }
    }
    for (std::size_t at = 0; at + gram <= thread.names.size(); ++at) {
      const auto found = places.find(hash_at(thread, at));
      if (found != places.end()) {
        for (const std::uint32_t place : found->second) {
          ++votes[static_cast<std::int64_t>(place) - static_cast<std::int64_t>(at)];
        }
      }
    }
    return votes;
  }

  // Side by side from the offset on; where names differ, the nearest place where they agree again.
  void walk(const Sequence& thread, const Sequence& track, std::int64_t offset) {
    std::size_t a = offset < 0 ? static_cast<std::size_t>(-offset) : 0;
    std::size_t b = offset < 0 ? 0 : static_cast<std::size_t>(offset);
    while (a < thread.names.size() && b < track.names.size()) {
      if (thread.names[a] == track.names[b]) {
        match(track.rows[b++], NodeId{thread.rows[a++]});
        continue;
      }
      bool found = false;
      for (std::size_t gap = 1; gap <= longest_gap && !found; ++gap) {
        for (std::size_t left = 0; left <= gap && !found; ++left) {
          found = agree(thread, a + left, track, b + gap - left);
          a += found ? left : 0;
          b += found ? gap - left : 0;
        }
      }
      if (!found) {
        ++a;
        ++b;
      }
    }
  }

  static bool agree(const Sequence& thread, std::size_t a, const Sequence& track, std::size_t b) {
    constexpr std::size_t enough = 2;
    for (std::size_t i = 0; i < enough; ++i) {
      if (a + i >= thread.names.size() || b + i >= track.names.size() ||
          thread.names[a + i] != track.names[b + i]) {
        return false;
      }
    }
    return true;
  }

  // Shapes, types and values of a node for events that the profiler recorded without.
  void add_shapes() {
    std::map<std::pair<DescriptorId, std::uint32_t>, DescriptorId> made;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const NodeId node = link_.node[i];
      const std::uint32_t signature = node == none<NodeId> ? 0 : nodes_.signature[index(node)];
      const DescriptorId own = events_.descriptor[i];
      if (signature == 0 || events_.descriptors[index(own)].dims != NameId{}) continue;
      const NodeSignature& known = nodes_.signatures[signature];
      if (known.shapes == NameId{}) continue;
      const auto [at, is_new] =
          made.try_emplace({own, signature}, make_id<DescriptorId>(events_.descriptors.size()));
      if (is_new) {
        const NameTable& names = execution_.events.names;
        Descriptor linked = events_.descriptors[index(own)];
        linked.dims = events_.names.intern(names[known.shapes]);
        linked.types = events_.names.intern(names[known.types]);
        linked.concrete = events_.names.intern(names[known.values]);
        events_.descriptors.push_back(linked);
      }
      events_.descriptor[i] = at->second;
      ++link_.shapes_added;
    }
  }

  EventTable& events_;
  const LoadedTrace& execution_;
  const NodeGraph& nodes_;
  ExecutionLink link_;
};

}  // namespace

Result<ExecutionLink> link_execution_trace(EventTable& events, const LoadedTrace& execution) {
  if (execution.nodes() == nullptr) {
    return Error{ErrorCode::no_match,
                 fmt::format("{}: is no execution trace", execution.events.info.path)};
  }
  return Link(events, execution).run();
}

}  // namespace foretrace::trace
