#include "trace/ranks/prepare_ranks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/core/parallel.h"
#include "trace/io/out_of_memory.h"
#include "trace/ranks/matching/device_clock.h"
#include "trace/ranks/merge_order.h"
#include "trace/rules/check_work.h"
#include "trace/rules/rules.h"

namespace foretrace::trace {
namespace {

class Preparation {
 public:
  Preparation(std::span<RankTrace> ranks, const BuildOptions& options)
      : ranks_(ranks), options_(options) {}

  Result<PreparedJob> run() {
    FORETRACE_TRY(collect());
    for (const Status& status : {check_work(), check_one_job()}) {
      FORETRACE_TRY(status);
    }
    set_origins();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      describe(i);
    }
    FORETRACE_TRY(for_each_rank([&](std::size_t i) { rules::connect(job_.ranks[i]->assembly); }));
    number_rendezvous();
    return std::move(job_);
  }

 private:
  /// Several ranks at a time. Of those whose memory runs out the first is the error.
  Status for_each_rank(const std::function<void(std::size_t)>& work) {
    std::vector<std::optional<Error>> errors(ranks_.size());
    for_each_index(ranks_.size(), [&](std::size_t i) {
      Status done = or_out_of_memory(ranks_[i].path, [&] {
        work(i);
        return ok_status();
      });
      if (!done) {
        errors[i] = std::move(done).error();
      }
    });
    for (std::optional<Error>& error : errors) {
      if (error) return *std::move(error);
    }
    return ok_status();
  }

  Status collect() {
    job_.collectives.resize(ranks_.size());
    job_.ranks.resize(ranks_.size());
    std::vector<std::int64_t> shift(ranks_.size());
    Status collected = for_each_rank([&](std::size_t i) {
      EventTable& events = ranks_[i].trace.events;
      shift[i] = align_device_clock(events);
      job_.ranks[i] = std::make_unique<PreparedRank>(events, options_);
      rules::collect(assembly(i));
      assembly(i).rank = ranks_[i].rank;
      job_.collectives[i] = extract_collectives(events);
      job_.collectives[i].rank = ranks_[i].rank;
    });
    if (!collected) return collected;
    job_.matching = match_collectives(job_.collectives);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      job_.matching.clocks[i].device_shift_ns = shift[i];
    }
    return ok_status();
  }

  [[nodiscard]] Status check_work() const {
    for (const auto& rank : job_.ranks) {
      FORETRACE_TRY(rules::check_work(rank->assembly));
    }
    return ok_status();
  }

  /// A trace whose rank nothing tells, or whose job had another size, belongs to the others if they
  /// communicated.
  [[nodiscard]] Status check_one_job() const {
    std::vector<bool> met(ranks_.size(), false);
    for (const MatchedCollective& collective : job_.matching.collectives) {
      const MatchMethod method = job_.matching.communicators[collective.communicator].method;
      for (const CollectiveMember& member : collective.members) {
        met[member.rank] = met[member.rank] || method > MatchMethod::voting;
      }
    }
    for (std::size_t i = 0; i < ranks_.size() && ranks_.size() > 1; ++i) {
      if (met[i]) continue;
      if (!ranks_[i].is_told) {
        return not_one_job(i, i == 0 ? 1 : 0, "no record says that they are ranks of one job");
      }
      if (const std::optional<std::size_t> other = of_other_size(i)) {
        return not_one_job(
            i, *other,
            fmt::format("they are of jobs of {} and {} ranks", world_size(i), world_size(*other)));
      }
    }
    return ok_status();
  }

  [[nodiscard]] std::int32_t world_size(std::size_t i) const {
    return ranks_[i].trace.events.info.world_size;
  }

