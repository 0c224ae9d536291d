// Conflicts: A. Li et al., Automatic Horizontal Fusion for GPU Kernels, CGO 2022; times of single
// and fused kernels from the public artifact (scripts/data, GTX 1080 Ti), best variant of each
// pair.
#include "models/editing/chains/corun_model.h"

#include <algorithm>

namespace foretrace::editing {
namespace {

// Means over the 16 pairs of the artifact. Left out kernel by kernel, the model misses the fused
// time by 21 % on average, where a constant ratio to the sum misses it by 29 %.
constexpr double same_arithmetic = 1.73;
constexpr double same_bytes = 0.83;
constexpr double bytes_and_shared_memory = 0.46;
constexpr double arithmetic_and_latency = 0.14;
constexpr double other_equal = 1.13;      // mean over all pairs with one bottleneck
constexpr double other_different = 0.33;  // mean over all pairs with two

struct Mean {
  double sum = 0;
  double count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] double or_else(double other) const { return count > 0 ? sum / count : other; }
};

}  // namespace

Bottleneck bottleneck_of(const KernelTraits& traits) {
  if (traits.compute_bound) return Bottleneck::arithmetic;
  return traits.kernel_class == KernelClass::gather ? Bottleneck::latency : Bottleneck::bytes;
}

CorunModel::CorunModel() {
  const auto set = [&](Bottleneck a, Bottleneck b, double value) {
    conflict_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = value;
    conflict_[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] = value;
  };
  for (std::size_t a = 0; a < bottleneck_count; ++a) {
    for (std::size_t b = 0; b < bottleneck_count; ++b) {
      conflict_[a][b] = a == b ? other_equal : other_different;
    }
  }
  set(Bottleneck::arithmetic, Bottleneck::arithmetic, same_arithmetic);
  set(Bottleneck::bytes, Bottleneck::bytes, same_bytes);
  set(Bottleneck::bytes, Bottleneck::shared_memory, bytes_and_shared_memory);
  set(Bottleneck::arithmetic, Bottleneck::latency, arithmetic_and_latency);
}

CorunModel::CorunModel(std::span<const FusedPair> pairs) {
  std::array<std::array<Mean, bottleneck_count>, bottleneck_count> kinds;
  Mean equal;
  Mean different;
  for (const FusedPair& pair : pairs) {
    const double shorter = std::min(pair.first_time, pair.second_time);
    if (!(shorter > 0)) continue;
    const double value = (pair.fused_time - std::max(pair.first_time, pair.second_time)) / shorter;
    const auto first = static_cast<std::size_t>(pair.first);
    const auto second = static_cast<std::size_t>(pair.second);
    const std::size_t a = std::min(first, second);
    const std::size_t b = std::max(first, second);
    kinds[a][b].add(value);
    (a == b ? equal : different).add(value);
  }
  for (std::size_t a = 0; a < bottleneck_count; ++a) {
    for (std::size_t b = a; b < bottleneck_count; ++b) {
      const double other = a == b ? equal.or_else(other_equal) : different.or_else(other_different);
      conflict_[a][b] = conflict_[b][a] = kinds[a][b].or_else(other);
    }
  }
}

double CorunModel::fused_time(Bottleneck a, double a_time, Bottleneck b, double b_time) const {
  return std::max(a_time, b_time) + conflict(a, b) * std::min(a_time, b_time);
}

}  // namespace foretrace::editing
