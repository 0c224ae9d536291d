// A table of measured operators: rows of operator, sizes and time, with interpolation between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/costs/operator_shapes.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::costing {

class CostTable {
 public:
  /// From a document of the catalogue; `where` stands in messages. Schema
  /// foretrace.kernel_table/1:
  /// {"rows": [{"operator": "aten::mm", "m": 512, "n": 1024, "k": 256, "time": "31 us"}, ...]};
  /// batch is 1 if left out, and `numbers` (read + written) stands for sizes that are no product.
  [[nodiscard]] static Result<CostTable> from(const ConfigValue& document,
                                              const std::string& where);
  [[nodiscard]] static Result<CostTable> parse(std::string_view text, const std::string& where);

  enum class Found : std::uint8_t { no_row, out_of_reach, interpolated, exact };
  struct Entry {
    Found found = Found::no_row;
    double ns = 0;
  };
  /// `reach`: the product of the factors by which sizes may differ from the nearest row.
  [[nodiscard]] Entry look_up(std::string_view operator_name, const WorkAmount& amount,
                              double reach) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Row {
    std::array<double, 4> logs{};  // of batch, m, n, k; or of the numbers moved
    double work = 0;               // FLOPs, or numbers
    double ns = 0;
    bool product = false;
  };
  std::map<std::string, std::vector<Row>, std::less<>> rows_;
  std::size_t size_ = 0;
};

}  // namespace foretrace::costing
