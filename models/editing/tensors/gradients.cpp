// How many there are is what parameter_counts() says. Where they are ready is searched where the
// trace is surest: in kernels that accumulate them, then in the weights of forward operators.
#include "models/editing/tensors/gradients.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "models/editing/tensors/weight_uses.h"

namespace foretrace::editing {
namespace {

/// Tensors of a model whose sizes are not known one by one.
constexpr std::size_t unknown_tensors = 64;
/// Kernels that accumulate are believed if they add up to the parameters within this share, and
/// weights that the forward pass reads are all there are if no more than this share is missing.
constexpr double agreement = 0.02;

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

class Finder {
 public:
  Finder(const KernelEditor& editor, const TrainingPass& pass)
      : editor_(editor), graph_(editor.graph()), pass_(pass) {
    ends_.reserve(pass.backward.size());
    for (const TaskId kernel : pass.backward) {
      backward_ns_ += static_cast<double>(graph_.duration_ns(kernel));
      ends_.push_back(backward_ns_);
    }
  }

  [[nodiscard]] Gradients accumulated() const {
    Gradients found{{}, GradientPlaces::accumulated, {}};
    for (const TaskId kernel : pass_.backward) {
      if (editor_.operator_of(kernel) != "aten::add_") continue;
      const OperatorInputs inputs = editor_.inputs_of(kernel);
      const Dims* to = inputs.shape(0);
      const Dims* what = inputs.shape(1);
      if (to == nullptr || what == nullptr || *to != *what || to->empty()) continue;
      const TaskId ready = with_call(kernel);
      if (ready != none<TaskId>) found.list.push_back({element_count(*to), ready});
    }
    return found;
  }

  /// Of weights that the forward pass reads, where the model has this many numbers.
  [[nodiscard]] Gradients weights(double numbers) const {
    Gradients found{{}, GradientPlaces::weights, {}};
    double forward_ns = 0;
    for (const TaskId kernel : pass_.forward) {
      forward_ns += static_cast<double>(graph_.duration_ns(kernel));
    }
    const std::vector<WeightUse> uses = with_tables(numbers);
    auto use = uses.begin();
    double before = 0;
    for (std::size_t i = 0; i < pass_.forward.size() && use != uses.end(); ++i) {
      const double from = before;
      before += static_cast<double>(graph_.duration_ns(pass_.forward[i]));
      if (use->kernel != i) continue;
      // The backward pass undoes the forward one, with the same share of its time for each kernel.
      const double share = forward_ns > 0 ? (forward_ns - from) / forward_ns : 1;
      const TaskId ready = kernel_at(share);
      for (const double size : use->sizes) found.list.push_back({size, ready});
      ++use;
    }
    // What comes first in the forward pass is ready last.
    std::reverse(found.list.begin(), found.list.end());
    return found;
  }

  /// The same, so that they add up to the count: what is missing is spread over the pass.
  [[nodiscard]] Gradients fitted(Gradients found, const ParameterCount& count) const {
    found.counted = count.evidence;
    const double missing = count.numbers - found.numbers();
    if (missing <= agreement * count.numbers) {
      const double factor = count.numbers / found.numbers();
      for (Gradient& gradient : found.list) gradient.numbers *= factor;
      return found;
    }
    found.places = found.list.empty() ? GradientPlaces::spread : GradientPlaces::partly;
    const std::size_t all = count.tensors > 0 ? count.tensors : unknown_tensors;
    const std::size_t tensors = all > found.list.size() ? all - found.list.size() : 1;
    for (std::size_t i = 1; i <= tensors; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(tensors);
      found.list.push_back({missing / static_cast<double>(tensors), kernel_at(share)});
    }
    std::stable_sort(found.list.begin(), found.list.end(),
                     [](const Gradient& a, const Gradient& b) { return a.ready < b.ready; });
    return found;
  }

 private:
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
  [[nodiscard]] std::vector<Lookup> lookups() const {
    std::vector<Lookup> found;
    std::set<Dims> known;
    for (std::size_t i = 0; i < pass_.forward.size(); ++i) {
      const OperatorInputs inputs = editor_.inputs_of(pass_.forward[i]);
      const Dims* table = picked_from(editor_.operator_of(pass_.forward[i]), inputs);
      if (table == nullptr) continue;
      found.push_back({i, element_count(*table), !known.insert(*table).second});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Lookup& a, const Lookup& b) { return a.size > b.size; });
    return found;
  }

