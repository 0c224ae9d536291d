// Tries the memory of every accelerator.
#include "apps/session/memory/memory_fits.h"

#include <algorithm>

#include "models/hardware/catalogue/catalogue.h"

namespace foretrace {
namespace {

/// Name of the operator behind a tensor of the allocator's program.
std::string owner_of(const TaskGraph& graph, const MemoryCurve& curve, std::uint32_t number) {
  std::vector<bool> seen(graph.context().tensors.size(), false);
  std::uint32_t next = 0;
  for (const MemoryPoint& point : curve.points) {
    if (seen[index(point.tensor)]) continue;
    seen[index(point.tensor)] = true;
    if (next++ == number) {
      const Tensor& tensor = graph.context().tensors[index(point.tensor)];
      return std::string(graph.names()[tensor.operator_name]);
    }
  }
  return {};
}

}  // namespace

std::int64_t MemoryNeed::reserved_bytes() const {
  return std::max(live_bytes, std::min(reserved.fresh_bytes, reserved.expected_bytes));
}

MemoryTarget target_of_size(std::int64_t bytes, const std::optional<Accelerator>& accelerator) {
  if (accelerator && !accelerator->memory.name.empty()) {
    return {.capacity_bytes = bytes,
            .context_low_bytes = accelerator->memory.context_low_bytes,
            .context_high_bytes = accelerator->memory.context_high_bytes};
  }
  // Where no profile says more: a usual context of a driver with its kernels, as in
  // configs/memories.
  return {.capacity_bytes = bytes,
          .context_low_bytes = std::int64_t{300} << 20,
          .context_high_bytes = std::int64_t{600} << 20};
}

MemoryTarget target_of(const Accelerator& accelerator) {
  MemoryTarget target = target_of_size(accelerator.memory_bytes, accelerator);
  target.name = accelerator.name;
  return target;
}

std::string_view to_string(FitVerdict verdict) {
  switch (verdict) {
    case FitVerdict::fits: return "fits";
    case FitVerdict::after_retries: return "after_retries";
    case FitVerdict::no: return "no";
  }
  return "no";
}

std::vector<MemoryFit> memory_fits(const MemoryInputs& inputs, const MemoryCurve& curve,
                                   const ReservedRange& reserved) {
  const AllocatorProgram program = allocator_program(inputs.graph, curve);
  std::vector<MemoryFit> fits;
  for (const Accelerator& accelerator : inputs.catalogue.accelerators()) {
    // The allocator is one of GPUs.
    if (accelerator.exec_model != nullptr) continue;
    MemoryFit fit{.accelerator = accelerator.name};
    const MemoryTarget target = target_of(accelerator);
    fit.capacity_bytes =
        std::max<std::int64_t>(0, target.capacity_bytes - target.context_high_bytes);
    if (reserved.high_bytes <= fit.capacity_bytes) {
      fit.verdict = FitVerdict::fits;
    } else if (curve.peak_bytes <= fit.capacity_bytes) {
      ReplayOptions options{.settings = inputs.settings};
      options.settings.capacity_bytes = fit.capacity_bytes;
      const AllocatorReplay replay = replay_allocator(program, options);
      fit.retries = replay.use.retries;
      const bool works = replay.use.out_of_memory == 0;
      fit.verdict = works ? FitVerdict::after_retries : FitVerdict::no;
      if (!works) fit.fails_at = owner_of(inputs.graph, curve, replay.out_of_memory_at);
    } else {
      const auto& points = curve.points;
      const auto over = std::find_if(points.begin(), points.end(), [&](const MemoryPoint& point) {
        return point.live_bytes > fit.capacity_bytes;
      });
      if (over != points.end()) {
        const Tensor& tensor = inputs.graph.context().tensors[index(over->tensor)];
        fit.fails_at = inputs.graph.names()[tensor.operator_name];
      }
    }
    fits.push_back(std::move(fit));
  }
  std::stable_sort(fits.begin(), fits.end(), [](const MemoryFit& a, const MemoryFit& b) {
    return a.capacity_bytes < b.capacity_bytes;
  });
  return fits;
}

}  // namespace foretrace
