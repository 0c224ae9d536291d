#include "apps/questions/validate/ablated_pairs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/rules/rules.h"

namespace foretrace {
namespace {

/// Less is no difference, as for replays.
constexpr double least_pair_difference = 0.001;

}  // namespace

bool AblatedPair::differs() const {
  return !failure.empty() || std::abs(without - with) > least_pair_difference;
}

std::size_t AblatedPairs::differing() const {
  return static_cast<std::size_t>(std::count_if(
      pairs.begin(), pairs.end(), [](const AblatedPair& pair) { return pair.differs(); }));
}

double AblatedPairs::mean(double AblatedPair::*error) const {
  double sum = 0;
  std::size_t count = 0;
  for (const AblatedPair& pair : pairs) {
    if (!pair.failure.empty()) continue;
    sum += std::abs(pair.*error);
    ++count;
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, count));
}

const AblatedPair* AblatedPairs::most_moved() const {
  const auto by = [](const AblatedPair& pair) {
    return pair.failure.empty() ? std::abs(pair.without - pair.with) : 0.0;
  };
  const AblatedPair* most = nullptr;
  for (const AblatedPair& pair : pairs) {
    if (pair.differs() && (most == nullptr || by(pair) > by(*most))) most = &pair;
  }
  return most;
}

Result<std::vector<AblatedPairs>> ablated_pairs(const CataloguePtr& catalogue,
                                                const std::string& folder,
                                                const std::string& rule) {
  if (rule != "all") {
    FORETRACE_TRY(trace::rules::check_left_out({rule}).with_context("rule left out"));
  }
  FORETRACE_TRY(const std::vector<PairRow> known, pair_table(catalogue, folder));
  std::vector<AblatedPairs> table;
  for (const trace::rules::Rule* const one : trace::rules::in_order()) {
    if (one->name != rule && (rule != "all" || one->required)) continue;
    FORETRACE_TRY(const auto rows, pairs_without(catalogue, folder, std::string(one->name), known));
    AblatedPairs ablated{.rule = one->name, .pairs = {}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!known[i].failure.empty()) continue;
      const PairRow& row = rows[i];
      ablated.pairs.push_back(
          {row.id, known[i].error(), row.failure.empty() ? row.error() : 0, row.failure});
    }
    table.push_back(std::move(ablated));
  }
  return table;
}

}  // namespace foretrace
