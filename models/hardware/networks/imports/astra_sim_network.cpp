// Networks of ASTRA-sim: dimensions from the nearest to the widest, each a ring, a switch or links
// between all; beside them the system file says how collectives run.
//
//   topology: [ Ring, Switch ]        "all-reduce-implementation": ["ring", "direct"],
//   npus_count: [ 4, 2 ]              "collective-optimization": "localBWAware",
//   bandwidth: [ 200.0, 50.0 ]        "preferred-dataset-splits": 4, ...
//   latency: [ 50.0, 500.0 ]
//
// Read there by common/network-parser/NetworkParser.cpp
// (github.com/astra-sim/astra-network-analytical; a GB/s is 2^30 bytes per second in its
// common/NetworkFunction.cpp) and astra-sim/system/Sys.cc (github.com/astra-sim/astra-sim).
// Algorithms: astra-sim/system/collective.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hardware/networks/cluster_import.h"
#include "models/hardware/networks/imports/yaml_lists.h"
#include "sim/core/params.h"
#include "sim/core/utf8.h"

namespace foretrace::cluster_imports::astra_sim_network_parts {
namespace {

constexpr double most_accelerators = 1e6;
constexpr double most_rate = 1e9;
constexpr double longest_ns = 1e12;
constexpr double most_chunks = 1e6;
constexpr double bytes_per_gb = 1024.0 * 1024 * 1024;
constexpr std::array<std::string_view, 4> keys = {"topology", "npus_count", "bandwidth", "latency"};
constexpr std::array<std::string_view, 3> topologies = {"Ring", "FullyConnected", "Switch"};
constexpr std::array<std::string_view, 3> algorithms = {"ring", "direct", "halvingDoubling"};
constexpr std::array<std::string_view, 4> implementations = {
    "all-reduce-implementation", "all-gather-implementation", "reduce-scatter-implementation",
    "all-to-all-implementation"};
constexpr std::array<std::string_view, 2> optimizations = {"localBWAware", "baseline"};
/// What of a system file has no counterpart: told where it is there.
constexpr std::array<std::string_view, 12> untaken = {"scheduling-policy",
                                                      "endpoint-delay",
                                                      "active-chunks-per-dimension",
                                                      "local-mem-bw",
                                                      "boost-mode",
                                                      "roofline-enabled",
                                                      "peak-perf",
                                                      "local-reduction-delay",
                                                      "inter-dimension-scheduling",
                                                      "intra-dimension-scheduling",
                                                      "model-shared-bus",
                                                      "trace-enabled"};

bool recognizes(const ImportedFile& file) {
  if (file.document.kind != ConfigValue::Kind::null) return false;
  std::size_t found = 0;
  for (const std::string_view key : keys) {
    const std::size_t at = file.text.find(std::string(key) + ":");
    if (at != std::string::npos && (at == 0 || file.text[at - 1] == '\n')) ++found;
  }
  return found >= 2;
}

class Reader {
 public:
  Reader(const ImportedFile& file, Cluster& cluster) : file_(file), cluster_(cluster) {}
  Status read();

 private:
  void mistake(const std::string& file, std::string_view where, const std::string& what) {
    if (mistake_.empty()) mistake_ = fmt::format("{}: {}: {}", file, where, what);
  }
  void read_lines();
  void read_dimensions();
  double value(const YamlList& line, std::size_t i, double low, double high);
  void read_system(const ImportedFile& system);
  void read_algorithms(Members& root, std::size_t kind);
  void settle();
  [[nodiscard]] const YamlList& line_of(std::size_t key) const { return lines_[key]; }

