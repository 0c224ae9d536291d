#include "apps/session/device_fit.h"

#include <fmt/format.h>

namespace foretrace {
namespace {

std::string gib(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 1073741824.0);
}

}  // namespace

std::string text_of_misfit(const DeviceFit& fit) {
  return fmt::format("does not fit: needs {}{}, has {} ({})", fit.need.is_least ? "at least " : "",
                     gib(fit.target.needed_bytes(fit.need)), gib(fit.target.capacity_bytes),
                     fit.target.name);
}

DeviceFit fit_of(const Recording& recording, const MemoryNeed& before,
                 const Accelerator& accelerator, const MemoryNeed& need) {
  DeviceFit fit{target_of(accelerator), need};
  const bool is_recorded_device = recording.modelled == nullptr && recording.accelerator &&
                                  recording.accelerator->name == accelerator.name;
  fit.fits = fit.target.fits(need) ||
             (is_recorded_device && need.reserved_bytes() <= before.reserved_bytes());
  return fit;
}

}  // namespace foretrace
