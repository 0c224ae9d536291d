// Systems of LLMCompass: a device from its systolic arrays, vector units and memory channels, and
// links between several of them.
//
//   {"device_count": 4,
//    "interconnect": {"link": {"bandwidth_per_direction_byte": 25e9, "latency_second": 8.92e-6,
//    ...},
//                     "link_count_per_device": 12, "topology": "FC"},
//    "device": {"frequency_Hz": 1.41e9, "compute_chiplet_count": 1,
//               "compute_chiplet": {"core_count": 128, "core": {"sublane_count": 4, ...}},
//               "io": {"memory_channel_active_count": 5, ...}, "memory": {"total_capacity_GB":
//               80}}}
//
// Read there by template_to_system() (github.com/PrincetonUniversity/LLMCompass:
// design_space_exploration/dse.py); rates as in hardware_model/compute_module.py, the all-reduce as
// in software_model/communication_primitives.py.
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "models/hardware/networks/cluster_import.h"

namespace foretrace::cluster_imports::llmcompass_system_parts {
namespace {

constexpr double most = 1e12;
constexpr double most_rate = 1e18;
constexpr double most_devices = 1e4;
constexpr std::array<std::string_view, 3> members = {"device_count", "interconnect", "device"};
constexpr std::array<std::string_view, 2> topologies = {"FC", "RING"};
constexpr std::array<std::string_view, 4> datatypes = {"fp16", "bf16", "int8", "fp32"};
constexpr std::array precisions = {Precision::fp16, Precision::bf16, Precision::int8,
                                   Precision::fp32};

bool recognizes(const ImportedFile& file) { return file.has(members); }

/// A part that is an object; mistakes in it are those of the whole.
template <typename Read>
void read_part(Members& whole, std::string_view key, const Read& read) {
  const ConfigValue* const object = whole.object(key);
  if (object == nullptr) return;
  Members part(*object, whole.file(), whole.pointer_of(key));
  read(part);
  whole.take(part.finish());
}

/// Operations per cycle of one core in its arrays; and which numbers they multiply.
struct Core {
  double array_flops = 0;
  double vector_flops = 0;
  std::size_t datatype = 0;
};

Core read_core(Members& core) {
  Core read;
  const double sublanes = core.whole("sublane_count", most);
  read_part(core, "systolic_array", [&](Members& array) {
    read.datatype = array.word("data_type", datatypes);
    const double width = array.whole("array_width", most);
    const double height = array.whole("array_height", most);
    read.array_flops = sublanes * array.number("mac_per_cycle", 1e-6, most) * 2 * height * width;
  });
  read_part(core, "vector_unit", [&](Members& unit) {
    const double width = unit.whole("vector_width", most);
    read.vector_flops = sublanes * width * unit.number("flop_per_cycle", 1e-6, most);
  });
  return read;
}

void read_device(Members& device, Accelerator& accelerator) {
  const double frequency = device.number("frequency_Hz", 1, most);
  const double chiplets = device.whole("compute_chiplet_count", 1e6);
  read_part(device, "compute_chiplet", [&](Members& chiplet) {
    const double cores = chiplets * chiplet.whole("core_count", 1e6);
    read_part(chiplet, "core", [&](Members& one) {
      const Core core = read_core(one);
      const double rate = cores * core.array_flops * frequency;
      if (!(rate <= most_rate)) one.mistake("systolic_array", "is faster than 1e18 FLOP/s");
      accelerator.peak_flops[static_cast<std::size_t>(precisions[core.datatype])] = rate;
      accelerator.vector_fp32_flops = cores * core.vector_flops * frequency;
    });
    if (!(cores <= 1e6)) chiplet.mistake("core_count", "are more than 1e+06 cores in all");
    accelerator.multiprocessors = static_cast<std::int32_t>(std::min(cores, 1e6));
  });
  read_part(device, "io", [&](Members& io) {
    const double channels = io.whole("memory_channel_active_count", 1e6);
    const double pins = io.whole("pin_count_per_channel", 1e6);
    accelerator.memory_bandwidth =
        channels * pins * io.number("bandwidth_per_pin_bit", 1, most) / 8;
    if (!(accelerator.memory_bandwidth <= most_rate)) {
      io.mistake("bandwidth_per_pin_bit", "makes more than 1e18 B/s");
    }
  });
  read_part(device, "memory", [&](Members& memory) {
    accelerator.memory_bytes = static_cast<std::int64_t>(
        memory.number("total_capacity_GB", 1e-3, 1e6) * 1024 * 1024 * 1024);
  });
}

void read_links(Members& interconnect, double devices, Tier& tier) {
  double bandwidth = 1;
  double header_share = 1;
  read_part(interconnect, "link", [&](Members& link) {
    bandwidth = link.number("bandwidth_per_direction_byte", 1, most_rate);
    tier.latency_ns = link.number("latency_second", 0, 1) * 1e9;
    const double payload = link.number("max_payload_size_byte", 1, most);
    const double flit = link.number("flit_size_byte", 1, most);
    const double header = std::ceil(link.number("header_size_byte", 0, most) / flit) * flit;
    header_share = payload / (payload + header);
  });
  const double links = interconnect.whole("link_count_per_device", 1e6);
  const bool ring = interconnect.word("topology", topologies) == 1;
  tier.bandwidth = bandwidth * links * header_share;
  tier.links = ring ? TierLinks::ring : TierLinks::fully_connected;
  if (ring) return;
  // Links between each two of them. An all-reduce sends n - 1 parts round in both directions, then
  // each to all: (n - 1) (l + V / (2 n b)) + V / (n b); of others it says nothing: gathers and
  // scatters are half of its way round, everything else goes over the links of a pair.
  tier.bandwidth /= std::max(1.0, devices - 1);
  tier.algorithms = {TierAlgorithm::stated, TierAlgorithm::stated, TierAlgorithm::stated,
                     TierAlgorithm::direct};
  tier.factors = {{{0.5, 1, true}, {0.5, -1, true}, {0.5, -1, true}, {}}};
}

Result<Cluster> read(const Catalogue& /*catalogue*/, const ImportedFile& file) {
  Cluster cluster;
  cluster.name = std::filesystem::path(file.path).stem().string();
  Accelerator& accelerator = cluster.accelerator;
  accelerator.name = cluster.name;
  accelerator.product = fmt::format("device of {}", cluster.name);
  Members root(file.document, file.path);
  cluster.machine =
      root.has("name") ? root.text("name") : fmt::format("system {} of LLMCompass", cluster.name);
  cluster.node_accelerators = root.whole("device_count", most_devices);
  Tier tier;
  tier.size = cluster.node_accelerators;
  read_part(root, "interconnect", [&](Members& interconnect) {
    read_links(interconnect, cluster.node_accelerators, tier);
  });
  read_part(root, "device", [&](Members& device) { read_device(device, accelerator); });
  FORETRACE_TRY(root.finish());
  cluster.tier_network.tiers.push_back(tier);
  cluster.tier_network.passes_all = true;
  cluster.links = cluster.node_accelerators == 1  ? NodeLinks::none
                  : tier.links == TierLinks::ring ? NodeLinks::torus
                                                  : NodeLinks::nvswitch;
  cluster.link_bandwidth = accelerator.link_bandwidth = tier.bandwidth;
  cluster.link_latency_ns = tier.latency_ns;
  cluster.notes = {
      "caches, register files and tiling are ignored: our operator models use the rates of the "
      "units"};
  return cluster;
}

}  // namespace

extern constexpr ClusterImport info = {
    "llmcompass_system", "systems of LLMCompass",
    "github.com/PrincetonUniversity/LLMCompass: design_space_exploration/dse.py", recognizes, read};

}  // namespace foretrace::cluster_imports::llmcompass_system_parts