  /// The first trace whose recorded world size is another than this one's.
  [[nodiscard]] std::optional<std::size_t> of_other_size(std::size_t i) const {
    for (std::size_t other = 0; other < ranks_.size(); ++other) {
      if (world_size(i) > 0 && world_size(other) > 0 && world_size(other) != world_size(i)) {
        return other;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Error not_one_job(std::size_t one, std::size_t other, std::string_view why) const {
    return {ErrorCode::bad_usage,
            fmt::format("{}: has no common collectives with {}, and {}; use each by itself",
                        ranks_[one].path, ranks_[other].path, why)};
  }

  /// One time 0 for all ranks: the first kept event of any, on the reference's clock.
  void set_origins() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      first = std::min(first, job_.matching.clocks[i].to_reference(assembly(i).begin_ns));
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const std::int64_t begin = assembly(i).begin_ns;
      assembly(i).origin_ns = begin - (job_.matching.clocks[i].to_reference(begin) - first);
    }
  }

  /// Kind, bytes and communicator of every collective operation of a rank.
  void describe(std::size_t rank) {
    const RankCollectives& found = job_.collectives[rank];
    const std::vector<std::uint32_t> communicator_of = communicators_of(rank);
    std::vector<std::pair<EventId, std::uint32_t>> rows;
    for (std::size_t i = 0; i < found.list.size(); ++i) {
      const RankCollective& row = found.list[i];
      rules::CollectiveOp op{.kind = row.kind, .communicator = communicator_of[row.group]};
      if (op.communicator != no_communicator) {
        op.bytes = payload_bytes(row, job_.matching.communicators[op.communicator].size);
      }
      assembly(rank).collectives.push_back(op);
      rows.emplace_back(row.event, static_cast<std::uint32_t>(i));
    }
    std::sort(rows.begin(), rows.end());
    for (rules::DeviceOp& op : assembly(rank).ops) {
      const auto at = std::lower_bound(rows.begin(), rows.end(), std::pair(op.event, 0U));
      if (at != rows.end() && at->first == op.event) {
        op.collective = at->second;
      }
    }
  }

  /// Per group of the rank: the first communicator that it is a part of.
  [[nodiscard]] std::vector<std::uint32_t> communicators_of(std::size_t rank) const {
    std::vector<std::uint32_t> list(job_.collectives[rank].groups.size(), no_communicator);
    for (std::size_t c = 0; c < job_.matching.communicators.size(); ++c) {
      const JobCommunicator& communicator = job_.matching.communicators[c];
      for (std::size_t m = 0; m < communicator.members.size(); ++m) {
        const std::uint32_t group = communicator.groups[m];
        if (communicator.members[m] == rank && list[group] == no_communicator) {
          list[group] = static_cast<std::uint32_t>(c);
        }
      }
    }
    return list;
  }

  /// Gives every complete collective a rendezvous that all ranks reach in one order.
  void number_rendezvous() {
    std::vector<std::uint32_t> members;
    for (std::size_t c = 0; c < job_.matching.collectives.size(); ++c) {
      const MatchedCollective& collective = job_.matching.collectives[c];
      members.push_back(static_cast<std::uint32_t>(collective.members.size()));
      for (const CollectiveMember& member : collective.members) {
        if (collective.complete) {
          rules::CollectiveOp& op = op_of(member);
          (member.waits ? op.joins : op.announced).push_back(static_cast<std::uint32_t>(c));
        }
      }
    }
    for (const std::uint32_t c : conflicting_joins(arrivals(), members)) {
      MatchedCollective& collective = job_.matching.collectives[c];
      collective.complete = false;
      ++job_.conflicts;
      for (const CollectiveMember& member : collective.members) {
        rules::CollectiveOp& op = op_of(member);
        std::erase(op.joins, c);
        std::erase(op.announced, c);
      }
    }
    for (const MatchedCollective& collective : job_.matching.collectives) {
      if (collective.complete) {
        split(collective);
      }
    }
  }

  /// When the last one had arrived, and what is left from then on: of a kernel that meets several
  /// ranks from the last of them on.
  void split(const MatchedCollective& collective) {
    const std::vector<WaitSplit> parts =
        split_waiting(collective, job_.collectives, job_.matching.clocks);
    for (std::size_t m = 0; m < collective.members.size(); ++m) {
      const CollectiveMember& member = collective.members[m];
      const RankCollective& row = job_.collectives[member.rank].list[member.collective];
      rules::CollectiveOp& op = op_of(member);
      if (!member.waits && op.waits()) continue;
      const std::int64_t begin = row.start_ns + parts[m].wait_ns;
      const bool is_first = op.finish_start_ns == 0 && op.transfer_ns == 0;
      op.communicator = collective.communicator;
      op.transfer_ns =
          is_first ? parts[m].transfer_ns : std::min(op.transfer_ns, parts[m].transfer_ns);
      op.finish_start_ns = is_first ? begin : std::max(op.finish_start_ns, begin);
    }
  }

  [[nodiscard]] rules::CollectiveOp& op_of(const CollectiveMember& member) {
    return assembly(member.rank).collectives[member.collective];
  }

  /// Per rank in program order.
  [[nodiscard]] std::vector<std::vector<Arrival>> arrivals() {
    std::vector<std::vector<Arrival>> lists(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const rules::Assembly& rank = assembly(r);
      for (const rules::Item& item : rank.items) {
        const std::uint32_t collective =
            item.kind == rules::Item::Kind::op ? rank.ops[item.index].collective : rules::nothing;
        if (collective != rules::nothing && rank.collectives[collective].meets()) {
          const rules::CollectiveOp& op = rank.collectives[collective];
          lists[r].push_back({op.joins, op.announced});
        }
      }
    }
    return lists;
  }

  [[nodiscard]] rules::Assembly& assembly(std::size_t rank) { return job_.ranks[rank]->assembly; }

  std::span<RankTrace> ranks_;
  const BuildOptions& options_;
  PreparedJob job_;
};

}  // namespace

Result<PreparedJob> prepare_ranks(std::span<RankTrace> ranks, const BuildOptions& options) {
  return Preparation(ranks, options).run();
}

}  // namespace foretrace::trace
