// What each rule of building graphs is worth for predictions: pairs of recordings without it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/questions/validate/validation.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// One pair, predicted from a graph without a rule.
struct AblatedPair {
  std::string pair;
  double with = 0;  ///< predicted / measured - 1
  double without = 0;
  std::string failure;  ///< not empty: without the rule there is no prediction

  [[nodiscard]] bool differs() const;  ///< by more than 0.1 %
};

struct AblatedPairs {
  std::string_view rule;
  std::vector<AblatedPair> pairs;  ///< those whose recordings are there

  [[nodiscard]] std::size_t differing() const;
  /// Mean of the size of the errors.
  [[nodiscard]] double mean(double AblatedPair::*error) const;
  /// The pair that the rule moves most; null if it moves none.
  [[nodiscard]] const AblatedPair* most_moved() const;
};

/// The pairs of pair_table(), predicted without the rule, or, for `all`, without each rule that can
/// be left out in turn. Errors: no such rule, or one that the others rest on.
[[nodiscard]] Result<std::vector<AblatedPairs>> ablated_pairs(const CataloguePtr& catalogue,
                                                              const std::string& folder,
                                                              const std::string& rule);

/// Rows of pair_table() with the prediction made without a rule; what was measured is `known`.
[[nodiscard]] Result<std::vector<PairRow>> pairs_without(const CataloguePtr& catalogue,
                                                         const std::string& folder,
                                                         const std::string& rule,
                                                         const std::vector<PairRow>& known);

}  // namespace foretrace
