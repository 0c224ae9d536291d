// Tables of a folder beside what the program predicts for their rows: by the map of their kind
// (maps/), or by a reader of their own (tables/).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/validation/maps/table_map.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

struct TablesOptions {
  std::string folder;
  std::vector<std::string> only;  ///< ids; empty: all
  std::string inputs;             ///< folder of tables that are read and never scored; may be empty
};

/// Who predicts tables.
class TablePredictors {
 public:
  /// The maps of the source tree. Error: a mistake in one.
  [[nodiscard]] static Result<TablePredictors> read();

  [[nodiscard]] const std::vector<TableMap>& maps() const { return maps_; }
  /// Null: none has a table of this id.
  [[nodiscard]] const TableMap* map_of(std::string_view id) const;
  [[nodiscard]] bool knows(std::string_view id) const;
  /// True for tables that are predicted where they are asked for by name.
  [[nodiscard]] static bool takes_minutes(std::string_view id);
  /// Error: the table as a whole is not what it should be, or nobody knows it.
  [[nodiscard]] Result<std::vector<TableResult>> predict(const TruthTable& table,
                                                         TableInputs& inputs) const;

 private:
  std::vector<TableMap> maps_;
};

/// Error: a folder that is not there, a name in `only` that is in no table.
[[nodiscard]] Result<TablesReport> validate_tables(const Catalogue& catalogue,
                                                   const TablesOptions& options);

}  // namespace foretrace::validation
