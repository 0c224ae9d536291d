// Results of operators that reduce, move or map elements.
#include <algorithm>
#include <array>

#include "sim/core/text.h"
#include "trace/annotate/tensors/result_formulas.h"

namespace foretrace::trace::results {
namespace {

struct Reduction {
  std::string_view name;
  std::size_t dim;      ///< argument with the dimensions
  std::size_t keep;     ///< argument that keeps them
  std::size_t results;  ///< with another of the same sizes (var_mean), or of indices (max)
  ElementType type;     ///< unknown: of the input
};
constexpr std::array<Reduction, 18> reductions = {{
    {"aten::sum", 1, 2, 1, ElementType::unknown},
    {"aten::nansum", 1, 2, 1, ElementType::unknown},
    {"aten::mean", 1, 2, 1, ElementType::unknown},
    {"aten::amax", 1, 2, 1, ElementType::unknown},
    {"aten::amin", 1, 2, 1, ElementType::unknown},
    {"aten::prod", 1, 2, 1, ElementType::unknown},
    {"aten::logsumexp", 1, 2, 1, ElementType::unknown},
    {"aten::any", 1, 2, 1, ElementType::boolean},
    {"aten::all", 1, 2, 1, ElementType::boolean},
    {"aten::norm", 2, 3, 1, ElementType::unknown},
    {"aten::linalg_vector_norm", 2, 3, 1, ElementType::unknown},
    {"aten::var", 1, 3, 1, ElementType::unknown},
    {"aten::std", 1, 3, 1, ElementType::unknown},
    {"aten::var_mean", 1, 3, 2, ElementType::unknown},
    {"aten::max", 1, 2, 2, ElementType::unknown},
    {"aten::min", 1, 2, 2, ElementType::unknown},
    {"aten::argmax", 1, 2, 1, ElementType::i64},
    {"aten::argmin", 1, 2, 1, ElementType::i64},
}};

/// Without the reduced dimensions, or with 1 in their place.
TensorShape reduced(const TensorShape& input, const std::vector<std::int64_t>& dims, bool keep) {
  TensorShape result;
  result.type = input.type;
  for (std::size_t d = 0; d < input.rank; ++d) {
    const bool goes = std::any_of(dims.begin(), dims.end(), [&](std::int64_t dim) {
      return (dim < 0 ? dim + input.rank : dim) == static_cast<std::int64_t>(d);
    });
    if (!goes || keep) result.dims[result.rank++] = goes ? 1 : input.dims[d];
  }
  return result;
}

const Reduction* rule_of(std::string_view name) {
  const auto* const found = std::find_if(reductions.begin(), reductions.end(),
                                         [&](const Reduction& rule) { return rule.name == name; });
  return found == reductions.end() ? nullptr : &*found;
}

/// A dimension as recorded, -1 from behind; none if there is no such dimension.
std::optional<std::size_t> dimension(const OperatorCall& call, std::size_t at, std::size_t rank,
                                     std::int64_t otherwise) {
  std::int64_t dim = otherwise;
  if (const auto given = call.arguments->numbers(at); given && given->size() == 1) {
    dim = given->front();
  }
  if (dim < 0) dim += static_cast<std::int64_t>(rank);
  if (dim < 0 || dim >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(dim);
}

/// Sizes that numpy's rules make of two.
std::optional<TensorShape> broadcast(const TensorShape& a, const TensorShape& b) {
  TensorShape result = a.rank >= b.rank ? a : b;
  const TensorShape& other = a.rank >= b.rank ? b : a;
  for (std::size_t i = 1; i <= other.rank; ++i) {
    std::int64_t& size = result.dims[result.rank - i];
    const std::int64_t with = other.dims[other.rank - i];
    if (size != with && size != 1 && with != 1) return std::nullopt;
    size = size == 1 ? with : size;
  }
  // A tensor of no dimension is a number and does not decide between integers or between floats.
  const auto is_float = [](ElementType type) { return type >= ElementType::f8; };
  const TensorShape& deciding =
      (a.rank == 0) != (b.rank == 0) && is_float(a.type) == is_float(b.type)
          ? (a.rank == 0 ? b : a)
          : (a.type > b.type ? a : b);
  result.type = deciding.type;
  return result;
}

}  // namespace

// ---- Reductions --------------------------------------------------------------------------------

bool is_reduction(std::string_view name) { return rule_of(name) != nullptr; }

Results reduction(const OperatorCall& call) {
  const Reduction& rule = *rule_of(call.name);
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  const auto dims = call.arguments->numbers(rule.dim);
  const bool over_all = call.arguments->tensors.size() <= rule.dim ||
                        (!call.arguments->values.empty() && (!dims || dims->empty()));
  if (!over_all && !dims) return std::nullopt;
  TensorShape result =
      over_all ? make_shape({}, input->type)
               : reduced(*input, *dims, call.arguments->flag(rule.keep).value_or(false));
  if (rule.type != ElementType::unknown) result.type = rule.type;
  Shapes shapes{result};
  if (rule.results == 2 && !over_all) {
    shapes.push_back(rule.name == "aten::var_mean" ? result : result.as(ElementType::i64));
  }
  return shapes;
}

// ---- Moving elements ---------------------------------------------------------------------------

Results concatenation(const OperatorCall& call) {
  if (call.arguments->tensors.empty() || call.arguments->tensors[0].empty()) return std::nullopt;
  if (argument(call, 2) != nullptr) return Shapes{};
  const auto& parts = call.arguments->tensors[0];
  const auto dim = dimension(call, 1, parts.front().rank, 0);
  if (!dim) return std::nullopt;
  TensorShape result = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].rank == result.rank) result.dims[*dim] += parts[i].dims[*dim];
  }
  return Shapes{result};
}

