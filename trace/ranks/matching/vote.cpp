// Alignment by voting, where neither numbers nor order help.
#include <algorithm>
#include <cstdlib>

#include "trace/ranks/matching/align.h"
#include "trace/ranks/matching/constants.h"

namespace foretrace::trace {

Alignment align_by_voting(const CollectiveView& a, const CollectiveView& b) {
  struct Vote {
    std::int64_t difference = 0;
    std::uint32_t i = 0;
    std::uint32_t j = 0;
  };
  std::vector<Vote> votes;
  const std::size_t stride = a.rows.size() * b.rows.size() / ranks::most_votes + 1;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    for (std::size_t j = i % stride; j < b.rows.size(); j += stride) {
      if (may_be_same(a.rows[i], b.rows[j])) {
        votes.push_back({a.rows[i].end_ns - b.rows[j].end_ns, static_cast<std::uint32_t>(i),
                         static_cast<std::uint32_t>(j)});
      }
    }
  }
  std::stable_sort(votes.begin(), votes.end(),
                   [](const Vote& x, const Vote& y) { return x.difference < y.difference; });
  std::size_t best = 0;
  std::size_t best_count = 0;
  for (std::size_t from = 0, to = 0; from < votes.size(); ++from) {
    while (to < votes.size() &&
           votes[to].difference - votes[from].difference <= ranks::voting_window_ns) {
      ++to;
    }
    if (to - from > best_count) {
      best = from;
      best_count = to - from;
    }
  }
  Alignment alignment;
  if (best_count < 2) return Alignment::refusal("no two collectives agree on an offset");
  alignment.offset_ns = votes[best + best_count / 2].difference;
  std::stable_sort(votes.begin(), votes.end(), [&](const Vote& x, const Vote& y) {
    return std::abs(x.difference - alignment.offset_ns) <
           std::abs(y.difference - alignment.offset_ns);
  });
  std::vector<bool> used_a(a.rows.size());
  std::vector<bool> used_b(b.rows.size());
  for (const Vote& vote : votes) {
    if (std::abs(vote.difference - alignment.offset_ns) > ranks::voting_tolerance_ns) break;
    if (!used_a[vote.i] && !used_b[vote.j]) {
      used_a[vote.i] = used_b[vote.j] = true;
      alignment.pairs.emplace_back(vote.i, vote.j);
    }
  }
  std::sort(alignment.pairs.begin(), alignment.pairs.end());
  measure_offset(a, b, alignment);
  alignment.ok = true;
  return alignment;
}

}  // namespace foretrace::trace
