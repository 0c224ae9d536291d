#include "trace/ranks/matching/align.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/core/statistics.h"
#include "sim/core/whole.h"
#include "trace/ranks/matching/constants.h"
#include "trace/ranks/matching/slope.h"

namespace foretrace::trace {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Differences of the ends of pairs, and when (time of b).
struct Differences {
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> value;
};
Differences differences_of(const CollectiveView& a, const CollectiveView& b, const Pairs& pairs) {
  Differences result;
  for (const auto& [i, j] : pairs) {
    result.at.push_back(b.rows[j].end_ns);
    result.value.push_back(a.rows[i].end_ns - b.rows[j].end_ns);
  }
  return result;
}

void take_out(double drift, std::int64_t from, Differences& differences) {
  for (std::size_t i = 0; i < differences.at.size(); ++i) {
    differences.value[i] -= to_whole(drift * static_cast<double>(differences.at[i] - from));
  }
}

/// Spread of the differences, without drift where that explains them better.
std::int64_t spread_without_drift(Differences& differences) {
  const std::int64_t plain = median_deviation(differences.value);
  const auto [low, high] = std::minmax_element(differences.at.begin(), differences.at.end());
  const auto window = static_cast<double>(*high - *low);
  if (plain < ranks::smallest_spread_ns ||
      static_cast<double>(plain) >
          static_cast<double>(ranks::largest_spread_ns) + ranks::largest_drift * window) {
    return plain;
  }
  const double drift = slope_of(differences.at, differences.value);
  if (std::abs(drift) > ranks::largest_drift) return plain;
  take_out(drift, *low, differences);
  return std::min(plain, median_deviation(differences.value));
}

/// One way to lay b beside a: row i of a and row i + shift of b.
struct Candidate {
  std::int64_t shift = 0;
  std::int64_t spread_ns = 0;
};

class Shifts {
 public:
  static constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

  Shifts(const CollectiveView& a, const CollectiveView& b) : a_(a), b_(b) {}

  [[nodiscard]] Pairs pairs(std::int64_t shift, std::size_t most) const {
    const auto [from, to] = range(shift);
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, to - from));
    const std::size_t stride = count / std::max<std::size_t>(1, most) + 1;
    Pairs list;
    for (std::size_t k = 0; k < count; k += stride) {
      const auto i = static_cast<std::uint32_t>(from + static_cast<std::int64_t>(k));
      list.emplace_back(i, static_cast<std::uint32_t>(static_cast<std::int64_t>(i) + shift));
    }
    return list;
  }

  /// Every shift whose pairs look alike and overlap enough, with its spread; best first.
  [[nodiscard]] std::vector<Candidate> candidates() const {
    const auto shorter = static_cast<double>(std::min(a_.rows.size(), b_.rows.size()));
    const auto fewest = static_cast<std::int64_t>(std::max(
        static_cast<double>(ranks::fewest_pairs), std::ceil(ranks::fewest_overlap * shorter)));
    std::vector<Candidate> found;
    for (std::int64_t shift = -static_cast<std::int64_t>(a_.rows.size());
         shift <= static_cast<std::int64_t>(b_.rows.size()); ++shift) {
      const auto [from, to] = range(shift);
      if (to - from < fewest) continue;
      if (const auto sampled = spread(shift, ranks::sampled_pairs)) {
        found.push_back({shift, *sampled});
      }
    }
    by_spread(found);
    const std::size_t refined = std::min(found.size(), ranks::refined_shifts);
    for (std::size_t i = 0; i < refined; ++i) {
      found[i].spread_ns = spread(found[i].shift, everything).value_or(found[i].spread_ns);
    }
    by_spread(found);
    return found;
  }

 private:
  /// Rows of a that have a partner.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(std::int64_t shift) const {
    return {std::max<std::int64_t>(0, -shift),
            std::min(static_cast<std::int64_t>(a_.rows.size()),
                     static_cast<std::int64_t>(b_.rows.size()) - shift)};
  }

  /// Nothing if the pairs do not look alike. Drift is looked for only where `most` is everything.
  [[nodiscard]] std::optional<std::int64_t> spread(std::int64_t shift, std::size_t most) const {
    const Pairs list = pairs(shift, most);
    std::size_t alike = 0;
    for (const auto& [i, j] : list) {
      alike += may_be_same(a_.rows[i], b_.rows[j]) ? 1 : 0;
    }
    if (list.empty() ||
        static_cast<double>(alike) < ranks::alike_share * static_cast<double>(list.size())) {
      return std::nullopt;
    }
    Differences differences = differences_of(a_, b_, list);
    return most == ranks::sampled_pairs ? median_deviation(std::move(differences.value))
                                        : spread_without_drift(differences);
  }

  static void by_spread(std::vector<Candidate>& list) {
    std::stable_sort(list.begin(), list.end(), [](const Candidate& x, const Candidate& y) {
      return x.spread_ns != y.spread_ns ? x.spread_ns < y.spread_ns
                                        : std::abs(x.shift) < std::abs(y.shift);
    });
  }

  const CollectiveView& a_;
  const CollectiveView& b_;
};

