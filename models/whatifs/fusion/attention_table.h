// Rates of fused attention by kernel, type, head size, mask and positions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// What a rate is asked for.
struct AttentionCase {
  std::string_view backend;
  bool backward = false;
  bool causal = false;
  bool fp32 = false;  ///< inputs of 32 bit; else 16
  double head = 0;
  double positions = 0;  ///< 0: not known
};

struct AttentionTableRate {
  double share = 0;   ///< of the dense 16-bit peak
  double spread = 1;  ///< of the table, and wider where the case is not in it
};

/// The rows of one document of configs/attention.
class AttentionTable {
 public:
  [[nodiscard]] static Result<AttentionTable> from(const ConfigValue& document,
                                                   const std::string& where);

  /// The compute capability that it was measured on, without its second part.
  [[nodiscard]] std::int32_t compute() const { return compute_; }
  /// The backends it has, sorted.
  [[nodiscard]] std::vector<std::string> backends() const;
  /// Between the positions of the table by their logarithm, at its ends as there; of the nearest
  /// head size; where no row has the mask, from those without one. Nothing for other backends.
  [[nodiscard]] std::optional<AttentionTableRate> rate(const AttentionCase& wanted) const;

 private:
  struct Row {
    std::string backend;
    bool backward = false;
    int mask = any_mask;
    bool fp32 = false;
    double head = 0;  // 0: any
    std::vector<double> shares;
  };
  static constexpr int any_mask = -1;
  static constexpr int full_mask = 0;
  static constexpr int causal_mask = 1;
  [[nodiscard]] static Result<Row> read_row(const ConfigValue& value, const std::string& where,
                                            std::size_t at);
  [[nodiscard]] double share_at(const Row& row, double positions) const;

  std::int32_t compute_ = 0;
  double spread_ = 1;
  std::vector<double> positions_;
  std::vector<Row> rows_;
};

}  // namespace foretrace::editing
