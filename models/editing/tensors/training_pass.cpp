// A forward kernel after a backward one begins the next pass; a stage of a pipeline does several
// micro-batches in a row, each of which is one.
#include "models/editing/tensors/training_pass.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

std::int64_t time_of(const TaskGraph& graph, const std::vector<TaskId>& kernels, std::size_t begin,
                     std::size_t end) {
  std::int64_t ns = 0;
  for (std::size_t i = begin; i < end; ++i) ns += graph.duration_ns(kernels[i]);
  return ns;
}

// Child of `root` on the path from the root of modules to `layer`; none if root is not on it.
LayerId child_towards(const std::vector<Layer>& layers, LayerId layer, LayerId root) {
  LayerId child = none<LayerId>;
  // Parents come first, so that the path cannot be longer than the list.
  for (std::size_t step = 0; step <= layers.size(); ++step) {
    if (layer == root) return child;
    if (layer == none<LayerId> || index(layer) == 0 || index(layer) >= layers.size()) break;
    child = layer;
    layer = layers[index(layer)].parent;
  }
  return root == none<LayerId> || index(root) == 0 ? child : none<LayerId>;
}

// The child of `root` for every forward kernel, and how many are in each.
struct Children {
  std::vector<LayerId> of_kernel;
  std::map<LayerId, std::size_t> kernels;
};

Children children_of(const TaskGraph& graph, const std::vector<TaskId>& kernels, LayerId root) {
  Children children;
  for (const TaskId kernel : kernels) {
    const LayerId child = child_towards(graph.context().layers, graph.layer(kernel), root);
    children.of_kernel.push_back(child);
    if (child != none<LayerId>) ++children.kernels[child];
  }
  return children;
}

// Descends while one child holds more than half of the kernels, however fast they are.
Children find_blocks(const TaskGraph& graph, const std::vector<TaskId>& kernels) {
  const std::size_t half = kernels.size() / 2;
  Children children = children_of(graph, kernels, LayerId{0});
  for (std::size_t depth = 0; depth < graph.context().layers.size(); ++depth) {
    const auto heavy = std::find_if(children.kernels.begin(), children.kernels.end(),
                                    [&](const auto& entry) { return entry.second > half; });
    if (heavy == children.kernels.end()) break;
    Children below = children_of(graph, kernels, heavy->first);
    if (below.kernels.empty()) break;
    children = std::move(below);
  }
  return children;
}

bool has_kernels_of(const TaskGraph& graph, Phase phase) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (graph.phase(task) == phase && graph.kind(task) == TaskKind::kernel) return true;
  }
  return false;
}

// What-ifs that do not train all layers said where gradients end.
void mark_frozen(const TaskGraph& graph, std::vector<TrainingPass>& passes) {
  if (graph.context().parameters == nullptr) return;
  std::set<TaskId> ends;
  for (const ParameterUse& use : graph.context().parameters->uses) {
    if (use.role == ParameterRole::trains_from) ends.insert(use.task);
  }
  if (ends.empty()) return;
  for (TrainingPass& pass : passes) {
    for (std::size_t i = 0; i < pass.forward.size(); ++i) {
      if (ends.contains(pass.forward[i])) pass.trains_from = i;
    }
  }
}

// Kernels of a device in program order, in runs of one phase.
struct DeviceRuns {
  std::vector<std::vector<TaskId>> forward;
  std::vector<std::vector<TaskId>> backward;
  bool is_backward = false;
  bool begins_backward = false;  // of a pass that is not recorded

  void add(TaskId kernel, bool undoes) {
    auto& runs = undoes ? backward : forward;
    if (undoes && forward.empty()) begins_backward = true;
    if (runs.empty() || is_backward != undoes) runs.emplace_back();
    is_backward = undoes;
    runs.back().push_back(kernel);
  }
};

// Ranks that pass activations on: several micro-batches follow each other there.
std::set<std::int32_t> stages_of(const TaskGraph& graph) {
  std::set<std::int32_t> ranks;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    const CollectiveKind kind = graph.work(task).collective;
    const bool passes_on = kind == CollectiveKind::send || kind == CollectiveKind::receive ||
                           kind == CollectiveKind::send_receive;
    if (passes_on && graph.kind(task) == TaskKind::collective) ranks.insert(graph.lane(task).rank);
  }
  return ranks;
}

