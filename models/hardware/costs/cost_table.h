// A table of operators and kernels with their times: measured, or told by a model of one's own.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "models/hardware/costs/operator_shapes.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::costing {

/// What is recorded of a kernel, for rows that name one. Texts as the trace has them.
struct TableKernel {
  std::string_view name = {};
  std::string_view operator_name = {};
  std::string_view shapes = {};  ///< JSON text of the operator's input sizes
  std::string_view types = {};   ///< JSON text of the operator's input types
  std::array<std::int32_t, 3> grid = {};
  std::array<std::int32_t, 3> block = {};
};

class CostTable {
 public:
  /// From a document of the catalogue; `where` stands in messages. Schema
  /// foretrace.kernel_table/1:
  /// {"rows": [{"operator": "aten::mm", "m": 512, "n": 1024, "k": 256, "time": "31 us"},
  ///           {"kernel": "ampere_sgemm_128x64_tn", "grid": [8, 4, 1], "time": "31 us"}, ...]};
  /// A row of sizes: batch is 1 if left out, and `numbers` (read + written) stands for sizes that
  /// are no product. A row of a kernel means those with its name that are alike in what else it
  /// states of {operator, shapes, types, grid, block}. "error", of a row or of the document for all
  /// of its rows, is the relative error of times: 0.2 is between time / 1.2 and time x 1.2.
  [[nodiscard]] static Result<CostTable> from(const ConfigValue& document,
                                              const std::string& where);
  [[nodiscard]] static Result<CostTable> parse(std::string_view text, const std::string& where);
  /// Whether a text is such a document rather than the name of one.
  [[nodiscard]] static bool is_document(std::string_view text) { return text.starts_with('{'); }

  enum class Found : std::uint8_t { no_row, out_of_reach, interpolated, exact };
  struct Entry {
    Found found = Found::no_row;
    double ns = 0;
    std::optional<double> error = {};  ///< where the table states one; the larger of two rows
  };
  /// `reach`: the product of the factors by which sizes may differ from the nearest row.
  [[nodiscard]] Entry look_up(std::string_view operator_name, const WorkAmount& amount,
                              double reach) const;
  /// By the row that names this kernel; of several the one that states most of it.
  [[nodiscard]] Entry look_up(const TableKernel& kernel) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool names_kernels() const { return !kernels_.empty(); }

 private:
  struct Row {
    std::array<double, 4> logs{};  // of batch, m, n, k; or of the numbers moved
    double work = 0;               // FLOPs, or numbers
    double ns = 0;
    std::optional<double> error = {};
    bool product = false;
  };
  /// What a row says of a kernel beside its name.
  struct KernelKey {
    std::optional<std::string> operator_name = {};
    std::optional<std::string> shapes = {};
    std::optional<std::string> types = {};
    std::optional<std::array<std::int32_t, 3>> grid = {};
    std::optional<std::array<std::int32_t, 3>> block = {};
    [[nodiscard]] std::bitset<5> stated() const;
    // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
    friend auto operator<=>(const KernelKey&, const KernelKey&) = default;
  };
  struct KernelTime {
    double ns = 0;
    std::optional<double> error = {};
  };
  /// Of one name. A kernel is looked for once for each choice of stated members, the largest first.
  struct KernelRows {
    std::map<KernelKey, KernelTime> times;
    std::vector<std::bitset<5>> choices;
  };
  struct Written;
  [[nodiscard]] static Result<Written> read_row(const ConfigValue& value, const std::string& where,
                                                std::size_t i);
  [[nodiscard]] Status add(Written written, const std::string& where, std::size_t i);
  std::map<std::string, std::vector<Row>, std::less<>> rows_;
  std::set<std::tuple<std::string, bool, std::array<double, 4>>> sizes_;  ///< of the rows above
  std::map<std::string, KernelRows, std::less<>> kernels_;
  std::size_t size_ = 0;
};

}  // namespace foretrace::costing
