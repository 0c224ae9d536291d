#include "models/whatifs/parallelism/tensor_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/parameters/weight_uses.h"
#include "models/whatifs/parallelism/divided_pair.h"
#include "models/whatifs/parallelism/product_pairs.h"
#include "models/whatifs/parallelism/recomputed.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

class Splitter {
 public:
  Splitter(const KernelEditor& editor, const TrainingPass& pass, const TensorOptions& options)
      : editor_(editor),
        again_(recomputed_kernels(editor, pass)),
        pass_(without_recomputed(pass, again_)),
        options_(options),
        products_(linear_products(editor, pass_.forward)),
        pairs_(find_pairs(editor, pass_, products_)),
        undone_(undone_by(products_, linear_products(editor, pass_.backward))),
        seen_forward_(pass_.forward.size(), false),
        seen_backward_(pass_.backward.size(), false) {}

  Result<TensorSplit> run() {
    if (pairs_.empty()) {
      return Error{ErrorCode::no_match,
                   products_.empty()
                       ? "tensor: the trace has no products with recorded shapes, expected a "
                         "recording with record_shapes=True"
                       : "tensor: no products of the forward pass come in pairs of columns and "
                         "rows, expected attention or a feed-forward part"};
    }
    for (const ProductPair& pair : pairs_) {
      FORETRACE_TRY(divide(pair));
    }
    split_.pairs = pairs_.size();
    count_parameters();
    if (options_.sequence) divide_between();
    repeat();
    return std::move(split_);
  }

 private:
  [[nodiscard]] double share() const { return 1.0 / options_.ranks; }

  [[nodiscard]] Status divides(double size, std::string_view what) const {
    if (std::fmod(size, options_.ranks) == 0) return ok_status();
    return Error{
        ErrorCode::bad_config,
        fmt::format("tensor: got {}, expected a divisor of the {} {}", options_.ranks, size, what)};
  }

  /// Heads of queries and of keys, where the recorded inputs tell; 0: unknown.
  [[nodiscard]] std::array<double, 2> heads_of(const ProductPair& pair) const {
    if (pair.attention == no_product) return {0, 0};
    const TaskId kernel = pass_.forward[pair.attention];
    const std::string_view op = editor_.operator_of(kernel);
    // batch, heads, positions, width; below it batch, positions, heads, width.
    const bool heads_second = contains(op, "scaled_dot_product");
    const bool heads_third =
        contains_any(op, {"_flash_attention_forward", "_efficient_attention_forward"});
    if (!heads_second && !heads_third) return heads_of_softmax(pair.attention);
    const OperatorInputs inputs = editor_.inputs_of(kernel);
    const auto heads = [&inputs, heads_second](std::size_t i) {
      const Dims* dims = inputs.shape(i);
      if (dims == nullptr || dims->size() != 4) return 0.0;
      return static_cast<double>((*dims)[heads_second ? 1 : 2]);
    };
    return {heads(0), heads(1)};
  }

  /// Attention that is made of operators: scores of batch, heads, queries, keys.
  [[nodiscard]] std::array<double, 2> heads_of_softmax(std::size_t attention) const {
    constexpr std::size_t most_between = 12;
    const std::size_t end = std::min(pass_.forward.size(), attention + most_between);
    for (std::size_t i = attention; i < end; ++i) {
      const TaskId kernel = pass_.forward[i];
      if (!contains(editor_.operator_of(kernel), "softmax")) continue;
      const OperatorInputs inputs = editor_.inputs_of(kernel);
      const Dims* scores = inputs.shape(0);
      if (scores == nullptr || scores->size() != 4) return {0, 0};
      const auto heads = static_cast<double>((*scores)[1]);
      return {heads, heads};
    }
    return {0, 0};
  }

