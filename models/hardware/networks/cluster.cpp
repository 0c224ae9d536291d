// Reads cluster files. Each figure has a source, each value its unit.
#include "models/hardware/networks/cluster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "models/hardware/networks/changed_cluster.h"
#include "models/hardware/networks/cluster_import.h"
#include "models/hardware/networks/lanes.h"
#include "models/hardware/networks/read_curves.h"
#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr std::string_view schema = "foretrace.cluster/1";
constexpr std::array<std::string_view, 6> link_names = {"nvswitch", "mesh",  "pairs",
                                                        "pcie",     "torus", "none"};
constexpr std::array<std::string_view, 5> generation_names = {"volta", "ampere", "hopper",
                                                              "blackwell", "other"};
constexpr std::array<std::string_view, 6> network_names = {"infiniband", "roce",     "efa",
                                                           "slingshot",  "ethernet", "none"};
constexpr double most_accelerators = 1e6;
constexpr double longest_ns = 1e12;
constexpr double most_bandwidth = 1e18;

SwitchAggregation read_aggregation(ConfigFields& inner) {
  SwitchAggregation aggregation;
  aggregation.trees = read_count(inner, "trees", most_accelerators);
  aggregation.port_rate = read_positive(inner, "port_rate", ParamType::bandwidth, most_bandwidth);
  aggregation.level_latency_ns = read_within(inner, "level_latency", ParamType::time, longest_ns);
  aggregation.start_ns = optional_within(inner, "start", ParamType::time, longest_ns, 0);
  return aggregation;
}

void read_network(ConfigFields& fields, Network& network) {
  const ConfigValue* object = fields.optional_object("network");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("network"));
  network.kind = network_names[read_word(inner, "kind", network_names)];
  network.nics = read_count(inner, "nics_per_node", most_accelerators);
  network.nic_bandwidth = read_within(inner, "nic_bandwidth", ParamType::bandwidth, most_bandwidth);
  network.step_latency_ns = read_within(inner, "step_latency", ParamType::time, longest_ns);
  read_ranged(inner, "efficiency", network.efficiency);
  inner.optional_boolean("forwards_rails", network.forwards_rails);
  network.leaf_nodes = optional_count(inner, "leaf_nodes", most_accelerators, 0);
  inner.optional_quantity("oversubscription", ParamType::number, network.oversubscription);
  if (!(network.oversubscription >= 1 && network.oversubscription <= 1e3)) {
    inner.mistake("oversubscription", "is not from 1 to 1000");
    network.oversubscription = 1;
  }
  if (inner.has("leaf_nodes") != inner.has("oversubscription")) {
    inner.mistake("leaf_nodes",
                  "got one of them, expected leaf_nodes and oversubscription together");
  }
  if (const ConfigValue* sums = inner.optional_object("aggregation")) {
    ConfigFields switches(*sums, inner.file(), inner.pointer_of("aggregation"));
    network.aggregation = read_aggregation(switches);
    inner.take(switches.finish());
  }
  fields.take(inner.finish());
}

void read_regimes(ConfigFields& fields, std::vector<LocalRegime>& regimes) {
  const ConfigValue* list = fields.optional_objects("regimes");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ConfigFields inner(list->items[i], fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("regimes"), i));
    LocalRegime regime;
    inner.text("name", regime.name);
    regime.fixed_ns = read_within(inner, "fixed", ParamType::time, longest_ns);
    inner.optional_quantity("per_rank", ParamType::time, regime.per_rank_ns);
    inner.optional_quantity("per_channel", ParamType::time, regime.per_channel_ns);
    regime.bandwidth = read_positive(inner, "bandwidth", ParamType::bandwidth, most_bandwidth);
    inner.optional_boolean("in_network", regime.in_network);
    fields.take(inner.finish());
    regimes.push_back(std::move(regime));
  }
}