  /// In this order, each for which there is room beside those before it.
  [[nodiscard]] static Tables fitting(const std::vector<Lookup>& lookups, double room,
                                      double slack) {
    Tables found{{}, room};
    for (const Lookup& lookup : lookups) {
      const double extra = lookup.again ? agreement * lookup.size : slack;
      if (lookup.size > found.room + extra) continue;
      found.room -= lookup.size;
      found.list.push_back(lookup);
    }
    return found;
  }

  /// Weights that operators read, and tables whose rows they pick. Rows of activations are picked,
  /// too: a table is a weight where the model has room for it beside the others. A trace names no
  /// operands: lookups of one shape are of one table (two inputs share it) or of several (source
  /// and target words), whichever leaves less room; of one where both leave as much.
  [[nodiscard]] std::vector<WeightUse> with_tables(double numbers) const {
    std::vector<WeightUse> uses = weight_uses(editor_, pass_.forward);
    double room = numbers;
    for (const WeightUse& use : uses) {
      for (const double size : use.sizes) room -= size;
    }
    std::vector<Lookup> order = lookups();
    const Tables several = fitting(order, room, agreement * numbers);
    std::stable_partition(order.begin(), order.end(), [](const Lookup& l) { return !l.again; });
    const Tables one = fitting(order, room, agreement * numbers);
    const bool shared = std::abs(one.room) <= std::abs(several.room);
    for (const Lookup& table : (shared ? one : several).list) {
      uses.push_back({table.kernel, {table.size}});
    }
    std::stable_sort(uses.begin(), uses.end(),
                     [](const WeightUse& a, const WeightUse& b) { return a.kernel < b.kernel; });
    return uses;
  }
  /// The kernel itself, or the next of the backward pass that has a call of its own.
  [[nodiscard]] TaskId with_call(TaskId kernel) const {
    auto at = std::lower_bound(pass_.backward.begin(), pass_.backward.end(), kernel);
    for (; at != pass_.backward.end(); ++at) {
      if (editor_.own_call(*at) != none<TaskId>) return *at;
    }
    for (std::size_t i = pass_.backward.size(); i-- > 0;) {
      if (editor_.own_call(pass_.backward[i]) != none<TaskId>) return pass_.backward[i];
    }
    return pass_.backward.back();
  }
  /// The backward kernel that ends this share of the pass.
  [[nodiscard]] TaskId kernel_at(double share) const {
    const double until = share * backward_ns_ * (1 - 1e-12);
    const auto at = std::lower_bound(ends_.begin(), ends_.end(), until);
    const std::size_t i = std::min(static_cast<std::size_t>(at - ends_.begin()), ends_.size() - 1);
    return with_call(pass_.backward[i]);
  }

  const KernelEditor& editor_;
  const TaskGraph& graph_;
  const TrainingPass& pass_;
  std::vector<double> ends_;  // of backward kernels, in device time
  double backward_ns_ = 0;
};

}  // namespace

std::string_view to_string(GradientPlaces places) {
  switch (places) {
    case GradientPlaces::accumulated: return "ready at the kernels that accumulate them";
    case GradientPlaces::weights: return "ready in the order of the forward pass's weights";
    case GradientPlaces::partly:
      return "ready in the order of the forward pass's weights, the rest spread over the backward "
             "pass";
    case GradientPlaces::spread: return "spread over the backward pass";
  }
  return "";
}

double Gradients::numbers() const {
  double sum = 0;
  for (const Gradient& gradient : list) sum += gradient.numbers;
  return sum;
}

GradientFinder::GradientFinder(const KernelEditor& editor)
    : editor_(editor), counts_(parameter_counts(editor)) {}

Gradients GradientFinder::of(const TrainingPass& pass, double parameters) const {
  const Finder finder(editor_, pass);
  if (parameters > 0) return finder.fitted({}, {parameters, "as given", parameters});
  const auto counted = counts_.find(device_of(editor_.graph(), pass.backward.front()));
  if (counted == counts_.end()) return {};
  Gradients accumulated = finder.accumulated();
  const bool agrees = std::abs(accumulated.numbers() / counted->second.numbers - 1) < agreement;
  return finder.fitted(agrees ? std::move(accumulated) : finder.weights(counted->second.numbers),
                       counted->second);
}

}  // namespace foretrace::editing
