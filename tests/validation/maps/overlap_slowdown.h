// How much longer a kernel takes while a collective runs beside it, by its kind: read from
// configs/overlap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/sources.h"
#include "models/hardware/kernels/kernel_class.h"
#include "models/hardware/networks/cluster.h"
#include "sim/core/result.h"

namespace foretrace {

/// Collectives take multiprocessors, places for thread blocks and memory bandwidth. Who loses by it
/// depends on the kernel: large products hardly, those that sum up columns most.
struct OverlapSlowdown {
  struct Rule {
    std::string name;  ///< part of the kernel's; empty: all of the class
    KernelClass kernel_class = KernelClass::other;
    Ranged slowdown;
  };
  std::string machine;            ///< for people
  std::vector<Rule> rules;        ///< the first that fits counts; else 1
  std::vector<double> fitted_to;  ///< us alone, us beside a collective, ...: where they are from
  FigureSources sources;

  [[nodiscard]] Ranged of(std::string_view kernel) const;
  /// Whether the factors are from this measurement.
  [[nodiscard]] bool is_fitted_to(double us_alone, double us_beside) const;
};

/// Time of work that takes `alone` by itself and runs beside a collective for this share of its
/// whole time.
[[nodiscard]] double time_beside(double alone, double share, double slowdown);

[[nodiscard]] Result<OverlapSlowdown> find_overlap(const Catalogue& catalogue,
                                                   std::string_view name);
[[nodiscard]] Result<OverlapSlowdown> parse_overlap(std::string_view text,
                                                    const std::string& where);

}  // namespace foretrace
