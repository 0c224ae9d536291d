#include "trace/annotate/collectives/collectives.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/core/text.h"
#include "trace/annotate/collectives/argument_text.h"
#include "trace/annotate/collectives/collective_fields.h"
#include "trace/annotate/names.h"

namespace foretrace::trace {
namespace {

/// Damaged times beyond these (in 2043, and 36 years after the trace began) would overflow sums.
constexpr std::int64_t latest_base_ns = std::int64_t{1} << 61;
constexpr std::int64_t latest_time_ns = std::int64_t{1} << 60;

constexpr std::uint32_t no_row = 0xFFFFFFFFU;

/// Host events that describe collectives, by start on their thread.
struct HostEvents {
  std::vector<std::uint32_t> records;      // record_param_comms
  std::vector<std::uint32_t> annotations;  // nccl:all_reduce
  std::vector<std::uint32_t> operators;    // c10d::send
  std::vector<std::int64_t> launches;      // of collective kernels
  std::vector<std::int64_t> any_launches;  // of kernels, recorded or not

  [[nodiscard]] std::array<std::vector<std::uint32_t>*, 3> all() {
    return {&records, &annotations, &operators};
  }
};

bool is_annotation(std::string_view name) {
  return name.substr(0, 5) == "nccl:" || name.substr(0, 5) == "rccl:";
}

bool is_communication_operator(std::string_view name) { return name.starts_with("c10d::"); }

bool is_one_message(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive;
}

std::int32_t rank_of(std::string_view text) {
  const std::int64_t rank = integer_of(text).value_or(-1);
  return rank >= 0 && rank < std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(rank)
             : -1;
}

/// "nccl:send 0->1", "nccl:recv 1<-0": this rank and the other, as numbered within the group.
void read_peers(std::string_view annotation, PeerMessage& message) {
  std::size_t at = annotation.find("->");
  at = at == std::string_view::npos ? annotation.find("<-") : at;
  const std::size_t blank = annotation.find(' ');
  if (at == std::string_view::npos || blank == std::string_view::npos || blank > at) return;
  message.own = rank_of(annotation.substr(blank, at - blank));
  message.peer = rank_of(annotation.substr(at + 2));
}

class Extractor {
 public:
  explicit Extractor(const EventTable& events)
      : events_(events), fields_(events.descriptors.size()), known_(events.descriptors.size()) {}

  RankCollectives run() {
    const TraceInfo& info = events_.info;
    const bool sane = info.base_time_ns >= 0 && info.base_time_ns < latest_base_ns &&
                      info.first_time_ns > -latest_base_ns && info.first_time_ns < latest_base_ns;
    found_.base_ns = sane ? info.base_time_ns + info.first_time_ns : 0;
    found_.base_ns = std::clamp(found_.base_ns, -latest_base_ns, latest_base_ns);
    found_.world_size = events_.info.world_size;
    found_.rank = events_.info.rank;
    std::vector<std::uint32_t> kernels = find_kernels();
    if (kernels.empty()) return std::move(found_);
    find_launches(kernels);
    find_host_events();
    for (const std::uint32_t kernel : kernels) {
      add(kernel);
    }
    add_groups_by_stream();
    return std::move(found_);
  }

