#include "apps/scheduling/solver/linear_program.h"

#include <algorithm>
#include <memory>

#include <coin/Clp_C_Interface.h>

namespace foretrace::scheduling {
namespace {

// Columns of cells, as the solver reads them.
struct Matrix {
  std::vector<CoinBigIndex> starts;
  std::vector<int> rows;
  std::vector<double> values;
};

struct Deleter {
  void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};

// Statuses of the solver.
constexpr int optimal = 0;
constexpr int infeasible = 1;

}  // namespace

std::size_t LinearProgram::add_column(double gain, double low, double high) {
  gains_.push_back(gain);
  column_low_.push_back(low);
  column_high_.push_back(high);
  return gains_.size() - 1;
}

std::size_t LinearProgram::add_row(double low, double high) {
  row_low_.push_back(low);
  row_high_.push_back(high);
  return row_low_.size() - 1;
}

void LinearProgram::add(std::size_t row, std::size_t column, double value) {
  FORETRACE_CHECK(row < rows() && column < columns());
  if (value != 0) cells_.push_back({row, column, value});
}

Result<LinearSolution> LinearProgram::maximize() const {
  std::vector<Cell> cells = cells_;
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.column != b.column ? a.column < b.column : a.row < b.row;
  });
  Matrix matrix;
  matrix.starts.assign(columns() + 1, 0);
  const Cell* last = nullptr;
  for (const Cell& cell : cells) {
    if (last != nullptr && last->column == cell.column && last->row == cell.row) {
      matrix.values.back() += cell.value;
    } else {
      matrix.rows.push_back(static_cast<int>(cell.row));
      matrix.values.push_back(cell.value);
      ++matrix.starts[cell.column + 1];
    }
    last = &cell;
  }
  for (std::size_t i = 0; i < columns(); ++i) matrix.starts[i + 1] += matrix.starts[i];

  const std::unique_ptr<Clp_Simplex, Deleter> model(Clp_newModel());
  Clp_setLogLevel(model.get(), 0);
  Clp_loadProblem(model.get(), static_cast<int>(columns()), static_cast<int>(rows()),
                  matrix.starts.data(), matrix.rows.data(), matrix.values.data(),
                  column_low_.data(), column_high_.data(), gains_.data(), row_low_.data(),
                  row_high_.data());
  Clp_setOptimizationDirection(model.get(), -1);
  Clp_dual(model.get(), 0);
  if (Clp_status(model.get()) != optimal) Clp_primal(model.get(), 0);
  const int status = Clp_status(model.get());
  if (status == infeasible) {
    return Error{ErrorCode::no_match, "linear program: nothing satisfies all of its rows"};
  }
  if (status != optimal) {
    return Error{ErrorCode::unsupported,
                 "linear program: the gain has no limit, or the solver gave up"};
  }
  LinearSolution solution;
  solution.objective = Clp_objectiveValue(model.get());
  const double* const x = Clp_primalColumnSolution(model.get());
  const double* const prices = Clp_dualRowSolution(model.get());
  solution.columns.assign(x, x + columns());
  solution.prices.assign(prices, prices + rows());
  return solution;
}

}  // namespace foretrace::scheduling