/// Rings of a torus by axis: what stands here is asked instead of NCCL's model.
void read_tiers(ConfigFields& fields, Cluster& cluster) {
  const ConfigValue* list = fields.optional_objects("tiers");
  if (list == nullptr) return;
  TierNetwork& network = cluster.tier_network;
  double members = 1;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ConfigFields inner(list->items[i], fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("tiers"), i));
    Tier tier;
    tier.links = TierLinks::ring;
    tier.size = read_count(inner, "size", most_accelerators);
    tier.bandwidth = read_positive(inner, "bandwidth", ParamType::bandwidth, most_bandwidth);
    tier.latency_ns = read_within(inner, "latency", ParamType::time, longest_ns);
    fields.take(inner.finish());
    members *= tier.size;
    network.tiers.push_back(tier);
  }
  network.passes_all = true;
  if (cluster.links != NodeLinks::torus || !cluster.regimes.empty()) {
    fields.mistake("tiers", "expected links 'torus' and no regimes beside them");
  }
  if (network.tiers.size() > most_tiers) {
    fields.mistake("tiers",
                   fmt::format("got {}, expected at most {}", network.tiers.size(), most_tiers));
  } else if (members != cluster.accelerators()) {
    fields.mistake("tiers", fmt::format("got {} members in all, expected the {} of the cluster",
                                        members, cluster.accelerators()));
  }
}

void read_node(ConfigFields& fields, Cluster& cluster) {
  const ConfigValue* object = fields.object("node");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("node"));
  cluster.node_accelerators = read_count(inner, "accelerators", most_accelerators);
  cluster.links = static_cast<NodeLinks>(read_word(inner, "links", link_names));
  cluster.link_bandwidth = cluster.accelerator.link_bandwidth;
  if (inner.has("link_bandwidth")) {
    cluster.link_bandwidth =
        read_positive(inner, "link_bandwidth", ParamType::bandwidth, most_bandwidth);
  }
  inner.optional_quantity("link_latency", ParamType::time, cluster.link_latency_ns);
  cluster.torus_links = optional_count(inner, "torus_links", 64, 0);
  cluster.channels = optional_count(inner, "channels", 1024, 0);
  inner.optional_quantity("host_link_bandwidth", ParamType::bandwidth, cluster.host_link_bandwidth);
  cluster.ring_rates = ring_rates(read_lanes(inner, cluster.node_accelerators));
  read_regimes(inner, cluster.regimes);
  read_tiers(inner, cluster);
  const bool alone = cluster.links == NodeLinks::none;
  if (!alone && !inner.has("link_bandwidth") && !(cluster.accelerator.link_bandwidth > 0)) {
    inner.mistake("link_bandwidth",
                  "missing key, expected a bandwidth such as '300 GB/s': the "
                  "accelerator's file states none");
  }
  if (alone && cluster.node_accelerators > 1) {
    inner.mistake("links",
                  "got 'none' for a node of several accelerators, expected what joins them");
  }
  fields.take(inner.finish());
}

Generation generation_of(const Accelerator& accelerator) {
  if (!accelerator.has_cuda_capability()) return Generation::other;
  switch (accelerator.compute_major) {
    case 7: return accelerator.compute_minor == 0 ? Generation::volta : Generation::other;
    case 8: return Generation::ampere;
    case 9: return Generation::hopper;
    case 10: return Generation::blackwell;
    default: return Generation::other;
  }
}

void read_accelerator_name(ConfigFields& fields, const Catalogue& catalogue,
                           Accelerator& accelerator) {
  std::string name;
  fields.text("accelerator", name);
  if (name.empty()) return;
  if (names_file(name)) name = file_named_in(fields.file(), name);
  const auto found = catalogue.accelerator(name);
  if (found.ok()) {
    accelerator = **found;
    return;
  }
  if (!names_file(name)) return fields.mistake("accelerator", found.error().message);
  auto read = read_accelerator(name);
  if (!read.ok()) return fields.mistake("accelerator", read.error().message);
  accelerator = *std::move(read);
}

std::string imported_kinds() {
  std::string kinds;
  for (const ClusterImport* one : cluster_imports::all()) {
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", one->summary);
  }
  return kinds;
}

