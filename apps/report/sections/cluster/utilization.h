// How much of the peak a job uses, in words and as a value, where it is known.
#pragma once

#include <string>

#include <fmt/format.h>

#include "apps/driver/scenario/job_figures.h"
#include "apps/report/text.h"
#include "apps/report/value.h"

namespace foretrace::report::sections {

/// ", MFU 51.3 %"; empty: not known.
inline std::string utilization_text(const driver::JobFigures& figures) {
  if (!figures.flops_utilization) return "";
  return fmt::format(", MFU {}", percent_text(*figures.flops_utilization));
}

inline Value utilization_value(const driver::JobFigures& figures) {
  return figures.flops_utilization ? Value::part(*figures.flops_utilization) : Value::none();
}

}  // namespace foretrace::report::sections