 private:
  std::vector<std::uint32_t> find_kernels() const {
    std::vector<std::uint8_t> is_collective(events_.names.size(), 2);
    std::vector<std::uint32_t> kernels;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_.kind[i] != EventKind::kernel) continue;
      std::uint8_t& known = is_collective[index(events_.name[i])];
      if (known == 2) {
        known = is_collective_kernel(events_.names[events_.name[i]]) ? 1 : 0;
      }
      if (known == 1 && events_.end_ns(make_id<EventId>(i)) < latest_time_ns) {
        kernels.push_back(static_cast<std::uint32_t>(i));
      }
    }
    std::sort(kernels.begin(), kernels.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(events_.start_ns[a], events_.duration_ns[a], a) <
             std::tuple(events_.start_ns[b], events_.duration_ns[b], b);
    });
    return kernels;
  }

  /// The runtime call of every kernel; of several of one correlation the last not after it.
  void find_launches(const std::vector<std::uint32_t>& kernels) {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> calls;
    for (const std::uint32_t kernel : kernels) {
      if (events_.correlation[kernel] != 0) {
        calls.try_emplace(events_.correlation[kernel]);
      }
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_.kind[i] == EventKind::runtime && events_.correlation[i] != 0) {
        const auto found = calls.find(events_.correlation[i]);
        if (found != calls.end()) {
          found->second.push_back(static_cast<std::uint32_t>(i));
        }
      }
    }
    for (const std::uint32_t kernel : kernels) {
      const auto found = calls.find(events_.correlation[kernel]);
      std::uint32_t best = no_row;
      if (found != calls.end()) {
        for (const std::uint32_t call : found->second) {
          const bool later = best != no_row && events_.start_ns[call] > events_.start_ns[best];
          const bool before = events_.start_ns[call] <= events_.start_ns[kernel];
          best = best == no_row || (later && before) ? call : best;
        }
      }
      launch_[kernel] = best;
    }
  }

  void find_host_events() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const EventKind kind = events_.kind[i];
      if (kind != EventKind::cpu_op && kind != EventKind::user_annotation) continue;
      const std::string_view name = events_.names[events_.name[i]];
      if (name == "record_param_comms") {
        if (!fields_at(i).is_wait) {
          host_[index(events_.track[i])].records.push_back(static_cast<std::uint32_t>(i));
        }
      } else if (is_annotation(name)) {
        host_[index(events_.track[i])].annotations.push_back(static_cast<std::uint32_t>(i));
      } else if (is_communication_operator(name)) {
        host_[index(events_.track[i])].operators.push_back(static_cast<std::uint32_t>(i));
      }
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const auto host =
          events_.kind[i] == EventKind::runtime ? host_.find(index(events_.track[i])) : host_.end();
      if (host != host_.end() && contains(events_.names[events_.name[i]], "LaunchKernel")) {
        host->second.any_launches.push_back(events_.start_ns[i]);
      }
    }
    for (const auto& [kernel, launch] : launch_) {
      if (launch != no_row) {
        host_[index(events_.track[launch])].launches.push_back(events_.start_ns[launch]);
      }
    }
    const auto by_start = [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(events_.start_ns[a], a) < std::tuple(events_.start_ns[b], b);
    };
    for (auto& [track, lists] : host_) {
      for (std::vector<std::uint32_t>* const list : lists.all()) {
        std::sort(list->begin(), list->end(), by_start);
      }
      std::sort(lists.launches.begin(), lists.launches.end());
      std::sort(lists.any_launches.begin(), lists.any_launches.end());
    }
  }

  /// The innermost event of the list around a time.
  [[nodiscard]] std::uint32_t around(const std::vector<std::uint32_t>& list,
                                     std::int64_t time) const {
    auto at = std::partition_point(
        list.begin(), list.end(), [&](std::uint32_t row) { return events_.start_ns[row] <= time; });
    // Nested ones are two or three deep; what does not cover the time there does not elsewhere.
    for (int tried = 0; at != list.begin() && tried < 8; ++tried) {
      const std::uint32_t row = *--at;
      if (events_.end_ns(make_id<EventId>(row)) >= time) return row;
    }
    return no_row;
  }

  const CollectiveFields& fields_at(std::size_t row) {
    const std::size_t id = index(events_.descriptor[row]);
    if (!known_[id]) {
      fields_[id] = fields_of(events_.names, events_.descriptors[id]);
      known_[id] = true;
    }
    return fields_[id];
  }

  void add(std::uint32_t kernel) {
    const std::string_view name = events_.names[events_.name[kernel]];
    RankCollective row;
    row.event = make_id<EventId>(kernel);
    row.kernel_kind = collective_kind(name);
    row.kind = row.kernel_kind;
    row.evidence =
        row.kind == CollectiveKind::none ? KindEvidence::none : KindEvidence::kernel_name;
    row.start_ns = events_.start_ns[kernel];
    row.end_ns = events_.end_ns(row.event);
    const Descriptor& arguments = events_.descriptors[index(events_.descriptor[kernel])];
    row.grid = arguments.grid[0];
    row.block = arguments.block[0];
    CollectiveFields fields = fields_at(kernel);
    add_host(launch_[kernel], row, fields);
    if (fields.kind != CollectiveKind::none) {
      row.kind = fields.kind;
      row.evidence = KindEvidence::argument;
    }
    row.in_bytes = fields.in_bytes >= 0 ? fields.in_bytes : row.in_bytes;
    row.out_bytes = fields.out_bytes;
    row.element_bytes = fields.element_bytes != 0 ? fields.element_bytes : row.element_bytes;
    row.sequence = fields.sequence;
    add_messages(launch_[kernel], row, fields);
    row.group = group_of(fields);
    found_.list.push_back(std::move(row));
  }

  /// The one message of a send or receive, or those that one kernel does together.
  void add_messages(std::uint32_t launch, RankCollective& row, CollectiveFields& fields) {
    const bool is_one = is_one_message(row.kind);
    if (launch != no_row && (is_one || row.kind == CollectiveKind::send_receive)) {
      add_batch(launch, row, fields);
    }
    if (row.messages.size() > 1) {
      row.kind = CollectiveKind::send_receive;
    } else if (is_one) {
      row.messages.clear();  // the kernel's own arguments say it better
      PeerMessage message = message_of(row.kind, fields);
      message.bytes = row.in_bytes >= 0 ? row.in_bytes : row.out_bytes;
      if (message.peer < 0 && launch != no_row) {
        const HostEvents& host = host_[index(events_.track[launch])];
        const std::uint32_t annotation = around(host.annotations, events_.start_ns[launch]);
        read_peers(annotation == no_row ? "" : events_.names[events_.name[annotation]], message);
      }
      row.messages.push_back(message);
    }
  }

  static PeerMessage message_of(CollectiveKind kind, const CollectiveFields& fields) {
    const bool sends = kind == CollectiveKind::send;
    return {.sends = sends,
            .own = sends ? fields.source : fields.target,
            .peer = sends ? fields.target : fields.source,
            .bytes = fields.in_bytes >= 0 ? fields.in_bytes : fields.out_bytes};
  }

  /// Sends and receives that the thread asked for since it launched a collective the last time: one
  /// kernel does them all. The first list that tells of any is believed.
  void add_batch(std::uint32_t launch, RankCollective& row, CollectiveFields& fields) {
    HostEvents& host = host_[index(events_.track[launch])];
    const std::int64_t time = events_.start_ns[launch];
    const auto own = std::lower_bound(host.launches.begin(), host.launches.end(), time);
    const std::int64_t since =
        own == host.launches.begin() ? std::numeric_limits<std::int64_t>::min() : *(own - 1);
    for (const std::vector<std::uint32_t>* const list : host.all()) {
      auto at = std::partition_point(list->begin(), list->end(), [&](std::uint32_t event) {
        return events_.start_ns[event] <= since;
      });
      for (; at != list->end() && events_.start_ns[*at] <= time; ++at) {
        const CollectiveKind kind = kind_of_host(*at);
        if (!is_one_message(kind) || has_other_launch(host, *at, time)) continue;
        const CollectiveFields& said = fields_at(*at);
        PeerMessage message = message_of(kind, said);
        read_peers(events_.names[events_.name[*at]], message);
        row.messages.push_back(message);
        take_group(said, fields);
      }
      if (!row.messages.empty()) return;
    }
  }

  /// A call with a launch of its own is no part of a batch, even if that kernel was not recorded.
  [[nodiscard]] bool has_other_launch(const HostEvents& host, std::uint32_t event,
                                      std::int64_t launch_ns) const {
    const std::int64_t end = events_.end_ns(make_id<EventId>(event));
    const auto first = std::lower_bound(host.any_launches.begin(), host.any_launches.end(),
                                        events_.start_ns[event]);
    return first != host.any_launches.end() && *first <= end && *first != launch_ns;
  }

  /// What a record, an annotation or an operator of the host is about.
  CollectiveKind kind_of_host(std::uint32_t event) {
    const CollectiveKind said = fields_at(event).kind;
    const std::string_view name = events_.names[events_.name[event]];
    const bool is_named = is_annotation(name) || is_communication_operator(name);
    return said != CollectiveKind::none || !is_named ? said
                                                     : collective_kind(name.substr(name.find(':')));
  }

  static void take_group(const CollectiveFields& from, CollectiveFields& fields) {
    fields.group = fields.group.empty() ? from.group : fields.group;
    fields.pointer = fields.pointer.empty() ? from.pointer : fields.pointer;
    fields.group_size = fields.group_size == 0 ? from.group_size : fields.group_size;
    fields.ranks = fields.ranks.empty() ? from.ranks : fields.ranks;
  }

  /// What the annotation and the record around the launch add.
  void add_host(std::uint32_t launch, RankCollective& row, CollectiveFields& fields) {
    row.launched = launch != no_row;
    const auto host = row.launched ? host_.find(index(events_.track[launch])) : host_.end();
    if (host == host_.end()) return;
    const std::int64_t time = events_.start_ns[launch];
    const std::uint32_t annotation = around(host->second.annotations, time);
    if (annotation != no_row) {
      const std::string_view name = events_.names[events_.name[annotation]];
      const CollectiveKind kind = collective_kind(name.substr(5));
      if (kind != CollectiveKind::none) {
        row.kind = kind;
        row.evidence = KindEvidence::annotation;
      }
      row.in_bytes =
          annotated_bytes(events_.names, events_.descriptors[index(events_.descriptor[annotation])],
                          row.element_bytes);
    }
    const std::uint32_t record = around(host->second.records, time);
    if (record != no_row) {
      const CollectiveFields& more = fields_at(record);
      fields.kind = fields.kind == CollectiveKind::none ? more.kind : fields.kind;
      fields.in_bytes = fields.in_bytes < 0 && row.in_bytes < 0 ? more.in_bytes : fields.in_bytes;
      fields.out_bytes = fields.out_bytes < 0 ? more.out_bytes : fields.out_bytes;
      fields.element_bytes = fields.element_bytes == 0 ? more.element_bytes : fields.element_bytes;
      fields.sequence = fields.sequence < 0 ? more.sequence : fields.sequence;
      fields.source = fields.source < 0 ? more.source : fields.source;
      fields.target = fields.target < 0 ? more.target : fields.target;
      take_group(more, fields);
    }
    const std::uint32_t operation = around(host->second.operators, time);
    if (operation != no_row && row.evidence <= KindEvidence::kernel_name &&
        fields.kind == CollectiveKind::none && kind_of_host(operation) != CollectiveKind::none) {
      row.kind = kind_of_host(operation);
      row.evidence = KindEvidence::annotation;
    }
  }

  std::uint32_t group_of(const CollectiveFields& fields) {
    const bool named = !fields.group.empty();
    if (!named && fields.pointer.empty()) {
      return no_row;  // see add_groups_by_stream
    }
    const std::string& name = named ? fields.group : fields.pointer;
    const auto [at, is_new] =
        group_ids_.try_emplace({named, name}, static_cast<std::uint32_t>(found_.groups.size()));
    if (is_new) {
      found_.groups.push_back({named ? GroupEvidence::name : GroupEvidence::pointer, name, 0, {}});
    }
    RankGroup& group = found_.groups[at->second];
    group.size = group.size == 0 ? fields.group_size : group.size;
    group.ranks = group.ranks.empty() ? fields.ranks : group.ranks;
    return at->second;
  }

  /// Kernels that no argument describes belong to the only group of their stream, or to one that is
  /// named after it.
  void add_groups_by_stream() {
    std::map<std::uint32_t, std::uint32_t> group_of_track;  // no_row: several
    for (const RankCollective& row : found_.list) {
      if (row.group != no_row) {
        const auto track = static_cast<std::uint32_t>(index(events_.track[index(row.event)]));
        const auto [at, is_new] = group_of_track.try_emplace(track, row.group);
        at->second = is_new || at->second == row.group ? row.group : no_row;
      }
    }
    for (RankCollective& row : found_.list) {
      if (row.group != no_row) continue;
      const TrackId track = events_.track[index(row.event)];
      const auto [at, is_new] =
          group_of_track.try_emplace(static_cast<std::uint32_t>(index(track)), no_row);
      if (at->second == no_row) {
        at->second = static_cast<std::uint32_t>(found_.groups.size());
        found_.groups.push_back({GroupEvidence::stream,
                                 "stream " + std::to_string(events_.tracks[index(track)].number),
                                 0,
                                 {}});
      }
      row.group = at->second;
    }
  }

  const EventTable& events_;
  RankCollectives found_;
  std::vector<CollectiveFields> fields_;
  std::vector<bool> known_;
  std::unordered_map<std::uint32_t, std::uint32_t> launch_;  // per kernel
  std::map<std::size_t, HostEvents> host_;                   // per track
  std::map<std::pair<bool, std::string>, std::uint32_t> group_ids_;
};

}  // namespace

RankCollectives extract_collectives(const EventTable& events) { return Extractor(events).run(); }

}  // namespace foretrace::trace
