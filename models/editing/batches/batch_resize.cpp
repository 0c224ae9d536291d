// The batch is the leading dimension of activations; parameters are known from products.
#include "models/editing/batches/batch_resize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

bool in_forward(const TaskGraph& graph, TaskId kernel) {
  return graph.phase(kernel) == Phase::forward || graph.phase(kernel) == Phase::unknown;
}

double count(const Dims& dims) {
  double product = 1;
  for (const std::int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

// "aten::baddbmm", or a product of XLA: leads with samples x heads.
bool is_batched_product(std::string_view op, const OperatorInputs& inputs) {
  const Dims* first = op == "dot_general" ? inputs.shape(0) : nullptr;
  return contains(op, "bmm") || (first != nullptr && first->size() > 2);
}

// Index of the activation and of the weight among the inputs; -1: the operator has none.
struct Operands {
  int activation = -1;
  int weight = -1;
};
Operands operands_of(std::string_view name, const OperatorInputs& inputs) {
  if (name == "aten::addmm") return {1, 2};
  if (name == "dot_general" && !is_batched_product(name, inputs)) return {0, 1};
  if (name == "aten::linear" || name == "aten::mm") return {0, 1};
  if (name == "conv_general_dilated") return {0, 1};
  if (name.find("convolution") != std::string_view::npos &&
      name.find("backward") == std::string_view::npos) {
    return {0, 1};
  }
  return {};
}

const Dims* shape_at(const OperatorInputs& inputs, int i) {
  return i < 0 ? nullptr : inputs.shape(static_cast<std::size_t>(i));
}

// The index that looks up most rows of a table; aten::embedding hands its own to index_select as a
// flat list.
Dims largest_index(const KernelEditor& editor) {
  Dims largest;
  for (const TaskId kernel : editor.kernels()) {
    const std::string_view op = editor.operator_of(kernel);
    const bool is_select = op == "aten::index_select";
    if (!in_forward(editor.graph(), kernel) || (!is_select && op != "aten::embedding")) continue;
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const Dims* table = inputs.shape(0);
    const Dims* index = inputs.shape(is_select ? 2 : 1);
    if (table == nullptr || table->size() != 2 || index == nullptr || index->empty()) continue;
    if (largest.empty() || count(*index) > count(largest)) largest = *index;
  }
  return largest;
}

struct Samples {
  std::int64_t number = 0;  // 0: no activation has samples and positions apart
  bool has_attention = false;
};

// Activations [samples, positions, ...] or [positions, samples, ...] of so many tokens. Scores of
// attention, [..., positions, positions], tell which of the two it is.
Samples samples_of(const KernelEditor& editor, std::int64_t tokens) {
  Samples found;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> time;
  std::set<std::int64_t> positions;
  for (const TaskId kernel : editor.kernels()) {
    found.has_attention = found.has_attention ||
                          editor.class_of(kernel) == KernelClass::attention ||
                          editor.operator_of(kernel).find("attention") != std::string_view::npos;
    if (!in_forward(editor.graph(), kernel)) continue;
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const bool is_batched = is_batched_product(editor.operator_of(kernel), inputs);
    for (const auto& tensors : inputs.tensors) {
      for (const Dims& dims : tensors) {
        if (dims.size() < 3 || dims[1] < 2) continue;  // [tokens, one head, ...]
        if (dims.back() == dims[dims.size() - 2]) positions.insert(dims.back());
        if (is_batched || count({dims[0], dims[1]}) != static_cast<double>(tokens)) continue;
        time[{dims[0], dims[1]}] += editor.graph().duration_ns(kernel);
      }
    }
  }
  const auto best = std::max_element(
      time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == time.end()) return found;
  const auto [first, second] = best->first;
  found.number = positions.contains(first) && !positions.contains(second) ? second : first;
  return found;
}

/// Tokens of a list without a dimension for samples, as kernels for sequences of any length take
/// it: attention reads [tokens, heads, head size], and products read rows of as many tokens; 0:
/// there is none.
std::int64_t flat_tokens(const KernelEditor& editor) {
  constexpr std::int64_t largest_head = 512;
  std::map<std::int64_t, std::int64_t> attended;  // device time by tokens
  std::set<std::int64_t> multiplied;
  for (const TaskId kernel : editor.kernels()) {
    if (!in_forward(editor.graph(), kernel)) continue;
    const std::string_view op = editor.operator_of(kernel);
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const Dims* query = inputs.shape(0);
    const bool attends = editor.class_of(kernel) == KernelClass::attention ||
                         op.find("attention") != std::string_view::npos;
    if (attends && query != nullptr && query->size() == 3 && query->back() <= largest_head) {
      attended[query->front()] += editor.graph().duration_ns(kernel);
    }
    const Dims* rows = shape_at(inputs, operands_of(op, inputs).activation);
    if (rows != nullptr && rows->size() == 2) multiplied.insert(rows->front());
  }
  const auto most =
      std::max_element(attended.begin(), attended.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == attended.end() || !multiplied.contains(most->first)) return 0;
  return samples_of(editor, most->first).number <= 1 ? most->first : 0;
}

/// [..., m, k] and [..., k, n] of a product, and a bias of as many rows; a weight of aten::linear is
/// [n, k]. False for operators that lay them out in other ways.
bool resize_operands(std::string_view op, const GemmShape& was, const GemmShape& is,
                     OperatorInputs& inputs) {
  const bool is_linear = op == "aten::linear";
  const bool has_bias = op == "aten::addmm" || op == "aten::baddbmm";
  if (!is_linear && !has_bias && op != "aten::mm" && op != "aten::bmm") return false;
  const std::size_t first = has_bias ? 1 : 0;
  if (inputs.shape(first) == nullptr || inputs.shape(first + 1) == nullptr) return false;
  Dims& left = inputs.tensors[first].front();
  Dims& right = inputs.tensors[first + 1].front();
  if (left.size() < 2 || right.size() < 2) return false;
  const auto resize = [](std::int64_t& size, double before, double now) {
    if (now != before) size = resized_size(size, now / before);
  };
  std::int64_t& inner = is_linear ? right.back() : right[right.size() - 2];
  std::int64_t& columns = is_linear ? right.front() : right.back();
  resize(is_linear ? left.front() : left[left.size() - 2], was.m, is.m);
  resize(left.back(), was.k, is.k);
  resize(inner, was.k, is.k);
  resize(columns, was.n, is.n);
  if (left.size() > 2 && !is_linear) resize(left.front(), was.batch, is.batch);
  if (right.size() > 2 && !is_linear) resize(right.front(), was.batch, is.batch);
  const Dims* const bias = has_bias ? inputs.shape(0) : nullptr;
  if (bias == nullptr || bias->size() < 2) return true;
  Dims& added = inputs.tensors.front().front();
  if (added[added.size() - 2] > 1) resize(added[added.size() - 2], was.m, is.m);
  resize(added.back(), was.n, is.n);
  if (added.size() > 2) resize(added.front(), was.batch, is.batch);
  return true;
}

}  // namespace

std::int64_t resized_size(std::int64_t size, double factor) {
  return std::max<std::int64_t>(1, to_whole(std::round(static_cast<double>(size) * factor)));
}

bool stays_whole(std::int64_t size, double factor) {
  const double left = static_cast<double>(size) * factor;
  return left >= 1 && std::abs(left - std::round(left)) < 1e-6;
}

BatchResizer::BatchResizer(const KernelEditor& editor, std::int64_t batch)
    : editor_(editor), batch_(batch) {
  if (batch_ == 0) find_batch();
  if (batch_ > 0) learn_shapes();
}

// What an embedding looks up is samples x positions, or a flat list of tokens where attention tells
// the samples apart by other means. Tables of positions have an index that all samples share.
void BatchResizer::find_batch() {
  const Dims index = largest_index(editor_);
  if (index.size() == 2) {
    batch_ = index.front();
    return;
  }
  if (index.empty()) tokens_ = flat_tokens(editor_);
  if (tokens_ > 0) {
    batch_ = tokens_;
    return;
  }
  find_leading_dimension();
  if (index.size() != 1) return;
  const auto [samples, has_attention] = samples_of(editor_, index.front());
  if (samples > 0) {
    batch_ = samples;
  } else if (has_attention && index.front() == batch_) {
    tokens_ = batch_;
  }
}

// Tensors of three and more dimensions are activations; two may be weights.
void BatchResizer::find_leading_dimension() {
  std::map<std::int64_t, std::int64_t> time;
  std::map<std::int64_t, std::int64_t> flat_time;
  for (const TaskId kernel : editor_.kernels()) {
    if (!in_forward(editor_.graph(), kernel)) continue;
    const std::string_view op = editor_.operator_of(kernel);
    const OperatorInputs inputs = editor_.inputs_of(kernel);
    if (is_batched_product(op, inputs)) continue;
    const Operands at = operands_of(op, inputs);
    const Dims* dims = at.activation < 0 ? inputs.shape(0) : shape_at(inputs, at.activation);
    if (dims == nullptr || dims->size() < 2 || dims->front() < 1) continue;
    auto& votes = dims->size() > 2 ? time : flat_time;
    votes[dims->front()] += editor_.graph().duration_ns(kernel);
  }
  const auto& votes = time.empty() ? flat_time : time;
  const auto best = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best != votes.end()) batch_ = best->first;
}