/// Share of pairs in which both ranks had started before either ended, clocks as they are aligned.
double overlapping_share(const CollectiveView& a, const CollectiveView& b,
                         const Alignment& alignment) {
  std::size_t good = 0;
  for (const auto& [i, j] : alignment.pairs) {
    const RankCollective& x = a.rows[i];
    const RankCollective& y = b.rows[j];
    const std::int64_t moved =
        alignment.offset_ns +
        to_whole(alignment.drift * static_cast<double>(y.end_ns - alignment.drift_from_ns));
    good += std::max(x.start_ns, y.start_ns + moved) <=
                    std::min(x.end_ns, y.end_ns + moved) + ranks::interval_slack_ns
                ? 1
                : 0;
  }
  return static_cast<double>(good) /
         static_cast<double>(std::max<std::size_t>(1, alignment.pairs.size()));
}

Pairs alike_pairs(const CollectiveView& a, const CollectiveView& b, const Pairs& pairs) {
  Pairs alike;
  for (const auto& pair : pairs) {
    if (may_be_same(a.rows[pair.first], b.rows[pair.second])) {
      alike.push_back(pair);
    }
  }
  return alike;
}

/// Of shifts that fit equally well (evenly spaced collectives fit at any), the one at which the
/// clocks show the same time and the ranks communicated at the same time, as recorded. Nothing if
/// none or several are so.
std::optional<Candidate> on_one_time_base(const CollectiveView& a, const CollectiveView& b,
                                          std::span<const Candidate> equal) {
  const Shifts shifts(a, b);
  std::optional<Candidate> only;
  for (const Candidate& candidate : equal) {
    Alignment as_recorded;
    as_recorded.pairs = alike_pairs(a, b, shifts.pairs(candidate.shift, Shifts::everything));
    const std::int64_t offset =
        upper_median(differences_of(a, b, as_recorded.pairs).value, ranks::same_time_ns);
    if (std::abs(offset) >= ranks::same_time_ns ||
        overlapping_share(a, b, as_recorded) < ranks::alike_share) {
      continue;
    }
    if (only) return std::nullopt;
    only = candidate;
  }
  return only;
}

}  // namespace

bool may_be_same(const RankCollective& a, const RankCollective& b) {
  // What one rank sends another one receives.
  const bool one_way = a.kind == CollectiveKind::send || a.kind == CollectiveKind::receive;
  const bool swapped = (a.kind == CollectiveKind::send && b.kind == CollectiveKind::receive) ||
                       (a.kind == CollectiveKind::receive && b.kind == CollectiveKind::send);
  // What only the kernel's name tells is compared with the other kernel's name.
  const bool by_kernel =
      a.evidence <= KindEvidence::kernel_name || b.evidence <= KindEvidence::kernel_name;
  const bool kinds_agree =
      by_kernel ? a.kernel_kind == b.kernel_kind : (one_way ? swapped : a.kind == b.kind);
  if (!kinds_agree) return false;
  const bool both_typed = a.element_bytes != 0 && b.element_bytes != 0;
  if (both_typed && a.element_bytes != b.element_bytes) return false;
  // Ranks put equally much into everything but these.
  const bool may_differ = a.kind == CollectiveKind::all_to_all || is_point_to_point(a.kind) ||
                          a.kind == CollectiveKind::gather || a.kind == CollectiveKind::scatter ||
                          is_point_to_point(b.kind);
  if (may_differ) return true;
  const bool both_sized = a.in_bytes >= 0 && b.in_bytes >= 0;
  return (!both_sized || a.in_bytes == b.in_bytes) && a.grid == b.grid && a.block == b.block;
}