Results index_select(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  const TensorShape* const indices = argument(call, 2);
  if (input == nullptr || indices == nullptr) return std::nullopt;
  const auto dim = dimension(call, 1, input->rank, 0);
  if (!dim) return std::nullopt;
  TensorShape result = *input;
  result.dims[*dim] = indices->elements();
  return Shapes{result};
}

Results embedding(const OperatorCall& call) {
  const TensorShape* const weight = argument(call, 0);
  const TensorShape* const indices = argument(call, 1);
  if (weight == nullptr || indices == nullptr || weight->rank != 2) return std::nullopt;
  TensorShape result = indices->as(weight->type);
  if (result.rank == TensorShape::most_dims) return std::nullopt;
  result.dims[result.rank++] = weight->dims[1];
  return Shapes{result};
}

/// Of (grad_out, indices, number of rows, ..): a gradient as large as the weight.
Results embedding_backward(const OperatorCall& call) {
  const TensorShape* const grad = argument(call, 0);
  const auto rows = call.arguments->numbers(2);
  if (grad == nullptr || grad->rank < 1) return std::nullopt;
  if (rows && rows->size() == 1) {
    const std::array<std::int64_t, 2> sizes = {rows->front(), grad->dims[grad->rank - 1U]};
    return Shapes{make_shape(sizes, grad->type)};
  }
  const TensorShape* const weight = call.forward != nullptr ? call.forward->tensor(0) : nullptr;
  if (weight == nullptr) return std::nullopt;
  return Shapes{weight->as(grad->type)};
}

Results gather(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  const TensorShape* const indices = argument(call, 2);
  if (input == nullptr || indices == nullptr) return std::nullopt;
  return Shapes{indices->as(input->type)};
}

/// Values and where they were.
Results sort(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  TensorShape result = *input;
  if (contains(call.name, "topk")) {
    const auto most = call.arguments->numbers(1);
    const auto dim = dimension(call, 2, input->rank, -1);
    if (!most || most->size() != 1 || !dim) return std::nullopt;
    result.dims[*dim] = std::min(result.dims[*dim], std::max<std::int64_t>(0, most->front()));
  }
  return Shapes{result, result.as(ElementType::i64)};
}

// ---- Everything else ---------------------------------------------------------------------------

Results elementwise(const OperatorCall& call) {
  std::optional<TensorShape> result;
  for (const auto& tensors : call.arguments->tensors) {
    if (tensors.size() != 1 || tensors.front().elements() == 0) continue;  // an empty one: the out
    result = result ? broadcast(*result, tensors.front()) : tensors.front();
    if (!result) return std::nullopt;
  }
  if (!result) return Shapes{};  // of numbers alone: an aten::empty that it calls makes it
  return Shapes{*result};
}

Results comparison(const OperatorCall& call) {
  Results result = elementwise(call);
  if (result && !result->empty()) result->front().type = ElementType::boolean;
  return result;
}

/// (condition, a, b).
Results where(const OperatorCall& call) {
  const TensorShape* const a = argument(call, 1);
  const TensorShape* const b = argument(call, 2);
  Results result = elementwise(call);
  if (!result || result->empty() || a == nullptr || b == nullptr) return std::nullopt;
  if (const auto values = broadcast(*a, *b)) result->front().type = values->type;
  return result;
}

/// A gradient is as large as the larger of what came from above and the input.
Results elementwise_backward(const OperatorCall& call) {
  const TensorShape* const grad = argument(call, 0);
  const TensorShape* const input = argument(call, 1);
  if (grad == nullptr) return std::nullopt;
  const bool is_input =
      input != nullptr && input->elements() > grad->elements() && input->type >= ElementType::f8;
  return Shapes{is_input ? *input : *grad};
}

Results list(const OperatorCall& call) {
  if (call.arguments->tensors.empty() || call.arguments->tensors[0].empty()) return std::nullopt;
  return call.arguments->tensors[0];
}

Results nothing(const OperatorCall& /*call*/) { return Shapes{}; }

}  // namespace foretrace::trace::results