void BatchResizer::learn_shapes() {
  for (const TaskId kernel : editor_.kernels()) {
    if (!in_forward(editor_.graph(), kernel)) continue;
    const OperatorInputs inputs = editor_.inputs_of(kernel);
    const Operands at = operands_of(editor_.operator_of(kernel), inputs);
    const Dims* activation = shape_at(inputs, at.activation);
    const Dims* weight = shape_at(inputs, at.weight);
    if (activation == nullptr || weight == nullptr || activation->empty()) continue;
    if (activation->front() % batch_ != 0) continue;
    const auto& gemm = editor_.about(kernel).amount.gemm;
    if (gemm) rows_.insert(gemm->m);
    weights_.insert(*weight);
    weights_.insert(Dims(weight->rbegin(), weight->rend()));
  }
}

bool BatchResizer::holds_batch(const Dims& dims, std::size_t least_dims) const {
  if (dims.size() < least_dims || dims.front() == 0 || weights_.contains(dims)) return false;
  return dims.front() % batch_ == 0;
}

std::optional<bool> BatchResizer::holds_batch(TaskId task, std::int64_t bytes,
                                              std::size_t least_dims) const {
  if (batch_ == 0 || bytes <= 0) return std::nullopt;
  std::optional<bool> found;
  for (const auto& tensors : editor_.inputs_of(task).tensors) {
    for (const Dims& dims : tensors) {
      if (dims.empty()) continue;
      const double size = static_cast<double>(bytes) / count(dims);
      if (size != 1 && size != 2 && size != 4 && size != 8) continue;
      const bool holds = holds_batch(dims, least_dims);
      if (found && *found != holds) return std::nullopt;
      found = holds;
    }
  }
  return found;
}

