// Forward kernels are cut where a block of modules begins, or where weights of the same sizes come
// again, or else at the products that have weights: what is fused, encoded or computed otherwise
// between these moves no cut. The backward
// pass is cut where kernels name the modules, or where it has spent the same share of its time.
#include "models/jobs/recordings/recorded_layers.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "models/editing/parameters/model_state.h"
#include "models/editing/parameters/weight_uses.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

/// Backward kernels are cut by their modules if so many of them name one.
constexpr double enough_named = 0.3;

using Cuts = std::vector<std::size_t>;  // where layers begin, ascending

Cuts beginnings(const std::vector<PassSegment>& segments) {
  Cuts cuts;
  for (const PassSegment& segment : segments) cuts.push_back(segment.begin);
  return cuts;
}

/// A forward kernel that multiplies by a weight, with the numbers in it.
struct WeightProduct {
  std::size_t at = 0;  ///< place in the forward pass
  double numbers = 0;
};

/// Numbers in the weights of a recurrent layer, which are a list: _cudnn_rnn(input, weights, ...).
double recurrent_numbers(const KernelEditor& editor, TaskId kernel) {
  if (!contains_any(editor.operator_of(kernel), {"rnn", "lstm", "gru"})) return 0;
  const OperatorInputs inputs = editor.inputs_of(kernel);
  if (inputs.tensors.size() < 2 || inputs.tensors[1].size() < 2) return 0;
  double numbers = 0;
  for (const Dims& dims : inputs.tensors[1]) numbers += element_count(dims);
  return numbers;
}

bool are_of_one_operator(const TaskGraph& graph, TaskId a, TaskId b) {
  return graph.work(a).operator_name == graph.work(b).operator_name &&
         graph.work(a).shapes == graph.work(b).shapes;
}

/// Whether a kernel is one more of the call that `first` is of. A call launches its kernels one
/// after the other; what-ifs put codecs, casts and second factors between them.
bool continues_call(const KernelEditor& editor, const TrainingPass& pass, std::size_t first,
                    std::size_t next) {
  const TaskGraph& graph = editor.graph();
  const TaskId begin = pass.forward[first];
  return std::all_of(
      pass.forward.begin() + static_cast<std::ptrdiff_t>(first),
      pass.forward.begin() + static_cast<std::ptrdiff_t>(next + 1), [&](TaskId kernel) {
        return are_of_one_operator(graph, begin, kernel) ||
               contains_any(editor.operator_of(kernel), {"copy", "reduce_rows", "aten::bmm"});
      });
}

std::vector<WeightProduct> weight_products(const KernelEditor& editor, const TrainingPass& pass) {
  std::map<std::size_t, double> products;  // by the place of a call's first kernel
  for (const WeightUse& use : weight_uses(editor, pass.forward)) {
    const KernelClass kernel_class = editor.class_of(pass.forward[use.kernel]);
    if (kernel_class != KernelClass::gemm && kernel_class != KernelClass::convolution) continue;
    // Scaling the result and the sum of a product that splits k are parts of it.
    if (contains_any(editor.graph().name(pass.forward[use.kernel]),
                     {"splitKreduce", "scal_kernel"}))
      continue;
    products.emplace(use.kernel, use.sizes.front());
  }
  for (std::size_t i = 0; i < pass.forward.size(); ++i) {
    const double numbers = recurrent_numbers(editor, pass.forward[i]);
    if (numbers > 0) products.emplace(i, numbers);
  }
  std::vector<WeightProduct> calls;
  for (const auto& [at, numbers] : products) {
    // Products in a row are calls of their own.
    const bool may_go_on =
        !calls.empty() && (contains(editor.operator_of(pass.forward[at]), "conv") ||
                           recurrent_numbers(editor, pass.forward[at]) > 0);
    if (may_go_on && continues_call(editor, pass, calls.back().at, at)) continue;
    calls.push_back({at, numbers});
  }
  return calls;
}

/// `count` runs of `period` products each that have weights of the same sizes.
struct EqualRuns {
  std::size_t begin = 0;
  std::size_t period = 0;
  std::size_t count = 0;
  [[nodiscard]] std::size_t end() const { return begin + period * count; }
};

/// Those that cover the most; of equal ones the shortest, then the first.
EqualRuns longest_runs(std::span<const WeightProduct> products) {
  EqualRuns longest;
  for (std::size_t period = 1; 2 * period <= products.size(); ++period) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i + period <= products.size(); ++i) {
      const bool goes_on =
          i + period < products.size() && products[i].numbers == products[i + period].numbers;
      if (goes_on) {
        ++equal;
        continue;
      }
      const std::size_t count = (equal + period) / period;
      if (count > 1 && count * period > longest.count * longest.period) {
        longest = {i - equal, period, count};
      }
      equal = 0;
    }
  }
  return longest;
}

