// Windows: out = floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
#include "trace/annotate/tensors/window_shapes.h"

#include <algorithm>

#include "sim/core/text.h"
#include "trace/annotate/tensors/result_shapes.h"

namespace foretrace::trace {
namespace {

using Numbers = std::vector<std::int64_t>;
using Results = std::optional<std::vector<TensorShape>>;

// Larger values are damage; products of them stay far from overflow.
constexpr std::int64_t most = std::int64_t{1} << 30;

/// Element `i` of a list, its only element for every i, or `otherwise`.
std::int64_t at(const Numbers& list, std::size_t i, std::int64_t otherwise) {
  const std::int64_t value = list.empty()       ? otherwise
                             : list.size() == 1 ? list[0]
                             : i < list.size()  ? list[i]
                                                : otherwise;
  return std::clamp<std::int64_t>(value, -most, most);
}

/// How a window moves along one dimension.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  bool rounds_up = false;
};

std::int64_t places(std::int64_t size, const Window& window) {
  const std::int64_t stride = std::max<std::int64_t>(1, window.stride);
  const std::int64_t covered =
      size + 2 * window.padding - window.dilation * (window.kernel - 1) - 1;
  std::int64_t count = (covered + (window.rounds_up ? stride - 1 : 0)) / stride + 1;
  // The last window has to begin inside the input or its left padding.
  if (window.rounds_up && (count - 1) * stride >= size + window.padding) --count;
  return std::max<std::int64_t>(0, count);
}

/// Arguments of a pooling: where stride, padding, dilation and rounding are. 0: none.
struct PoolArguments {
  std::size_t dilation;
  std::size_t rounding;
};

Results pool(const OperatorCall& call, const PoolArguments& where) {
  const TensorShape* const input = call.arguments->tensor(0);
  const auto kernel = call.arguments->numbers(1);
  if (input == nullptr || !kernel || kernel->empty()) return std::nullopt;
  Numbers stride = call.arguments->numbers(2).value_or(Numbers{});
  if (stride.empty()) stride = *kernel;
  const Numbers padding = call.arguments->numbers(3).value_or(Numbers{});
  const Numbers dilation =
      where.dilation == 0 ? Numbers{} : call.arguments->numbers(where.dilation).value_or(Numbers{});
  const std::size_t spatial = contains(call.name, "3d") ? 3 : 2;
  if (input->rank < spatial) return std::nullopt;
  TensorShape result = *input;
  for (std::size_t i = 0; i < spatial; ++i) {
    std::int64_t& size = result.dims[input->rank - spatial + i];
    size = places(size, {.kernel = at(*kernel, i, 1),
                         .stride = at(stride, i, 1),
                         .padding = at(padding, i, 0),
                         .dilation = at(dilation, i, 1),
                         .rounds_up = call.arguments->flag(where.rounding).value_or(false)});
  }
  return std::vector{result};
}

}  // namespace

std::optional<std::vector<TensorShape>> convolution_result(const OperatorCall& call) {
  // aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output padding)
  const TensorShape* const input = call.arguments->tensor(0);
  const TensorShape* const weight = call.arguments->tensor(1);
  if (input == nullptr || weight == nullptr || call.convolution == nullptr) return std::nullopt;
  const auto stride = call.convolution->numbers(3);
  const auto padding = call.convolution->numbers(4);
  const auto dilation = call.convolution->numbers(5);
  const auto transposed = call.convolution->flag(6);
  if (!stride || !padding || !dilation || !transposed) return std::nullopt;
  if (input->rank < 3 || weight->rank != input->rank) return std::nullopt;
  const Numbers output_padding = call.convolution->numbers(7).value_or(Numbers{});
  TensorShape result = *input;
  for (std::size_t d = 2; d < input->rank; ++d) {
    const Window window{.kernel = std::min(weight->dims[d], most),
                        .stride = at(*stride, d - 2, 1),
                        .padding = at(*padding, d - 2, 0),
                        .dilation = at(*dilation, d - 2, 1)};
    const std::int64_t size = std::min(input->dims[d], most);
    result.dims[d] =
        *transposed ? std::max<std::int64_t>(0, (size - 1) * window.stride - 2 * window.padding +
                                                    window.dilation * (window.kernel - 1) +
                                                    at(output_padding, d - 2, 0) + 1)
                    : places(size, window);
  }
  if (*transposed) {
    const auto groups = call.convolution->numbers(8);
    result.dims[1] = std::min(weight->dims[1], most) * at(groups.value_or(Numbers{}), 0, 1);
  } else {
    result.dims[1] = weight->dims[0];
  }
  return std::vector{result};
}

std::optional<std::vector<TensorShape>> max_pool_result(const OperatorCall& call) {
  Results result = pool(call, {.dilation = 4, .rounding = 5});
  if (result) result->push_back(result->front().as(ElementType::i64));
  return result;
}

std::optional<std::vector<TensorShape>> average_pool_result(const OperatorCall& call) {
  return pool(call, {.dilation = 0, .rounding = 4});
}

std::optional<std::vector<TensorShape>> resized_result(const OperatorCall& call) {
  const TensorShape* const input = call.arguments->tensor(0);
  const auto sizes = call.arguments->numbers(1);
  if (input == nullptr || !sizes || sizes->empty() || sizes->size() > input->rank) {
    return std::nullopt;
  }
  TensorShape result = *input;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    result.dims[input->rank - sizes->size() + i] = std::max<std::int64_t>(0, (*sizes)[i]);
  }
  return std::vector{result};
}

}  // namespace foretrace::trace
