// Every member is named, so that a new one does not compile before somebody decided what it means.
#include "models/hardware/catalogue/same_device.h"

#include <algorithm>
#include <tuple>

namespace foretrace {
namespace {

/// A driver reports a few percent less memory than the product has.
constexpr double most_of_reported = 1.1;

auto figures_of(const Accelerator& accelerator) {
  const auto& [name, product, trace_names, peak_flops, sustained_flops, sustained_clock,
               vector_fp32_flops, memory_bandwidth, memory_bytes, multiprocessors, compute_major,
               compute_minor, link_bandwidth, host_link_bandwidth, launch_latency_ns, kernel_gap_ns,
               shortest_kernel_ns, product_bandwidth_share, shortest_product_ns, queue_depth,
               exec_model, sources, fits, memory] = accelerator;
  static_cast<void>(memory_bytes);
  static_cast<void>(trace_names);
  static_cast<void>(sources);
  static_cast<void>(fits);
  static_cast<void>(memory);
  return std::tie(name, product, peak_flops, sustained_flops, sustained_clock.typical,
                  sustained_clock.low, sustained_clock.high, vector_fp32_flops, memory_bandwidth,
                  multiprocessors, compute_major, compute_minor, link_bandwidth,
                  host_link_bandwidth, launch_latency_ns, kernel_gap_ns, shortest_kernel_ns,
                  product_bandwidth_share, shortest_product_ns, queue_depth, exec_model);
}

}  // namespace

bool is_same_device(const Accelerator& a, const Accelerator& b) {
  if (&a == &b) return true;
  const auto [less, more] = std::minmax(a.memory_bytes, b.memory_bytes);
  return figures_of(a) == figures_of(b) &&
         static_cast<double>(more) <= most_of_reported * static_cast<double>(less);
}

}  // namespace foretrace
