#include "trace/formats/xla/hlo_work.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/text.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// Beyond these nothing is said: a part of the tensors would be taken for all of them.
constexpr std::size_t most_tensors = 64;
constexpr std::size_t most_text = 4096;
// Those of products have some hundred bytes.
constexpr std::size_t longest_config = std::size_t{1} << 16;

using Dims = std::vector<std::int64_t>;

/// XLA's PrimitiveType in the words of PyTorch's traces, which everything else reads.
std::string_view type_name(std::uint32_t type) {
  switch (type) {
    case 1: return "bool";
    case 2: return "signed char";
    case 3: return "short int";
    case 4: return "int";
    case 5: return "long int";
    case 6: return "unsigned char";
    case 7: return "unsigned short";
    case 8: return "unsigned int";
    case 9: return "unsigned long";
    case 10: return "c10::Half";
    case 11: return "float";
    case 12: return "double";
    case 15: return "c10::complex<float>";
    case 16: return "c10::BFloat16";
    case 18: return "c10::complex<double>";
    case 19: return "c10::Float8_e5m2";
    case 20: return "c10::Float8_e4m3fn";
    default: return "";
  }
}

const HloInstruction* operand(const HloComputation& computation, const HloInstruction& instruction,
                              std::size_t i) {
  return i < instruction.operands.size() ? computation.find(instruction.operands[i]) : nullptr;
}

const HloShape* shape_of(const HloInstruction* instruction) {
  return instruction == nullptr || instruction->results.empty() ? nullptr
                                                                : &instruction->results.front();
}

bool is_gemm_call(const HloInstruction& instruction) {
  return instruction.opcode == "custom-call" &&
         contains_any(instruction.target, {"gemm", "matmul"});
}

bool is_convolution(const HloInstruction& instruction) {
  return instruction.opcode == "convolution" ||
         (instruction.opcode == "custom-call" && contains(instruction.target, "conv") &&
          contains_any(instruction.target, {"cudnn", "miopen"}));
}

bool is_product(const HloInstruction& instruction) {
  return instruction.opcode == "dot" || is_gemm_call(instruction) || is_convolution(instruction);
}

/// The numbers of "lhs_contracting_dimensions":["1"] in the configuration of a call.
std::vector<std::uint64_t> config_list(std::string_view config, std::string_view key) {
  std::vector<std::uint64_t> numbers;
  if (config.size() > longest_config) return numbers;
  const std::size_t at = config.find(fmt::format("\"{}\":[", key));
  if (at == std::string_view::npos) return numbers;
  std::string_view rest = config.substr(at + key.size() + 4);
  rest = rest.substr(0, rest.find(']'));
  for (std::size_t i = 0; i < rest.size();) {
    if (rest[i] < '0' || rest[i] > '9') {
      ++i;
      continue;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data() + i, rest.data() + rest.size(), number);
    if (error != std::errc()) return numbers;
    numbers.push_back(number);
    i = static_cast<std::size_t>(end - rest.data());
  }
  return numbers;
}

HloDotDims dot_dims(const HloInstruction& instruction) {
  if (instruction.opcode == "dot") return instruction.dot;
  return {config_list(instruction.config, "lhs_contracting_dimensions"),
          config_list(instruction.config, "rhs_contracting_dimensions"),
          config_list(instruction.config, "lhs_batch_dimensions"),
          config_list(instruction.config, "rhs_batch_dimensions")};
}

bool has(const std::vector<std::uint64_t>& list, std::size_t i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

/// Sizes of one side of a product: those of samples, those that are summed over, the others.
struct Side {
  double batch = 1;
  double summed = 1;
  double free = 1;
};
Side side_of(const Dims& dims, const std::vector<std::uint64_t>& batch,
             const std::vector<std::uint64_t>& contracting) {
  Side side;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    double& part = has(batch, i) ? side.batch : has(contracting, i) ? side.summed : side.free;
    part *= static_cast<double>(dims[i]);
  }
  return side;
}

std::int64_t whole(double size) {
  constexpr double most = 1e15;
  return static_cast<std::int64_t>(std::min(size, most));
}

