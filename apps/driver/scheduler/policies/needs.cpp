#include "apps/driver/scheduler/policies/needs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/driver/scheduler/solver/linear_program.h"

namespace foretrace::scheduling {
namespace {

constexpr double cannot = 1e30;

// The cheapest way to reach a need in at most all of the time: on one kind, or changing between
// two.
bool cheapest(const std::vector<double>& rates, const std::vector<double>& prices, double need,
              std::vector<double>& share) {
  std::fill(share.begin(), share.end(), 0.0);
  if (need <= 0) return true;
  double best = cannot;
  std::vector<double> found(share.size(), 0.0);
  const auto consider = [&](double cost) {
    if (cost >= best) return false;
    best = cost;
    std::fill(found.begin(), found.end(), 0.0);
    return true;
  };
  for (std::size_t k = 0; k < rates.size(); ++k) {
    if (rates[k] >= need && consider(prices[k] * need / rates[k])) found[k] = need / rates[k];
    for (std::size_t l = 0; l < rates.size(); ++l) {
      if (rates[k] <= need || rates[l] >= need) continue;
      const double fast = (need - rates[l]) / (rates[k] - rates[l]);
      if (!consider(fast * prices[k] + (1 - fast) * prices[l])) continue;
      found[k] = fast;
      found[l] = 1 - fast;
    }
  }
  share = found;
  return best < cannot;
}

// What all jobs together use of each kind, as parts of what is there, and how they do it.
struct Answer {
  std::vector<double> use;
  std::vector<std::vector<double>> shares;
};

class Prices {
 public:
  Prices(const NeedProblem& problem, const std::vector<double>& needs)
      : problem_(&problem), needs_(&needs) {}

  bool ask(const std::vector<double>& per_use) {
    Answer answer;
    answer.use.assign(problem_->capacity.size(), 0);
    std::vector<double> price(problem_->capacity.size());
    std::vector<double> share(problem_->capacity.size());
    for (std::size_t j = 0; j < needs_->size(); ++j) {
      for (std::size_t k = 0; k < price.size(); ++k) {
        price[k] = problem_->capacity[k] > 0
                       ? per_use[k] / problem_->capacity[k] * problem_->gpus[j]
                       : cannot;
      }
      if (!cheapest(problem_->rates[j], price, (*needs_)[j], share)) return false;
      for (std::size_t k = 0; k < share.size(); ++k) {
        if (share[k] > 0) answer.use[k] += share[k] * problem_->gpus[j] / problem_->capacity[k];
      }
      answer.shares.push_back(share);
    }
    answers_.push_back(std::move(answer));
    return true;
  }

  // The mixture of all answers that uses the fullest kind least; its row prices are the next to ask
  // for.
  [[nodiscard]] Result<LinearSolution> mix() const {
    LinearProgram program;
    const std::size_t fullest = program.add_column(-1, -no_limit);
    const std::size_t all = program.add_row(1, 1);
    std::vector<std::size_t> rows;
    for (std::size_t k = 0; k < problem_->capacity.size(); ++k) {
      rows.push_back(program.add_row(-no_limit, 0));
      program.add(rows.back(), fullest, -1);
    }
    for (const Answer& answer : answers_) {
      const std::size_t column = program.add_column(0);
      program.add(all, column, 1);
      for (std::size_t k = 0; k < rows.size(); ++k) program.add(rows[k], column, answer.use[k]);
    }
    return program.maximize();
  }

  [[nodiscard]] NeedSolution solution(const LinearSolution& mixed) const {
    NeedSolution found{.use = -mixed.objective, .shares = answers_.front().shares};
    for (std::size_t j = 0; j < found.shares.size(); ++j) {
      for (std::size_t k = 0; k < found.shares[j].size(); ++k) {
        double share = 0;
        for (std::size_t a = 0; a < answers_.size(); ++a) {
          share += mixed.columns[a + 1] * answers_[a].shares[j][k];
        }
        found.shares[j][k] = std::clamp(share, 0.0, 1.0);
      }
    }
    return found;
  }
  [[nodiscard]] double last_cost(const std::vector<double>& per_use) const {
    double cost = 0;
    for (std::size_t k = 0; k < per_use.size(); ++k) cost += per_use[k] * answers_.back().use[k];
    return cost;
  }

 private:
  const NeedProblem* problem_;
  const std::vector<double>* needs_;
  std::vector<Answer> answers_;
};

}  // namespace

Result<NeedSolution> meet(const NeedProblem& problem, const std::vector<double>& needs) {
  const std::size_t kinds = problem.capacity.size();
  std::vector<double> per_use(kinds, 1.0 / static_cast<double>(std::max<std::size_t>(1, kinds)));
  Prices prices(problem, needs);
  if (!prices.ask(per_use)) return NeedSolution{.use = cannot, .shares = {}};
  auto mixed = prices.mix();
  constexpr int most_cuts = 200;
  for (int cut = 0; cut < most_cuts && mixed && kinds > 1; ++cut) {
    for (std::size_t k = 0; k < kinds; ++k) per_use[k] = std::abs(mixed->prices[k + 1]);
    prices.ask(per_use);
    // The answer costs at least what the best mixture does: nothing is to be gained any more.
    constexpr double close = 1e-6;
    const double gap = -mixed->objective - prices.last_cost(per_use);
    mixed = prices.mix();
    if (gap <= close * std::max(1.0, mixed ? -mixed->objective : 1.0)) break;
  }
  if (!mixed) return std::move(mixed).error();
  return prices.solution(*mixed);
}

Result<LevelSolution> least_level(const NeedProblem& problem, const LeastLevel& range,
                                  const std::function<std::vector<double>(double)>& needs_at) {
  auto at_high = meet(problem, needs_at(range.high));
  if (!at_high) return std::move(at_high).error();
  if (at_high->use > 1 + 1e-9) {
    return Error{ErrorCode::no_match, "shares: jobs cannot reach what they need at any level"};
  }
  LevelSolution best{.level = range.high, .solution = std::move(*at_high)};
  double low = range.low;
  while (best.level - low > range.width * best.level) {
    const double middle = (low + best.level) / 2;
    auto found = meet(problem, needs_at(middle));
    if (!found) return std::move(found).error();
    if (found->use <= 1 + 1e-9) {
      best = {.level = middle, .solution = std::move(*found)};
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace foretrace::scheduling