Result<Cluster> imported(const Catalogue& catalogue, const ImportedFile& file) {
  const ClusterImport* const import = cluster_import_of(file);
  if (import != nullptr) {
    FORETRACE_TRY(auto cluster, import->read(catalogue, file));
    cluster.evidence = catalogue.evidence();
    return cluster;
  }
  return Error{
      ErrorCode::bad_config,
      fmt::format("{}: is not a description of a machine, expected one that names the schema "
                  "{}, or {}",
                  file.path, schema, imported_kinds())};
}

/// A file of another simulator with those that belong to it; what stands beside it here has the
/// last word.
void read_price(ConfigFields& fields, double& price) {
  constexpr double most_price = 1e6;  // of an accelerator and hour
  fields.optional_quantity("price_per_hour", ParamType::number, price);
  if (price >= 0 && price <= most_price) return;
  fields.take(Error{ErrorCode::bad_config,
                    fmt::format("{}: {}: got {:g}, expected 0 to {:g}", fields.file(),
                                fields.pointer_of("price_per_hour"), price, most_price)});
  price = 0;
}

Result<Cluster> with_import(const Catalogue& catalogue, const ConfigValue& root,
                            const std::string& path) {
  ConfigFields fields(root, path);
  std::string name;
  std::vector<std::string> others;
  if (const ConfigValue* object = fields.object("import")) {
    ConfigFields inner(*object, path, fields.pointer_of("import"));
    inner.text("file", name);
    inner.optional_texts("with", others);
    fields.take(inner.finish());
  }
  Cluster own;
  fields.text("machine", own.machine);
  if (fields.has("accelerator")) read_accelerator_name(fields, catalogue, own.accelerator);
  read_price(fields, own.price_per_hour);
  FORETRACE_TRY(fields.finish());
  auto file = read_imported_file(file_named_in(path, name));
  if (!file.ok()) return std::move(file).error().with_context(path + ": /import/file");
  for (const std::string& other : others) {
    auto with = read_imported_file(file_named_in(path, other));
    if (!with.ok()) return std::move(with).error().with_context(path + ": /import/with");
    file->with.push_back(*std::move(with));
  }
  FORETRACE_TRY(auto cluster, imported(catalogue, *file));
  cluster.name = std::filesystem::path(path).stem().string();
  cluster.machine = own.machine;
  cluster.price_per_hour = own.price_per_hour;
  if (!own.accelerator.name.empty()) {
    cluster.accelerator = own.accelerator;
    cluster.generation = generation_of(own.accelerator);
  }
  return cluster;
}

Result<Cluster> cluster_from(const Catalogue& catalogue, const ConfigValue& root,
                             const std::string& path) {
  if (root.find("import") != nullptr) return with_import(catalogue, root, path);
  Cluster cluster;
  cluster.name = std::filesystem::path(path).stem().string();
  cluster.evidence = catalogue.evidence();
  ConfigFields fields(root, path);
  fields.text("machine", cluster.machine);
  read_accelerator_name(fields, catalogue, cluster.accelerator);
  cluster.generation = static_cast<Generation>(read_word(fields, "generation", generation_names));
  cluster.nodes = read_count(fields, "nodes", most_accelerators);
  read_node(fields, cluster);
  read_network(fields, cluster.network);
  read_curves(fields, cluster.curves);
  read_price(fields, cluster.price_per_hour);
  fields.optional_boolean("usual", cluster.is_usual);
  constexpr std::array<std::string_view, 7> no_figures = {
      "schema", "machine", "accelerator", "generation", "usual", "curves", "sources"};
  cluster.sources = read_sources(fields, root, no_figures);
  if (cluster.nodes > 1 && cluster.network.nics == 0) {
    fields.mistake(
        "network",
        "missing key, expected a network between the nodes: the topology is disconnected");
  }
  FORETRACE_TRY(fields.finish());
  return cluster;
}

}  // namespace

std::string_view to_string(Generation generation) {
  return generation_names[static_cast<std::size_t>(generation)];
}

