#include "models/whatifs/parallelism/product_pairs.h"

#include <algorithm>
#include <array>
#include <map>

#include "models/editing/kernels/attention_core.h"
#include "models/editing/kernels/kernel_names.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

/// Logits are this much wider than what they are computed from.
constexpr double wide = 4;
/// Backward products of the layers around may come in another order than forward.
constexpr std::size_t most_skipped = 6;

std::array<double, 3> sizes_of(const GemmShape& shape) {
  std::array<double, 3> sizes = {shape.m, shape.n, shape.k};
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// Places of attention in a pass: its first kernel.
std::vector<std::size_t> attention_places(const KernelEditor& editor, const TrainingPass& pass) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < pass.forward.size(); ++i) {
    if (editor.class_of(pass.forward[i]) != KernelClass::attention) continue;
    const bool continues = i > 0 && editor.class_of(pass.forward[i - 1]) == KernelClass::attention;
    if (!continues) places.push_back(i);
  }
  if (!places.empty()) return places;
  std::map<TaskId, std::size_t> at;
  for (std::size_t i = 0; i < pass.forward.size(); ++i) at.emplace(pass.forward[i], i);
  for (const AttentionCore& core : find_attention_cores(editor)) {
    if (core.backward || core.kernels.empty()) continue;
    const auto found = at.find(core.kernels.front());
    if (found != at.end()) places.push_back(found->second);
  }
  std::sort(places.begin(), places.end());
  return places;
}

class Pairing {
 public:
  Pairing(const KernelEditor& editor, const TrainingPass& pass,
          std::span<const LinearProduct> products)
      : editor_(editor), pass_(pass), products_(products), taken_(products.size(), false) {}

  std::vector<ProductPair> run() {
    const std::vector<std::size_t> places = attention_places(editor_, pass_);
    for (const std::size_t place : places) around(place);
    const bool has_attention = !pairs_.empty();
    logits();
    for (std::size_t i = 0; i < products_.size(); ++i) chain(i, has_attention);
    std::sort(pairs_.begin(), pairs_.end(), [](const ProductPair& a, const ProductPair& b) {
      return a.columns.front() < b.columns.front();
    });
    return std::move(pairs_);
  }

 private:
  [[nodiscard]] const GemmShape& shape(std::size_t i) const { return products_[i].shape; }

  void take(ProductPair pair) {
    for (const std::size_t i : pair.columns) taken_[i] = true;
    if (pair.rows != no_product) taken_[pair.rows] = true;
    pairs_.push_back(std::move(pair));
  }

  /// The products just before attention read what the one behind it adds to.
  void around(std::size_t place) {
    const auto behind = std::find_if(products_.begin(), products_.end(),
                                     [place](const LinearProduct& p) { return p.at > place; });
    if (behind == products_.end()) return;
    ProductPair pair;
    pair.attention = place;
    pair.rows = static_cast<std::size_t>(behind - products_.begin());
    if (taken_[pair.rows]) return;
    for (std::size_t i = pair.rows; i-- > 0;) {
      if (taken_[i] || shape(i).k != shape(pair.rows).n || shape(i).m != shape(pair.rows).m) break;
      pair.columns.insert(pair.columns.begin(), i);
      // Queries, keys and values are three, or one packed product.
      if (pair.columns.size() == 3) break;
    }
    if (!pair.columns.empty()) take(std::move(pair));
  }

  /// Columns from `i` on, and the product that reads them.
  void chain(std::size_t i, bool returns_to_width) {
    if (taken_[i]) return;
    ProductPair pair;
    pair.columns = {i};
    std::size_t next = i + 1;
    // Gate and up.
    if (next < products_.size() && !taken_[next] && shape(next).k == shape(i).k &&
        shape(next).n == shape(i).n && shape(next).m == shape(i).m && shape(i).k != shape(i).n) {
      pair.columns.push_back(next++);
    }
    if (next >= products_.size() || taken_[next] || shape(next).m != shape(i).m) return;
    const double read = shape(next).k;
    const bool is_gated = 2 * read == shape(i).n && pair.columns.size() == 1;
    if (read != shape(i).n && !is_gated) return;
    if (returns_to_width && shape(next).n != shape(i).k) return;
    pair.rows = next;
    take(std::move(pair));
  }

  void logits() {
    if (products_.size() < 2) return;
    const std::size_t last = products_.size() - 1;
    if (taken_[last] || shape(last).n < wide * shape(last).k) return;
    for (std::size_t i = 0; i < last; ++i) {
      if (shape(i).n >= shape(last).n) return;
    }
    take({.columns = {last}});
  }

  const KernelEditor& editor_;
  const TrainingPass& pass_;
  std::span<const LinearProduct> products_;
  std::vector<bool> taken_;
  std::vector<ProductPair> pairs_;
};

}  // namespace

std::vector<LinearProduct> linear_products(const KernelEditor& editor,
                                           std::span<const TaskId> kernels) {
  std::vector<LinearProduct> products;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!is_linear(editor, kernels[i]) || editor.about(kernels[i]).shape_from_grid) continue;
    // The sum behind a product that splits k is part of it.
    if (contains_any(editor.graph().name(kernels[i]), {"splitKreduce", "splitK_reduce"})) continue;
    products.push_back({i, *editor.about(kernels[i]).amount.gemm});
  }
  return products;
}

std::vector<ProductPair> find_pairs(const KernelEditor& editor, const TrainingPass& pass,
                                    std::span<const LinearProduct> products) {
  return Pairing(editor, pass, products).run();
}

std::vector<UndoneProduct> undone_by(std::span<const LinearProduct> forward,
                                     std::span<const LinearProduct> backward) {
  std::vector<UndoneProduct> undone(forward.size());
  std::size_t at = forward.empty() ? 0 : forward.size() - 1;
  for (const LinearProduct& product : backward) {
    for (std::size_t back = 0; back <= most_skipped && back <= at && !forward.empty(); ++back) {
      const GemmShape& was = forward[at - back].shape;
      UndoneProduct& by = undone[at - back];
      if (sizes_of(was) != sizes_of(product.shape)) continue;
      const bool may_be_weight = product.shape.k == was.m;
      const bool may_be_input = product.shape.k == was.n;
      std::size_t* place = nullptr;
      if (may_be_input && by.input == no_product) {
        place = &by.input;
      } else if (may_be_weight && by.weight == no_product) {
        place = &by.weight;
      }
      if (place == nullptr) continue;
      *place = product.at;
      at -= back;
      break;
    }
  }
  return undone;
}

}  // namespace foretrace::editing