void measure_offset(const CollectiveView& a, const CollectiveView& b, Alignment& alignment) {
  Pairs symmetric;
  for (const auto& pair : alignment.pairs) {
    if (ends_together(a.rows[pair.first].kind)) {
      symmetric.push_back(pair);
    }
  }
  // Ranks may leave an all-to-all at different times: it tells only where nothing better does.
  Differences differences =
      differences_of(a, b, symmetric.size() >= ranks::fewest_pairs ? symmetric : alignment.pairs);
  if (differences.at.empty()) return;
  const auto [low, high] = std::minmax_element(differences.at.begin(), differences.at.end());
  const std::int64_t from = *low;
  const auto window = static_cast<double>(*high - from);
  std::int64_t spread = median_deviation(differences.value);
  const double drift = slope_of(differences.at, differences.value);
  Differences straight = differences;
  take_out(drift, from, straight);
  const std::int64_t straight_spread = median_deviation(straight.value);
  if (std::abs(drift) <= ranks::largest_drift &&
      std::abs(drift) * window > ranks::drift_significance * static_cast<double>(straight_spread)) {
    alignment.drift = drift;
    alignment.drift_from_ns = from;
    differences = std::move(straight);
    spread = straight_spread;
  }
  alignment.offset_ns = upper_median(differences.value);
  alignment.spread_ns = spread;
}

Alignment align_by_sequence(const CollectiveView& a, const CollectiveView& b) {
  std::map<std::int64_t, std::uint32_t> rows;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    if (a.rows[i].sequence >= 0) {
      rows.try_emplace(a.rows[i].sequence, static_cast<std::uint32_t>(i));
    }
  }
  Alignment alignment;
  std::size_t common = 0;
  for (std::size_t j = 0; j < b.rows.size(); ++j) {
    const auto found = rows.find(b.rows[j].sequence);
    if (found == rows.end()) continue;
    ++common;
    if (may_be_same(a.rows[found->second], b.rows[j])) {
      alignment.pairs.emplace_back(found->second, static_cast<std::uint32_t>(j));
      rows.erase(found);
    }
  }
  std::sort(alignment.pairs.begin(), alignment.pairs.end());
  if (common == 0) return Alignment::refusal("no sequence number in common");
  if (static_cast<double>(alignment.pairs.size()) <
      ranks::alike_share * static_cast<double>(common)) {
    return Alignment::refusal(fmt::format("of {} with equal sequence numbers only {} look alike",
                                          common, alignment.pairs.size()));
  }
  alignment.ok = true;
  measure_offset(a, b, alignment);
  return alignment;
}

Alignment align_by_order(const CollectiveView& a, const CollectiveView& b) {
  const Shifts shifts(a, b);
  const std::vector<Candidate> found = shifts.candidates();
  if (found.empty()) {
    return Alignment::refusal(
        fmt::format("no {} collectives in a row look alike", ranks::fewest_pairs));
  }
  Candidate best = found.front();
  if (best.spread_ns >= ranks::largest_spread_ns) {
    return Alignment::refusal(fmt::format("ends agree to {} us at best", best.spread_ns / 1000));
  }
  const std::int64_t to_beat =
      ranks::clearly_best_factor * std::max(best.spread_ns, ranks::smallest_spread_ns);
  if (found.size() > 1 && found[1].spread_ns < to_beat) {
    const auto last = std::partition_point(
        found.begin(), found.end(), [&](const Candidate& c) { return c.spread_ns < to_beat; });
    const auto decided = on_one_time_base(a, b, {found.begin(), last});
    if (!decided) {
      return Alignment::refusal(
          fmt::format("shifts by {} and {} fit equally well", best.shift, found[1].shift));
    }
    best = *decided;
  }
  Alignment alignment;
  alignment.pairs = alike_pairs(a, b, shifts.pairs(best.shift, Shifts::everything));
  measure_offset(a, b, alignment);
  if (overlapping_share(a, b, alignment) < ranks::alike_share) {
    return Alignment::refusal("aligned ranks would not run their collectives at the same time");
  }
  alignment.ok = true;
  return alignment;
}

}  // namespace foretrace::trace
