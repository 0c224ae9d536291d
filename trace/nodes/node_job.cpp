#include "trace/nodes/node_job.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/graph_builder.h"
#include "trace/annotate/collectives/collectives.h"
#include "trace/nodes/node_cost.h"
#include "trace/nodes/node_emitter.h"
#include "trace/nodes/node_order.h"

namespace foretrace::trace {
namespace {

/// One rank's part of an exchange.
struct Part {
  std::size_t rank = 0;     ///< index of the traces
  std::size_t meeting = 0;  ///< index of its meetings
};

struct Meeting {
  NodeExchange exchange;
  std::string group;
  std::vector<Part> parts;  ///< messages: the sender first
};

std::string_view ordinal_end(std::size_t n) {
  if (n % 100 >= 11 && n % 100 <= 13) return "th";
  return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

std::string what_text(const NodeExchange& exchange) {
  return exchange.bytes < 0
             ? std::string(to_string(exchange.kind))
             : fmt::format("{} of {} bytes", to_string(exchange.kind), exchange.bytes);
}

class JobOfNodes {
 public:
  JobOfNodes(std::span<const RankNodes> ranks, const NodeGroups& groups, const NodeCosts& costs,
             const ExchangePrice& price)
      : ranks_(ranks), groups_(groups), costs_(costs), price_(price), rows_(ranks.size()) {
    costs_.without_transfers = true;
  }

  Result<NodeJob> run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      FORETRACE_TRY(collect(r));
    }
    FORETRACE_TRY(check_ends());
    FORETRACE_TRY(set_prices());
    std::uint64_t below = 0;
    std::uint64_t nodes = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      FORETRACE_TRY(auto times, node_times(*ranks_[r].events, *ranks_[r].nodes, costs_));
      below += times.below_resolution;
      nodes += ranks_[r].nodes->size();
      NodeEmitter emitter(*ranks_[r].events, *ranks_[r].nodes, std::move(times), builder_,
                          ranks_[r].rank);
      emitter.emit(orders_[r], rows_[r]);
      tasks_.push_back(emitter.tasks());
    }
    for (const Meeting& meeting : meetings_) join(meeting);
    builder_.name_tasks_by([this, all = decltype(places()){}](TaskId task) mutable {
      if (all.empty()) all = places();
      const auto at = all.find(task);
      return at == all.end() ? std::string() : where(ranks_[at->second.first], at->second.second);
    });
    FORETRACE_TRY(job_.graph, std::move(builder_).build());
    job_.exchanges = meetings_.size();
    warn_below_resolution(below, nodes, job_.warnings);
    if (on_host_ > 0) {
      job_.warnings.push_back(fmt::format(
          "{} communication {} on the CPU (is_cpu_op is true) and none of the kind on the GPU: it "
          "keeps its recorded time, and no rank waits for it; the first is {}",
          on_host_, on_host_ == 1 ? "node is" : "nodes are", first_on_host_));
    }
    return std::move(job_);
  }

 private:
  using GroupKey = std::pair<std::string, std::uint32_t>;                   // name, list of ranks
  using MessageKey = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // from, to, tag

  [[nodiscard]] const RankNodes& rank_of(const Part& part) const { return ranks_[part.rank]; }
  [[nodiscard]] static std::string where(const RankNodes& rank, NodeId node) {
    return fmt::format("{}: {}", rank.events->info.path,
                       node_text(*rank.events, *rank.nodes, node));
  }
  [[nodiscard]] std::string where(const Part& part) const {
    return where(rank_of(part), rows_[part.rank][part.meeting].node);
  }

