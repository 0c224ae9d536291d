#include "models/whatifs/parallelism/tensor_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/tensors/weight_uses.h"
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
    if (options_.sequence) divide_between();
    split_.pairs = pairs_.size();
    count_parameters();
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

  Status divide(const ProductPair& pair) {
    const bool is_logits = pair.rows == no_product;
    const auto [heads, key_heads] = heads_of(pair);
    if (heads > 0) {
      FORETRACE_TRY(divides(heads, "heads"));
    }
    double widest = 0;
    for (const std::size_t i : pair.columns) widest = std::max(widest, products_[i].shape.n);
    for (const std::size_t i : pair.columns) {
      const double n = products_[i].shape.n;
      // A rank has at least one head of keys.
      const bool few = key_heads > 0 && key_heads < options_.ranks && n < widest;
      // Vocabularies are padded.
      if (auto status = divides(n, "outputs of a product"); !is_logits && !few && !status) {
        return status;
      }
      const double kept = few ? 1 / key_heads : share();
      own_share_[i] = kept;
      set_product(products_[i].at,
                  GemmShape{1, products_[i].shape.m, std::ceil(n * kept), products_[i].shape.k},
                  true);
      divide_backward(i, true, kept);
    }
    if (!is_logits) {
      const GemmShape& rows = products_[pair.rows].shape;
      FORETRACE_TRY(divides(rows.k, "inputs of a product"));
      own_share_[pair.rows] = share();
      set_product(products_[pair.rows].at, GemmShape{1, rows.m, rows.n, rows.k * share()}, false);
      divide_backward(pair.rows, false, share());
    }
    divide_inside(pair);
    exchange_forward(pair);
    exchange_backward(pair);
    return ok_status();
  }

  void set_product(std::size_t at, const GemmShape& shape, bool divides_output) {
    const TaskId kernel = pass_.forward[at];
    seen_forward_[at] = true;
    split_.kernels.push_back({kernel, reshaped(kernel, shape), divides_output});
  }

  /// Gradients of input and weight of product `i`, divided along its outputs or its inputs.
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

  void exchange_forward(const ProductPair& pair) {
    const std::size_t first = pair.columns.front();
    const TaskId entering = pass_.forward[products_[first].at];
    if (options_.sequence) {
      add_before(entering, CollectiveKind::all_gather, bytes_of(first, products_[first].shape.k));
    }
    if (pair.rows == no_product) {
      // Training adds up three numbers per token; generated text needs all logits.
      const bool trains = !pass_.backward.empty();
      const double bytes =
          trains ? 3 * 4 * products_[first].shape.m : bytes_of(first, products_[first].shape.n);
      add_behind(entering, entering,
                 trains ? CollectiveKind::all_reduce : CollectiveKind::all_gather, bytes);
      return;
    }
    const TaskId leaving = pass_.forward[products_[pair.rows].at];
    add_behind(leaving, leaving,
               options_.sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
               bytes_of(pair.rows, products_[pair.rows].shape.n));
  }

  void exchange_backward(const ProductPair& pair) {
    const std::size_t first = pair.columns.front();
    const double in = bytes_of(first, products_[first].shape.k);
    if (options_.sequence && pair.rows != no_product && undone_[pair.rows].known()) {
      add_before(pass_.backward[undone_[pair.rows].first()], CollectiveKind::all_gather,
                 bytes_of(pair.rows, products_[pair.rows].shape.n));
    }
    const bool sequence = options_.sequence;
    const bool needs_input =
        std::any_of(pair.columns.begin(), pair.columns.end(),
                    [this](std::size_t i) { return undone_[i].input != no_product; });
    if (!needs_input) return;
    const auto kind = sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    // The gradient of one product's weight hides it; several products add up theirs first.
    const auto [begin, end] = columns_backward(pair);
    const bool is_one = pair.columns.size() == 1;
    const std::size_t from = is_one ? undone_[first].input : end;
    if (sequence) add_before(pass_.backward[begin], CollectiveKind::all_gather, in);
    add_behind(pass_.backward[from], pass_.backward[std::max(from, end)], kind, in);
  }

  void add_before(TaskId kernel, CollectiveKind kind, double bytes) {
    split_.exchanges.push_back({.kind = kind, .bytes = bytes, .before = kernel});
  }
  void add_behind(TaskId after, TaskId until, CollectiveKind kind, double bytes) {
    split_.exchanges.push_back({.kind = kind, .bytes = bytes, .after = after, .until = until});
  }

  /// Sequence parallelism: norms, dropout and residuals from the first pair to the last.
  void divide_between() {
    std::size_t begin = no_product;
    std::size_t end = 0;
    std::size_t first = no_product;
    std::size_t last = 0;
    for (const ProductPair& pair : pairs_) {
      if (pair.rows == no_product) continue;
      begin = std::min(begin, products_[pair.columns.front()].at);
      end = std::max(end, products_[pair.rows].at);
      if (undone_[pair.rows].known()) first = std::min(first, undone_[pair.rows].first());
      const auto [columns, behind] = columns_backward(pair);
      if (columns != no_product) last = std::max(last, behind);
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
        if (is_before) {
          add_before(copy, exchange.kind, exchange.bytes);
        } else {
          add_behind(copy, copy, exchange.kind, exchange.bytes);
        }
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
    std::size_t table = no_product;  // the largest
    double largest = 0;
    const std::vector<WeightUse> uses = weight_uses(editor_, pass_.forward);
    for (const WeightUse& use : uses) {
      const double numbers = std::accumulate(use.sizes.begin(), use.sizes.end(), 0.0);
      if (has_logits && is_embedding(editor_, pass_.forward[use.kernel]) && numbers > largest) {
        largest = numbers;
        table = use.kernel;
      }
    }
    if (table != no_product) kept[table] = share();
    for (const WeightUse& use : uses) {
      const double numbers = std::accumulate(use.sizes.begin(), use.sizes.end(), 0.0);
      const auto found = kept.find(use.kernel);
      split_.parameters += numbers;
      split_.own_parameters += numbers * (found == kept.end() ? 1 : found->second);
    }
    if (table != no_product) {
      const std::size_t first = pairs_.front().columns.front();
      add_behind(pass_.forward[table], pass_.forward[table],
                 options_.sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                 bytes_of(first, products_[first].shape.k));
    }
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