/// Whether a value is a parameter of the program with nothing done to it but changes of type and
/// layout: a weight, not what was computed from data.
bool is_parameter(const HloModule& module, HloPlace place) {
  constexpr int longest = 16;
  for (int i = 0; i < longest && place.instruction != nullptr; ++i) {
    const HloInstruction& at = *place.instruction;
    if (at.opcode == "parameter") return place.computation == module.find(module.entry);
    const bool passes = contains_any(
        at.opcode, {"bitcast", "convert", "copy", "transpose", "reshape", "get-tuple-element"});
    const bool is_single_fusion = at.opcode == "fusion" && at.operands.size() == 1;
    if (!passes && !is_single_fusion) return false;
    place.instruction = operand(*place.computation, at, 0);
  }
  return false;
}

/// An operand of a product inside of a fusion, as the operand of the fusion that it comes from.
HloPlace outside(HloPlace inner, HloPlace fusion) {
  constexpr int longest = 16;
  for (int i = 0; i < longest && inner.instruction != nullptr; ++i) {
    if (inner.instruction->opcode == "parameter") {
      return {fusion.computation,
              operand(*fusion.computation, *fusion.instruction, inner.instruction->parameter)};
    }
    if (inner.instruction->operands.size() != 1) return {};
    inner.instruction = operand(*inner.computation, *inner.instruction, 0);
  }
  return {};
}

void write(HloWork& work, const std::vector<HloShape>& shapes) {
  std::string types;
  for (const HloShape& shape : shapes) {
    work.dims += fmt::format("{}[{}]", work.dims.empty() ? "[" : ", ", fmt::join(shape.dims, ", "));
    types += fmt::format("{}\"{}\"", types.empty() ? "[" : ", ", type_name(shape.type));
  }
  if (shapes.empty()) return;
  work.dims += "]";
  work.types = types + "]";
  if (work.dims.size() + work.types.size() > most_text) work.dims = work.types = "";
}

/// [samples, rows, summed] x [samples, summed, columns], the parameter of the program second: a
/// product and its transpose are the same work.
HloWork matrix_product(const HloModule& module, HloPlace product, HloPlace place) {
  const HloInstruction& dot = *product.instruction;
  const HloInstruction* const lhs = operand(*product.computation, dot, 0);
  const HloInstruction* const rhs = operand(*product.computation, dot, 1);
  const HloShape* const left = shape_of(lhs);
  const HloShape* const right = shape_of(rhs);
  HloWork work;
  work.operator_name = "dot_general";
  if (left == nullptr || right == nullptr) return work;
  const HloDotDims dims = dot_dims(dot);
  const Side l = side_of(left->dims, dims.lhs_batch, dims.lhs_contracting);
  const Side r = side_of(right->dims, dims.rhs_batch, dims.rhs_contracting);
  if (l.summed != r.summed || l.batch != r.batch) return work;
  work.flops = 2 * l.batch * l.free * r.free * l.summed;
  const auto from = [&](const HloInstruction* one) {
    const HloPlace at{product.computation, one};
    return product.computation == place.computation ? at : outside(at, place);
  };
  const bool swap = is_parameter(module, from(lhs)) && !is_parameter(module, from(rhs));
  HloShape first{(swap ? right : left)->type, {whole(swap ? r.free : l.free), whole(l.summed)}};
  HloShape second{(swap ? left : right)->type, {whole(l.summed), whole(swap ? l.free : r.free)}};
  if (!dims.lhs_batch.empty()) {
    first.dims.insert(first.dims.begin(), whole(l.batch));
    second.dims.insert(second.dims.begin(), whole(l.batch));
  }
  write(work, {first, second});
  return work;
}

/// In the order [first, second, spatial...]; empty where a position is not there.
Dims ordered(const Dims& dims, std::uint64_t first, std::uint64_t second,
             const std::vector<std::uint64_t>& spatial) {
  std::vector<std::uint64_t> order = {first, second};
  order.insert(order.end(), spatial.begin(), spatial.end());
  Dims result;
  for (const std::uint64_t at : order) {
    if (at >= dims.size()) return {};
    result.push_back(dims[at]);
  }
  return result.size() == dims.size() ? result : Dims();
}

