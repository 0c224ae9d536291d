// Counts parameters from recorded shapes.
#include "trace/annotate/tensors/parameters.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include "trace/annotate/nesting.h"
#include "trace/annotate/tensors/operator_arguments.h"

namespace foretrace::trace {
namespace {

/// Which arguments of an operator are weights, and which are buffers.
struct WeightArguments {
  std::string_view name;
  std::array<int, 2> weights;  ///< -1: none
  std::array<int, 2> buffers;
};
constexpr std::array<WeightArguments, 17> weight_arguments = {{
    {"aten::addmm", {2, 0}, {-1, -1}},  // its product reads the weight transposed
    {"aten::batch_norm", {1, 2}, {3, 4}},
    {"aten::bilinear", {2, 3}, {-1, -1}},
    {"aten::conv1d", {1, 2}, {-1, -1}},
    {"aten::conv2d", {1, 2}, {-1, -1}},
    {"aten::conv3d", {1, 2}, {-1, -1}},
    {"aten::conv_transpose1d", {1, 2}, {-1, -1}},
    {"aten::conv_transpose2d", {1, 2}, {-1, -1}},
    {"aten::conv_transpose3d", {1, 2}, {-1, -1}},
    {"aten::convolution", {1, 2}, {-1, -1}},
    {"aten::embedding", {0, -1}, {-1, -1}},
    {"aten::embedding_bag", {0, -1}, {-1, -1}},
    {"aten::group_norm", {2, 3}, {-1, -1}},
    {"aten::layer_norm", {2, 3}, {-1, -1}},
    {"aten::linear", {1, 2}, {-1, -1}},
    {"aten::prelu", {1, -1}, {-1, -1}},
    {"aten::rms_norm", {2, -1}, {-1, -1}},
}};

const WeightArguments* arguments_of(std::string_view name) {
  const auto* const found =
      std::find_if(weight_arguments.begin(), weight_arguments.end(),
                   [&](const WeightArguments& row) { return row.name == name; });
  return found == weight_arguments.end() ? nullptr : &*found;
}

/// "Adam" of "Optimizer.step#Adam.step".
std::string_view optimizer_of(std::string_view name) {
  constexpr std::string_view prefix = "Optimizer.step#";
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  return name.substr(0, name.find('.'));
}

// With the most elements of one, sums stay far from overflow.
constexpr std::size_t most_tensors = std::size_t{1} << 18;

/// The gradient of one parameter, as the backward pass hands it to the parameter: once per pass.
struct HandedGradient {
  std::int64_t start_ns = 0;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  TrackId track{};
};
/// An operator that reads weights.
struct WeightRead {
  std::int64_t start_ns = 0;
  TrackId track{};
  bool in_backward = false;  // or in the update
};
constexpr std::string_view hands_gradient = "torch::autograd::AccumulateGrad";

class Counter {
 public:
  Counter(const EventTable& events, const Annotation& annotation)
      : events_(events), annotation_(annotation), nesting_(nest(events)), arguments_(events) {}

  ParameterEstimate run() {
    const auto step = std::find_if(annotation_.steps.begin(), annotation_.steps.end(),
                                   [](const StepWindow& s) { return !s.degenerate; });
    std::vector<bool> counted(events_.size(), false);
    for (const EventId event : nesting_.order) {
      const EventId parent = nesting_.parent_of(event);
      const bool inside = parent != none<EventId> && counted[index(parent)];
      counted[index(event)] = inside;
      note_phase(event);
      const std::int64_t start = events_.start_ns[index(event)];
      const bool in_step =
          step == annotation_.steps.end() || (start >= step->start_ns && start < step->end_ns);
      if (inside || !in_step || events_.kind[index(event)] != EventKind::cpu_op) continue;
      if (events_.name_of(event) == hands_gradient) add_gradient(event);
      const WeightArguments* const arguments = arguments_of(events_.name_of(event));
      if (arguments == nullptr) continue;
      counted[index(event)] = true;
      const Phase phase = annotation_.phase[index(event)];
      const bool in_backward = phase == Phase::backward || phase == Phase::update;
      reads_.push_back({start, events_.track[index(event)], in_backward});
      if (in_backward) continue;  // recomputation, or no model
      for (const int argument : arguments->weights) add(event, argument, false);
      for (const int argument : arguments->buffers) add(event, argument, true);
    }
    mark_tied();
    take_gradients();
    return std::move(found_);
  }