// Runs cut to pieces of `size` kernels whose layers are those of the first piece; empty where they
// are not made of such.
std::vector<std::vector<TaskId>> cut(const TaskGraph& graph,
                                     const std::vector<std::vector<TaskId>>& runs,
                                     std::size_t size) {
  std::vector<std::vector<TaskId>> pieces;
  for (const std::vector<TaskId>& run : runs) {
    if (size == 0 || run.size() % size != 0) return {};
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (i % size == 0) pieces.emplace_back();
      pieces.back().push_back(run[i]);
      if (graph.layer(run[i]) != graph.layer(pieces.front()[i % size])) return {};
    }
  }
  return pieces;
}

// Kernels of the first run until it is back in the layer that it began in.
std::size_t piece_size(const TaskGraph& graph, const std::vector<TaskId>& run) {
  const LayerId first = graph.layer(run.front());
  bool has_left = false;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool is_back = graph.layer(run[i]) == first;
    if (is_back && has_left) return i;
    has_left = has_left || !is_back;
  }
  return run.size();
}

// Micro-batches of a stage, which are undone in their order: passes of equal layers. Empty where
// runs of kernels are not made of such.
std::vector<TrainingPass> micro_batches(const TaskGraph& graph, const DeviceRuns& runs) {
  if (runs.forward.empty() || runs.backward.empty()) return {};
  const auto forward = cut(graph, runs.forward, piece_size(graph, runs.forward.front()));
  if (forward.empty()) return {};
  std::size_t kernels = 0;
  for (const std::vector<TaskId>& run : runs.backward) kernels += run.size();
  if (kernels % forward.size() != 0) return {};
  const auto backward = cut(graph, runs.backward, kernels / forward.size());
  if (backward.size() != forward.size()) return {};
  std::vector<TrainingPass> passes(forward.size());
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (index(backward[i].front()) < index(forward[i].back())) return {};
    passes[i].forward = forward[i];
    passes[i].backward = backward[i];
  }
  return passes;
}

// A run of forward kernels, and the backward ones behind it.
std::vector<TrainingPass> whole_runs(const DeviceRuns& runs) {
  std::vector<TrainingPass> passes;
  const std::size_t skipped = runs.begins_backward ? 1 : 0;
  for (std::size_t i = 0; i < runs.forward.size() && i + skipped < runs.backward.size(); ++i) {
    passes.push_back({runs.forward[i], runs.backward[i + skipped], 0});
  }
  return passes;
}

template <typename PassesOf>
std::vector<TrainingPass> passes_of(const KernelEditor& editor, const PassesOf& passes_of_device) {
  const TaskGraph& graph = editor.graph();
  std::map<DeviceOfRank, DeviceRuns> devices;
  for (const TaskId kernel : editor.kernels()) {
    const Phase phase = graph.phase(kernel);
    if (phase != Phase::forward && phase != Phase::backward) continue;
    devices[device_of(graph, kernel)].add(kernel, phase == Phase::backward);
  }
  std::vector<TrainingPass> passes;
  for (const auto& [device, runs] : devices) {
    std::vector<TrainingPass> found = passes_of_device(device, runs);
    std::move(found.begin(), found.end(), std::back_inserter(passes));
  }
  std::sort(passes.begin(), passes.end(), [](const TrainingPass& a, const TrainingPass& b) {
    return index(a.backward.back()) < index(b.backward.back());
  });
  mark_frozen(graph, passes);
  return passes;
}

}  // namespace

bool trains(const TaskGraph& graph) {
  return has_kernels_of(graph, Phase::backward) || has_kernels_of(graph, Phase::update);
}

bool only_infers(const TaskGraph& graph) {
  return has_kernels_of(graph, Phase::forward) && !trains(graph);
}

std::vector<TrainingPass> find_passes(const KernelEditor& editor) {
  const std::set<std::int32_t> stages = stages_of(editor.graph());
  return passes_of(editor, [&](const DeviceOfRank& device, const DeviceRuns& runs) {
    std::vector<TrainingPass> found;
    if (stages.contains(device.first)) found = micro_batches(editor.graph(), runs);
    return found.empty() ? whole_runs(runs) : found;
  });
}

std::vector<TrainingPass> find_passes_in_turn(const KernelEditor& editor) {
  return passes_of(editor, [](const DeviceOfRank& /*device*/, const DeviceRuns& runs) {
    return whole_runs(runs);
  });
}

