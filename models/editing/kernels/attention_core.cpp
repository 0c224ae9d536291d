// From each softmax outwards: one batched product on each side forward, two backward.
#include "models/editing/kernels/attention_core.h"

#include <algorithm>
#include <string_view>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_names.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

// Mask, scale, dropout and the sum of a backward: more than this is not one attention. Casts do not
// count, autocast has one on each side of the softmax; nor do sets, of products that add up in
// parts.
constexpr std::size_t most_between = 8;
constexpr std::size_t most_uncounted = 8;

bool is_batched_product(const KernelEditor& editor, TaskId task) {
  if (editor.class_of(task) != KernelClass::gemm) return false;
  const auto& gemm = editor.about(task).amount.gemm;
  const std::string_view op = editor.operator_of(task);
  if (op.find("bmm") != std::string_view::npos) return true;
  return gemm && gemm->batch > 1;
}

bool may_stand_between(KernelClass kernel_class) {
  return kernel_class == KernelClass::elementwise || kernel_class == KernelClass::copy ||
         kernel_class == KernelClass::reduction;
}

/// A copy to another type, and nothing else: aten::copy_ has the types of the tensor that it writes
/// and of the one that it reads.
bool is_cast(const KernelEditor& editor, TaskId task) {
  if (editor.operator_of(task) != "aten::copy_") return false;
  const auto types = input_types(editor.graph().names()[editor.graph().work(task).types]);
  return types.size() >= 2 && types[0] != types[1];
}

bool is_set(const TaskGraph& graph, TaskId task) { return graph.kind(task) == TaskKind::set; }

