#include "apps/scheduling/policies/needs.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "apps/scheduling/policies/centre.h"
#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/solver/linear_program.h"

namespace foretrace::scheduling {
namespace {

constexpr double cannot = 1e30;

// The cheapest way to reach a need in at most all of the time: on one kind, or changing between
// two. `share` is all zeros.
bool cheapest(const std::vector<double>& rates, const std::vector<double>& prices, double need,
              std::span<double> share) {
  if (need <= 0) return true;
  double best = cannot;
  const auto consider = [&](double cost) {
    if (cost >= best) return false;
    best = cost;
    std::fill(share.begin(), share.end(), 0.0);
    return true;
  };
  for (std::size_t k = 0; k < rates.size(); ++k) {
    if (rates[k] >= need && consider(prices[k] * need / rates[k])) share[k] = need / rates[k];
    for (std::size_t l = 0; l < rates.size(); ++l) {
      if (rates[k] <= need || rates[l] >= need) continue;
      const double fast = (need - rates[l]) / (rates[k] - rates[l]);
      if (!consider(fast * prices[k] + (1 - fast) * prices[l])) continue;
      share[k] = fast;
      share[l] = 1 - fast;
    }
  }
  return best < cannot;
}

// What all jobs together use of each kind, as parts of what is there, and how they do it.
struct Answer {
  std::vector<double> use;
  std::vector<double> shares;  // of the kinds, job after job
};

class Prices {
 public:
  Prices(const NeedProblem& problem, const std::vector<double>& needs)
      : problem_(&problem), needs_(&needs) {}

