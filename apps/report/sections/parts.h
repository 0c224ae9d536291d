// Parts that the documents of several commands have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/questions/memory/memory_budget.h"
#include "apps/report/section.h"
#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "apps/session/replay/analysis.h"
#include "apps/session/replay/memory_need.h"
#include "sim/engine/path/critical_path.h"
#include "sim/result/steps/steps.h"
#include "trace/graph/built_graph.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::report {

/// Path, format, rank, devices; for documents.
[[nodiscard]] Section input_section(const std::string& path, const trace::TraceInfo& info);
/// Events, dropped, repaired, reasons, warnings; for documents.
[[nodiscard]] Section import_section(const trace::ImportReport& report);
/// step_ns, host and device period and the times of every step; for documents.
[[nodiscard]] Section steps_section(const std::string& path, const StepTimes& times,
                                    const StepAnswer& answer);
/// Honesty counters, for documents; reactions are left out if there is no replay.
[[nodiscard]] Section honesty_section(std::string path, const trace::Honesty& honesty,
                                      const Replay* replay);
/// The profiler's own work in the times of the host: what was taken out; or, where the host matters
/// to the answer, that it is there and what its range allows for each event (0: nothing).
[[nodiscard]] Section profiler_section(const Recording& recording, bool host_matters,
                                       std::int64_t allowed_ns = 0);
/// Why an answer is doubtful, a sentence each.
[[nodiscard]] Value doubts_value(const std::vector<Doubt>& doubts);

/// Live peak and reserved bytes of the device that needs most; null where no tensor is recorded.
[[nodiscard]] Value need_value(const std::optional<MemoryNeed>& need);
/// Size of a memory and what the driver takes of it.
[[nodiscard]] Value target_value(const MemoryTarget& target);
/// Name to text.
[[nodiscard]] Value texts_by_name(const std::vector<std::pair<std::string, std::string>>& texts);

/// Names with their value, where it is not 0, in the order of an enum.
template <typename Enum, typename Values, typename ToValue>
[[nodiscard]] Value by_name(const Values& values, const ToValue& to_value) {
  Value::Object members;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != typename Values::value_type{}) {
      members.push_back({std::string(to_string(static_cast<Enum>(i))), to_value(values[i])});
    }
  }
  return Value::object(std::move(members));
}

}  // namespace foretrace::report