  /// Index of the traces and node of each task; none for what ranks do together.
  [[nodiscard]] std::map<TaskId, std::pair<std::size_t, NodeId>> places() const {
    std::map<TaskId, std::pair<std::size_t, NodeId>> places;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (std::size_t i = 0; i < tasks_[r].size(); ++i) {
        places.emplace(tasks_[r][i], std::pair(r, make_id<NodeId>(i)));
      }
      for (const NodeMeeting& row : rows_[r]) places.emplace(row.arrival, std::pair(r, row.node));
    }
    return places;
  }

  /// What a rank does with others, in the order in which it comes to it.
  Status collect(std::size_t r) {
    const RankNodes& rank = ranks_[r];
    FORETRACE_TRY(auto order, node_order(*rank.events, *rank.nodes));
    orders_.push_back(std::move(order));
    std::map<GroupKey, std::size_t> seen;
    std::map<MessageKey, std::size_t> sent;
    std::map<std::tuple<bool, std::int32_t, std::uint32_t>, std::uint32_t> lanes;
    std::vector<NodeId> on_host;
    for (const NodeId node : orders_.back()) {
      const NodeKind kind = rank.nodes->kind[index(node)];
      if (!is_communication(kind)) continue;
      if (!on_device(*rank.nodes, node)) {
        on_host.push_back(node);
        continue;
      }
      const NodeCommunication* const at = communication_of(*rank.nodes, node);
      const NodeCommunication row = at != nullptr ? *at : NodeCommunication{.node = node};
      NodeMeeting meeting{.node = node};
      FORETRACE_TRY(kind == NodeKind::collective
                        ? collective(r, row, seen, meeting)
                        : message(r, row, kind == NodeKind::send, sent, meeting));
      const std::tuple lane{kind == NodeKind::send,
                            kind == NodeKind::send      ? row.destination
                            : kind == NodeKind::receive ? row.source
                                                        : -1,
                            meeting.communicator};
      meeting.lane =
          lanes.try_emplace(lane, static_cast<std::uint32_t>(lanes.size())).first->second;
      rows_[r].push_back(meeting);
    }
    // Meetings were numbered in the order of the rank; the emitter looks them up by node.
    sort_rows(r);
    count_on_host(r, on_host);
    return ok_status();
  }

  /// PyTorch records a collective on the host, too, from where it is launched. What is there and
  /// not on the device takes part in nothing.
  void count_on_host(std::size_t r, const std::vector<NodeId>& nodes) {
    const RankNodes& rank = ranks_[r];
    using What = std::pair<NodeKind, std::string_view>;  // of a group
    const auto what = [&rank](NodeId node) {
      const NodeCommunication* const row = communication_of(*rank.nodes, node);
      const NameId group = row != nullptr ? row->group : NameId{};
      return What(rank.nodes->kind[index(node)], rank.events->names[group]);
    };
    std::set<What> launched;
    for (const NodeMeeting& meeting : rows_[r]) launched.insert(what(meeting.node));
    for (const NodeId node : nodes) {
      const NodeCommunication* const row = communication_of(*rank.nodes, node);
      const bool is_said = row != nullptr && row->bytes >= 0;
      if (!is_said || launched.contains(what(node))) continue;
      if (on_host_++ == 0) first_on_host_ = where(rank, node);
    }
  }

  void sort_rows(std::size_t r) {
    std::vector<std::size_t> by_node(rows_[r].size());
    for (std::size_t i = 0; i < by_node.size(); ++i) by_node[i] = i;
    std::sort(by_node.begin(), by_node.end(),
              [&](std::size_t a, std::size_t b) { return rows_[r][a].node < rows_[r][b].node; });
    std::vector<std::size_t> place(by_node.size());
    std::vector<NodeMeeting> sorted;
    sorted.reserve(by_node.size());
    for (std::size_t i = 0; i < by_node.size(); ++i) {
      place[by_node[i]] = i;
      sorted.push_back(rows_[r][by_node[i]]);
    }
    rows_[r] = std::move(sorted);
    for (const auto& [meeting, part] : own_)
      meetings_[meeting].parts[part].meeting = place[meetings_[meeting].parts[part].meeting];
    own_.clear();
  }

  Status collective(std::size_t r, const NodeCommunication& row,
                    std::map<GroupKey, std::size_t>& seen, NodeMeeting& out) {
    const RankNodes& rank = ranks_[r];
    FORETRACE_TRY(auto members, groups_.members(rank, row));
    const CollectiveKind kind = collective_kind(rank.events->names[row.kind]);
    if (kind == CollectiveKind::none) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: a collective of the kind '{}', expected all_reduce, "
                               "all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
                               "scatter or barrier",
                               where(rank, row.node), rank.events->names[row.kind])};
    }
    const auto size = static_cast<std::int64_t>(members.ranks.size());
    std::int64_t bytes = row.bytes;
    if (bytes < 0 && kind != CollectiveKind::barrier) return without_size(rank, row.node);
    // A node tells what one rank gives.
    bytes = kind == CollectiveKind::barrier ? -1
                                            : payload_bytes({.kind = kind, .in_bytes = bytes},
                                                            static_cast<std::uint32_t>(size));
    if (bytes < 0 && kind != CollectiveKind::barrier) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: an all_gather of {} bytes from each of {} ranks, expected less "
                               "than 2^63 in all",
                               where(rank, row.node), row.bytes, size)};
    }
    const GroupKey key{rank.events->names[row.group], members.id};
    const auto copied = [&members] {  // once per group or exchange, not per node
      return std::vector<std::int32_t>(members.ranks.begin(), members.ranks.end());
    };
    const auto [group, is_new] = communicators_.try_emplace(key, no_communicator);
    if (is_new) {
      group->second =
          builder_.add_communicator({key.first, static_cast<std::uint32_t>(size), copied()});
      channels_.push_back(
          builder_.add_lane({.kind = LaneKind::channel, .rank = -1, .name = key.first}));
      by_group_.emplace_back();
    }
    out.kind = kind;
    out.bytes = bytes;
    out.communicator = group->second;
    std::vector<std::size_t>& list = by_group_[group->second];
    const std::size_t n = seen[key]++;
    if (n == list.size()) {
      list.push_back(meetings_.size());
      meetings_.push_back({{kind, bytes, copied()}, key.first, {}});
    }
    Meeting& meeting = meetings_[list[n]];
    if (meeting.exchange.kind != kind || meeting.exchange.bytes != bytes) {
      return Error{
          ErrorCode::bad_format,
          fmt::format("{}: the {}{} collective of group '{}' is {}, expected {} as on rank "
                      "{}",
                      where(rank, row.node), n + 1, ordinal_end(n + 1), key.first,
                      what_text({kind, bytes, {}}), what_text(meeting.exchange),
                      rank_of(meeting.parts.front()).rank)};
    }
    add_part(list[n], r);
    return ok_status();
  }

  Status message(std::size_t r, const NodeCommunication& row, bool sends,
                 std::map<MessageKey, std::size_t>& seen, NodeMeeting& out) {
    const RankNodes& rank = ranks_[r];
    const std::int32_t from = sends ? rank.rank : row.source;
    const std::int32_t to = sends ? row.destination : rank.rank;
    if (from < 0 || to < 0) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: no {} is recorded, expected {}", where(rank, row.node),
                               sends ? "destination" : "source", sends ? "comm_dst" : "comm_src")};
    }
    if (from == to) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: a message of rank {} to itself, expected another rank",
                               where(rank, row.node), from)};
    }
    if (row.bytes < 0) return without_size(rank, row.node);
    out.kind = sends ? CollectiveKind::send : CollectiveKind::receive;
    out.bytes = row.bytes;
    out.arrives = !sends;
    std::vector<std::size_t>& list = by_message_[{from, to, row.tag}];
    const std::size_t n = seen[{from, to, row.tag}]++;
    if (n == list.size()) {
      list.push_back(meetings_.size());
      meetings_.push_back({{CollectiveKind::send, row.bytes, {from, to}}, {}, {}});
    }
    Meeting& meeting = meetings_[list[n]];
    if (meeting.exchange.bytes != row.bytes) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: a message of {} bytes, expected {} as at its other end ({})",
                               where(rank, row.node), row.bytes, meeting.exchange.bytes,
                               where(meeting.parts.front()))};
    }
    add_part(list[n], r);
    if (sends && meeting.parts.size() == 2) {
      std::swap(meeting.parts[0], meeting.parts[1]);
      own_.back().second = 0;
    }
    return ok_status();
  }

  void add_part(std::size_t meeting, std::size_t r) {
    own_.emplace_back(meeting, meetings_[meeting].parts.size());
    meetings_[meeting].parts.push_back({r, rows_[r].size()});
  }

  [[nodiscard]] static Error without_size(const RankNodes& rank, NodeId node) {
    return Error{
        ErrorCode::bad_format,
        fmt::format("{}: got no comm_size, or one that no message has, expected bytes from "
                    "0 to 2^50",
                    where(rank, node))};
  }

  /// Nobody waits for one who never comes.
  Status check_ends() const {
    for (const Meeting& meeting : meetings_) {
      if (meeting.parts.size() == meeting.exchange.ranks.size()) continue;
      const Part& first = meeting.parts.front();
      const auto is_here = [&](std::int32_t rank) {
        return std::any_of(meeting.parts.begin(), meeting.parts.end(),
                           [&](const Part& part) { return rank_of(part).rank == rank; });
      };
      const auto& ranks = meeting.exchange.ranks;
      const auto missing = std::find_if_not(ranks.begin(), ranks.end(), is_here);
      const std::string among =
          meeting.group.empty() ? std::string() : fmt::format(" of group '{}'", meeting.group);
      return Error{
          ErrorCode::bad_format,
          fmt::format(
              "{}: {}{}: rank {} has no such node, expected one on every participating rank",
              where(first), what_text(meeting.exchange), among,
              missing == ranks.end() ? -1 : *missing)};
    }
    return ok_status();
  }

  Status set_prices() {
    for (const Meeting& meeting : meetings_) {
      ExchangeTime time{0, Provenance::measured};  // alone
      if (meeting.exchange.ranks.size() > 1) {
        auto priced = price_(meeting.exchange);
        if (!priced) return std::move(priced).error().with_context(where(meeting.parts.front()));
        time = *priced;
      }
      for (const Part& part : meeting.parts) {
        NodeMeeting& row = rows_[part.rank][part.meeting];
        row.duration_ns = row.kind == CollectiveKind::receive ? 0 : time.ns;
        row.provenance = time.provenance;
        FORETRACE_TRY(add_times(part, row));
      }
    }
    const bool says_times = std::all_of(ranks_.begin(), ranks_.end(), [](const RankNodes& rank) {
      return rank.nodes->communications.empty() || rank.nodes->has_durations;
    });
    if (!says_times) job_.recorded_transfer_ns = 0;
    return ok_status();
  }

  Status add_times(const Part& part, const NodeMeeting& row) {
    const std::int64_t recorded = rank_of(part).nodes->duration_ns[index(row.node)];
    for (const auto& [ns, sum] :
         {std::pair(row.duration_ns, &job_.transfer_ns),
          std::pair(std::max<std::int64_t>(0, recorded), &job_.recorded_transfer_ns)}) {
      const double all = static_cast<double>(*sum) + static_cast<double>(ns);
      if (all > longest_nodes_ns) {
        return Error{ErrorCode::bad_format,
                     fmt::format("{}: with it all ranks' communication takes {:.3g} ns, expected "
                                 "at most {:.3g}",
                                 where(part), all, longest_nodes_ns)};
      }
      *sum += ns;
    }
    return ok_status();
  }

  void join(const Meeting& meeting) {
    const auto row = [this](const Part& part) -> const NodeMeeting& {
      return rows_[part.rank][part.meeting];
    };
    if (meeting.exchange.kind == CollectiveKind::send) {
      builder_.add_dependency({.source = end_of(row(meeting.parts[0]).task),
                               .task = row(meeting.parts[1]).task,
                               .kind = DependencyKind::rendezvous});
      return;
    }
    if (meeting.parts.size() < 2) return;
    const NodeMeeting& first = row(meeting.parts.front());
    Work work;
    work.kind = TaskKind::transfer;
    work.name = builder_.add_name(to_string(first.kind));
    work.bytes = first.bytes;
    work.collective = first.kind;
    work.communicator = first.communicator;
    const TaskId task = builder_.add_task({.lane = channels_[first.communicator],
                                           .work = builder_.add_work(work),
                                           .kind = TaskKind::transfer,
                                           .phase = Phase::communication});
    for (const Part& part : meeting.parts) {
      builder_.add_dependency(
          {.source = end_of(row(part).arrival), .task = task, .kind = DependencyKind::rendezvous});
      builder_.add_dependency(
          {.source = end_of(task), .task = row(part).task, .kind = DependencyKind::rendezvous});
    }
  }

  std::span<const RankNodes> ranks_;
  const NodeGroups& groups_;
  NodeCosts costs_;
  const ExchangePrice& price_;
  NodeJob job_{};
  GraphBuilder builder_{};
  std::vector<std::vector<NodeId>> orders_{};   // per rank
  std::vector<std::vector<NodeMeeting>> rows_;  // per rank
  std::vector<Meeting> meetings_{};
  std::vector<std::pair<std::size_t, std::size_t>> own_{};  // of the rank at hand: meeting, part
  std::map<GroupKey, std::uint32_t> communicators_{};
  std::vector<LaneId> channels_{};                    // per communicator
  std::vector<std::vector<std::size_t>> by_group_{};  // per communicator
  std::map<MessageKey, std::vector<std::size_t>> by_message_{};
  std::uint64_t on_host_ = 0;  // communication that takes part in nothing
  std::string first_on_host_{};
  std::vector<std::vector<TaskId>> tasks_{};  // per rank, by node
};

}  // namespace

Result<NodeJob> build_node_job(std::span<const RankNodes> ranks, const NodeGroups& groups,
                               const NodeCosts& costs, const ExchangePrice& price) {
  return JobOfNodes(ranks, groups, costs, price).run();
}

}  // namespace foretrace::trace
