#include "sim/result/steps/step_summary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

namespace foretrace {
namespace {

enum class Stage : std::uint8_t {
  data_loading,
  forward,
  loss,
  backward,
  zero_gradients,
  update,
  communication,
  unknown
};
constexpr std::array<std::string_view, 8> stage_names = {
    "data loading",   "forward", "loss",          "backward",
    "zero gradients", "update",  "communication", "no stage"};

/// Modules below this depth count for the one above: names come from a file.
constexpr std::size_t deepest_module = 32;
constexpr std::size_t longest_name = 256;

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != text.end();
}

bool is_loss(std::string_view layer, std::string_view operator_name) {
  return contains(layer, "loss") || contains(operator_name, "loss") ||
         contains(operator_name, "cross_entropy");
}

/// The operators that write zeros; in an update they clear gradients.
bool writes_zeros(std::string_view operator_name) {
  return operator_name == "aten::zero_" || operator_name == "aten::_foreach_zero_" ||
         operator_name == "aten::fill_";
}

class Summarizer {
 public:
  explicit Summarizer(const TaskGraph& graph) : graph_(graph) {}

  StepSummary run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      add(make_id<TaskId>(i));
    }
    for (std::size_t s = 0; s < stage_names.size(); ++s) {
      finish(roots_[s], stage_names[s]);
    }
    return std::move(summary_);
  }

 private:
  /// A module while tasks are added to it; own figures only.
  struct Node {
    SummaryNode figures;
    std::map<std::string_view, Node> children;  // by name; views into the names of the graph
  };

  [[nodiscard]] std::string_view layer_of(TaskId task) const {
    return graph_.names()[graph_.context().layers[index(graph_.layer(task))].name];
  }

  [[nodiscard]] Stage stage_of(TaskId task, std::string_view layer) const {
    const std::string_view operator_name = graph_.names()[graph_.work(task).operator_name];
    switch (graph_.phase(task)) {
      case Phase::forward: return is_loss(layer, operator_name) ? Stage::loss : Stage::forward;
      case Phase::backward: return Stage::backward;
      case Phase::update:
        return writes_zeros(operator_name) ? Stage::zero_gradients : Stage::update;
      case Phase::data_loading: return Stage::data_loading;
      case Phase::communication: return Stage::communication;
      case Phase::unknown: break;
    }
    return Stage::unknown;
  }

  void add(TaskId task) {
    const TaskKind kind = graph_.kind(task);
    if (kind == TaskKind::mark) return;
    const std::string_view layer = layer_of(task);
    const Stage stage = stage_of(task, layer);
    const std::int64_t device_ns = is_device(kind) ? graph_.duration_ns(task) : 0;
    Node* node = &roots_[static_cast<std::size_t>(stage)];
    std::size_t depth = 0;
    for (std::size_t from = 0; from < layer.size(); ++depth) {
      const std::size_t to =
          depth < deepest_module ? std::min(layer.find('/', from), layer.size()) : layer.size();
      node = &node->children[layer.substr(from, std::min(to - from, longest_name))];
      from = to + 1;
    }
    node->figures.operations += is_device(kind) ? 1 : 0;
    node->figures.device_ns += device_ns;
    node->figures.host_ns += is_host(kind) ? graph_.duration_ns(task) + graph_.segment_ns(task) : 0;
    summary_.device_ns += device_ns;
    summary_.in_stage_ns += stage == Stage::unknown ? 0 : device_ns;
    if (stage == Stage::forward || stage == Stage::loss || stage == Stage::backward) {
      summary_.could_be_in_module_ns += device_ns;
      summary_.in_module_ns += layer.empty() ? 0 : device_ns;
    }
  }

  /// "Linear_12" -> "Linear_*", "layer.3" -> "layer.*".
  static std::string without_number(std::string_view name) {
    std::size_t end = name.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) {
      --end;
    }
    return end == name.size() || end == 0 ? std::string(name)
                                          : std::string(name.substr(0, end)) + '*';
  }

  /// Two modules of one shape have the same text.
  static std::string shape_of(const SummaryNode& node) {
    std::string shape = without_number(node.name) + 'x' + std::to_string(node.repeats) + '(';
    std::vector<std::string> below;
    for (const SummaryNode& child : node.children) {
      below.push_back(shape_of(child));
    }
    std::sort(below.begin(), below.end());
    for (const std::string& text : below) {
      shape += text + ',';
    }
    return shape + ')';
  }

  static void add_figures(SummaryNode& sum, const SummaryNode& part) {
    sum.operations += part.operations;
    sum.device_ns += part.device_ns;
    sum.host_ns += part.host_ns;
  }

  /// Into one of the same shape: children meet theirs by shape.
  static void merge(SummaryNode& into, const SummaryNode& from) {
    into.name = without_number(into.name);
    add_figures(into, from);
    std::multimap<std::string, SummaryNode*> mine;
    for (SummaryNode& child : into.children) {
      mine.emplace(shape_of(child), &child);
    }
    for (const SummaryNode& child : from.children) {
      const auto found = mine.find(shape_of(child));
      merge(*found->second, child);
      mine.erase(found);
    }
  }

  static std::vector<SummaryNode> fold(std::vector<SummaryNode> nodes) {
    std::map<std::string, std::size_t> by_shape;
    std::vector<SummaryNode> folded;
    for (SummaryNode& node : nodes) {
      const auto [at, is_new] = by_shape.emplace(shape_of(node), folded.size());
      if (is_new) {
        folded.push_back(std::move(node));
        continue;
      }
      SummaryNode& first = folded[at->second];
      merge(first, node);
      ++first.repeats;
    }
    std::stable_sort(folded.begin(), folded.end(), [](const SummaryNode& a, const SummaryNode& b) {
      return std::pair(a.device_ns, a.host_ns) > std::pair(b.device_ns, b.host_ns);
    });
    return folded;
  }

  static SummaryNode tree_of(const Node& node, std::string_view name) {
    SummaryNode tree = node.figures;
    tree.name = name;
    for (const auto& [child, below] : node.children) {
      tree.children.push_back(tree_of(below, child));
      add_figures(tree, tree.children.back());
    }
    tree.children = fold(std::move(tree.children));
    return tree;
  }

  /// A module that is nothing but its only child takes the child's place.
  static void lift(SummaryNode& node) {
    for (SummaryNode& child : node.children) {
      lift(child);
      while (child.children.size() == 1 && child.children[0].device_ns == child.device_ns &&
             child.children[0].operations == child.operations) {
        SummaryNode only = std::move(child.children[0]);
        only.name = child.name + '/' + only.name;
        only.repeats *= child.repeats;
        only.host_ns = child.host_ns;
        child = std::move(only);
      }
    }
  }

  void finish(const Node& root, std::string_view name) {
    SummaryNode stage = tree_of(root, name);
    if (stage.operations == 0 && stage.host_ns == 0) return;
    lift(stage);
    summary_.stages.push_back(std::move(stage));
  }

  const TaskGraph& graph_;
  std::array<Node, stage_names.size()> roots_;
  StepSummary summary_{};
};

}  // namespace

StepSummary summarize_step(const TaskGraph& graph) { return Summarizer(graph).run(); }

}  // namespace foretrace
