#include "trace/ranks/matching/match.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "trace/ranks/matching/align.h"
#include "trace/ranks/matching/buffered_sends.h"
#include "trace/ranks/matching/clocks.h"
#include "trace/ranks/matching/communicators.h"
#include "trace/ranks/matching/constants.h"
#include "trace/ranks/matching/messages.h"
#include "trace/ranks/matching/point_to_point.h"

namespace foretrace::trace {
namespace {

JobCommunicator communicator_of(const Channel& channel) {
  struct Side {
    std::uint32_t rank, group;
    std::size_t count;
  };
  std::array<Side, 2> sides = {{{channel.source, channel.source_group, channel.sends.size()},
                                {channel.target, channel.target_group, channel.receives.size()}}};
  if (channel.target < channel.source) {
    std::swap(sides[0], sides[1]);
  }
  JobCommunicator communicator;
  communicator.name = channel.name;
  communicator.size = 2;
  for (const Side& side : sides) {
    if (side.rank != nobody) {
      communicator.members.push_back(side.rank);
      communicator.groups.push_back(side.group);
      communicator.member_counts.push_back(static_cast<std::uint32_t>(side.count));
    }
  }
  return communicator;
}

class Matcher {
 public:
  explicit Matcher(std::span<const RankCollectives> ranks) : ranks_(ranks) {}

  JobMatching run() {
    const Channels channels = find_channels(ranks_);
    for (Cluster& cluster : find_communicators(ranks_, channels.taken)) {
      add_communicator(cluster);
    }
    match_messages(channels);
    job_.clocks = join_clocks(ranks_, links_, job_.reference);
    find_buffered(ranks_, job_);
    for (MatchedCollective& collective : job_.collectives) {
      judge(collective);
    }
    for (std::size_t i = 0; i < job_.communicators.size(); ++i) {
      job_.communicators[i].incomplete = recorded_[i] - job_.communicators[i].matched;
    }
    sort_by_time();
    return std::move(job_);
  }

 private:
  void add_communicator(const Cluster& cluster) {
    const auto id = static_cast<std::uint32_t>(job_.communicators.size());
    JobCommunicator communicator;
    communicator.name = cluster.name;
    communicator.size = cluster.size;
    communicator.method = cluster.members.size() < 2 ? MatchMethod::none : MatchMethod::sequence;
    std::size_t reference = 0;
    for (std::size_t m = 0; m < cluster.members.size(); ++m) {
      const RankView& member = cluster.members[m];
      communicator.members.push_back(member.rank);
      communicator.groups.push_back(member.group);
      communicator.member_counts.push_back(static_cast<std::uint32_t>(member.rows.size()));
      reference = member.rows.size() > cluster.members[reference].rows.size() ? m : reference;
    }
    std::map<std::uint32_t, std::vector<CollectiveMember>> by_row;  // of the reference
    const RankView& first = cluster.members[reference];
    for (std::uint32_t row = 0; row < first.rows.size(); ++row) {
      by_row[row].push_back({first.rank, first.rows[row]});
    }
    for (std::size_t m = 0; m < cluster.members.size(); ++m) {
      if (m != reference) {
        add_member(first, cluster.members[m], communicator, by_row);
      }
    }
    auto recorded = static_cast<std::uint32_t>(first.rows.size());
    job_.communicators.push_back(std::move(communicator));
    for (auto& [row, members] : by_row) {
      add_collective(id, std::move(members));
    }
    recorded_.push_back(recorded);
  }

