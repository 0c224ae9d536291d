// Parts of a schedule file: each reads one section and remembers the first mistake in its fields.
#pragma once

#include <string>

#include "apps/scheduling/schedule.h"
#include "sim/core/config.h"

namespace foretrace::scheduling {

/// A section and where files that it names are.
struct Section {
  const ConfigValue* value = nullptr;
  std::string file;
  std::string pointer;
};

[[nodiscard]] Status read_cluster(const Section& section, Cluster& cluster);
/// {"file": ..., "columns": {...}}, or {"columns": [...], "rows": [...]}, or a list of these.
[[nodiscard]] Status read_throughput(const Section& section, Schedule& schedule);
[[nodiscard]] Status read_jobs(const Section& section, Schedule& schedule);
/// Jobs drawn from distributions.
[[nodiscard]] Status read_generator(const Section& section, Schedule& schedule);
/// Trials of a search of hyperparameters.
[[nodiscard]] Status read_search(const Section& section, Schedule& schedule);
[[nodiscard]] Status read_clock(const Section& section, RunOptions& options);
[[nodiscard]] Status read_failures(const Section& section, const Cluster& cluster,
                                   RunOptions& options);
/// A name, or {"name": ..., "parameters": {...}}.
[[nodiscard]] Status read_choice(const Section& section, Choice& choice);

}  // namespace foretrace::scheduling
