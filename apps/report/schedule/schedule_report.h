// Files about a run of the scheduling simulator, and a picture of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "apps/scheduling/schedule.h"
#include "sim/core/result.h"

namespace foretrace::app {

using Sink = std::function<bool(std::string_view)>;
/// One line per event: CSV.
[[nodiscard]] Status write_schedule_events(const scheduling::Schedule& schedule,
                                           const scheduling::ScheduleRun& run, const Sink& sink);
/// One line per job: CSV.
[[nodiscard]] Status write_schedule_jobs(const scheduling::Schedule& schedule,
                                         const scheduling::ScheduleRun& run, const Sink& sink);
/// A trace for viewers such as Perfetto: nodes are processes, accelerators are threads.
[[nodiscard]] Status write_schedule_timeline(const scheduling::Schedule& schedule,
                                             const scheduling::ScheduleRun& run, const Sink& sink);
/// A Gantt chart in SVG: accelerators over time, or kinds where there are many.
[[nodiscard]] std::string schedule_picture(const scheduling::Schedule& schedule,
                                           const scheduling::ScheduleRun& run);

}  // namespace foretrace::app
