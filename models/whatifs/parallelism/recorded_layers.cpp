// Forward kernels are cut where a block of modules begins, or where the pass repeats; the backward
// pass is cut where kernels name the modules, or where it has spent the same share of its time.
#include "models/whatifs/parallelism/recorded_layers.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "models/editing/chains/repeats.h"
#include "models/editing/kernels/attention_core.h"
#include "models/editing/tensors/model_state.h"

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

/// How often attention runs in a forward pass, fused or not.
std::size_t attention_count(const KernelEditor& editor, const TrainingPass& pass) {
  std::set<TaskId> forward(pass.forward.begin(), pass.forward.end());
  std::size_t fused = 0;
  TaskId last = none<TaskId>;
  for (const TaskId kernel : pass.forward) {
    if (editor.class_of(kernel) != KernelClass::attention) continue;
    // One call may be several kernels in a row.
    if (last == none<TaskId> || next_on_lane(editor.graph(), last) != kernel) ++fused;
    last = kernel;
  }
  if (fused > 0) return fused;
  const std::vector<AttentionCore> cores = find_attention_cores(editor);
  return static_cast<std::size_t>(
      std::count_if(cores.begin(), cores.end(), [&forward](const AttentionCore& core) {
        return !core.backward && !core.kernels.empty() && forward.contains(core.kernels.front());
      }));
}

Cuts repeating_cuts(const KernelEditor& editor, const TrainingPass& pass) {
  const std::size_t count = attention_count(editor, pass);
  if (count < 2) return {};
  for (const SameBy by : {SameBy::work, SameBy::operator_called}) {
    const Repeats found = longest_repeats(kernel_items(editor, pass.forward, by), count);
    if (found.period == 0) continue;
    Cuts cuts;
    for (std::size_t i = 0; i < count; ++i) cuts.push_back(found.begin + i * found.period);
    const std::size_t end = found.begin + count * found.period;
    if (end < pass.forward.size()) cuts.push_back(end);
    return cuts;
  }
  return {};
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
    case LayerEvidence::attention: return "repeats around attention";
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
      found.evidence = LayerEvidence::attention;
      cuts = repeating_cuts(editor, pass);
    }
  }
  if (cuts.empty()) {
    return Error{ErrorCode::no_match,
                 "the trace does not tell its layers: it names no modules, and no part with "
                 "attention repeats; expected a recording with with_modules=True, or layers=N for "
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
    found.list.push_back(std::move(layer));
  }
  divide_backward(editor.graph(), pass, found.list);
  return found;
}

}  // namespace foretrace::editing