  [[nodiscard]] DividedPair divided(const ProductPair& pair) const {
    const std::size_t first = pair.columns.front();
    WholePair whole;
    whole.read_bytes = bytes_of(first, products_[first].shape.k);
    for (const std::size_t i : pair.columns) whole.columns.push_back(products_[i].shape);
    if (pair.rows != no_product) {
      whole.rows = products_[pair.rows].shape;
      whole.written_bytes = bytes_of(pair.rows, whole.rows.n);
    }
    return divided_pair(whole, options_);
  }

  Status divide(const ProductPair& pair) {
    const bool is_logits = pair.rows == no_product;
    const auto [heads, key_heads] = heads_of(pair);
    if (heads > 0) {
      FORETRACE_TRY(divides(heads, "heads"));
    }
    double widest = 0;
    for (const std::size_t i : pair.columns) widest = std::max(widest, products_[i].shape.n);
    const DividedPair own = divided(pair);
    for (std::size_t c = 0; c < pair.columns.size(); ++c) {
      const std::size_t i = pair.columns[c];
      GemmShape shape = own.columns[c];
      const double n = products_[i].shape.n;
      // A rank has at least one head of keys.
      const bool few = key_heads > 0 && key_heads < options_.ranks && n < widest;
      // Vocabularies are padded.
      if (auto status = divides(n, "outputs of a product"); !is_logits && !few && !status) {
        return status;
      }
      if (few) shape.n = n / key_heads;
      set_product(i, shape, true);
    }
    if (!is_logits) {
      FORETRACE_TRY(divides(products_[pair.rows].shape.k, "inputs of a product"));
      set_product(pair.rows, own.rows, false);
    }
    divide_inside(pair);
    exchange_forward(pair, own);
    exchange_backward(pair, own);
    return ok_status();
  }

  /// Product `i` and its gradients, divided along its outputs or its inputs.
  void set_product(std::size_t i, GemmShape shape, bool by_columns) {
    const GemmShape& was = products_[i].shape;
    const double kept = shape.n * shape.k / (was.n * was.k);
    shape.n = std::ceil(shape.n);
    const std::size_t at = products_[i].at;
    seen_forward_[at] = true;
    own_share_[i] = kept;
    split_.kernels.push_back({pass_.forward[at], reshaped(pass_.forward[at], shape), by_columns});
    divide_backward(i, by_columns, kept);
  }

  /// Gradients of its input and its weight.
  void divide_backward(std::size_t i, bool by_columns, double kept) {
    const GemmShape& was = products_[i].shape;
    const double divided = by_columns ? was.n : was.k;
    const auto divide_one = [&](std::size_t at, bool is_weight) {
      if (at == no_product) return;
      const TaskId kernel = pass_.backward[at];
      GemmShape shape = *editor_.about(kernel).amount.gemm;
      if (by_columns && !is_weight) {
        shape.k *= kept;
      } else if (shape.n == divided) {
        shape.n = std::ceil(shape.n * kept);
      } else {
        shape.m = std::ceil(shape.m * kept);
      }
      seen_backward_[at] = true;
      split_.kernels.push_back({kernel, reshaped(kernel, shape), is_weight || !by_columns});
    };
    divide_one(undone_[i].input, false);
    divide_one(undone_[i].weight, true);
  }

  /// Measured x model of the new shape / model of the old one.
  [[nodiscard]] Cost reshaped(TaskId kernel, const GemmShape& shape) const {
    const std::int64_t measured = editor_.graph().duration_ns(kernel);
    const KernelDescription& known = editor_.about(kernel);
    KernelDescription part = known;
    part.amount = gemm_work(shape);
    const Setting setting{editor_.accelerator(), known.traits.precision, 1};
    const auto before = roofline_cost(known, setting, "a product");
    const auto after = roofline_cost(part, setting, "a product");
    const double plain = shape.flops() / known.amount.gemm->flops();
    if (!before || !after || before->duration_ns <= 0) {
      return moved_share(measured, known.traits.kernel_class, plain);
    }
    const double ratio =
        static_cast<double>(after->duration_ns) / static_cast<double>(before->duration_ns);
    const Spread spread = class_spread(known.traits.kernel_class);
    // A part takes at least its share of the arithmetic, and no longer than the whole.
    const double ns = static_cast<double>(measured) * std::clamp(ratio, plain, 1.0);
    return {to_whole(ns), Provenance::scaled, static_cast<float>(spread.low),
            static_cast<float>(spread.high)};
  }

