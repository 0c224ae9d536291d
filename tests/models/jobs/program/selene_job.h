// Jobs on Selene of the shipped files.
#pragma once

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "models/hardware/networks/cluster.h"
#include "models/jobs/program/job.h"
#include "models/jobs/schedules/schedule.h"
#include "models/jobs/workloads/model_spec.h"
#include "tests/configs.h"

namespace foretrace::test {

/// What a job points to.
struct JobParts {
  ModelSpec model;
  Cluster cluster;
  Framework framework;
};

inline JobParts selene(const std::string& model, const std::string& framework = "megatron_2022") {
  auto spec = find_model(*shipped(), model);
  auto cluster = find_cluster(*shipped(), "selene");
  auto found = find_framework(*shipped(), framework);
  REQUIRE((spec.ok() && cluster.ok() && found.ok()));
  return {std::move(*spec), std::move(*cluster), std::move(*found)};
}

/// On one device, by 1F1B.
inline Job job_of(const JobParts& parts) {
  Job job;
  job.model = &parts.model.transformer;
  job.cluster = &parts.cluster;
  job.framework = &parts.framework;
  job.schedule = *find_schedule("1f1b");
  return job;
}

/// 64 ranks: tensor 8 with sequence parallelism, pipeline 4, data 2.
inline Job job_of_64(const JobParts& parts) {
  Job job = job_of(parts);
  job.plan.tensor = 8;
  job.plan.sequence = true;
  job.plan.pipeline = 4;
  job.plan.data = 2;
  job.global_batch = 16;
  return job;
}

}  // namespace foretrace::test