/// Of the recurrent calls between two places.
double recurrent_in(const KernelEditor& editor, const TrainingPass& pass,
                    std::span<const WeightProduct> products, const PassSegment& part) {
  double numbers = 0;
  for (const WeightProduct& call : products) {
    if (call.at < part.begin || call.at >= part.end) continue;
    numbers += recurrent_numbers(editor, pass.forward[call.at]);
  }
  return numbers;
}

/// Kernels before the first product of a run that belong to it: those that every run has there, up
/// to the first that reads a parameter. Of a norm in front of attention each layer has its own; one
/// behind the layer before is missing in front of the first.
std::size_t led_by(const KernelEditor& editor, const TrainingPass& pass,
                   const std::vector<std::size_t>& firsts) {
  std::size_t lead = 0;
  for (std::size_t back = 1; back <= firsts.front(); ++back) {
    const TaskId kernel = pass.forward[firsts.front() - back];
    const KernelClass kernel_class = editor.class_of(kernel);
    if (kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution) break;
    const bool all = std::all_of(firsts.begin(), firsts.end(), [&](std::size_t first) {
      return first >= back && editor.class_of(pass.forward[first - back]) == kernel_class;
    });
    if (!all) break;
    if (kernel_class == KernelClass::normalization) lead = back;
  }
  return lead;
}

/// Layers that do the same begin where their weights do again; before and behind them others may.
/// False where no repeats are most of it.
bool cut_at_repeats(const KernelEditor& editor, const TrainingPass& pass,
                    std::span<const WeightProduct> products, Cuts& cuts) {
  const EqualRuns runs = longest_runs(products);
  if (2 * runs.period * runs.count <= products.size()) return false;
  cut_at_repeats(editor, pass, products.subspan(0, runs.begin), cuts);
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < runs.count; ++i) {
    firsts.push_back(products[runs.begin + i * runs.period].at);
  }
  const std::size_t lead = led_by(editor, pass, firsts);
  for (const std::size_t first : firsts) cuts.push_back(first - lead);
  const auto behind = products.subspan(runs.end());
  if (!behind.empty() && !cut_at_repeats(editor, pass, behind, cuts)) {
    cuts.push_back(behind.front().at);
  }
  return true;
}

/// Two tensors of the largest size become one: the end of a residual block. What was fused has its
/// result among its inputs.
bool joins_two(const KernelEditor& editor, TaskId kernel) {
  const std::string_view name = editor.operator_of(kernel);
  const bool fused = name.starts_with("fusion:") && !name.starts_with("fusion:reduce_");
  if (!fused && name != "aten::add" && name != "aten::add_") return false;
  const OperatorInputs inputs = editor.inputs_of(kernel);
  const Dims* data = inputs.shape(0);
  if (data == nullptr || data->size() < 3) return false;
  const auto equal = std::count_if(
      inputs.tensors.begin(), inputs.tensors.end(),
      [data](const auto& tensors) { return tensors.size() == 1 && tensors.front() == *data; });
  return equal >= (fused ? 3 : 2);
}

/// Where nothing repeats, a layer begins at each product, or where branches are never joined at the
/// first product behind each joining.
Cuts cuts_at_products(const KernelEditor& editor, const TrainingPass& pass,
                      const std::vector<WeightProduct>& products) {
  Cuts every;
  Cuts behind_joins;
  std::size_t kernel = 0;
  for (const WeightProduct& product : products) {
    every.push_back(product.at);
    bool joined = false;
    for (; kernel < product.at; ++kernel) {
      joined = joined || joins_two(editor, pass.forward[kernel]);
    }
    if (joined) behind_joins.push_back(product.at);
  }
  return behind_joins.size() > 1 ? behind_joins : every;
}

/// Of those that do not stand before `from` in program order.
std::int64_t time_of(const TaskGraph& graph, const std::vector<TaskId>& kernels,
                     TaskId from = TaskId{0}) {
  std::int64_t ns = 0;
  for (const TaskId kernel : kernels) ns += kernel < from ? 0 : graph.duration_ns(kernel);
  return ns;
}

/// The layer of each backward kernel by its module; none of them: -1.
std::vector<int> layers_by_module(const TaskGraph& graph, const std::vector<PassLayer>& layers,
                                  const std::vector<TaskId>& backward) {
  std::map<LayerId, int> owner;  // of modules that one layer alone has
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const TaskId kernel : layers[i].forward) {
      const LayerId module = graph.layer(kernel);
      if (module == none<LayerId> || index(module) == 0) continue;
      const auto [at, is_new] = owner.try_emplace(module, static_cast<int>(i));
      if (!is_new && at->second != static_cast<int>(i)) at->second = -1;
    }
  }
  std::vector<int> layer_of;
  for (const TaskId kernel : backward) {
    const auto found = owner.find(graph.layer(kernel));
    layer_of.push_back(found == owner.end() ? -1 : found->second);
  }
  return layer_of;
}