  const ImportedFile& file_;
  Cluster& cluster_;
  std::array<YamlList, keys.size()> lines_;
  std::string mistake_;
};

void Reader::read_lines() {
  auto lists = yaml_lists(file_.text, file_.path);
  if (!lists) {
    mistake_ = lists.error().message;
    return;
  }
  for (YamlList& list : *lists) {
    const auto* const key = std::find(keys.begin(), keys.end(), list.key);
    if (key != keys.end()) {
      lines_[static_cast<std::size_t>(key - keys.begin())] = std::move(list);
      continue;
    }
    mistake(fmt::format("{}:{}", file_.path, list.line), on_one_line(list.key),
            fmt::format("is no member of a network{}, expected {}", did_you_mean(list.key, keys),
                        fmt::join(keys, ", ")));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (lines_[i].line == 0) {
      mistake(file_.path, keys[i], "missing key, expected a list such as [ Switch ] or [ 8 ]");
    } else if (lines_[i].values.empty() || lines_[i].values.size() > most_tiers) {
      mistake(fmt::format("{}:{}", file_.path, lines_[i].line), keys[i],
              fmt::format("got {} values, expected a list of 1 to {}", lines_[i].values.size(),
                          most_tiers));
    } else if (lines_[i].values.size() != lines_[0].values.size()) {
      mistake(fmt::format("{}:{}", file_.path, lines_[i].line), keys[i],
              fmt::format("got {} values, expected {}, as of topology", lines_[i].values.size(),
                          lines_[0].values.size()));
    }
  }
}

double Reader::value(const YamlList& line, std::size_t i, double low, double high) {
  const std::string_view text = line.values[i];
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= low && number <= high) {
    return number;
  }
  mistake(fmt::format("{}:{}", file_.path, line.line), line.key,
          fmt::format("got {}, expected a number from {:g} to {:g}", in_quotes(text), low, high));
  return low;
}

void Reader::read_dimensions() {
  double all = 1;
  for (std::size_t i = 0; i < line_of(0).values.size(); ++i) {
    Tier tier;
    const std::string_view name = line_of(0).values[i];
    const auto* const topology = std::find(topologies.begin(), topologies.end(), name);
    if (topology == topologies.end()) {
      mistake(fmt::format("{}:{}", file_.path, line_of(0).line), "topology",
              fmt::format("got {}{}, expected one of {}", in_quotes(name),
                          did_you_mean(name, topologies), fmt::join(topologies, ", ")));
      return;
    }
    tier.links = static_cast<TierLinks>(topology - topologies.begin());
    const double size = value(line_of(1), i, 2, most_accelerators);
    if (size != std::floor(size)) {
      return mistake(fmt::format("{}:{}", file_.path, line_of(1).line), "npus_count",
                     fmt::format("got {}, expected a whole number", line_of(1).values[i]));
    }
    tier.size = static_cast<std::uint32_t>(size);
    tier.bandwidth = value(line_of(2), i, 1e-6, most_rate) * bytes_per_gb;
    tier.latency_ns = value(line_of(3), i, 0, longest_ns);
    all *= tier.size;
    cluster_.tier_network.tiers.push_back(tier);
  }
  if (all > most_accelerators) {
    mistake(fmt::format("{}:{}", file_.path, line_of(1).line), "npus_count",
            fmt::format("got {:g} accelerators, expected at most {:g}", all, most_accelerators));
  }
}

void Reader::read_algorithms(Members& root, std::size_t kind) {
  const std::string_view key = implementations[kind];
  if (!root.has(key)) return;
  const ConfigValue* const list = root.list(key);
  if (list == nullptr) return;
  auto& tiers = cluster_.tier_network.tiers;
  if (list->items.size() != tiers.size()) {
    return root.mistake(key, fmt::format("got {} algorithms, expected one for each of the {} "
                                         "dimensions",
                                         list->items.size(), tiers.size()));
  }
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const std::string& name = list->items[i].text;
    const auto* const found = std::find(algorithms.begin(), algorithms.end(), name);
    if (list->items[i].kind != ConfigValue::Kind::text || found == algorithms.end()) {
      return root.mistake(key,
                          fmt::format("{}{}, expected one of {}", list->items[i].described(),
                                      did_you_mean(name, algorithms), fmt::join(algorithms, ", ")));
    }
    tiers[i].algorithms[kind] = static_cast<TierAlgorithm>(found - algorithms.begin());
    const bool halves = tiers[i].algorithms[kind] == TierAlgorithm::halving_doubling;
    if (halves &&
        (tiers[i].links == TierLinks::ring || (tiers[i].size & (tiers[i].size - 1)) != 0)) {
      return root.mistake(key,
                          "got 'halvingDoubling' on a ring, or on a number of accelerators "
                          "that is no power of two, expected ring or direct");
    }
    if (halves && kind == 3) {
      return root.mistake(key, "got 'halvingDoubling', expected ring or direct");
    }
  }
}