 private:
  void note_phase(EventId event) {
    const Phase phase = annotation_.phase[index(event)];
    found_.trains = found_.trains || phase == Phase::backward || phase == Phase::update;
    if (events_.kind[index(event)] != EventKind::user_annotation) return;
    const std::string_view name = optimizer_of(events_.name_of(event));
    if (name.empty() || !found_.optimizer.empty()) return;
    found_.optimizer = name;
    if (name.starts_with("Adam") || name == "NAdam" || name == "RAdam") found_.states = 2;
    if (name == "RMSprop" || name == "Adagrad") found_.states = 1;
  }

  void add(EventId event, int argument, bool is_buffer) {
    if (argument < 0) return;
    const TensorShape* const shape =
        arguments_.of(event).tensor(static_cast<std::size_t>(argument));
    if (shape == nullptr || shape->rank == 0 || found_.tensors.size() == most_tensors) return;
    const std::int64_t elements = shape->elements();
    if (elements == 0) return;
    // A module that runs twice in a step reads the same weights again.
    const std::uint32_t layer = annotation_.layer[index(event)];
    if (layer != 0 &&
        !seen_.insert({layer, events_.name[index(event)], argument, shape->dims}).second) {
      return;
    }
    const std::int64_t bytes = shape->bytes();
    found_.tensors.push_back({event, elements, bytes, is_buffer, false});
    (is_buffer ? found_.buffer_bytes : found_.parameter_bytes) += bytes;
    found_.parameters += is_buffer ? 0 : elements;
  }

  void add_gradient(EventId event) {
    const TensorShape* const shape = arguments_.of(event).tensor(0);
    if (shape == nullptr || gradients_.size() == most_tensors) return;
    gradients_.push_back({events_.start_ns[index(event)], shape->elements(), shape->bytes(),
                          events_.track[index(event)]});
  }

  /// What one backward pass hands over is all that trains: weights that no operator above names
  /// (recurrent layers, custom ones), and tied ones once. Less is a part, where the rest is frozen.
  /// Between two passes a forward pass reads weights, often on another thread; the thread of the
  /// backward pass reads them to compute once more.
  void take_gradients() {
    std::sort(gradients_.begin(), gradients_.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    std::sort(reads_.begin(), reads_.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    auto read = reads_.begin();
    HandedGradient most;
    HandedGradient pass;
    for (const HandedGradient& gradient : gradients_) {
      bool is_next_pass = false;
      for (; read != reads_.end() && read->start_ns < gradient.start_ns; ++read) {
        is_next_pass = is_next_pass || !read->in_backward || read->track != gradient.track;
      }
      if (is_next_pass) pass = {};
      pass = {gradient.start_ns, pass.elements + gradient.elements, pass.bytes + gradient.bytes,
              gradient.track};
      if (pass.elements > most.elements) most = pass;
    }
    if (most.bytes < found_.parameter_bytes - found_.tied_bytes) return;
    found_.parameters = most.elements;
    found_.parameter_bytes = most.bytes;
    found_.tied_bytes = 0;
  }

  /// A product with as many weights as an embedding is, more often than not, the embedding.
  void mark_tied() {
    std::set<std::int64_t> embeddings;  // elements: products read weights transposed
    for (ParameterTensor& tensor : found_.tensors) {
      if (events_.name_of(tensor.event) == "aten::embedding") {
        embeddings.insert(tensor.elements);
      } else if (embeddings.contains(tensor.elements) && !tensor.is_buffer) {
        tensor.may_be_tied = true;
        found_.tied_bytes += tensor.bytes;
      }
    }
  }

  const EventTable& events_;
  const Annotation& annotation_;
  Nesting nesting_;
  ArgumentTable arguments_;
  std::set<std::tuple<std::uint32_t, NameId, int, decltype(TensorShape::dims)>> seen_;
  std::vector<HandedGradient> gradients_;
  std::vector<WeightRead> reads_;
  ParameterEstimate found_;
};

}  // namespace

ModelArgument model_argument(std::string_view operator_name, int position) {
  const WeightArguments* const known = arguments_of(operator_name);
  if (known == nullptr) return ModelArgument::unknown;
  const auto has = [&](const std::array<int, 2>& positions) {
    return std::find(positions.begin(), positions.end(), position) != positions.end();
  };
  if (has(known->weights)) return ModelArgument::weight;
  return has(known->buffers) ? ModelArgument::buffer : ModelArgument::data;
}

ParameterEstimate estimate_parameters(const EventTable& events, const Annotation& annotation) {
  return Counter(events, annotation).run();
}

}  // namespace foretrace::trace
