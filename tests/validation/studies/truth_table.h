// A table of measured figures (schema foretrace-truth/1): what it holds fixed, its columns and
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// One row; values by column, or the members of a record.
class TruthRow {
 public:
  TruthRow(const std::vector<std::string>& columns, const ConfigValue& value)
      : columns_(&columns), value_(&value) {}

  /// Null if there is no such column, or nothing in it. "a.b" is b of a record's member a.
  [[nodiscard]] const ConfigValue* find(std::string_view column) const;
  /// Numbers as they are written; empty if there is nothing.
  [[nodiscard]] std::string text(std::string_view column) const;
  /// A list by the columns of its table, or an object.
  [[nodiscard]] const ConfigValue& value() const { return *value_; }

 private:
  const std::vector<std::string>* columns_;
  const ConfigValue* value_;
};

struct TruthTable {
  std::string id;  ///< "vtrain_single_node"
  std::string path;
  std::vector<std::string> columns;
  ConfigValue document;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] TruthRow row(std::size_t i) const;
  /// A member of "fixed".
  [[nodiscard]] const ConfigValue* fixed(std::string_view key) const;
  /// All that is fixed, as if it were a row.
  [[nodiscard]] TruthRow fixed_row() const;
};

[[nodiscard]] Result<TruthTable> read_truth_table(const std::string& path);

/// A JSON number as a double; nothing for anything else.
[[nodiscard]] std::optional<double> number_of(const ConfigValue* value);

}  // namespace foretrace
