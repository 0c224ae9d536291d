// Cost providers in the order in which they are trusted, asked for many tasks at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "models/hardware/costs/kernel_cost.h"
#include "sim/core/result.h"

namespace foretrace {

/// A task that needs a duration, and what is known about it.
struct CostQuery {
  std::string_view what;  ///< its name, for errors
  const KernelDescription* kernel = nullptr;
  std::int64_t measured_ns = -1;  ///< under `from`; -1: never measured
  Setting from = {};
  Setting to = {};
};

/// What was measured, where nothing changes.
struct MeasuredCosts {};
/// What was measured, carried to other conditions by scaled_cost().
struct ScaledCosts {};
/// Constants fitted to a table of the operator on the accelerator.
struct TableCosts {};
/// Bytes and arithmetic against the rates of the accelerator.
struct RooflineCosts {};
/// Times that somebody states, by class of kernel; -1: nothing stated.
struct AssumedCosts {
  std::array<std::int64_t, kernel_class_count> ns = filled();
  float low = 0.5F;
  float high = 2.0F;

 private:
  static constexpr std::array<std::int64_t, kernel_class_count> filled() {
    std::array<std::int64_t, kernel_class_count> none{};
    none.fill(-1);
    return none;
  }
};

/// Values, no virtual functions: a new provider is a type here and an overload in cost_book.cpp.
using CostProvider =
    std::variant<MeasuredCosts, ScaledCosts, TableCosts, RooflineCosts, AssumedCosts>;
/// Its word in results: "measured", "scaled", "table", "roofline", "assumed".
[[nodiscard]] Provenance provenance_of(const CostProvider& provider);

/// Asks its providers in turn; the first that knows an answer gives it.
class CostBook {
 public:
  /// Measured, scaled, table, roofline.
  CostBook();
  explicit CostBook(std::vector<CostProvider> providers) : providers_(std::move(providers)) {}
  /// Asked after all others.
  void add(const CostProvider& provider) { providers_.push_back(provider); }

  /// missing_cost, naming the task and the ways to give it a cost, if nobody knows one.
  [[nodiscard]] Result<Cost> cost(const CostQuery& query) const;
  /// One cost per query, of equally many; the first task without a cost is the error.
  [[nodiscard]] Status costs(std::span<const CostQuery> queries, std::span<Cost> out) const;

 private:
  std::vector<CostProvider> providers_;
};

}  // namespace foretrace
