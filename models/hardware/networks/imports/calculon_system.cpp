// System files of Calculon: an accelerator with its efficiency by size of an operation, and
// networks from the nearest to the widest.
//
//   {"matrix": {"float16": {"tflops": 312, "gflops_efficiency": [[128, 0.95], [0, 0.1]]}},
//    "vector": {...}, "mem1": {"GiB": 80, "GBps": 2048, "MB_efficiency": [...]}, "mem2": {...},
//    "networks": [{"bandwidth": 300, "efficiency": 0.65, "size": 8, "latency": 1e-5,
//                  "ops": {"all_reduce": [2.0, -1], ...}, ...}]}
//
// Read there by calculon/system.py, processor.py, memory.py and network.py
// (github.com/calculon-ai/calculon). A collective of n ranks takes latency + scalar (1 + offset /
// n) bytes / (bandwidth x efficiency); the nearest network that has room for the group carries it.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "models/hardware/networks/cluster_import.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::cluster_imports::calculon_system_parts {
namespace {

constexpr double most_rate = 1e9;  // TFLOP/s, GB/s: more than any machine has
constexpr double most_size = 1e6;
// Studies without a limit of memory write 80000000000 GiB; an EiB is none either.
constexpr double most_memory_gib = 1e12;
constexpr double most_memory_bytes = 0x1p60;
constexpr std::array<std::string_view, 5> members = {"matrix", "vector", "mem1", "mem2",
                                                     "networks"};
struct Datatype {
  std::string_view key;
  Precision precision;
};
constexpr std::array<Datatype, 4> datatypes = {{{"float8", Precision::fp8},
                                                {"float16", Precision::fp16},
                                                {"bfloat16", Precision::bf16},
                                                {"float32", Precision::fp32}}};
constexpr std::array<std::string_view, 4> operations = {"all_reduce", "all_gather",
                                                        "reduce_scatter", "p2p"};

bool recognizes(const ImportedFile& file) { return file.has(members); }

/// Share that the largest operations reach: the first row of [[size, share], ...].
double largest_share(Members& unit, std::string_view key) {
  const ConfigValue* const rows = unit.list(key);
  if (rows == nullptr) return 1;
  const ConfigValue* const row = rows->items.empty() ? nullptr : &rows->items.front();
  if (row != nullptr && row->kind == ConfigValue::Kind::list && row->items.size() == 2) {
    const auto share = parse_quantity(row->items[1].text, ParamType::number);
    if (row->items[1].kind == ConfigValue::Kind::number && share.ok() && *share > 0 &&
        *share <= 1) {
      return *share;
    }
  }
  unit.mistake(key,
               "the first row is no [size, share above 0 and up to 1], expected one such as "
               "[128, 0.95]");
  return 1;
}

/// Rates of one kind of units by datatype; the first one is what others are called after.
void read_units(Members& root, std::string_view key, Accelerator& accelerator) {
  const ConfigValue* const object = root.object(key);
  if (object == nullptr) return;
  Members units(*object, root.file(), root.pointer_of(key));
  bool found = false;
  for (const Datatype& type : datatypes) {
    if (!units.has(type.key)) continue;
    const ConfigValue* const one = units.object(type.key);
    if (one == nullptr) break;
    Members unit(*one, root.file(), units.pointer_of(type.key));
    const double rate = unit.number("tflops", 1e-6, most_rate) * 1e12;
    const double share = largest_share(unit, "gflops_efficiency");
    units.take(unit.finish());
    found = true;
    if (key == "vector") {
      // 16 bit where there is no other: one number per operation either way.
      accelerator.vector_fp32_flops = rate;
      continue;
    }
    accelerator.peak_flops[static_cast<std::size_t>(type.precision)] = rate;
    accelerator.sustained_flops[static_cast<std::size_t>(type.precision)] = rate * share;
    // Products take their arithmetic or their bytes, whichever is longer: nothing of tiles is
    // known.
    for (const OperatorKind kind : {OperatorKind::gemm, OperatorKind::batched_gemm}) {
      OperatorFit fit;
      fit.kind = kind;
      fit.precision = type.precision;
      fit.rate_share = share;
      accelerator.fits.push_back(fit);
    }
  }
  if (!found)
    units.mistake("", "got no datatype, expected one of float8, float16, bfloat16, float32");
  root.take(units.finish());
}

struct Memory {
  double bytes = 0;
  double rate = 1;   ///< B/s
  double share = 1;  ///< that large accesses reach
};

Memory read_memory(Members& root, std::string_view key) {
  Memory read;
  const ConfigValue* const object = root.object(key);
  if (object == nullptr) return read;
  Members memory(*object, root.file(), root.pointer_of(key));
  read.bytes = std::min(memory.number("GiB", 0, most_memory_gib) * 0x1p30, most_memory_bytes);
  read.rate = memory.number("GBps", 1e-6, most_rate) * 1e9;
  read.share = largest_share(memory, "MB_efficiency");
  root.take(memory.finish());
  return read;
}

/// A pair [scalar, offset]; the offset of p2p is null.
TierFactor read_factor(Members& ops, std::string_view key) {
  TierFactor factor;
  const ConfigValue* const pair = ops.list(key);
  if (pair == nullptr) return factor;
  const auto number = [&](std::size_t i, double& out) {
    if (pair->items[i].kind == ConfigValue::Kind::null && key == "p2p") return true;
    if (pair->items[i].kind != ConfigValue::Kind::number) return false;
    const auto read = parse_quantity(pair->items[i].text, ParamType::number);
    if (!read.ok() || !(std::abs(*read) <= 1e3)) return false;
    out = *read;
    return true;
  };
  const bool is_pair = pair->items.size() == 2;
  if (!is_pair || !number(0, factor.scalar) || !number(1, factor.offset) || factor.scalar <= 0 ||
      factor.offset < -1) {
    ops.mistake(key,
                "got no pair of a scalar above 0 and an offset from -1 on, expected one such "
                "as [2.0, -1]");
  }
  return factor;
}

Tier read_tier(Members& network, double within) {
  Tier tier;
  tier.links = TierLinks::fully_connected;  // a message has one latency
  const double efficiency = network.number("efficiency", 1e-6, 1);
  tier.bandwidth = network.number("bandwidth", 1e-6, most_rate) * 1e9 * efficiency;
  tier.latency_ns = network.number("latency", 0, 1) * 1e9;
  tier.size = static_cast<std::uint32_t>(std::ceil(network.whole("size", most_size) / within));
  tier.algorithms.fill(TierAlgorithm::stated);
  const ConfigValue* const object = network.object("ops");
  if (object == nullptr) return tier;
  Members ops(*object, network.file(), network.pointer_of("ops"));
  std::array<TierFactor, operations.size()> factors;
  for (std::size_t i = 0; i < operations.size(); ++i) factors[i] = read_factor(ops, operations[i]);
  network.take(ops.finish());
  // It has no all-to-all: every rank keeps one part of n and sends the others as messages.
  factors[3].offset = -1;
  tier.factors = factors;
  return tier;
}

void read_networks(Members& root, Cluster& cluster) {
  const ConfigValue* const list = root.list("networks");
  if (list == nullptr) return;
  if (list->items.empty() || list->items.size() > most_tiers) {
    return root.mistake("networks", fmt::format("got {} networks, expected 1 to {}",
                                                list->items.size(), most_tiers));
  }
  double within = 1;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    Members network(list->items[i], root.file(),
                    fmt::format("{}/{}", root.pointer_of("networks"), i));
    if (list->items[i].kind != ConfigValue::Kind::object) {
      return root.mistake(
          "networks", fmt::format("{} at {}, expected an object", list->items[i].described(), i));
    }
    Tier tier = read_tier(network, within);
    if (tier.size <= 1 && i > 0) {
      network.mistake("size", "is not larger than that of the network before, expected more");
    }
    root.take(network.finish());
    within *= tier.size;
    cluster.tier_network.tiers.push_back(tier);
  }
  if (within > most_size) {
    root.mistake("networks",
                 fmt::format("got {:g} accelerators, expected at most {:g}", within, most_size));
  }
}

