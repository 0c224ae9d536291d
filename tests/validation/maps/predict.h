// Predicts the rows of a table by its map.
#pragma once

#include <vector>

#include "tests/validation/maps/table_map.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// Error: a row is not what it should be of a table whose rows depend on each other.
[[nodiscard]] Result<std::vector<driver::TableResult>> predict_by_map(
    const TableMap& map, const driver::TruthTable& table, driver::TableInputs& inputs);

}  // namespace foretrace::validation
