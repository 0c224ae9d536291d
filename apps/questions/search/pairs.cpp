// Two what-ifs together.
#include <algorithm>
#include <utility>

#include "apps/questions/search/ranking.h"
#include "apps/session/what_if_stack.h"
#include "sim/core/parallel.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// A difference of less than this share of the step, or of the peak, is not called one.
constexpr double least_difference = 0.005;

class PairSearch {
 public:
  PairSearch(const Session& session, const Ranking& ranking)
      : session_(session), ranking_(ranking) {}

  Result<PairRanking> run(std::size_t most_singles) {
    PairRanking pairs;
    pairs.most_singles = most_singles;
    const auto before = static_cast<double>(session_.step_ns());
    pairs.tolerance_ns = to_whole(before * std::max(least_difference, session_.replay().scatter));
    if (ranking_.memory) {
      pairs.tolerance_bytes =
          to_whole(static_cast<double>(ranking_.memory->live_bytes) * least_difference);
    }
    choose_singles(pairs);
    std::vector<Two> twos = choose_twos(pairs);
    for_each_index(twos.size(), [&](std::size_t i) { try_two(twos[i]); });
    for (const Two& two : twos) {
      if (two.status.ok()) {
        pairs.rows.push_back(two.row);
      } else {
        pairs.illegal.push_back(
            {two.first->info->name, two.second->info->name, two.status.error().message});
      }
    }
    std::vector<Status> ranged(pairs.rows.size(), ok_status());
    for_each_index(pairs.rows.size(), [&](std::size_t i) { ranged[i] = add_range(pairs.rows[i]); });
    for (const Status& status : ranged) {
      FORETRACE_TRY(status);
    }
    std::stable_sort(pairs.rows.begin(), pairs.rows.end(),
                     [&](const RankedPair& a, const RankedPair& b) { return better(a, b); });
    return pairs;
  }

 private:
  /// One what-if on top of another one.
  struct Two {
    const Ranked* first = nullptr;
    const Ranked* second = nullptr;
    RankedPair row{};
    Status status = ok_status();
  };

  /// Singles that gain something, best first.
  void choose_singles(PairRanking& pairs) {
    for (const Ranked& row : ranking_.rows) {
      const bool gains = ranking_.by == RankBy::memory
                             ? row.memory->live_bytes < ranking_.memory->live_bytes
                             : row.step_ns < session_.step_ns() && !row.is_noise;
      if (gains && singles_.size() < pairs.most_singles) {
        singles_.push_back(&row);
        pairs.singles.push_back(row.info->name);
      }
    }
  }

  std::vector<Two> choose_twos(PairRanking& pairs) const {
    std::vector<Two> twos;
    for (std::size_t i = 0; i < singles_.size(); ++i) {
      for (std::size_t j = i + 1; j < singles_.size(); ++j) {
        const WhatIfInfo& a = *singles_[i]->info;
        const WhatIfInfo& b = *singles_[j]->info;
        if (in_conflict(a, b)) {
          pairs.illegal.push_back({a.name, b.name, "both change the same thing in different ways"});
          continue;
        }
        const bool swaps = comes_before(b, a);
        twos.push_back({singles_[swaps ? j : i], singles_[swaps ? i : j]});
        ++pairs.tried;
      }
    }
    return twos;
  }

  void try_two(Two& two) const {
    WhatIfStack stack(session_.recording());
    for (const Ranked* const part : {two.first, two.second}) {
      Status pushed = stack.push(*with_defaults(*part->info), Neutral::refuse);
      if (!pushed.ok()) {
        two.status = std::move(pushed);
        return;
      }
    }
    const Result<Run> run = simulate_run(stack.graph(), session_.options());
    if (!run.ok()) {
      two.status = run.error();
      return;
    }
    const std::int64_t before = session_.step_ns();
    RankedPair& row = two.row;
    row.first = two.first->info;
    row.second = two.second->info;
    row.step_ns = run->answer.step_ns;
    row.speedup = speedup_of(before, row.step_ns, stack.samples().value_or(1));
    row.added_ns = two.first->step_ns + two.second->step_ns - before;
    row.memory = session_.memory_model().need(stack.graph(), run->timeline);
    if (row.memory) {
      row.added_live_bytes = two.first->memory->live_bytes + two.second->memory->live_bytes -
                             ranking_.memory->live_bytes;
    }
  }

  [[nodiscard]] bool better(const RankedPair& a, const RankedPair& b) const {
    if (ranking_.by == RankBy::memory && a.memory->live_bytes != b.memory->live_bytes) {
      return a.memory->live_bytes < b.memory->live_bytes;
    }
    return a.step_ns < b.step_ns;
  }

  Status add_range(RankedPair& row) const {
    const std::vector<WhatIf> stack = {*with_defaults(*row.first), *with_defaults(*row.second)};
    FORETRACE_TRY(const Answer answer, session_.ask(stack));
    row.low_ns = answer.low_ns();
    row.high_ns = answer.high_ns();
    return ok_status();
  }

  const Session& session_;
  const Ranking& ranking_;
  std::vector<const Ranked*> singles_;
};

}  // namespace

Result<PairRanking> rank_pairs(const Session& session, const Ranking& ranking,
                               std::size_t most_singles) {
  return PairSearch(session, ranking).run(most_singles);
}

}  // namespace foretrace
