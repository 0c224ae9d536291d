// What sections of jobs say alike: how much of the peak is used, and of what a step consists.
#pragma once

#include <string>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "apps/report/value.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::report::sections {

/// ", MFU 51.3 %"; empty: not known.
inline std::string utilization_text(const JobFigures& figures) {
  if (!figures.flops_utilization) return "";
  return fmt::format(", MFU {}", percent_text(*figures.flops_utilization));
}

inline Value utilization_value(const JobFigures& figures) {
  return figures.flops_utilization ? Value::part(*figures.flops_utilization) : Value::none();
}

/// "32 sequences of 1024 tokens", "256 samples".
inline std::string batch_text(const Scenario& scenario, double global_batch) {
  if (scenario.model->transformer.layered != nullptr) {
    return fmt::format("{:.0f} samples", global_batch);
  }
  return fmt::format("{:.0f} sequences of {:.0f} tokens", global_batch, scenario.job.length);
}

}  // namespace foretrace::report::sections