TaskId mirror_of(const KernelEditor& editor, const TrainingPass& pass, std::size_t position,
                 bool with_call) {
  const TaskGraph& graph = editor.graph();
  if (position < pass.trains_from) return none<TaskId>;
  const std::int64_t whole = time_of(graph, pass.forward, pass.trains_from, pass.forward.size());
  const std::int64_t after = time_of(graph, pass.forward, position + 1, pass.forward.size());
  const std::int64_t backward = time_of(graph, pass.backward, 0, pass.backward.size());
  const double share = whole == 0 ? 0 : static_cast<double>(after) / static_cast<double>(whole);
  const double until = share * static_cast<double>(backward);
  double passed = 0;
  for (const TaskId kernel : pass.backward) {
    passed += static_cast<double>(graph.duration_ns(kernel));
    const bool fits = !with_call || editor.own_call(kernel) != none<TaskId>;
    if (passed > until && fits) return kernel;
  }
  return none<TaskId>;
}

std::vector<PassSegment> equal_segments(const KernelEditor& editor, const TrainingPass& pass,
                                        std::size_t count) {
  const TaskGraph& graph = editor.graph();
  const std::int64_t whole = time_of(graph, pass.forward, pass.trains_from, pass.forward.size());
  std::vector<PassSegment> segments;
  std::size_t begin = pass.trains_from;
  std::int64_t passed = 0;
  for (std::size_t i = begin; i < pass.forward.size(); ++i) {
    passed += graph.duration_ns(pass.forward[i]);
    const auto due = static_cast<double>(whole) * static_cast<double>(segments.size() + 1) /
                     static_cast<double>(std::max<std::size_t>(count, 1));
    const bool last = i + 1 == pass.forward.size();
    if (!last && (static_cast<double>(passed) < due || segments.size() + 1 == count)) continue;
    segments.push_back({begin, i + 1, mirror_of(editor, pass, i)});
    begin = i + 1;
  }
  return segments;
}

std::vector<PassSegment> block_segments(const KernelEditor& editor, const TrainingPass& pass) {
  const TaskGraph& graph = editor.graph();
  const std::vector<Layer>& layers = graph.context().layers;
  const Children blocks = find_blocks(graph, pass.forward);
  std::vector<PassSegment> segments;
  std::vector<LayerId> block;  // of each segment
  for (std::size_t i = pass.trains_from; i < pass.forward.size(); ++i) {
    const LayerId child = blocks.of_kernel[i];
    const bool continues = !block.empty() && block.back() == child && segments.back().end == i;
    if (continues) {
      segments.back().end = i + 1;
    } else if (child != none<LayerId>) {
      segments.push_back({i, i + 1, none<TaskId>});
      block.push_back(child);
    }
  }
  if (segments.size() < 2) return {};  // one wrapper around everything is no block
  std::map<LayerId, TaskId> first_use;
  for (const TaskId kernel : pass.backward) {
    if (editor.own_call(kernel) == none<TaskId>) continue;
    for (LayerId layer = graph.layer(kernel); layer != none<LayerId> && index(layer) != 0;
         layer = layers[index(layer)].parent) {
      first_use.try_emplace(layer, kernel);
    }
  }
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const auto use = first_use.find(block[s]);
    segments[s].needed_by =
        use != first_use.end() ? use->second : mirror_of(editor, pass, segments[s].end - 1);
  }
  return segments;
}

std::size_t count_products(const KernelEditor& editor, const std::vector<TaskId>& kernels) {
  return static_cast<std::size_t>(std::count_if(kernels.begin(), kernels.end(), [&](TaskId kernel) {
    const KernelClass kernel_class = editor.class_of(kernel);
    return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
           kernel_class == KernelClass::attention;
  }));
}

double stashed_bytes(const KernelEditor& editor, const TrainingPass& pass, std::size_t begin,
                     std::size_t end) {
  const TaskGraph& graph = editor.graph();
  if (graph.context().tensors.empty() || begin >= end)
    return graph.context().tensors.empty() ? -1 : 0;
  // A tensor is allocated in the host time before the call that launches its first kernel. Host
  // tasks of all threads are numbered in the order of their calls.
  const TaskId first = launch_of(graph, pass.forward[begin]);
  const TaskId last = launch_of(graph, pass.forward[end - 1]);
  const TaskId backward = launch_of(graph, pass.backward.front());
  if (first == none<TaskId> || last == none<TaskId> || backward == none<TaskId>) return -1;
  double bytes = 0;
  for (const Tensor& tensor : graph.context().tensors) {
    if (tensor.allocated_in == none<TaskId> || tensor.allocated_in < first ||
        tensor.allocated_in > last || tensor.freed_in < backward) {
      continue;  // freed_in is none, the largest id, for tensors that outlive the window
    }
    bytes += static_cast<double>(tensor.bytes);
  }
  return bytes;
}

}  // namespace foretrace::editing