/// Sets right before a product that its operator launched.
std::vector<TaskId> sets_of(const TaskGraph& graph, TaskId product) {
  std::vector<TaskId> found;
  const Work& work = graph.work(product);
  for (TaskId task = previous_on_lane(graph, product);
       task != none<TaskId> && is_set(graph, task) && found.size() < most_uncounted;
       task = previous_on_lane(graph, task)) {
    const Work& set = graph.work(task);
    if (set.operator_name != work.operator_name || set.shapes != work.shapes) break;
    found.push_back(task);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

class Search {
 public:
  Search(const KernelEditor& editor, std::vector<bool>& taken) : editor_(editor), taken_(taken) {}

  // Walks from the softmax in one direction up to and with `products` batched products.
  [[nodiscard]] std::vector<TaskId> walk(TaskId softmax, bool forwards,
                                         std::size_t products) const {
    std::vector<TaskId> found;
    std::size_t between = 0;
    std::size_t uncounted = 0;
    TaskId task = softmax;
    while (products > 0) {
      task = forwards ? data_after(editor_.graph(), task) : data_before(editor_.graph(), task);
      if (task == none<TaskId> || taken_[index(task)]) {
        return {};
      }
      found.push_back(task);
      if (is_set(editor_.graph(), task) || is_cast(editor_, task)) {
        if (++uncounted > most_uncounted) return {};
        continue;
      }
      // Before it masks scores in place PyTorch copies them, with a copy engine where it can.
      if (is_copy_on_device(editor_.graph(), task)) {
        if (++between > most_between) return {};
        continue;
      }
      if (editor_.graph().kind(task) != TaskKind::kernel) {
        return {};
      }
      if (is_batched_product(editor_, task)) {
        --products;
      } else if (!may_stand_between(editor_.class_of(task)) || ++between > most_between) {
        return {};
      }
    }
    return found;
  }

 private:
  const KernelEditor& editor_;
  const std::vector<bool>& taken_;
};

// The product that makes one number per query and key: the first one forward; backward, where the
// order of the gradients is the framework's, the one with the largest result per head.
std::optional<GemmShape> scores_of(const KernelEditor& editor, const AttentionCore& core) {
  std::optional<GemmShape> best;
  for (const TaskId kernel : core.kernels) {
    const auto& gemm = editor.about(kernel).amount.gemm;
    if (!gemm || !is_batched_product(editor, kernel)) continue;
    if (!core.backward) return gemm;
    if (!best || gemm->m * gemm->n > best->m * best->n) best = gemm;
  }
  return best;
}

// The softmax sees batch, heads, queries, keys; 0 where its shapes do not divide the products.
double heads_of_scores(const KernelEditor& editor, const AttentionCore& core) {
  for (const TaskId kernel : core.kernels) {
    if (editor.class_of(kernel) != KernelClass::softmax) continue;
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const Dims* scores = inputs.shape(0);
    if (scores == nullptr || scores->size() != 4) return 0;
    const auto batch = static_cast<double>((*scores)[0]);
    const auto heads = static_cast<double>((*scores)[1]);
    return batch * heads == core.scores->batch ? heads : 0;
  }
  return 0;
}

}  // namespace

std::vector<AttentionCore> find_attention_cores(const KernelEditor& editor) {
  std::vector<bool> taken(editor.graph().size(), false);
  std::vector<AttentionCore> cores;
  const Search search(editor, taken);
  for (const TaskId softmax : editor.kernels()) {
    if (editor.class_of(softmax) != KernelClass::softmax || taken[index(softmax)]) continue;
    AttentionCore core;
    core.backward = editor.graph().phase(softmax) == Phase::backward;
    const std::size_t products = core.backward ? 2 : 1;
    std::vector<TaskId> before = search.walk(softmax, false, products);
    const std::vector<TaskId> after = search.walk(softmax, true, products);
    if (before.empty() || after.empty()) continue;
    core.kernels.assign(before.rbegin(), before.rend());
    core.kernels.push_back(softmax);
    core.kernels.insert(core.kernels.end(), after.begin(), after.end());
    for (const TaskId kernel : core.kernels) {
      taken[index(kernel)] = true;
      if (is_batched_product(editor, kernel)) {
        core.products_ns += editor.graph().duration_ns(kernel);
      }
    }
    core.scores = scores_of(editor, core);
    core.sets = sets_of(editor.graph(), core.kernels.front());
    for (const TaskId set : core.sets) taken[index(set)] = true;
    cores.push_back(std::move(core));
  }
  return cores;
}

KernelWork core_work(const KernelEditor& editor, const AttentionCore& core) {
  const auto product =
      std::find_if(core.kernels.begin(), core.kernels.end(),
                   [&editor](TaskId kernel) { return is_batched_product(editor, kernel); });
  const Precision precision = editor.about(*product).traits.precision;
  const Direction direction = core.backward ? Direction::backward : Direction::forward;
  AttentionShape shape;
  if (core.scores) {
    shape = {.batch = 1,
             .heads = core.scores->batch,
             .key_heads = core.scores->batch,
             .queries = core.scores->m,
             .keys = core.scores->n,
             .head_dim = core.scores->k};
    const double heads = heads_of_scores(editor, core);
    if (heads > 0) {
      shape.batch = shape.heads / heads;
      shape.heads = heads;
      shape.key_heads = heads;
    }
  }
  KernelWork work = attention_kernel_work(shape, direction, precision);
  if (!core.scores) work.shapes.clear();
  return work;
}

TaskId replace_core(KernelEditor& editor, const AttentionCore& core, const ExtraKernel& extra) {
  std::vector<TaskId> all = core.sets;
  all.insert(all.end(), core.kernels.begin(), core.kernels.end());
  return editor.replace(all, extra);
}

void FusedCores::add(const KernelEditor& editor, const AttentionCore& core) {
  ++count_;
  for (std::size_t i = 0; !core.backward && i + 1 < core.kernels.size(); ++i) {
    inner_calls_.insert(editor.own_call(core.kernels[i]));
  }
  inner_calls_.erase(none<TaskId>);
  if (!core.scores) return;
  ++with_shapes_;
  const double numbers = core.scores->batch * core.scores->m * core.scores->n;
  if (!core.backward) kept_bytes_ += numbers * editor.number_bytes(core.kernels.front());
}

void FusedCores::drop_scores(const KernelEditor& editor, TensorEditor& tensors) const {
  const auto& all = editor.graph().context().tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (inner_calls_.contains(all[i].allocated_in)) tensors.drop(i);
  }
}

}  // namespace foretrace::editing
