#include "models/whatifs/parallelism/divided_pair.h"

#include <utility>

#include "models/jobs/parallelism/plan.h"

namespace foretrace::editing {
namespace {

Operator boundary(OperatorType type, double bytes) {
  Operator op;
  op.type = type;
  op.message_bytes = bytes;
  return op;
}

Operator product(const GemmShape& shape, Split split) {
  Operator op;
  op.type = OperatorType::product;
  op.split = split;
  op.shape = shape;
  return op;
}

std::vector<Operator> divided(std::vector<Operator> operators, const TensorOptions& options) {
  Workload workload;
  workload.blocks.resize(1);
  workload.blocks.front().operators = std::move(operators);
  ParallelPlan plan;
  plan.tensor = options.ranks;
  plan.sequence = options.sequence;
  divide(workload, plan);
  return std::move(workload.blocks.front().operators);
}

}  // namespace

DividedPair divided_pair(const WholePair& whole, const TensorOptions& options) {
  std::vector<Operator> operators = {boundary(OperatorType::enter, whole.read_bytes)};
  for (const GemmShape& shape : whole.columns) operators.push_back(product(shape, Split::columns));
  operators.push_back(product(whole.rows, Split::rows));
  operators.push_back(boundary(OperatorType::leave, whole.written_bytes));
  operators = divided(std::move(operators), options);
  DividedPair own;
  own.enter = operators.front();
  own.leave = operators.back();
  for (std::size_t i = 0; i < whole.columns.size(); ++i) {
    own.columns.push_back(operators[i + 1].shape);
  }
  own.rows = operators[whole.columns.size() + 1].shape;
  return own;
}

Operator divided_table(double written_bytes, const TensorOptions& options) {
  return divided({boundary(OperatorType::leave, written_bytes)}, options).front();
}

}  // namespace foretrace::editing