void Reader::read_system(const ImportedFile& system) {
  if (system.document.kind != ConfigValue::Kind::object) {
    return mistake(system.path, "", "is no system file of ASTRA-sim, expected a JSON object");
  }
  Members root(system.document, system.path);
  TierNetwork& network = cluster_.tier_network;
  for (std::size_t kind = 0; kind < implementations.size(); ++kind) read_algorithms(root, kind);
  if (root.has("preferred-dataset-splits")) {
    network.chunks = root.whole("preferred-dataset-splits", most_chunks);
  }
  network.divides_all_reduce = false;
  if (root.has("collective-optimization")) {
    network.divides_all_reduce = root.word("collective-optimization", optimizations) == 0;
  }
  std::string others;
  for (const std::string& key : system.document.keys) {
    if (std::find(untaken.begin(), untaken.end(), key) != untaken.end()) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", key);
    } else if (std::find(implementations.begin(), implementations.end(), key) ==
                   implementations.end() &&
               key != "preferred-dataset-splits" && key != "collective-optimization") {
      root.mistake(key, fmt::format("is unknown{}, expected a setting of ASTRA-sim",
                                    did_you_mean(key, implementations)));
    }
  }
  if (!others.empty()) cluster_.notes.push_back("ignored settings of the system: " + others);
  const Status status = root.finish();
  if (!status.ok() && mistake_.empty()) mistake_ = status.error().message;
}

/// What the rest of the program asks of a machine.
void Reader::settle() {
  TierNetwork& network = cluster_.tier_network;
  network.passes_all = true;
  const Tier& first = network.tiers.front();
  cluster_.node_accelerators = first.size;
  cluster_.links = first.links == TierLinks::ring ? NodeLinks::torus : NodeLinks::nvswitch;
  cluster_.link_bandwidth = first.bandwidth;
  cluster_.link_latency_ns = first.latency_ns;
  for (std::size_t i = 1; i < network.tiers.size(); ++i) cluster_.nodes *= network.tiers[i].size;
  if (network.tiers.size() < 2) return;
  cluster_.network.kind = "dimensions";
  cluster_.network.nics = first.size;
  cluster_.network.nic_bandwidth = network.tiers[1].bandwidth;
  cluster_.network.step_latency_ns = network.tiers[1].latency_ns;
}

Status Reader::read() {
  read_lines();
  if (mistake_.empty()) read_dimensions();
  if (file_.with.size() > 1) {
    mistake(file_.path, "with", "got several files, expected a system file alone");
  }
  if (mistake_.empty()) {
    if (file_.with.empty()) {
      cluster_.notes.emplace_back(
          "no system file beside it: every dimension runs rings, buffers are "
          "one chunk");
    } else {
      read_system(file_.with.front());
    }
  }
  if (!mistake_.empty()) return Error{ErrorCode::bad_config, mistake_};
  settle();
  return ok_status();
}

Result<Cluster> read(const Catalogue& /*catalogue*/, const ImportedFile& file) {
  Cluster cluster;
  cluster.name = std::filesystem::path(file.path).stem().string();
  cluster.machine = fmt::format("network {} of ASTRA-sim", cluster.name);
  cluster.accelerator.product = "accelerator that no file names";
  FORETRACE_TRY(Reader(file, cluster).read());
  return cluster;
}

}  // namespace

extern constexpr ClusterImport info = {
    "astra_sim_network", "networks of ASTRA-sim",
    "github.com/astra-sim/astra-network-analytical: common/network-parser/NetworkParser.cpp",
    recognizes, read};

}  // namespace foretrace::cluster_imports::astra_sim_network_parts
