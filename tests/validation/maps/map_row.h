// A row as its map reads it: the numbers and words that it has, and the run that they describe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/validation/maps/expression.h"
#include "tests/validation/maps/table_map.h"
#include "tests/validation/studies/truth_table.h"

namespace foretrace::validation {

struct MapRow {
  /// A number that the row leaves open, and what it may have been.
  struct Open {
    std::string name{};
    std::vector<double> values{};
  };

  Variables numbers;
  std::map<std::string, std::string, std::less<>> texts;
  ConfigValue run;  ///< of the map, with what the row changes; not filled in
  Open open;
};

/// With what the run says in "let" and "texts": numbers and texts for others. Error: a column that
/// the map does not have, a word that it does not know, a number that cannot be.
[[nodiscard]] Result<MapRow> read_map_row(const TableMap& map, const TruthTable& table,
                                          std::size_t i);
/// Columns that are about one point.
[[nodiscard]] Status read_point_columns(const PointMap& point, const TruthRow& row, MapRow& read);

/// The run with its expressions calculated ("=gpus / tp"; "?tp > 1" is true or false) and its texts
/// put together ("mpt-{model}").
[[nodiscard]] Result<ConfigValue> filled_run(const MapRow& row);
/// "hidden {hidden}, tensor {tp}".
[[nodiscard]] Result<std::string> filled_text(const std::string& text, const MapRow& row);

}  // namespace foretrace::validation
