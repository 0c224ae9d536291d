#include "trace/rules/rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::trace::rules {
namespace {

/// The order in which rules run. Each rests on what those before it found.
constexpr auto order = std::to_array<std::string_view>({
    // collect
    "threads",
    "pre_window",
    "device_clock",
    "overlong",
    "beside",
    "lost_kernels",
    "blocking_copies",
    // connect
    "hidden_sync",
    "hand_over",
    "polling",
    "program_order",
    "host_gaps",
    "medians",
    "overhead_events",
    "profiler_overhead",
    "queue_depth",
    "long_launches",
    "cuda_sync",
    "synchronization",
    "event_wait",
    "default_stream",
    "graph_launch",
    "inference",
    "capacity",
    "device_start",
    "device_order",
    "reference_times",
});

std::vector<const Rule*> sorted_by_order() {
  std::vector<const Rule*> rules;
  for (const std::string_view name : order) {
    const auto found = std::find_if(all().begin(), all().end(),
                                    [&](const Rule* rule) { return rule->name == name; });
    FORETRACE_CHECK(found != all().end());
    rules.push_back(*found);
  }
  FORETRACE_CHECK(rules.size() == all().size());  // a rule without a place in the order
  return rules;
}

void run(Stage stage, Assembly& assembly) {
  for (const Rule* rule : in_order()) {
    if (rule->stage == stage && !assembly.options.without_rules.contains(rule->name)) {
      rule->apply(assembly);
    }
  }
}

/// The first kept event is where the time of the rank begins.
void find_begin(Assembly& assembly) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const HostThread& thread : assembly.threads) {
    first = std::min(first, thread.first_ns);
  }
  for (const DeviceOp& op : assembly.ops) {
    first = std::min(first, op.start_ns);
  }
  assembly.begin_ns = first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
  assembly.origin_ns = assembly.begin_ns;
}

}  // namespace

std::span<const Rule* const> in_order() {
  static const std::vector<const Rule*> rules = sorted_by_order();
  return rules;
}

Status check_left_out(const LeftOutRules& names) {
  for (const std::string& name : names) {
    const auto found = std::find_if(all().begin(), all().end(),
                                    [&](const Rule* rule) { return rule->name == name; });
    if (found == all().end()) {
      std::vector<std::string_view> known;
      for (const Rule* rule : all()) {
        known.push_back(rule->name);
      }
      return Error{ErrorCode::bad_usage, fmt::format("no rule is called {}{}", in_quotes(name),
                                                     did_you_mean(name, known))};
    }
    if ((*found)->required) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("the rule {} cannot be left out: others need it", name)};
    }
  }
  return ok_status();
}

void collect(Assembly& assembly) {
  assembly.rank = std::max(0, assembly.events.info.rank);
  assembly.slack_ns = 3 * std::max<std::int64_t>(assembly.events.info.resolution_ns, 1);
  run(Stage::collect, assembly);
  find_begin(assembly);
}

void connect(Assembly& assembly) { run(Stage::connect, assembly); }

}  // namespace foretrace::trace::rules
