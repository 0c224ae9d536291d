// How many there are is what the table of parameters says. Where they are ready is searched where
// the trace is surest: in kernels that accumulate them, then in the weights of forward operators.
#include "models/editing/parameters/gradients.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace foretrace::editing {
namespace {

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

  /// Of parameters that forward kernels read. Nothing before `pass.trains_from` is undone.
  [[nodiscard]] Gradients weights(const std::vector<ReadSize>& reads) const {
    Gradients found{{}, GradientPlaces::weights, {}};
    std::vector<double> before = {0};  // device time from there to each forward kernel
    for (std::size_t i = pass_.trains_from; i < pass_.forward.size(); ++i) {
      before.push_back(before.back() + static_cast<double>(graph_.duration_ns(pass_.forward[i])));
    }
    const double forward_ns = before.back();
    for (const ReadSize& read : reads) {
      const std::size_t at = std::max(read.kernel, pass_.trains_from) - pass_.trains_from;
      // The backward pass undoes the forward one, with the same share of its time for each kernel.
      const double share = forward_ns > 0 ? (forward_ns - before[at]) / forward_ns : 1;
      found.list.push_back({read.size, kernel_at(share)});
    }
    // What comes first in the forward pass is ready last.
    std::reverse(found.list.begin(), found.list.end());
    return found;
  }

  /// The same, so that they add up to the count: what is missing is spread over the pass.
  [[nodiscard]] Gradients fitted(Gradients found, const ParameterCount& count) const {
    found.counted = count.evidence;
    const double missing = count.trained - found.numbers();
    if (missing <= count_agreement * count.trained) {
      const double factor = count.trained / found.numbers();
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
    : editor_(editor), table_(parameters_of(editor)), counts_(parameter_counts(editor)) {
  for (const ParameterUse& use : table_->uses) {
    if (use.role == ParameterRole::read) read_by_.emplace(use.task, use.parameter);
  }
}

std::vector<ReadSize> GradientFinder::trained_by(const TrainingPass& pass) const {
  std::vector<ReadSize> reads;
  std::set<ParameterId> seen;  // a parameter has one gradient, however many kernels read it
  for (std::size_t i = 0; i < pass.forward.size(); ++i) {
    const auto [first, last] = read_by_.equal_range(pass.forward[i]);
    for (auto use = first; use != last; ++use) {
      const Parameter& row = table_->rows[index(use->second)];
      const double trained = row.elements * row.trained;
      if (trained > 0 && seen.insert(use->second).second) reads.push_back({i, trained});
    }
  }
  return reads;
}

Gradients GradientFinder::of(const TrainingPass& pass, double parameters) const {
  const Finder finder(editor_, pass);
  if (parameters > 0) {
    return finder.fitted({}, {parameters, "as given", parameters, 0, parameters});
  }
  const auto counted = counts_.find(device_of(editor_.graph(), pass.backward.front()));
  if (counted == counts_.end() || !(counted->second.trained > 0)) return {};
  const ParameterCount& count = counted->second;
  Gradients accumulated = finder.accumulated();
  const bool agrees = std::abs(accumulated.numbers() / count.trained - 1) < count_agreement;
  return finder.fitted(agrees ? std::move(accumulated) : finder.weights(trained_by(pass)), count);
}

}  // namespace foretrace::editing