// Forward and the gradient of the input have the rows as m, the gradient of the weight as k.
GemmShape BatchResizer::resized_gemm(const GemmShape& shape, double factor, bool& grows) const {
  GemmShape result = shape;
  grows = true;
  // A tile more for a part of a row would make steps of what is smooth.
  const auto resize = [factor](double& size) { size = std::max(1.0, std::round(size * factor)); };
  if (shape.batch > 1 && std::fmod(shape.batch, static_cast<double>(batch_)) == 0) {
    resize(result.batch);
  } else if (rows_.contains(shape.m)) {
    resize(result.m);
  } else if (rows_.contains(shape.k)) {
    resize(result.k);
  } else if (rows_.contains(shape.n)) {
    resize(result.n);
  } else {
    grows = false;
  }
  return result;
}

// XLA lays out activations as it likes: queries, keys and values [3, samples, heads, ...].
bool BatchResizer::is_second(TaskId kernel, const Dims& dims) const {
  return editor_.operator_of(kernel).starts_with("fusion:") && dims.size() > 3 &&
         dims[1] == batch_ && !weights_.contains(dims);
}

// Share of the numbers moved that are activations; -1 without shapes.
double BatchResizer::growing_share(TaskId kernel) const {
  double all = 0;
  double growing = 0;
  for (const auto& tensors : editor_.inputs_of(kernel).tensors) {
    for (const Dims& dims : tensors) {
      if (dims.empty()) continue;
      all += count(dims);
      if (holds_batch(dims) || is_second(kernel, dims)) growing += count(dims);
    }
  }
  return all > 0 ? growing / all : -1;
}

bool BatchResizer::leaves_whole(double factor) const { return stays_whole(batch_, factor); }

KernelWork BatchResizer::resized_work(TaskId kernel, double factor) const {
  OperatorInputs inputs = editor_.inputs_of(kernel);
  const KernelDescription& known = editor_.about(kernel);
  bool grows = false;
  if (known.amount.gemm && !known.shape_from_grid) {
    const GemmShape now = resized_gemm(*known.amount.gemm, factor, grows);
    if (!grows || !resize_operands(editor_.operator_of(kernel), *known.amount.gemm, now, inputs)) {
      return same_work(editor_, kernel);
    }
    return same_work_on(editor_, kernel, inputs);
  }
  for (auto& tensors : inputs.tensors) {
    for (Dims& dims : tensors) {
      if (holds_batch(dims)) {
        dims[0] = resized_size(dims[0], factor);
      } else if (is_second(kernel, dims)) {
        dims[1] = resized_size(dims[1], factor);
      }
    }
  }
  return same_work_on(editor_, kernel, inputs);
}

