// Predicts the rows of a table by its map.
#pragma once

#include <vector>

#include "tests/validation/maps/table_map.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// Error: a row is not what it should be of a table whose rows depend on each other.
[[nodiscard]] Result<std::vector<TableResult>> predict_by_map(const TableMap& map,
                                                              const TruthTable& table,
                                                              TableInputs& inputs);

}  // namespace foretrace::validation
