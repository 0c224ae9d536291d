// What a sweep thinks of a point: wanted, feasible, how good. One per thread.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/space/expression.h"
#include "apps/sweep/space/sweep.h"

namespace foretrace::sweeping {

class Judge {
 public:
  /// The sweep must outlive it.
  explicit Judge(const Sweep& sweep);

  /// Whether the constraints over axes alone hold: else the point is not evaluated. A point where
  /// one of them is undefined is no better than one that fails: `reason` says so, and it is wanted.
  [[nodiscard]] bool is_wanted(std::span<const double> where, std::string& reason);
  /// Whether the point is wanted: 0; else how many points from this one on are not, because the
  /// same constraints do not hold: axes that they do not name may stand anywhere.
  [[nodiscard]] std::uint64_t unwanted_from(std::uint64_t point, std::span<const double> where,
                                            std::string& reason);
  /// Evaluated, and all constraints hold.
  [[nodiscard]] bool is_feasible(const PointResult& point);
  /// Of the objective of this number: the smaller the better, whatever it asks for.
  [[nodiscard]] double cost(const PointResult& point, std::size_t objective);
  [[nodiscard]] bool holds(const Expression& expression, const PointResult& point);
  /// Whether an expression was undefined since this was asked last.
  [[nodiscard]] bool take_undefined() { return std::exchange(was_undefined_, false); }

 private:
  void see(std::span<const double> where);
  void see(const PointResult& point);
  [[nodiscard]] std::size_t failing(std::span<const double> where, std::string& reason);
  [[nodiscard]] Evaluated value_of(const Expression& expression);

  const Sweep& sweep_;
  bool has_early_constraints_ = false;
  std::vector<std::uint64_t> strides_;  ///< per constraint: points in a row that are alike to it
                                        ///< and to those before it
  std::vector<std::vector<std::string>> texts_;  ///< per axis and place
  std::vector<std::vector<Operand>> listed_;     ///< the same as operands
  std::vector<std::string> drawn_;               ///< per axis: of a range
  std::vector<Operand> operands_;
  bool was_undefined_ = false;
};

}  // namespace foretrace::sweeping