  bool ask(const std::vector<double>& per_use) {
    Answer answer;
    answer.use.assign(problem_->capacity.size(), 0);
    std::vector<double> price(problem_->capacity.size());
    answer.shares.assign(needs_->size() * price.size(), 0);
    for (std::size_t j = 0; j < needs_->size(); ++j) {
      for (std::size_t k = 0; k < price.size(); ++k) {
        price[k] = problem_->capacity[k] > 0
                       ? per_use[k] / problem_->capacity[k] * problem_->gpus[j]
                       : cannot;
      }
      const std::span<double> share(&answer.shares[j * price.size()], price.size());
      if (!cheapest(problem_->rates[j], price, (*needs_)[j], share)) return false;
      for (std::size_t k = 0; k < share.size(); ++k) {
        if (share[k] > 0) answer.use[k] += share[k] * problem_->gpus[j] / problem_->capacity[k];
      }
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

  [[nodiscard]] NeedSolution solution(const std::vector<double>& mixture) const {
    const std::size_t kinds = problem_->capacity.size();
    NeedSolution found{.is_met = true, .shares = {}};
    found.shares.assign(needs_->size(), std::vector<double>(kinds));
    for (std::size_t j = 0; j < found.shares.size(); ++j) {
      for (std::size_t k = 0; k < kinds; ++k) {
        double share = 0;
        for (std::size_t a = 0; a < answers_.size(); ++a) {
          share += mixture[a] * answers_[a].shares[j * kinds + k];
        }
        found.shares[j][k] = std::clamp(share, 0.0, 1.0);
      }
    }
    return found;
  }
  // The part of the fullest kind that the last answer uses.
  [[nodiscard]] double last_use() const {
    return *std::max_element(answers_.back().use.begin(), answers_.back().use.end());
  }
  [[nodiscard]] std::size_t answers() const { return answers_.size(); }
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

Result<NeedSolution> meet(const NeedProblem& problem, const std::vector<double>& needs,
                          std::vector<double>& prices) {
  constexpr double full = 1 + 1e-9;
  constexpr int most_cuts = 100;
  const std::size_t kinds = problem.capacity.size();
  const NeedSolution not_met;
  if (prices.size() != kinds) prices.assign(kinds, 1.0 / static_cast<double>(kinds));
  Prices asked(problem, needs);
  for (int cut = 0; cut < most_cuts; ++cut) {
    if (!asked.ask(prices)) return not_met;
    // No mixture uses less than the cheapest answer costs at any prices.
    if (asked.last_cost(prices) > full) return not_met;
    if (asked.last_use() <= full) {
      std::vector<double> only_last(asked.answers(), 0.0);
      only_last.back() = 1;
      return asked.solution(only_last);
    }
    if (kinds == 1) return not_met;
    FORETRACE_TRY(auto mixed, asked.mix());
    if (-mixed.objective <= full) {
      return asked.solution({mixed.columns.begin() + 1, mixed.columns.end()});
    }
    double sum = 0;
    for (std::size_t k = 0; k < kinds; ++k) sum += std::abs(mixed.prices[k + 1]);
    for (std::size_t k = 0; k < kinds; ++k) {
      prices[k] = sum > 0 ? std::abs(mixed.prices[k + 1]) / sum : 1 / static_cast<double>(kinds);
    }
  }
  return not_met;  // so close that it does not matter
}

namespace {

// Jobs that run at their best all the time need just that, at whatever level.
std::vector<double> with_limits(std::vector<double> needs, const std::vector<double>& limits) {
  for (std::size_t j = 0; j < needs.size(); ++j) {
    if (limits[j] > 0) needs[j] = limits[j];
  }
  return needs;
}

double best_rate(const std::vector<double>& rates) {
  return *std::max_element(rates.begin(), rates.end());
}

// One bisection; `level` and `shares` of the best that was met are brought down.
Status bring_down(const NeedProblem& problem, const LevelRange& range,
                  const std::function<std::vector<double>(double)>& needs_at, LevelSolution& best) {
  std::vector<double> prices;
  double low = range.low;
  while (best.level - low > range.width * best.level) {
    const double middle = (low + best.level) / 2;
    FORETRACE_TRY(auto found, meet(problem, needs_at(middle), prices));
    if (found.is_met) {
      best = {.level = middle, .shares = std::move(found.shares)};
    } else {
      low = middle;
    }
  }
  return ok_status();
}

Result<LevelSolution> least_level_within(
    const NeedProblem& problem, const LevelRange& range,
    const std::function<std::vector<double>(double)>& needs_at) {
  std::vector<double> limits;  // of jobs that run at their best; 0: of the others
  for (const std::vector<double>& rates : problem.rates) {
    limits.push_back(best_rate(rates) * (1 - 1e-9));
  }
  const std::vector<double> bests = limits;
  std::vector<double> prices;
  if (range.goes_on) {
    // Where everybody can run at its best, there is nothing to weigh.
    FORETRACE_TRY(auto at_best, meet(problem, bests, prices));
    if (at_best.is_met) return LevelSolution{.level = range.low, .shares = at_best.shares};
  }
  std::fill(limits.begin(), limits.end(), 0.0);
  const auto limited = [&](double level) { return with_limits(needs_at(level), limits); };
  FORETRACE_TRY(auto at_high, meet(problem, limited(range.high), prices));
  if (!at_high.is_met) {
    return Error{ErrorCode::no_match, "shares: jobs cannot reach what they need at any level"};
  }
  LevelSolution best{.level = range.high, .shares = std::move(at_high.shares)};
  constexpr int most_passes = 12;
  constexpr double near = 0.03;
  LevelRange pass_range = range;
  for (int pass = 0; pass < most_passes; ++pass) {
    FORETRACE_TRY(bring_down(problem, pass_range, limited, best));
    if (!range.goes_on) break;
    // Who could not keep up with a slightly lower level runs at its best from now on.
    const std::vector<double> lower = needs_at(best.level * (1 - near));
    bool any = false;
    for (std::size_t j = 0; j < limits.size(); ++j) {
      if (limits[j] > 0 || lower[j] <= bests[j]) continue;
      limits[j] = bests[j];
      any = true;
    }
    if (!any) break;
    pass_range.width = std::max(range.width, near / 3);
  }
  return best;
}

}  // namespace

NeedProblem need_problem(const View& view, bool aware,
                         double (*alike)(const std::vector<double>& rates)) {
  NeedProblem problem;
  for (const JobId id : view.active) {
    std::vector<double> rates;
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      rates.push_back(view.rate(id, make_id<KindId>(k)));
    }
    if (!aware) rates.assign(1, alike(rates));
    problem.rates.push_back(std::move(rates));
    problem.gpus.push_back(view.job(id).request.gpus);
  }
  for (const std::int32_t capacity : view.capacity->values()) problem.capacity.push_back(capacity);
  if (!aware) problem.capacity.assign(1, view.total());
  return problem;
}

Result<LevelSolution> least_level(const NeedProblem& problem, const LevelRange& range,
                                  const std::function<std::vector<double>(double)>& needs_at) {
  LevelRange wider = range;
  auto found = least_level_within(problem, wider, needs_at);
  while (!found && found.error().code == ErrorCode::no_match && wider.high < range.highest) {
    wider.high *= range.factor;
    found = least_level_within(problem, wider, needs_at);
  }
  return found;
}

std::vector<ShareRow> rows_of(const View& view, const NeedProblem& problem, bool aware,
                              std::vector<std::vector<double>> shares) {
  std::vector<double> least;
  least.reserve(shares.size());
  for (const std::vector<double>& share : shares) least.push_back(share.front());
  // On a single kind the middle of all divisions that are equally good can be computed.
  if (view.kinds() == 1) least = centre(least, problem.gpus, problem.capacity.front());
  std::vector<ShareRow> rows;
  for (std::size_t j = 0; j < shares.size(); ++j) {
    rows.push_back({.job = view.active[j],
                    .share = aware && view.kinds() > 1 ? std::move(shares[j])
                                                       : spread_over_kinds(view, least[j])});
  }
  return rows;
}

}  // namespace foretrace::scheduling
