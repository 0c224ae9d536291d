// Tables of measured operator times: rows of (device, operator, shape, time).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/operator_fit.h"
#include "sim/core/result.h"

namespace foretrace {

/// One measured time.
struct OperatorRow {
  OperatorKind kind = OperatorKind::gemm;
  Precision precision = Precision::unknown;
  std::string device;  ///< as the table names it; empty: the table does not say
  OperatorShape shape;
  double measured_ns = 0;
};

struct OperatorTable {
  std::string name;     ///< its id, or the stem of its file
  std::string source;   ///< repository, or the name: who measured, with one clock and timer
  std::string origin;   ///< repository, path and commit
  std::string licence;  ///< empty: not stated
  std::string paper;
  std::vector<OperatorRow> rows;
};

/// Reads a table ("schema": "foretrace-truth/1"), or what no JSON is as parse_gemm_sweep(). Its columns tell its layout: products (m, n, k),
/// rows (op, m, n), one device per row (Device, B, ...), or one column per operator of a
/// transformer (tp, tokens, ...). At most 100,000 rows; a row that is no measurement is an error.
[[nodiscard]] Result<OperatorTable> read_operator_table(const std::string& path);
/// The same from text; `where` stands in messages.
[[nodiscard]] Result<OperatorTable> parse_operator_table(std::string_view text,
                                                         const std::string& where);

}  // namespace foretrace