void divide_backward(const TaskGraph& graph, const TrainingPass& pass,
                     std::vector<PassLayer>& layers) {
  const std::vector<int> named = layers_by_module(graph, layers, pass.backward);
  const auto known = static_cast<double>(
      std::count_if(named.begin(), named.end(), [](int layer) { return layer >= 0; }));
  const bool by_module = known >= enough_named * static_cast<double>(named.size());
  const TaskId trained = pass.forward[pass.trains_from];  // nothing undoes what is before it
  const auto forward_ns = static_cast<double>(time_of(graph, pass.forward, trained));
  const auto backward_ns = static_cast<double>(time_of(graph, pass.backward));
  std::size_t at = 0;
  double passed = 0;
  double share = 0;
  for (std::size_t i = layers.size(); i-- > 0;) {
    PassLayer& layer = layers[i];
    share += forward_ns > 0
                 ? static_cast<double>(time_of(graph, layer.forward, trained)) / forward_ns
                 : 0;
    std::size_t end = at;
    if (i == 0) {
      end = pass.backward.size();
    } else if (by_module) {
      for (std::size_t k = at; k < named.size(); ++k) {
        if (named[k] >= static_cast<int>(i)) end = k + 1;
      }
    } else {
      double until = passed;
      for (std::size_t k = at; k < pass.backward.size(); ++k) {
        until += static_cast<double>(graph.duration_ns(pass.backward[k]));
        if (until > share * backward_ns * (1 + 1e-9)) break;
        end = k + 1;
      }
    }
    for (; at < end; ++at) {
      layer.backward.push_back(pass.backward[at]);
      passed += static_cast<double>(graph.duration_ns(pass.backward[at]));
    }
  }
}

}  // namespace

std::string_view to_string(LayerEvidence evidence) {
  switch (evidence) {
    case LayerEvidence::modules: return "recorded modules";
    case LayerEvidence::repeats: return "repeats of weights";
    case LayerEvidence::weights: return "products with weights";
    case LayerEvidence::parts: return "parts of equal time";
  }
  return "";
}

Result<PassLayers> find_layers(const KernelEditor& editor, const TrainingPass& pass,
                               std::size_t count) {
  PassLayers found;
  Cuts cuts;
  TrainingPass whole = pass;  // layers that are not trained are layers, too
  whole.trains_from = 0;
  const std::vector<WeightProduct> products = weight_products(editor, pass);
  if (count > 0) {
    if (count > pass.forward.size()) {
      return Error{ErrorCode::no_match,
                   fmt::format("layers: got {}, expected at most the {} kernels of a forward pass",
                               count, pass.forward.size())};
    }
    found.evidence = LayerEvidence::parts;
    cuts = beginnings(equal_segments(editor, whole, count));
  } else {
    cuts = beginnings(block_segments(editor, whole));
    if (cuts.empty()) {
      found.evidence = LayerEvidence::repeats;
      if (!cut_at_repeats(editor, pass, products, cuts)) {
        found.evidence = LayerEvidence::weights;
        cuts = cuts_at_products(editor, pass, products);
      }
    }
  }
  if (cuts.size() < 2 && count == 0) {
    return Error{ErrorCode::no_match,
                 "the trace contains no layers: it names no modules, and fewer than two products "
                 "with weights of recorded shapes; record with with_modules=True, or layers=N for "
                 "N parts of equal time"};
  }
  const std::map<TaskId, ReadNumbers> read = numbers_by_reader(editor);
  if (cuts.front() > 0) cuts.insert(cuts.begin(), 0);
  cuts.push_back(pass.forward.size());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    PassLayer layer;
    layer.forward.assign(pass.forward.begin() + static_cast<std::ptrdiff_t>(cuts[i]),
                         pass.forward.begin() + static_cast<std::ptrdiff_t>(cuts[i + 1]));
    for (const TaskId kernel : layer.forward) {
      const auto numbers = read.find(kernel);
      if (numbers == read.end()) continue;
      layer.parameters += numbers->second.all;
      layer.trained += numbers->second.trained;
    }
    const double recurrent =
        recurrent_in(editor, pass, products, {cuts[i], cuts[i + 1], none<TaskId>});
    layer.parameters += recurrent;
    layer.trained += recurrent;
    found.list.push_back(std::move(layer));
  }
  divide_backward(editor.graph(), pass, found.list);
  return found;
}

}  // namespace foretrace::editing
