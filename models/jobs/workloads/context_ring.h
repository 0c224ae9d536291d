// How a framework runs attention over positions that lie on several ranks.
#pragma once

#include <compare>

namespace foretrace {

/// Each rank computes its queries against the keys of one rank after the other and merges the
/// results. The numbers are bytes moved per number of a piece: of the output, of keys and values.
struct ContextRing {
  /// Keys and values of all ranks are collected at once, beside the first piece.
  bool gathers = false;
  bool repeats_keys = false;  ///< for each head of the queries, before they travel
  double forward_outputs = 0;
  double forward_keys = 0;
  double backward_outputs = 0;
  double backward_keys = 0;
  double gradient_bytes = 2;  ///< per gradient of keys and values that travels, or theirs if more

  // NOLINTNEXTLINE(modernize-use-nullptr,readability-implicit-bool-conversion): neither is written
  friend auto operator<=>(const ContextRing&, const ContextRing&) = default;
};

}  // namespace foretrace