  void scale(TaskId kernel, bool divides_output) {
    split_.kernels.push_back(
        {kernel,
         moved_share(editor_.graph().duration_ns(kernel), editor_.class_of(kernel), share()),
         divides_output});
    const TaskGraph& graph = editor_.graph();
    for (TaskId task = next_on_lane(graph, kernel);
         task != none<TaskId> && is_copy_on_device(graph, task); task = next_on_lane(graph, task)) {
      split_.kernels.push_back(
          {task, moved_share(graph.duration_ns(task), KernelClass::copy, share()), divides_output});
    }
  }
  void scale_forward(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (seen_forward_[i]) continue;
      seen_forward_[i] = true;
      scale(pass_.forward[i], true);
    }
  }
  void scale_backward(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (seen_backward_[i]) continue;
      seen_backward_[i] = true;
      scale(pass_.backward[i], true);
    }
  }

  /// First and last place of the backward products of the columns.
  [[nodiscard]] std::pair<std::size_t, std::size_t> columns_backward(
      const ProductPair& pair) const {
    std::size_t first = no_product;
    std::size_t last = 0;
    for (const std::size_t i : pair.columns) {
      if (!undone_[i].known()) continue;
      first = std::min(first, undone_[i].first());
      last = std::max(last, undone_[i].last());
    }
    return {first, last};
  }

  /// What lies between columns and rows works on a share of heads or of the inner size; behind
  /// logits, the loss on a share of the vocabulary.
  void divide_inside(const ProductPair& pair) {
    const bool is_logits = pair.rows == no_product;
    const std::size_t first = products_[pair.columns.front()].at + 1;
    if (!is_logits) {
      scale_forward(first, products_[pair.rows].at);
    } else if (!pass_.backward.empty()) {
      scale_forward(first, pass_.forward.size());
    }
    const auto [columns, last] = columns_backward(pair);
    if (columns == no_product) return;
    if (is_logits) {
      scale_backward(0, columns);
    } else if (undone_[pair.rows].known()) {
      scale_backward(std::min(undone_[pair.rows].last(), columns), columns);
    }
  }

  [[nodiscard]] double bytes_of(std::size_t product, double columns) const {
    return products_[product].shape.m * columns *
           editor_.number_bytes(pass_.forward[products_[product].at]);
  }

  void exchange_forward(const ProductPair& pair, const DividedPair& own) {
    const std::size_t first = pair.columns.front();
    const TaskId entering = pass_.forward[products_[first].at];
    add_before(entering, entering, own.enter.forward);
    if (pair.rows != no_product) {
      const TaskId leaving = pass_.forward[products_[pair.rows].at];
      add_behind(leaving, leaving, own.leave.forward);
      return;
    }
    // Training adds up three numbers per token; generated text needs all logits.
    const bool trains = !pass_.backward.empty();
    Exchange logits;
    logits.kind = trains ? CollectiveKind::all_reduce : CollectiveKind::all_gather;
    logits.bytes =
        trains ? 3 * 4 * products_[first].shape.m : bytes_of(first, products_[first].shape.n);
    add_behind(entering, entering, logits);
  }

  void exchange_backward(const ProductPair& pair, const DividedPair& own) {
    if (pair.rows != no_product && undone_[pair.rows].known()) {
      const TaskId first = pass_.backward[undone_[pair.rows].first()];
      add_before(first, first, own.leave.backward);
    }
    const bool needs_input =
        std::any_of(pair.columns.begin(), pair.columns.end(),
                    [this](std::size_t i) { return undone_[i].input != no_product; });
    if (!needs_input) return;
    const auto [begin, end] = columns_backward(pair);
    // Gradients of weights read the whole input, which is collected beside what comes before them.
    const std::size_t reads = first_weight_gradient(pair);
    const bool beside = own.enter.again.overlap != Overlap::none && reads != no_product;
    const std::size_t needed_by = beside ? std::max(begin, reads) : begin;
    add_before(pass_.backward[begin], pass_.backward[needed_by], own.enter.again);
    // The gradient of one product's weight hides it; several products add up theirs first.
    const bool hides = own.enter.backward.overlap != Overlap::none && pair.columns.size() == 1;
    const std::size_t from = hides ? undone_[pair.columns.front()].input : end;
    add_behind(pass_.backward[from], pass_.backward[std::max(from, end)], own.enter.backward);
  }

  [[nodiscard]] std::size_t first_weight_gradient(const ProductPair& pair) const {
    std::size_t first = no_product;
    for (const std::size_t i : pair.columns) first = std::min(first, undone_[i].weight);
    return first;
  }

  void add_before(TaskId kernel, TaskId needed_by, const Exchange& exchange) {
    if (exchange.kind == CollectiveKind::none) return;
    split_.exchanges.push_back(
        {.kind = exchange.kind, .bytes = exchange.bytes, .before = kernel, .needed_by = needed_by});
  }
  void add_behind(TaskId after, TaskId until, const Exchange& exchange) {
    if (exchange.kind == CollectiveKind::none) return;
    split_.exchanges.push_back(
        {.kind = exchange.kind, .bytes = exchange.bytes, .after = after, .until = until});
  }

  /// Sequence parallelism: norms, dropout and residuals from the first exchange to the last. That of
  /// a divided table comes before all pairs; logits collect what they read.
  void divide_between() {
    std::size_t begin = no_product;
    std::size_t end = 0;
    std::size_t first = no_product;
    std::size_t last = 0;
    for (const ProductPair& pair : pairs_) {
      const std::size_t leaves = pair.rows == no_product ? pair.columns.front() : pair.rows;
      begin = std::min(begin, products_[pair.columns.front()].at);
      end = std::max(end, products_[leaves].at);
      if (undone_[leaves].known()) first = std::min(first, undone_[leaves].first());
      const auto [columns, behind] = columns_backward(pair);
      if (columns != no_product) last = std::max(last, behind);
    }
    if (table_ != no_product) {
      begin = std::min(begin, table_ + 1);
      const std::size_t table = backward_of_table();
      if (table != no_product) last = std::max(last, table);
    }
    if (begin != no_product) scale_forward_but_products(begin, end);
    if (first != no_product) scale_backward_but_products(first, last);
  }
  void scale_forward_but_products(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (!is_linear(editor_, pass_.forward[i])) scale_forward(i, i + 1);
    }
  }
  void scale_backward_but_products(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (!is_linear(editor_, pass_.backward[i])) scale_backward(i, i + 1);
    }
  }

  /// What runs again is divided as the first time, and its results are added up again.
  void repeat() {
    std::map<TaskId, std::vector<TaskId>> copies;
    for (const Recomputed& one : again_) copies[pass_.forward[one.forward]].push_back(one.copy);
    const std::size_t kernels = split_.kernels.size();
    for (std::size_t i = 0; i < kernels; ++i) {
      const auto found = copies.find(split_.kernels[i].kernel);
      if (found == copies.end()) continue;
      for (const TaskId copy : found->second) {
        auto again = split_.kernels[i];
        again.kernel = copy;
        split_.kernels.push_back(again);
      }
    }
    const std::size_t exchanges = split_.exchanges.size();
    for (std::size_t i = 0; i < exchanges; ++i) {
      const auto exchange = split_.exchanges[i];
      const bool is_before = exchange.before != none<TaskId>;
      const auto found = copies.find(is_before ? exchange.before : exchange.after);
      if (found == copies.end()) continue;
      for (const TaskId copy : found->second) {
        auto again = exchange;
        (is_before ? again.before : again.after) = copy;
        (is_before ? again.needed_by : again.until) = copy;
        split_.exchanges.push_back(again);
      }
    }
  }

  /// The table of an embedding is divided with the logits; its results are added up.
  void count_parameters() {
    const bool has_logits = std::any_of(pairs_.begin(), pairs_.end(), [](const ProductPair& pair) {
      return pair.rows == no_product;
    });
    std::map<std::size_t, double> kept;  // by kernel
    for (const auto& [product, own] : own_share_) kept[products_[product].at] = own;
    split_.whole_products = products_.size() - own_share_.size();
    double largest = 0;  // table
    const std::vector<WeightUse> uses = weight_uses(editor_, pass_.forward);
    for (const WeightUse& use : uses) {
      const double numbers = std::accumulate(use.sizes.begin(), use.sizes.end(), 0.0);
      if (has_logits && is_embedding(editor_, pass_.forward[use.kernel]) && numbers > largest) {
        largest = numbers;
        table_ = use.kernel;
      }
    }
    if (table_ != no_product) kept[table_] = share();
    for (const auto& [kernel, own] : kept) split_.own[pass_.forward[kernel]] = own;
    for (const WeightUse& use : uses) {
      const double numbers = std::accumulate(use.sizes.begin(), use.sizes.end(), 0.0);
      const auto found = kept.find(use.kernel);
      split_.parameters += numbers;
      split_.own_parameters += numbers * (found == kept.end() ? 1 : found->second);
    }
    if (table_ != no_product) exchange_table();
  }

  /// Rows of other ranks are zeros: what is looked up is added up.
  void exchange_table() {
    const std::size_t first = pairs_.front().columns.front();
    const Operator leave = divided_table(bytes_of(first, products_[first].shape.k), options_);
    const TaskId looked_up = pass_.forward[table_];
    add_behind(looked_up, looked_up, leave.forward);
    const std::size_t back = backward_of_table();
    if (back == no_product) return;
    add_before(pass_.backward[back], pass_.backward[back], leave.backward);
  }
  /// Of several tables it is the first one, whose gradient comes last.
  [[nodiscard]] std::size_t backward_of_table() const {
    for (std::size_t i = pass_.backward.size(); i-- > 0;) {
      if (is_embedding(editor_, pass_.backward[i])) return i;
    }
    return no_product;
  }

  const KernelEditor& editor_;
  std::vector<Recomputed> again_;
  TrainingPass pass_;  // without what runs again
  const TensorOptions& options_;
  std::vector<LinearProduct> products_;
  std::vector<ProductPair> pairs_;
  std::vector<UndoneProduct> undone_;
  std::vector<bool> seen_forward_;
  std::vector<bool> seen_backward_;
  std::map<std::size_t, double> own_share_;  // of products that are divided
  std::size_t table_ = no_product;           // kernel of the embedding that is divided
  TensorSplit split_;
};

}  // namespace

Result<TensorSplit> split_tensors(const KernelEditor& editor, const TrainingPass& pass,
                                  const TensorOptions& options) {
  return Splitter(editor, pass, options).run();
}

std::vector<TrainingPass> passes_to_split(const KernelEditor& editor) {
  std::vector<TrainingPass> passes = find_passes(editor);
  if (!passes.empty()) return passes;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, TrainingPass> forward;
  for (const TaskId kernel : editor.kernels()) {
    const Phase phase = editor.graph().phase(kernel);
    if (phase != Phase::forward && phase != Phase::unknown) continue;
    const Lane& lane = editor.graph().lane(kernel);
    forward[{lane.rank, lane.device, editor.graph().step(kernel)}].forward.push_back(kernel);
  }
  for (auto& [where, pass] : forward) passes.push_back(std::move(pass));
  return passes;
}

}  // namespace foretrace::editing
