#include "apps/questions/compare/communication.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/result/steps/steps.h"
#include "sim/result/summary.h"

namespace foretrace {
namespace {

using RowKey = std::tuple<std::uint32_t, CollectiveKind, std::int64_t, bool>;

/// Transfers and waits of the collectives of one row.
struct Samples {
  std::uint64_t count = 0;
  std::vector<std::int64_t> transfers;
  std::int64_t waiting = 0;
};

class Collector {
 public:
  explicit Collector(const JobFacts& job) : job_(job), ranks_(job.ranks.size()) {}

  void run() {
    std::vector<std::vector<bool>> seen(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      seen[r].resize(job_.collectives[r].list.size());
      ranks_[r].rank = job_.ranks[r].rank;
    }
    std::set<std::uint32_t> begun;
    for (const trace::MatchedCollective& collective : job_.matching.collectives) {
      if (!collective.complete) continue;
      // What the begin of the window makes of the first one is no lateness.
      const bool first = begun.insert(collective.communicator).second;
      add(collective, !first);
      for (const trace::CollectiveMember& member : collective.members) {
        seen[member.rank][member.collective] = true;
      }
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (std::size_t i = 0; i < seen[r].size(); ++i) {
        if (!seen[r][i]) {
          add_unmatched(r, i);
        }
      }
    }
  }

  [[nodiscard]] std::vector<CommunicationRow> rows() const {
    std::vector<CommunicationRow> list;
    for (const auto& [key, samples] : samples_) {
      list.push_back(row_of(key, samples));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const CommunicationRow& a, const CommunicationRow& b) {
                       return a.transfer_ns + a.waiting_ns > b.transfer_ns + b.waiting_ns;
                     });
    return list;
  }
  [[nodiscard]] const std::vector<RankCommunication>& ranks() const { return ranks_; }

 private:
  void add(const trace::MatchedCollective& collective, bool tells_lateness) {
    const auto split = trace::split_waiting(collective, job_.collectives, job_.matching.clocks);
    Samples& samples = samples_[{collective.communicator, collective.kind, collective.bytes, true}];
    ++samples.count;
    std::vector<std::int64_t> arrivals;
    std::size_t last = 0;
    for (std::size_t m = 0; m < split.size(); ++m) {
      samples.transfers.push_back(split[m].transfer_ns);
      samples.waiting += split[m].wait_ns;
      arrivals.push_back(split[m].arrival_ns - split[0].arrival_ns);
      last = arrivals[m] > arrivals[last] ? m : last;
    }
    if (tells_lateness) {
      RankCommunication& rank = ranks_[collective.members[last].rank];
      const std::int64_t latest = arrivals[last];
      // Of two ranks the median of both would be the late one itself.
      arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(last));
      const auto middle = arrivals.begin() + static_cast<std::ptrdiff_t>(arrivals.size() / 2);
      std::nth_element(arrivals.begin(), middle, arrivals.end());
      ++rank.arrives_last;
      if (middle != arrivals.end()) rank.late_ns += latest - *middle;
    }
  }

  void add_unmatched(std::size_t rank, std::size_t collective) {
    const trace::RankCollective& row = job_.collectives[rank].list[collective];
    std::uint32_t communicator = no_communicator;
    for (std::size_t c = 0; c < job_.matching.communicators.size(); ++c) {
      const trace::JobCommunicator& candidate = job_.matching.communicators[c];
      for (std::size_t m = 0; m < candidate.members.size(); ++m) {
        if (candidate.members[m] == rank && candidate.groups[m] == row.group) {
          communicator = std::min(communicator, static_cast<std::uint32_t>(c));
        }
      }
    }
    const std::uint32_t size =
        communicator == no_communicator ? 0 : job_.matching.communicators[communicator].size;
    Samples& samples = samples_[{communicator, row.kind, trace::payload_bytes(row, size), false}];
    ++samples.count;
    samples.transfers.push_back(row.end_ns - row.start_ns);
  }

  [[nodiscard]] CommunicationRow row_of(const RowKey& key, const Samples& samples) const {
    CommunicationRow row;
    const std::uint32_t communicator = std::get<0>(key);
    if (communicator != no_communicator) {
      row.communicator = job_.matching.communicators[communicator].name;
      row.ranks = job_.matching.communicators[communicator].size;
    }
    row.kind = std::get<1>(key);
    row.bytes = std::get<2>(key);
    row.complete = std::get<3>(key);
    row.count = samples.count;
    row.waiting_ns = samples.waiting;
    for (const std::int64_t transfer : samples.transfers) {
      row.transfer_ns += transfer;
    }
    row.median_transfer_ns = median(samples.transfers);
    if (row.bytes > 0 && row.median_transfer_ns > 0 && row.ranks > 1) {
      const double rate =
          static_cast<double>(row.bytes) * 1e9 / static_cast<double>(row.median_transfer_ns);
      row.bus_bandwidth = rate * trace::bus_factor(row.kind, row.ranks);
      row.pair_bandwidth = row.kind == CollectiveKind::all_to_all ? rate / row.ranks : -1;
    }
    return row;
  }

  const JobFacts& job_;
  std::map<RowKey, Samples> samples_;
  std::vector<RankCommunication> ranks_;
};

std::vector<StallRow> stalls_of(const TaskGraph& graph) {
  std::map<std::tuple<std::int32_t, WorkId>, std::vector<Stall>> groups;
  for (const Stall& stall : graph.context().stalls) {
    groups[{graph.lane(stall.task).rank, graph.work_id(stall.task)}].push_back(stall);
  }
  std::vector<StallRow> rows;
  for (const auto& [key, stalls] : groups) {
    StallRow row;
    row.rank = std::get<0>(key);
    row.call = graph.name(stalls.front().task);
    row.operator_name = graph.names()[graph.work(stalls.front().task).operator_name];
    row.count = stalls.size();
    std::vector<std::int64_t> durations;
    for (const Stall& stall : stalls) {
      durations.push_back(stall.duration_ns);
      row.longest_ns = std::max(row.longest_ns, stall.duration_ns);
      row.excess_ns += stall.excess_ns;
    }
    row.median_ns = median(durations);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StallRow& a, const StallRow& b) { return a.excess_ns > b.excess_ns; });
  return rows;
}

}  // namespace

Communication communication_of(const Session& session) {
  const Recording& recording = session.recording();
  const Timeline& replay = session.run().timeline;
  Communication result;
  if (recording.job == nullptr) return result;
  Collector collector(*recording.job);
  collector.run();
  result.rows = collector.rows();
  result.ranks = collector.ranks();
  const TaskGraph& graph = recording.graph();
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    RankCommunication& rank = result.ranks[r];
    const trace::RankFacts& facts = recording.job->ranks[r];
    const Breakdown whole =
        summarize(graph, replay, {0, replay.span_ns, rank.rank, no_device}).breakdown;
    rank.exposed_transfer_ns = whole.communication_exposed_ns;
    if (facts.matched > 0 || facts.collectives == 0) {
      rank.exposed_waiting_ns = whole.communication_waiting_ns;
    }
    rank.overlapped_ns = whole.communication_overlapped_ns;
  }
  result.stalls = stalls_of(graph);
  for (const trace::RankFacts& rank : recording.job->ranks) {
    result.collectives += rank.collectives;
    result.matched += rank.matched;
  }
  return result;
}

}  // namespace foretrace
