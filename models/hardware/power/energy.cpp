#include "models/hardware/power/energy.h"

#include <algorithm>

namespace foretrace {

double filled_share(const TaskGraph& graph, std::int32_t multiprocessors) {
  double all = 0;
  double filled = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::kernel) continue;
    const auto& grid = graph.work(task).grid;
    const double blocks = 1.0 * grid[0] * grid[1] * grid[2];
    const auto ns = static_cast<double>(graph.duration_ns(task));
    const bool is_known = blocks > 0 && multiprocessors > 0;
    all += ns;
    filled += ns * (is_known ? std::min(1.0, blocks / multiprocessors) : 1.0);
  }
  return all > 0 ? filled / all : 1;
}

Result<std::optional<Energy>> step_energy(const Catalogue& catalogue,
                                          const Accelerator& accelerator, const TaskGraph& graph,
                                          std::int64_t step_ns, std::int64_t compute_ns) {
  FORETRACE_TRY(const auto power, board_power(catalogue, accelerator.name));
  if (!power.has_value()) return std::optional<Energy>{};
  const double filled =
      static_cast<double>(compute_ns) * filled_share(graph, accelerator.multiprocessors);
  return std::optional(energy_of(*power, step_ns, filled));
}

}  // namespace foretrace
