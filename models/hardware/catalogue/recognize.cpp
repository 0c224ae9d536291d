#include "models/hardware/catalogue/recognize.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/core/text.h"

namespace foretrace {
namespace {

// Boards of one chip differ by some disabled multiprocessors (GH100: 114 to 132). Beyond this ratio
// it is another chip, or a part of one that is sold as another product.
constexpr double largest_ratio = 1.25;
// A board code names a chip; its memory may be half or double of the product's.
constexpr double largest_memory_ratio = 2.6;

enum class Vendor : std::uint8_t { unknown, nvidia, amd };

Vendor vendor_of(std::string_view name) {
  for (const std::string_view word : {"AMD", "Radeon", "Instinct", "gfx"}) {
    if (contains(name, word)) return Vendor::amd;
  }
  for (const std::string_view word : {"NVIDIA", "Tesla", "GeForce", "Quadro", "RTX", "GTX"}) {
    if (contains(name, word)) return Vendor::nvidia;
  }
  return Vendor::unknown;
}

/// A device without a name: only the profiler of one vendor records registers.
Vendor vendor_of(const DeviceInfo& device) {
  const Vendor named = vendor_of(std::string_view(device.name));
  if (named != Vendor::unknown) return named;
  return device.registers_per_multiprocessor > 0 ? Vendor::nvidia : Vendor::unknown;
}

double ratio(double a, double b) { return a > 0 && b > 0 ? std::max(a / b, b / a) : 1e9; }

bool may_be(const Accelerator& candidate, const DeviceInfo& device) {
  const Vendor vendor = vendor_of(device);
  return candidate.compute_major == device.compute_major &&
         candidate.compute_minor == device.compute_minor &&
         (vendor == Vendor::unknown || vendor == vendor_of(candidate.product)) &&
         ratio(candidate.multiprocessors, device.multiprocessors) <= largest_ratio &&
         (device.memory_bytes <= 0 ||
          ratio(static_cast<double>(candidate.memory_bytes),
                static_cast<double>(device.memory_bytes)) <= largest_memory_ratio);
}

/// Boards for games multiply at half the rate of the same chip on boards for servers.
bool is_for_games(std::string_view name) { return contains(name, "GeForce"); }

/// Smaller is nearer: the line of products first, then multiprocessors, then memory.
std::tuple<bool, double, double> distance(const Accelerator& candidate, const DeviceInfo& device) {
  return {is_for_games(candidate.product) != is_for_games(device.name),
          ratio(candidate.multiprocessors, device.multiprocessors),
          ratio(static_cast<double>(candidate.memory_bytes),
                static_cast<double>(std::max<std::int64_t>(1, device.memory_bytes)))};
}

std::string note_on(const Accelerator& found, const DeviceInfo& device) {
  std::string text = fmt::format(
      "{} has no file and counts as {}: compute capability {}.{}, {} multiprocessors",
      device.name.empty() ? std::string("a device without a name") : in_quotes(device.name),
      found.name, device.compute_major, device.compute_minor, device.multiprocessors);
  if (device.multiprocessors != found.multiprocessors) {
    text += fmt::format(" (that one: {})", found.multiprocessors);
  }
  if (device.memory_bytes > 0) {
    text += fmt::format(", {:.0f} GiB", static_cast<double>(device.memory_bytes) / 1073741824.0);
  }
  return text;
}

}  // namespace

std::optional<RecognizedAccelerator> recognize_accelerator(const Catalogue& catalogue,
                                                           const DeviceInfo& device) {
  if (const Accelerator* const named =
          catalogue.accelerator_of_device(device.name, device.memory_bytes)) {
    return RecognizedAccelerator{*named, {}};
  }
  if (device.compute_major <= 0 || device.multiprocessors <= 0) return std::nullopt;
  const Accelerator* best = nullptr;
  for (const Accelerator& candidate : catalogue.accelerators()) {
    if (may_be(candidate, device) &&
        (best == nullptr || distance(candidate, device) < distance(*best, device))) {
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return RecognizedAccelerator{*best, note_on(*best, device)};
}

}  // namespace foretrace