  /// Pairs of one member with the reference, in the order of the collectives.
  void add_member(const RankView& reference, const RankView& member, JobCommunicator& communicator,
                  std::map<std::uint32_t, std::vector<CollectiveMember>>& by_row) {
    const auto [alignment, method] = align(reference, member);
    communicator.method = std::min(communicator.method, method);
    if (!alignment.ok || method == MatchMethod::none) {
      communicator.refused =
          communicator.refused.empty() ? alignment.refused : communicator.refused;
      return;
    }
    if (method == MatchMethod::voting && communicator.refused.empty()) {
      communicator.refused = alignment.refused;
    }
    for (const auto& [i, j] : alignment.pairs) {
      by_row[i].push_back({member.rank, member.rows[j]});
    }
    if (method > MatchMethod::voting) {
      links_.push_back({reference.rank, member.rank, alignment.offset_ns, alignment.drift,
                        alignment.drift_from_ns, alignment.spread_ns,
                        static_cast<std::uint32_t>(alignment.pairs.size())});
    }
  }

  /// Sends with their receives, after everything else has said what it knows of the clocks.
  void match_messages(const Channels& channels) {
    for (const Channel& channel : channels.list) {
      channels_[channel.name] = static_cast<std::uint32_t>(job_.communicators.size());
      job_.communicators.push_back(communicator_of(channel));
      recorded_.push_back(
          static_cast<std::uint32_t>(std::max(channel.sends.size(), channel.receives.size())));
    }
    std::uint32_t reference = 0;
    std::vector<RankClock> clocks = join_clocks(ranks_, links_, reference);
    bool hears_more = true;
    for (const ChannelPair& pair : pairs_of(channels)) {
      if (pair.back == nullptr && std::exchange(hears_more, false)) {
        clocks = join_clocks(ranks_, links_, reference);  // the others have said what they know
      }
      match_pair(pair, clocks);
    }
  }

  void match_pair(const ChannelPair& pair, const std::vector<RankClock>& clocks) {
    const auto [there, back] = pair;
    const RankClock& source = clocks[there->source];
    const RankClock& target = clocks[there->target];
    const bool known = source.aligned && target.aligned;
    const PeerAlignment alignment =
        align_peers(pair, known ? target.offset_ns - source.offset_ns : 0, known);
    if (!alignment.refused.empty() && back != nullptr) {  // one of them may do alone
      match_pair({there, nullptr}, clocks);
      match_pair({back, nullptr}, clocks);
      return;
    }
    add_messages(*there, alignment, alignment.there);
    if (back != nullptr) {
      add_messages(*back, alignment, alignment.back);
    }
    if (alignment.is_bounded && !known) {
      links_.push_back({there->source, there->target, alignment.offset_ns, 0, 0,
                        alignment.spread_ns, static_cast<std::uint32_t>(alignment.there.size())});
    }
  }

  void add_messages(const Channel& channel, const PeerAlignment& alignment,
                    const PeerAlignment::Pairs& pairs) {
    const std::uint32_t id = channels_[channel.name];
    job_.communicators[id].method = alignment.method;
    job_.communicators[id].refused = alignment.refused;
    for (const auto& [i, j] : pairs) {
      const CollectiveMember send{channel.source, channel.sends[i].row, true};
      const CollectiveMember receive{channel.target, channel.receives[j].row};
      const auto place = [](const CollectiveMember& m) { return std::pair(m.rank, m.collective); };
      const auto [at, is_new] = exchanges_.try_emplace(std::minmax({place(send), place(receive)}),
                                                       job_.collectives.size());
      if (is_new) {
        add_collective(id, {send, receive});
        job_.collectives.back().kind = CollectiveKind::send;
        job_.collectives.back().bytes = std::max(channel.sends[i].bytes, channel.receives[j].bytes);
      } else {
        add_other_way(send, job_.collectives[at->second]);
        --recorded_[id];
      }
    }
  }

  /// Another message between the same two kernels: back, or once more.
  static void add_other_way(const CollectiveMember& send, MatchedCollective& exchange) {
    for (CollectiveMember& member : exchange.members) {
      member.sends = member.sends || member.rank == send.rank;
    }
    if (std::all_of(exchange.members.begin(), exchange.members.end(),
                    [](const CollectiveMember& member) { return member.sends; })) {
      exchange.kind = CollectiveKind::send_receive;
    }
  }