/// What the rest of the program asks of a machine, from its tiers.
void settle(Cluster& cluster) {
  const auto& tiers = cluster.tier_network.tiers;
  cluster.node_accelerators = tiers.front().size;
  cluster.links = cluster.node_accelerators > 1 ? NodeLinks::nvswitch : NodeLinks::none;
  cluster.link_bandwidth = cluster.accelerator.link_bandwidth = tiers.front().bandwidth;
  cluster.link_latency_ns = tiers.front().latency_ns;
  for (std::size_t i = 1; i < tiers.size(); ++i) cluster.nodes *= tiers[i].size;
  if (tiers.size() < 2) return;
  cluster.network.kind = "as stated";
  cluster.network.nics = cluster.node_accelerators;
  cluster.network.nic_bandwidth = tiers[1].bandwidth;
  cluster.network.step_latency_ns = tiers[1].latency_ns;
}

Result<Cluster> read(const Catalogue& /*catalogue*/, const ImportedFile& file) {
  Cluster cluster;
  cluster.name = std::filesystem::path(file.path).stem().string();
  cluster.machine = fmt::format("system {} of Calculon", cluster.name);
  Accelerator& accelerator = cluster.accelerator;
  accelerator.name = cluster.name;
  accelerator.product = fmt::format("accelerator of {}", cluster.name);
  Members root(file.document, file.path);
  read_units(root, "matrix", accelerator);
  read_units(root, "vector", accelerator);
  const Memory near = read_memory(root, "mem1");
  accelerator.memory_bandwidth = near.rate;
  accelerator.memory_bytes = to_whole(near.bytes);
  for (OperatorFit& fit : accelerator.fits) fit.bandwidth_share = near.share;
  accelerator.host_link_bandwidth = read_memory(root, "mem2").rate;
  cluster.host_link_bandwidth = accelerator.host_link_bandwidth;
  read_networks(root, cluster);
  FORETRACE_TRY(root.finish());
  settle(cluster);
  cluster.notes = {
      "efficiency by size of an operation: that of the largest counts for products of every size; "
      "other kernels follow our own operator models",
      "processing_mode, processor_usage and must_be_filled are ignored: the framework decides what "
      "overlaps and what that slows"};
  if (near.bytes >= most_memory_bytes) cluster.notes.emplace_back("memory has no limit");
  return cluster;
}

}  // namespace

extern constexpr ClusterImport info = {"calculon_system", "system files of Calculon",
                                       "github.com/calculon-ai/calculon: calculon/system.py",
                                       recognizes, read};

}  // namespace foretrace::cluster_imports::calculon_system_parts
