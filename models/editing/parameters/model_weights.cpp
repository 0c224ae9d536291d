#include "models/editing/parameters/model_weights.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "models/editing/parameters/recorded_state.h"

namespace foretrace::editing {
namespace {

/// The table whose rows an operator picks: index_select(table, dim, rows), as newer versions do it
/// gather(table, dim, rows repeated over the columns). Null for others.
const Dims* picked_from(std::string_view op, const OperatorInputs& inputs) {
  const bool gathers = op == "aten::gather";
  if (!gathers && op != "aten::index_select") return nullptr;
  const Dims* table = inputs.shape(0);
  const Dims* rows = inputs.shape(2);
  if (table == nullptr || table->size() != 2 || rows == nullptr) return nullptr;
  const bool whole =
      gathers ? rows->size() == 2 && rows->back() == table->back() : rows->size() == 1;
  return whole ? table : nullptr;
}

struct Lookup {
  std::size_t kernel = 0;  // of the forward pass
  double size = 0;         // of the table
  bool again = false;      // one of this shape was looked up before
};
struct Tables {
  std::vector<Lookup> list;
  double room = 0;  // that they leave
};

/// Largest tables first. Each lookup is one kernel.
std::vector<Lookup> lookups_of(const KernelEditor& editor, std::span<const TaskId> forward) {
  std::vector<Lookup> found;
  std::set<Dims> known;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const OperatorInputs inputs = editor.inputs_of(forward[i]);
    const Dims* table = picked_from(editor.operator_of(forward[i]), inputs);
    if (table == nullptr) continue;
    found.push_back({i, element_count(*table), !known.insert(*table).second});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Lookup& a, const Lookup& b) { return a.size > b.size; });
  return found;
}

/// In this order, each for which there is room beside those before it.
Tables fitting(const std::vector<Lookup>& lookups, double room, double slack) {
  Tables found{{}, room};
  for (const Lookup& lookup : lookups) {
    const double extra = lookup.again ? count_agreement * lookup.size : slack;
    if (lookup.size > found.room + extra) continue;
    found.room -= lookup.size;
    found.list.push_back(lookup);
  }
  return found;
}

}  // namespace

// Rows of activations are picked, too: a table is a weight where the model has room for it beside
// the others. A trace names no operands: lookups of one shape are of one table (two inputs share
// it) or of several (source and target words), whichever leaves less room; of one where both leave
// as much.
std::vector<WeightUse> model_weights(const KernelEditor& editor, std::span<const TaskId> forward,
                                     double numbers) {
  std::vector<WeightUse> uses = weight_uses(editor, forward);
  double room = numbers;
  for (const WeightUse& use : uses) {
    for (const double size : use.sizes) room -= size;
  }
  std::vector<Lookup> order = lookups_of(editor, forward);
  const Tables several = fitting(order, room, count_agreement * numbers);
  std::stable_partition(order.begin(), order.end(), [](const Lookup& l) { return !l.again; });
  const Tables one = fitting(order, room, count_agreement * numbers);
  const bool shared = std::abs(one.room) <= std::abs(several.room);
  for (const Lookup& table : (shared ? one : several).list) {
    uses.push_back({table.kernel, table.kernel, {table.size}});
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const WeightUse& a, const WeightUse& b) { return a.kernel < b.kernel; });
  return uses;
}

}  // namespace foretrace::editing