  void add_collective(std::uint32_t communicator, std::vector<CollectiveMember> members) {
    if (members.size() < 2) return;
    MatchedCollective collective;
    collective.communicator = communicator;
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    collective.members = std::move(members);
    const std::uint32_t size = job_.communicators[communicator].size;
    KindEvidence best = KindEvidence::none;
    for (const CollectiveMember& member : collective.members) {
      const RankCollective& row = row_of(member);
      if (row.evidence > best) {
        best = row.evidence;
        collective.kind = row.kind;
      }
      collective.bytes = std::max(collective.bytes, payload_bytes(row, size));
    }
    job_.collectives.push_back(std::move(collective));
  }

  /// Complete: all ranks are there, pairs are trusted, and their kernels ran at the same time.
  void judge(MatchedCollective& collective) {
    JobCommunicator& communicator = job_.communicators[collective.communicator];
    std::int64_t last_start = std::numeric_limits<std::int64_t>::min();
    std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
    for (const CollectiveMember& member : collective.members) {
      const RankClock& clock = job_.clocks[member.rank];
      last_start = std::max(last_start, clock.to_reference(row_of(member).start_ns));
      if (member.waits) {
        first_end = std::min(first_end, clock.to_reference(row_of(member).end_ns));
      }
    }
    collective.complete = communicator.method > MatchMethod::voting && communicator.all_present() &&
                          collective.members.size() == communicator.members.size() &&
                          last_start <= first_end + ranks::interval_slack_ns;
    communicator.matched += collective.members.size() == communicator.members.size() ? 1 : 0;
  }

  void sort_by_time() {
    const auto time = [&](const MatchedCollective& collective) {
      const CollectiveMember& first = collective.members.front();
      return job_.clocks[first.rank].to_reference(row_of(first).end_ns);
    };
    std::stable_sort(
        job_.collectives.begin(), job_.collectives.end(),
        [&](const MatchedCollective& a, const MatchedCollective& b) { return time(a) < time(b); });
  }

  [[nodiscard]] const RankCollective& row_of(const CollectiveMember& member) const {
    return ranks_[member.rank].list[member.collective];
  }

  std::span<const RankCollectives> ranks_;
  JobMatching job_;
  std::vector<ClockLink> links_;
  std::map<std::string, std::uint32_t> channels_;             // communicators
  using Place = std::pair<std::uint32_t, std::uint32_t>;      // rank, collective
  std::map<std::pair<Place, Place>, std::size_t> exchanges_;  // of two kernels
  std::vector<std::uint32_t> recorded_;  // per communicator: collectives of its longest list
};

}  // namespace

std::string_view to_string(MatchMethod method) {
  switch (method) {
    case MatchMethod::none: return "none";
    case MatchMethod::voting: return "voting, unsure";
    case MatchMethod::order: return "order";
    case MatchMethod::sequence: return "sequence";
  }
  return "none";
}

JobMatching match_collectives(std::span<const RankCollectives> ranks) {
  return Matcher(ranks).run();
}

std::vector<WaitSplit> split_waiting(const MatchedCollective& collective,
                                     std::span<const RankCollectives> ranks,
                                     std::span<const RankClock> clocks) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const CollectiveMember& member : collective.members) {
    const RankCollective& row = ranks[member.rank].list[member.collective];
    last = std::max(last, clocks[member.rank].to_reference(row.start_ns));
  }
  std::vector<WaitSplit> split;
  for (const CollectiveMember& member : collective.members) {
    const RankCollective& row = ranks[member.rank].list[member.collective];
    const std::int64_t arrival = clocks[member.rank].to_reference(row.start_ns);
    const std::int64_t end = clocks[member.rank].to_reference(row.end_ns);
    // One of several messages has left a kernel that goes on with the others.
    const std::int64_t left = row.messages.size() > 1 ? end : arrival;
    const std::int64_t begin = member.waits ? last : left;
    split.push_back(
        {arrival, member.waits ? begin - arrival : 0, std::max<std::int64_t>(0, end - begin)});
  }
  return split;
}

}  // namespace foretrace::trace
