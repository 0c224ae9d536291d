// The rules, and the one order they run in.
#pragma once

#include <span>

#include "sim/core/result.h"
#include "trace/graph/built_graph.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules {

/// Every rule, sorted by name (generated from the files of trace/rules/host and
/// trace/rules/device).
[[nodiscard]] std::span<const Rule* const> all();

/// Every rule in the order they run.
[[nodiscard]] std::span<const Rule* const> in_order();

/// Errors: a rule that is left out and does not exist, or that the others need.
[[nodiscard]] Status check_left_out(const LeftOutRules& names);

/// Runs the rules of the first stage: fills the assembly with threads, calls and operations.
void collect(Assembly& assembly);
/// Runs the rules of the second stage on what collect() found.
void connect(Assembly& assembly);

}  // namespace foretrace::trace::rules