// Nothing tells whether it works on the batch, or on weights alone (a product with few rows takes
// as long as its weights do): in proportion, and in the range as long as it took.
BatchResizer::Resized BatchResizer::assumed(TaskId kernel, double factor) const {
  const std::int64_t measured = editor_.graph().duration_ns(kernel);
  return {Growth::assumed,
          or_unchanged(moved_share(measured, editor_.class_of(kernel), factor), measured)};
}

BatchResizer::Resized BatchResizer::resized(TaskId kernel, double factor) const {
  const std::int64_t measured = editor_.graph().duration_ns(kernel);
  const KernelDescription& known = editor_.about(kernel);
  const KernelClass kernel_class = known.traits.kernel_class;
  const double share = batch_ > 0 ? growing_share(kernel) : -1;
  if (share < 0) return assumed(kernel, factor);
  if (share == 0 && !known.amount.gemm) {
    return {Growth::fixed, {measured, editor_.graph().provenance(kernel), 1.0F, 1.0F}};
  }
  KernelDescription larger = known;
  const double numbers_factor = 1 + share * (factor - 1);
  if (larger.amount.numbers > 0) larger.amount.numbers *= numbers_factor;
  if (larger.amount.flops > 0) larger.amount.flops *= factor;
  if (larger.amount.rows) larger.amount.rows->rows *= factor;
  if (known.amount.gemm && !known.shape_from_grid) {
    bool grows = false;
    const GemmShape& shape = *known.amount.gemm;
    larger.amount.gemm = resized_gemm(shape, factor, grows);
    // XLA splits long sums over rows into several products.
    if (!grows && editor_.operator_of(kernel) == "dot_general" &&
        rows_.contains(shape.batch * shape.k)) {
      larger.amount.gemm->k = std::max(1.0, std::round(shape.k * factor));
      grows = true;
    }
    if (!grows) return assumed(kernel, factor);
    larger.amount.flops = larger.amount.gemm->flops();
    larger.amount.numbers = larger.amount.gemm->numbers();
  }
  if (factor == 1) return {Growth::grows, kept_cost(measured)};
  const Setting setting{editor_.accelerator(), known.traits.precision, 1};
  const auto before = roofline_cost(known, setting, "a kernel");
  const auto after = roofline_cost(larger, setting, "a kernel");
  // The arithmetic of a convolution grows with the batch, whatever its weight does.
  const double plain = known.traits.compute_bound ? factor : numbers_factor;
  if (!before || !after || before->duration_ns <= 0) {
    return {Growth::grows, moved_share(measured, kernel_class, plain)};
  }
  const double ratio =
      static_cast<double>(after->duration_ns) / static_cast<double>(before->duration_ns);
  const Spread spread = class_spread(kernel_class);
  const double ns = std::min(static_cast<double>(measured) * ratio, 1e17);
  return {Growth::grows,
          {to_whole(ns), Provenance::scaled, static_cast<float>(spread.low),
           static_cast<float>(spread.high)}};
}

Cost or_unchanged(Cost cost, std::int64_t measured_ns) {
  if (cost.duration_ns <= 0) return cost;
  const auto unchanged =
      static_cast<float>(static_cast<double>(measured_ns) / static_cast<double>(cost.duration_ns));
  cost.low = std::min(cost.low, unchanged);
  cost.high = std::max(cost.high, unchanged);
  return cost;
}

double GrowthTimes::share(Growth growth) const {
  const std::int64_t all = time_[0] + time_[1] + time_[2];
  const std::int64_t part = time_[static_cast<std::size_t>(growth)];
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

void GrowthTimes::say_unknown(Change& change) const {
  constexpr double guess_share = 1.0 / 3;  // as for products of unknown shape in mixed_precision
  const double unknown = share(Growth::assumed);
  if (unknown <= guess_share) return;
  change.doubts.push_back(
      {.text = fmt::format("shapes are unknown for {:.0f} % of the time of kernels and copies, "
                           "which is assumed to grow in proportion (the range includes no growth)",
                           100 * unknown),
       .is_bounded = true});
}

}  // namespace foretrace::editing