Result<std::shared_ptr<const Cluster>> lone_accelerator(const Catalogue& catalogue,
                                                        std::string_view name) {
  if (names_file(name) && !catalogue.accelerator(name).ok()) {
    Catalogue known = catalogue;
    FORETRACE_TRY(known.add_file("accelerators", std::string(name)));
    return lone_accelerator(known, name);
  }
  FORETRACE_TRY(const auto accelerator, catalogue.accelerator(name));
  FORETRACE_TRY(auto single, find_cluster(catalogue, "single"));
  single.name = accelerator->name;
  single.machine = accelerator->product;
  single.price_per_hour = 0;
  single.accelerator = *accelerator;
  single.generation = generation_of(*accelerator);
  return std::make_shared<const Cluster>(std::move(single));
}

Result<Cluster> parse_cluster(const Catalogue& catalogue, std::string_view text,
                              const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, schema));
  return cluster_from(catalogue, root, where);
}

namespace {

/// A name, or a file of ours, with fields changed.
Result<Cluster> with_changes(const Catalogue& catalogue, std::string_view name) {
  const std::string base(without_changes(name));
  const std::string_view changes = name.substr(base.size() + 1);
  ConfigValue document;
  std::string path = base;
  if (names_file(base)) {
    FORETRACE_TRY(document, read_config(base, schema));
  } else {
    FORETRACE_TRY(const ConfigValue* const known,
                  catalogue.document({"cluster", "clusters"}, base));
    document = *known;
    path = config_file(catalogue.directory(), "clusters", base);
  }
  FORETRACE_TRY(auto unchanged, cluster_from(catalogue, document, path));
  FORETRACE_TRY(document, changed_cluster(document, changes).with_context(base));
  FORETRACE_TRY(auto cluster, cluster_from(catalogue, document, path));
  cluster.name = name;
  cluster.machine += fmt::format(", with {}", changes);
  cluster.curves.clear();
  cluster.changed_from = std::make_shared<const Cluster>(std::move(unchanged));
  return cluster;
}

}  // namespace

Result<Cluster> find_cluster(const Catalogue& catalogue, std::string_view name) {
  if (without_changes(name) != name) return with_changes(catalogue, name);
  const auto known = catalogue.document({"cluster", "clusters"}, name);
  const bool is_path = names_file(name);
  if (known.ok()) {
    return cluster_from(
        catalogue, **known,
        is_path ? std::string(name) : config_file(catalogue.directory(), "clusters", name));
  }
  if (!is_path) return known.error();
  FORETRACE_TRY(const auto file, read_imported_file(std::string(name)));
  if (file.document.find("schema") == nullptr) return imported(catalogue, file);
  return parse_cluster(catalogue, file.text, file.path);
}

Result<Cluster> with_aggregation(Cluster cluster, const ConfigValue& object,
                                 const std::string& where, const std::string& pointer) {
  ConfigFields fields(object, where, pointer);
  cluster.network.aggregation = read_aggregation(fields);
  FORETRACE_TRY(fields.finish());
  if (cluster.network.nics == 0 || !cluster.tier_network.tiers.empty()) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {}: got switches that aggregate for {}, which has none between "
                             "nodes, expected a cluster with a network of nodes",
                             where, pointer, cluster.name)};
  }
  return cluster;
}

const ClusterImport* cluster_import_of(const ImportedFile& file) {
  for (const ClusterImport* import : cluster_imports::all()) {
    if (import->recognizes(file)) return import;
  }
  return nullptr;
}

std::vector<std::string> cluster_names(const Catalogue& catalogue) {
  return catalogue.document_names("clusters");
}

std::string accelerators_of(const Cluster& cluster, std::uint64_t asked) {
  std::string text =
      fmt::format("the {} accelerators of {}", cluster.accelerators(), in_quotes(cluster.name));
  const std::uint64_t nodes = (asked + cluster.node_accelerators - 1) / cluster.node_accelerators;
  const bool can_grow = cluster.network.nics > 0 && nodes > cluster.nodes &&
                        static_cast<double>(asked) <= most_accelerators &&
                        cluster.name.find("nodes=") == std::string::npos;
  if (can_grow) {
    const bool has_changes = without_changes(cluster.name) != cluster.name;
    text += fmt::format(" (add {}nodes={} to its name for more)", has_changes ? ',' : ':', nodes);
  }
  return text;
}

}  // namespace foretrace
