#include "apps/questions/compare/late_rank.h"

#include <algorithm>
#include <set>

namespace foretrace {

std::optional<LateRank> late_rank_of(const Session& session, const Communication& communication) {
  LateRank late;
  std::int64_t total_ns = 0;
  const RankCommunication* latest = nullptr;
  for (const RankCommunication& rank : communication.ranks) {
    total_ns += rank.late_ns;
    late.collectives += rank.arrives_last;
    if (latest == nullptr || rank.late_ns > latest->late_ns) latest = &rank;
  }
  if (latest == nullptr || latest->late_ns <= total_ns - latest->late_ns) return std::nullopt;
  const Replay& replay = session.replay();
  if (!replay.has_measured()) return std::nullopt;
  const std::size_t steps =
      replay.measured_answer.is_span ? 1 : std::max<std::size_t>(replay.measured.host_ns.size(), 1);
  late.rank = latest->rank;
  late.late_ns = latest->late_ns / static_cast<std::int64_t>(steps);
  late.arrives_last = latest->arrives_last;
  late.share = static_cast<double>(late.late_ns) /
               static_cast<double>(std::max<std::int64_t>(replay.measured_answer.step_ns, 1));
  return late.share > replay.scatter ? std::optional(late) : std::nullopt;
}

std::optional<LateRank> late_rank_of(std::span<const std::string> inputs,
                                     std::span<const Inspection> traces,
                                     const LoadOptions& options) {
  std::set<std::int32_t> ranks;
  for (const Inspection& found : traces) {
    if (!found.graph || found.info.rank < 0 || !ranks.insert(found.info.rank).second) return {};
  }
  if (ranks.size() < 2) return std::nullopt;
  Result<Recording> job = load_job(inputs, options);
  if (!job.ok()) return std::nullopt;
  const Result<Session> session = Session::of(*std::move(job), RunOptions{});
  if (!session.ok()) return std::nullopt;
  return late_rank_of(*session, communication_of(*session));
}

}  // namespace foretrace
