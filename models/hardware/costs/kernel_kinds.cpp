// One pass over the kernels; what is known of a kind is known of its work.
#include "models/hardware/costs/kernel_kinds.h"

#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/edit/selection.h"

namespace foretrace::costing {

TableKernel table_kernel(const TaskGraph& graph, TaskId kernel) {
  const Work& work = graph.work(kernel);
  const NameTable& names = graph.names();
  return {names[work.name],   names[work.operator_name],
          names[work.shapes], names[work.types],
          work.grid,          work.block};
}

Result<std::vector<TaskId>> selected_kernels(const TaskGraph& graph, std::string_view selection) {
  FORETRACE_TRY(auto selected, select(graph, selection));
  std::erase_if(selected, [&](TaskId task) { return graph.kind(task) != TaskKind::kernel; });
  if (selected.empty()) {
    return Error{ErrorCode::no_match, fmt::format("no kernel matches {}", in_quotes(selection))};
  }
  return selected;
}

Result<std::vector<KernelKind>> kernel_kinds(const TaskGraph& graph, std::string_view selection) {
  FORETRACE_TRY(const auto kernels, selected_kernels(graph, selection));
  // Without an accelerator, so that no shape is derived from a measured time: a function that is
  // to tell times must not read them from the sizes it is given.
  const std::vector<KernelDescription> descriptions = describe_works(graph, nullptr);
  using Key = std::tuple<NameId, NameId, NameId, NameId, std::array<std::int32_t, 3>,
                         std::array<std::int32_t, 3>>;
  std::map<Key, std::size_t> places;
  std::vector<KernelKind> kinds;
  for (const TaskId kernel : kernels) {
    const Work& work = graph.work(kernel);
    const auto [at, is_new] = places.emplace(
        Key{work.name, work.operator_name, work.shapes, work.types, work.grid, work.block},
        kinds.size());
    if (is_new) {
      const KernelDescription& known = descriptions[index(graph.work_id(kernel))];
      kinds.push_back({table_kernel(graph, kernel), known.traits, known.amount,
                       kernel_rules().facts(graph.name(kernel)).tile});
    }
    ++kinds[at->second].count;
    kinds[at->second].total_ns += graph.duration_ns(kernel);
  }
  return kinds;
}

}  // namespace foretrace::costing
