// Accelerator: the datasheet and host-side figures of a device, from configs/accelerators.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/catalogue/memory_profile.h"
#include "models/hardware/catalogue/operator_fit.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

class ExecModel;

/// The clock of long runs of matrix products against that of the slowest source that measured one:
/// power and temperature decide it, not the program.
struct SustainedClock {
  double typical = 1;
  double low = 1;
  double high = 1;
};

/// All rates dense peak in FLOP/s and B/s; memory in bytes; times in ns.
struct Accelerator {
  std::string name;                      ///< file stem, e.g. "a100_sxm_80gb"
  std::string product;                   ///< "NVIDIA A100-SXM4-80GB"
  std::vector<std::string> trace_names;  ///< device names in traces that mean this product
  std::array<double, precision_count> peak_flops{};  ///< matrix units where they exist; 0: unknown
  /// Rate of large matrix products in long runs at clock 1; 0: unknown, then a share of the peak.
  std::array<double, precision_count> sustained_flops{};
  SustainedClock sustained_clock;  ///< multiplies the rates of matrix units (tf32, fp16, ...)
  double vector_fp32_flops = 0;    ///< non-matrix fp32
  double memory_bandwidth = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t compute_major = 0;  ///< compute capability, as the driver reports it; 0: unknown
  std::int32_t compute_minor = 0;
  double link_bandwidth = 0;       ///< one direction, all links together; 0 unknown
  double host_link_bandwidth = 0;  ///< to the host, each way, as the link is specified; 0 unknown
  std::int64_t launch_latency_ns = 0;   ///< call end to kernel start on an idle stream
  std::int64_t kernel_gap_ns = 0;       ///< between back-to-back kernels of a stream
  std::int64_t shortest_kernel_ns = 0;  ///< of a kernel with next to nothing to do; 0: not measured
  /// Of products that wait for memory: what share of the bandwidth they reach, and their start and
  /// end; 0: not measured.
  double product_bandwidth_share = 0;
  std::int64_t shortest_product_ns = 0;
  std::uint32_t queue_depth = 0;  ///< launch queue entries per stream; 0: no limit
  /// How it runs operators if it is no GPU (models/hardware/execution); null: as kernels of a GPU.
  std::shared_ptr<const ExecModel> exec_model;
  std::vector<std::pair<std::string, std::string>> sources;  ///< key -> where the figure is from
  // Of a catalogue, from files of their own; empty for a file that stands alone.
  std::vector<OperatorFit> fits;  ///< fitted constants of configs/costs
  MemoryProfile memory;           ///< what libraries and drivers take, of configs/memories

  /// AMD's drivers report versions of their own as compute capability.
  [[nodiscard]] bool has_cuda_capability() const { return product.starts_with("NVIDIA "); }
  [[nodiscard]] double flops(Precision precision) const {
    return peak_flops[static_cast<std::size_t>(precision)];
  }
};

/// Reads one accelerator file. Errors name file, JSON pointer, what was got and what is expected.
[[nodiscard]] Result<Accelerator> read_accelerator(const std::string& path);
/// The same from text; `where` stands in messages and its stem is the name.
[[nodiscard]] Result<Accelerator> parse_accelerator(std::string_view text,
                                                    const std::string& where);

}  // namespace foretrace
