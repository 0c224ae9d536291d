// The order of a schedule as text.
#pragma once

#include <string>

#include <fmt/format.h>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::test {

/// One line per stage: "F0 F1 B0 ...", chunks as letters.
inline std::string drawn(const ScheduleInfo& schedule, const ScheduleShape& shape) {
  std::string text;
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
    text += fmt::format("stage {}:", stage);
    for (const ScheduleStep& step : schedule.order(shape, stage)) {
      const char kind = step.kind == StepKind::forward    ? 'F'
                        : step.kind == StepKind::backward ? 'B'
                                                          : 'W';
      text += fmt::format(" {}{}", kind, step.micro_batch);
      if (shape.chunks > 1) text += static_cast<char>('a' + step.chunk % 26);
    }
    text += '\n';
  }
  return text;
}

}  // namespace foretrace::test
