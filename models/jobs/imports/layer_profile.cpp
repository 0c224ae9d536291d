// Layer profiles of PipeDream (graph.txt): a line per module with its times, then who follows whom.
//
//   node1 -- Linear(in_features=8, out_features=8) -- forward_compute_time=1.5,
//     backward_compute_time=3.0, activation_size=256.000, parameter_size=288.000     (one line)
//   <tab>node1 -- node2
//
// Written and read there by graph/graph.py (github.com/msr-fiddle/pipedream). Times are ms of one
// minibatch, sizes bytes of numbers with 4 bytes; a list "[8.0; 8.0]" of sizes is their sum.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"
#include "sim/core/params.h"

namespace foretrace::model_imports::layer_profile_parts {
namespace {

constexpr double longest_ms = 1e9;
constexpr double most_bytes = 1e15;
constexpr double number_bytes = 4;
constexpr std::size_t most_nodes = 100000;

bool recognizes(const ImportedFile& file) {
  const std::string_view first = first_line(file.text);
  return first.find(" -- ") != std::string_view::npos &&
         first.find("forward_compute_time=") != std::string_view::npos;
}

struct Node {
  std::string name;
  std::string module;
  double forward_ms = 0;
  double backward_ms = 0;
  double activation_bytes = 0;
  double parameter_bytes = 0;
  std::vector<std::size_t> after{};  ///< that follow it
  std::size_t waits_for = 0;         ///< how many come before it
};

class Reader {
 public:
  explicit Reader(const ImportedFile& file) : lines_(file) {}
  Result<ModelSpec> read();

 private:
  void read_node(std::string_view line);
  void read_edge(std::string_view line);
  double value(std::string_view line, std::string_view key, double most);
  std::size_t node_called(std::string_view name);
  [[nodiscard]] std::vector<std::size_t> in_order();

  ImportedLines lines_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t, std::less<>> known_;
};

/// A number, or the sum of a list of them.
double Reader::value(std::string_view line, std::string_view key, double most) {
  const std::size_t at = line.find(std::string(key) + "=");
  if (at == std::string_view::npos) {
    lines_.mistake(fmt::format("{}: missing, expected {}=NUMBER", key, key));
    return 0;
  }
  std::string_view text = line.substr(at + key.size() + 1);
  const bool is_list = text.starts_with('[');
  text = text.substr(is_list ? 1 : 0,
                     std::min(text.find(is_list ? ']' : ','), text.size()) - (is_list ? 1 : 0));
  const std::vector<double> values = lines_.numbers(key, text, most);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (sum > most) {
    lines_.mistake(fmt::format("{}: got {:g} in all, expected at most {:g}", key, sum, most));
  }
  return sum;
}

void Reader::read_node(std::string_view line) {
  constexpr std::string_view between = " -- ";
  const std::size_t name_end = line.find(between);
  const std::size_t figures = line.rfind(between);
  if (name_end == std::string_view::npos || figures == name_end) {
    return lines_.mistake("got no node, expected NAME -- MODULE -- forward_compute_time=...");
  }
  Node node;
  node.name = line.substr(0, name_end);
  node.module = line.substr(name_end + between.size(), figures - name_end - between.size());
  const std::string_view rest = line.substr(figures + between.size());
  node.forward_ms = value(rest, "forward_compute_time", longest_ms);
  node.backward_ms = value(rest, "backward_compute_time", longest_ms);
  node.activation_bytes = value(rest, "activation_size", most_bytes);
  node.parameter_bytes = value(rest, "parameter_size", most_bytes);
  if (!known_.emplace(node.name, nodes_.size()).second) {
    lines_.mistake(fmt::format("{} appears twice, expected every node once", in_quotes(node.name)));
  }
  if (nodes_.size() >= most_nodes) {
    lines_.mistake(fmt::format("got more nodes, expected at most {}", most_nodes));
  }
  nodes_.push_back(std::move(node));
}

std::size_t Reader::node_called(std::string_view name) {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  std::vector<std::string_view> names;
  for (const Node& node : nodes_) names.push_back(node.name);
  lines_.mistake(fmt::format("got {}{}, expected one of the {} nodes above", in_quotes(name),
                             did_you_mean(name, names), nodes_.size()));
  return 0;
}

void Reader::read_edge(std::string_view line) {
  constexpr std::string_view between = " -- ";
  while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
  const std::size_t at = line.find(between);
  if (at == std::string_view::npos) return lines_.mistake("got no edge, expected NODE -- NODE");
  const std::size_t from = node_called(line.substr(0, at));
  const std::size_t to = node_called(line.substr(at + between.size()));
  if (!lines_.ok()) return;
  nodes_[from].after.push_back(to);
  ++nodes_[to].waits_for;
}

/// So that nobody comes before what it needs; of several the one that stands first in the file.
std::vector<std::size_t> Reader::in_order() {
  std::vector<std::size_t> order;
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].waits_for == 0) ready.insert(i);
  }
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const std::size_t after : nodes_[next].after) {
      if (--nodes_[after].waits_for == 0) ready.insert(after);
    }
  }
  if (order.size() < nodes_.size()) {
    lines_.mistake_of_all("the edges form a cycle, expected a graph without cycles");
  }
  return order;
}

Result<ModelSpec> Reader::read() {
  while (const auto line = lines_.next()) {
    if (line->empty()) continue;
    if (line->front() == '\t' || line->front() == ' ') {
      read_edge(*line);
    } else {
      read_node(*line);
    }
  }
  const std::vector<std::size_t> order = lines_.ok() ? in_order() : std::vector<std::size_t>();
  if (!lines_.ok()) return lines_.error();
  LayeredSpec spec;
  spec.recorded = RecordedGroups{.tensor = 1, .expert = 1};  // of one GPU, undivided
  double input_ms = 0;
  double widest = 0;
  for (const std::size_t at : order) {
    const Node& node = nodes_[at];
    // Loading data is none of a device's work.
    if (node.module == "Input") {
      input_ms += node.forward_ms;
      continue;
    }
    LayerOperator layer;
    layer.kind = LayerKind::recorded;
    layer.name = node.module;
    layer.recorded = {node.forward_ms * 1e6, node.backward_ms * 1e6, 0};
    layer.weights = node.parameter_bytes / number_bytes;
    layer.kept_numbers = node.activation_bytes / number_bytes;
    widest = std::max(widest, layer.kept_numbers);
    spec.order.push_back({static_cast<std::uint32_t>(spec.groups.size()), 1});
    spec.groups.push_back({layer.name, 1, {layer}});
  }
  if (spec.order.empty()) {
    lines_.mistake_of_all("got no module, expected at least one beside the input");
    return lines_.error();
  }
  ModelSpec model;
  model.source = "layer profile of PipeDream";
  model.notes = {
      "a sample is the minibatch that was profiled; all of backward is one time, and "
      "between stages the largest activation goes"};
  if (input_ms > 0) {
    model.notes.push_back(fmt::format("{:g} ms of loading input are left out", input_ms));
  }
  model.transformer = layered_model(std::move(spec), widest);
  return model;
}

Result<ModelSpec> read(const ImportedFile& file) { return Reader(file).read(); }

}  // namespace

extern constexpr ModelImport info = {"layer_profile", "layer profiles of PipeDream (graph.txt)",
                                     "github.com/msr-fiddle/pipedream: graph/graph.py", recognizes,
                                     read};

}  // namespace foretrace::model_imports::layer_profile_parts
