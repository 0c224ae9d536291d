// The texts of operators that PyTorch and XLA would record for such kernels.
#include "models/editing/kernels/kernel_work.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/kernel_names.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

using InputList = std::vector<std::vector<Dims>>;

std::int64_t whole_size(double numbers) {
  return std::max<std::int64_t>(1, to_whole(std::min(std::round(numbers), 1e17)));
}

Dims sizes(std::initializer_list<double> each) {
  Dims dims;
  for (const double size : each) dims.push_back(whole_size(size));
  return dims;
}

/// As a trace writes them: a list of tensors has several shapes.
std::string text_of(const InputList& inputs) {
  std::vector<std::string> texts;
  for (const std::vector<Dims>& tensors : inputs) {
    if (tensors.size() == 1) {
      texts.push_back(fmt::format("{}", tensors.front()));
    } else {
      texts.push_back(fmt::format("{}", tensors));
    }
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string text_of(std::initializer_list<Dims> inputs) {
  InputList list;
  for (const Dims& dims : inputs) list.push_back({dims});
  return text_of(list);
}

std::string_view type_name(Precision precision) {
  switch (precision) {
    case Precision::fp64: return "double";
    case Precision::fp32:
    case Precision::tf32: return "float";
    case Precision::fp16: return "c10::Half";
    case Precision::bf16: return "c10::BFloat16";
    case Precision::fp8: return "c10::Float8_e4m3fn";
    case Precision::int8: return "signed char";
    case Precision::unknown: break;
  }
  return "";
}

bool reduces_rows(KernelClass kernel_class) {
  return kernel_class == KernelClass::normalization || kernel_class == KernelClass::softmax ||
         kernel_class == KernelClass::reduction;
}

bool is_product(const KernelEditor& editor, TaskId kernel) {
  return editor.graph().kind(kernel) == TaskKind::kernel && editor.about(kernel).amount.gemm &&
         editor.class_of(kernel) == KernelClass::gemm;
}

/// All the arithmetic of a group in one product of the largest one's width and depth.
KernelWork work_of_products(const KernelEditor& editor, std::span<const TaskId> kernels) {
  double flops = 0;
  TaskId largest = none<TaskId>;
  for (const TaskId kernel : kernels) {
    if (!is_product(editor, kernel)) continue;
    const double own = editor.about(kernel).amount.gemm->flops();
    flops += own;
    if (largest == none<TaskId> || own > editor.about(largest).amount.gemm->flops()) {
      largest = kernel;
    }
  }
  GemmShape all = *editor.about(largest).amount.gemm;
  all.m *= flops / all.flops();
  const Precision precision = editor.about(largest).traits.precision;
  if (all.batch > 1) return plain_product_work(all, precision);
  return product_work(all, precision, contains(editor.operator_of(largest), "addmm"));
}

/// The member that says what the kernel is.
TaskId main_member(const KernelEditor& editor, std::span<const TaskId> kernels) {
  TaskId largest = kernels.front();
  for (const TaskId kernel : kernels) {
    if (editor.graph().kind(kernel) != TaskKind::kernel) continue;
    if (reduces_rows(editor.class_of(kernel))) return kernel;
    if (editor.about(kernel).amount.output > editor.about(largest).amount.output) largest = kernel;
  }
  return largest;
}

/// XLA's name of a kernel that an operator gave its kind; what was fused before keeps its name.
std::string fused_name(KernelClass kernel_class, std::string_view operator_name) {
  constexpr std::string_view prefix = "fusion:";
  if (operator_name.starts_with(prefix)) return std::string(operator_name);
  const bool sums = kernel_class == KernelClass::reduction;
  return fmt::format("{}{}{}", prefix, sums ? "reduce_" : "",
                     operator_name.empty() ? "pointwise" : operator_name);
}

Dims largest_of(const InputList& inputs) {
  Dims largest;
  for (const std::vector<Dims>& tensors : inputs) {
    for (const Dims& dims : tensors) {
      if (largest.empty() || element_count(dims) > element_count(largest)) largest = dims;
    }
  }
  return largest;
}

/// What a member reads besides what its neighbour hands it.
void append_side_inputs(InputList& inputs, const InputList& own) {
  const Dims handed = largest_of(own);
  bool skipped = false;
  for (const std::vector<Dims>& tensors : own) {
    if (tensors.size() != 1 || tensors.front().empty()) continue;
    if (!skipped && tensors.front() == handed) {
      skipped = true;
      continue;
    }
    inputs.push_back(tensors);
  }
}

}  // namespace

KernelWork same_work(const KernelEditor& editor, TaskId kernel) {
  const TaskGraph& graph = editor.graph();
  const Work& work = graph.work(kernel);
  KernelWork same{std::string(graph.names()[work.operator_name]),
                  std::string(graph.names()[work.shapes]), editor.about(kernel).traits.precision};
  same.types = graph.names()[work.types];
  return same;
}

KernelWork same_work_on(const KernelEditor& editor, TaskId kernel, const OperatorInputs& inputs) {
  KernelWork same = same_work(editor, kernel);
  if (!inputs.tensors.empty()) same.shapes = text_of(inputs.tensors);
  return same;
}

KernelWork lowered_work(const KernelEditor& editor, TaskId kernel, Precision to) {
  KernelWork lowered = same_work(editor, kernel);
  lowered.precision = to;
  if (to == Precision::tf32) return lowered;  // how products are computed, not what is stored
  // "float" as a whole word: types are ["float", "long int"].
  constexpr std::string_view full = "float";
  std::string types;
  for (std::size_t at = 0; at < lowered.types.size();) {
    const std::string_view rest = std::string_view(lowered.types).substr(at);
    const bool begins = at == 0 || lowered.types[at - 1] == '"';
    const bool is_full = begins && rest.starts_with(full) &&
                         (rest.size() == full.size() || rest[full.size()] == '"');
    types += is_full ? type_name(to) : rest.substr(0, 1);
    at += is_full ? full.size() : 1;
  }
  lowered.types = std::move(types);
  return lowered;
}

KernelWork product_work(const GemmShape& shape, Precision precision, bool bias) {
  if (shape.batch > 1) return plain_product_work(shape, precision);
  const Dims rows = sizes({shape.m, shape.k});
  const Dims weight = sizes({shape.k, shape.n});
  if (bias) return {"aten::addmm", text_of({sizes({shape.n}), rows, weight}), precision};
  return {"aten::mm", text_of({rows, weight}), precision};
}

KernelWork plain_product_work(const GemmShape& shape, Precision precision) {
  return {"aten::bmm",
          text_of({sizes({shape.batch, shape.m, shape.k}), sizes({shape.batch, shape.k, shape.n})}),
          precision};
}

KernelWork attention_kernel_work(const AttentionShape& shape, Direction direction,
                                 Precision precision) {
  const Dims queries = sizes({shape.batch, shape.heads, shape.queries, shape.head_dim});
  const Dims keys = sizes({shape.batch, shape.key_heads, shape.keys, shape.head_dim});
  if (direction == Direction::backward) {
    return {"aten::_scaled_dot_product_flash_attention_backward",
            text_of({queries, queries, keys, keys}), precision};
  }
  return {"aten::_scaled_dot_product_flash_attention", text_of({queries, keys, keys}), precision};
}

KernelWork moving_work(double read, double written, Precision precision) {
  return {"fusion:copy", text_of({sizes({read}), sizes({written})}), precision};
}

KernelWork reducing_work(double read, double written, Precision precision) {
  return {"fusion:reduce_rows", text_of({sizes({read}), sizes({written})}), precision};
}

KernelWork cast_work(double numbers, Precision from, Precision to) {
  // The precision is that of the larger numbers, which decide the time.
  KernelWork work{"aten::copy_", text_of({sizes({numbers}), sizes({numbers})}),
                  bytes_per_number(from) >= bytes_per_number(to) ? from : to};
  work.types = fmt::format(R"(["{}", "{}"])", type_name(to), type_name(from));
  return work;
}

KernelWork update_kernel_work(double parameters, double bytes_per_parameter, Precision precision) {
  // Weight and gradient are read and the weight is written: 12 bytes; each state is 8 more.
  constexpr double with_a_state = 20;
  constexpr double with_two = 28;
  InputList lists(bytes_per_parameter >= with_a_state ? 3 : 2, {sizes({parameters})});
  KernelWork work{bytes_per_parameter >= with_two ? "aten::_fused_adamw_" : "aten::_fused_sgd_", "",
                  precision};
  if (parameters > 0) {
    std::vector<std::string> texts;
    for (const auto& list : lists) texts.push_back(fmt::format("{}", list));
    work.shapes = fmt::format("[{}]", fmt::join(texts, ", "));
  }
  return work;
}

KernelWork fused_work(const KernelEditor& editor, std::span<const TaskId> kernels) {
  if (std::any_of(kernels.begin(), kernels.end(),
                  [&editor](TaskId kernel) { return is_product(editor, kernel); })) {
    return work_of_products(editor, kernels);
  }
  const TaskId main = main_member(editor, kernels);
  const KernelDescription& known = editor.about(main);
  KernelWork fused = same_work(editor, main);
  if (known.traits.kernel_class == KernelClass::gather || known.traits.compute_bound) return fused;
  // A helper of a convolution has the convolution's operator, and not its work.
  const bool is_own = known.amount.known() || reduces_rows(known.traits.kernel_class);
  fused.operator_name =
      fused_name(known.traits.kernel_class, is_own ? editor.operator_of(main) : "");
  if (!is_own) fused.shapes.clear();
  if (!is_own) return fused;
  InputList inputs = editor.inputs_of(main).tensors;
  if (inputs.empty()) return fused;
  for (const TaskId kernel : kernels) {
    if (kernel != main) append_side_inputs(inputs, editor.inputs_of(kernel).tensors);
  }
  // What was fused before has its result behind its operands already; sums are small.
  const bool sums = known.traits.kernel_class == KernelClass::reduction;
  if (!sums && !editor.operator_of(main).starts_with("fusion:"))
    inputs.push_back({largest_of(inputs)});
  fused.shapes = text_of(inputs);
  return fused;
}

KernelWork batched_work(const KernelEditor& editor, TaskId kernel, double count) {
  if (is_linear(editor, kernel)) {
    GemmShape all = *editor.about(kernel).amount.gemm;
    all.m *= count;
    return product_work(all, editor.about(kernel).traits.precision,
                        contains(editor.operator_of(kernel), "addmm"));
  }
  KernelWork batched = same_work(editor, kernel);
  InputList inputs = editor.inputs_of(kernel).tensors;
  const Dims data = largest_of(inputs);
  for (std::vector<Dims>& tensors : inputs) {
    for (Dims& dims : tensors) {
      if (dims == data && !dims.empty()) dims[0] = whole_size(static_cast<double>(dims[0]) * count);
    }
  }
  // Of pointwise kernels and sums the operator alone does not tell the kind.
  const KernelClass kernel_class = editor.class_of(kernel);
  if (kernel_class == KernelClass::elementwise || kernel_class == KernelClass::copy ||
      kernel_class == KernelClass::reduction) {
    batched.operator_name = fused_name(kernel_class, batched.operator_name);
    if (!inputs.empty() && kernel_class != KernelClass::reduction) {
      inputs.push_back({largest_of(inputs)});
    }
  }
  if (!inputs.empty()) batched.shapes = text_of(inputs);
  return batched;
}

}  // namespace foretrace::editing