double count(const Dims& dims) {
  double product = 1;
  for (const std::int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

/// Input [N, C, ...], kernel [K, C / groups, ...] and output [N, K, ...], whichever of them is the
/// result.
HloWork convolution_of(HloPlace product) {
  const HloInstruction& at = *product.instruction;
  const HloShape* input = shape_of(operand(*product.computation, at, 0));
  const HloShape* kernel = shape_of(operand(*product.computation, at, 1));
  const HloShape* output = shape_of(&at);
  if (contains(at.target, "BackwardInput")) {
    std::swap(input, output);
  } else if (contains(at.target, "BackwardFilter")) {
    std::swap(kernel, output);
  }
  HloWork work;
  work.operator_name = "conv_general_dilated";
  if (input == nullptr || kernel == nullptr || output == nullptr) return work;
  const HloConvolutionDims& d = at.convolution;
  const HloShape x{input->type,
                   ordered(input->dims, d.input_batch, d.input_feature, d.input_spatial)};
  const HloShape w{kernel->type,
                   ordered(kernel->dims, d.kernel_output, d.kernel_input, d.kernel_spatial)};
  const HloShape y{output->type,
                   ordered(output->dims, d.output_batch, d.output_feature, d.output_spatial)};
  if (x.dims.empty() || w.dims.empty() || y.dims.empty()) return work;
  // Each number of the output sums over the kernel of its feature.
  work.flops =
      2 * count(y.dims) * count(w.dims) / std::max(1.0, static_cast<double>(w.dims.front()));
  write(work, {x, w, y});
  return work;
}

}  // namespace

HloPlace HloProducts::in(HloPlace place, int depth) {
  if (is_product(*place.instruction)) return place;
  if (place.instruction->opcode != "fusion" || depth == 0) return {};
  for (const std::uint64_t id : place.instruction->called) {
    const HloComputation* const inner = module_.find(id);
    if (inner == nullptr) continue;
    // What is looked at already, or is being looked at, is not searched again.
    const bool is_new = known_.try_emplace(id).second;
    for (std::size_t i = 0; is_new && i < inner->instructions.size(); ++i) {
      const HloPlace found = in({inner, &inner->instructions[i]}, depth - 1);
      if (found.instruction == nullptr) continue;
      known_[id] = found;
      break;
    }
    if (known_[id].instruction != nullptr) return known_[id];
  }
  return {};
}

bool is_library_call(const HloInstruction& instruction) {
  return instruction.opcode == "custom-call" || instruction.opcode == "convolution" ||
         instruction.opcode == "dot" || instruction.opcode == "sort" ||
         instruction.opcode == "cholesky" || instruction.opcode == "fft";
}

HloWork work_of(const HloModule& module, HloPlace place, HloPlace product, std::string_view scope) {
  if (product.instruction != nullptr) {
    return is_convolution(*product.instruction) ? convolution_of(product)
                                                : matrix_product(module, product, place);
  }
  const HloInstruction& at = *place.instruction;
  std::vector<const HloInstruction*> tensors;
  std::size_t count = at.results.size();
  for (std::size_t i = 0; i < at.operands.size() && count <= most_tensors; ++i) {
    tensors.push_back(operand(*place.computation, at, i));
    if (tensors.back() != nullptr) count += tensors.back()->results.size();
  }
  tensors.push_back(&at);
  std::vector<HloShape> shapes;
  for (const HloInstruction* const one : tensors) {
    if (one == nullptr || count > most_tensors) continue;
    shapes.insert(shapes.end(), one->results.begin(), one->results.end());
  }
  HloWork work;
  const std::string primitive = with_valid_utf8(scope.substr(scope.rfind('/') + 1));
  const std::string opcode = with_valid_utf8(at.opcode);
  work.operator_name = primitive.empty() ? opcode : fmt::format("{}:{}", opcode, primitive);
  write(work, shapes);
  return work;
}

}  // namespace foretrace::trace::formats
