// Two what-ifs together.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/driver/answers/ranking.h"
#include "apps/driver/what_if_stack.h"
#include "sim/core/parallel.h"

namespace foretrace::driver {
namespace {

// A difference of less than this share of the step, or of the peak, is not called one.
constexpr double least_difference = 0.005;

class PairSearch {
 public:
  PairSearch(const Recording& recording, const Replay& baseline, const RunOptions& options,
             const Ranking& ranking)
      : recording_(recording),
        baseline_(baseline),
        options_(options),
        ranking_(ranking),
        memory_(recording, baseline.run.timeline) {}

  Result<PairRanking> run(std::size_t most_singles) {
    PairRanking pairs;
    pairs.most_singles = most_singles;
    const auto before = static_cast<double>(baseline_.run.answer.step_ns);
    pairs.tolerance_ns = std::llround(before * std::max(least_difference, baseline_.scatter));
    if (ranking_.memory) {
      pairs.tolerance_bytes =
          std::llround(static_cast<double>(ranking_.memory->live_bytes) * least_difference);
    }
    choose_singles(pairs);
    std::vector<Order> orders = choose_orders(pairs);
    for_each_index(orders.size(), [&](std::size_t i) { try_order(orders[i]); });
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const bool has_twin = i + 1 < orders.size() && orders[i + 1].number == orders[i].number;
      settle(orders[i], has_twin ? &orders[i + 1] : nullptr, pairs);
      i += has_twin ? 1 : 0;
    }
    std::vector<Status> ranged(pairs.rows.size(), ok_status());
    for_each_index(pairs.rows.size(), [&](std::size_t i) { ranged[i] = add_range(pairs.rows[i]); });
    for (const Status& status : ranged) {
      if (!status.ok()) {
        return status.error();
      }
    }
    std::stable_sort(pairs.rows.begin(), pairs.rows.end(),
                     [&](const RankedPair& a, const RankedPair& b) { return better(a, b); });
    return pairs;
  }

 private:
  /// One what-if on top of another one.
  struct Order {
    std::size_t number = 0;  ///< of the pair; both orders have the same
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
                             : row.step_ns < baseline_.run.answer.step_ns && !row.is_noise;
      if (gains && singles_.size() < pairs.most_singles) {
        singles_.push_back(&row);
        pairs.singles.push_back(row.optimization->name);
      }
    }
  }

  std::vector<Order> choose_orders(PairRanking& pairs) const {
    std::vector<Order> orders;
    for (std::size_t i = 0; i < singles_.size(); ++i) {
      for (std::size_t j = i + 1; j < singles_.size(); ++j) {
        const OptimizationInfo& a = *singles_[i]->optimization;
        const OptimizationInfo& b = *singles_[j]->optimization;
        if (in_conflict(a, b)) {
          pairs.illegal.push_back({a.name, b.name, "they act on the same thing in other ways"});
          continue;
        }
        if (a.stage <= b.stage) {
          orders.push_back({pairs.tried, singles_[i], singles_[j]});
        }
        if (b.stage <= a.stage) {
          orders.push_back({pairs.tried, singles_[j], singles_[i]});
        }
        ++pairs.tried;
      }
    }
    return orders;
  }

  void try_order(Order& order) const {
    WhatIfStack stack(recording_);
    for (const Ranked* const part : {order.first, order.second}) {
      if (Status pushed = stack.push(*with_defaults(*part->optimization)); !pushed.ok()) {
        order.status = std::move(pushed);
        return;
      }
    }
    const Result<Run> run = simulate_run(stack.graph(), options_);
    if (!run.ok()) {
      order.status = run.error();
      return;
    }
    const std::int64_t before = baseline_.run.answer.step_ns;
    RankedPair& row = order.row;
    row.first = order.first->optimization;
    row.second = order.second->optimization;
    row.step_ns = run->answer.step_ns;
    row.speedup =
        static_cast<double>(before) / static_cast<double>(std::max<std::int64_t>(1, row.step_ns));
    row.added_ns = order.first->step_ns + order.second->step_ns - before;
    row.memory = memory_.need(stack.graph(), run->timeline);
    if (row.memory) {
      row.added_live_bytes = order.first->memory->live_bytes + order.second->memory->live_bytes -
                             ranking_.memory->live_bytes;
    }
  }

  [[nodiscard]] bool better(const RankedPair& a, const RankedPair& b) const {
    if (ranking_.by == RankBy::memory && a.memory->live_bytes != b.memory->live_bytes) {
      return a.memory->live_bytes < b.memory->live_bytes;
    }
    return a.step_ns < b.step_ns;
  }

  void settle(const Order& one, const Order* other, PairRanking& pairs) const {
    if (other != nullptr && one.status.ok() && other->status.ok()) {
      const bool swaps = better(other->row, one.row);
      pairs.rows.push_back(swaps ? other->row : one.row);
      pairs.rows.back().other_order_ns = (swaps ? one : *other).row.step_ns;
    } else if (one.status.ok()) {
      pairs.rows.push_back(one.row);
    } else if (other != nullptr && other->status.ok()) {
      pairs.rows.push_back(other->row);
    } else {
      pairs.illegal.push_back({one.first->optimization->name, one.second->optimization->name,
                               one.status.error().message});
    }
  }

  Status add_range(RankedPair& row) const {
    const std::vector<WhatIf> stack = {*with_defaults(*row.first), *with_defaults(*row.second)};
    const Result<Prediction> prediction = predict_if_possible(recording_, stack, options_);
    if (!prediction.ok()) {
      return prediction.error();
    }
    row.low_ns = prediction->low_ns;
    row.high_ns = prediction->high_ns;
    return ok_status();
  }

  const Recording& recording_;
  const Replay& baseline_;
  const RunOptions& options_;
  const Ranking& ranking_;
  MemoryModel memory_;
  std::vector<const Ranked*> singles_;
};

}  // namespace

Result<PairRanking> rank_pairs(const Recording& recording, const Replay& baseline,
                               const RunOptions& options, const Ranking& ranking,
                               std::size_t most_singles) {
  return PairSearch(recording, baseline, options, ranking).run(most_singles);
}

}  // namespace foretrace::driver
