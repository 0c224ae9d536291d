// Files of fitted constants (configs/costs/*.json): what foretrace calibrate writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/operator_fit.h"
#include "sim/core/result.h"

namespace foretrace {

/// A table that constants were fitted to; the table itself stays where it is.
struct TableOrigin {
  std::string name;
  std::string origin;   ///< repository, path and commit
  std::string licence;  ///< empty: not stated
  std::string paper;
};

struct CostFile {
  std::vector<TableOrigin> tables;
  std::vector<CalibratedOperator> operators;
};

/// As JSON text. Reading it back gives the same constants.
[[nodiscard]] std::string cost_file_text(const CostFile& file);
/// Reads JSON text; `where` stands in messages.
[[nodiscard]] Result<CostFile> parse_cost_file(std::string_view text, const std::string& where);
[[nodiscard]] Result<CostFile> read_cost_file(const std::string& path);

/// Every file of <directory>/costs, in the order of names.
[[nodiscard]] Result<std::vector<CostFile>> read_cost_files(const std::string& directory);
/// The fits of one accelerator; later ones of the same operator and precision are left out.
[[nodiscard]] std::vector<OperatorFit> fits_of(std::span<const CostFile> files,
                                               std::string_view accelerator);

}  // namespace foretrace
