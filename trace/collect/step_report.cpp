#include "trace/collect/step_report.h"

#include <fmt/format.h>

namespace foretrace::trace::collector {

std::string step_warning(const ftr::Pairs& facts) {
  const auto asked = step_range_of(ftr::value_of(facts, steps_fact));
  const std::int64_t seen = ftr::number_of(facts, steps_seen_fact, -1);
  if (!asked || seen < 0 || seen > asked->last) {
    return {};
  }
  const std::string range = fmt::format("{}:{}", asked->first, asked->last);
  if (seen == 0) {
    return fmt::format(
        "nothing was recorded: steps {} were requested and no step was seen. Steps are NVTX ranges "
        "called \"step 3\", else \"Optimizer.step...\" (torch.autograd.profiler.emit_nvtx writes "
        "these); without such ranges, record all steps",
        range);
  }
  const std::string begun = seen == 1 ? "1 step" : fmt::format("{} steps", seen);
  return seen <= asked->first
             ? fmt::format("nothing was recorded: steps {} were requested, the program began {}",
                           range, begun)
             : fmt::format(
                   "steps {} were requested, the program began {}: the last ones are missing",
                   range, begun);
}

std::string step_text(const ftr::Pairs& facts) {
  const std::string_view asked = ftr::value_of(facts, steps_fact);
  const std::int64_t seen = ftr::number_of(facts, steps_seen_fact, -1);
  if (!step_range_of(asked) || seen < 0) {
    return {};
  }
  const std::string_view by = ftr::value_of(facts, steps_by_fact);
  return by == "updates" || by == "steps" ? fmt::format("{} of {}, counted by {}", asked, seen, by)
                                          : fmt::format("{} of {}", asked, seen);
}

}  // namespace foretrace::trace::collector
