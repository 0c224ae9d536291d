// {"num_gpus": 64, "tensor_parallel_size": 8, "data_parallel_size": 2, "pipeline_parallel_size": 4,
//  "global_batch_size": 64, "micro_batch_size": 1, "use_checkpoint": true,
//  "pipeline_scheduling": "1f1b", "num_layers": 48, "hidden_size": 6144, ...}
//
// Read there by vTrainConfig (github.com/VIA-Research/vTrain: src/config.py).
#include "models/jobs/imports/vtrain_execution.h"

#include <array>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr double most_gpus = 1e6;
constexpr double most_sequences = 1e9;
constexpr std::array<std::string_view, 2> vtrain_members = {"tensor_parallel_size",
                                                            "pipeline_parallel_size"};
constexpr std::array<std::string_view, 2> vtrain_schedules = {"1f1b", "gpipe"};

}  // namespace

bool is_vtrain_config(const ImportedFile& file) { return file.has(vtrain_members); }

Status read_vtrain_execution(const ImportedFile& file, Job& job) {
  Members members(file.document, file.path);
  job.plan.tensor = members.whole("tensor_parallel_size", most_gpus);
  job.plan.data = members.whole("data_parallel_size", most_gpus);
  job.plan.pipeline = members.whole("pipeline_parallel_size", most_gpus);
  const double ranks = 1.0 * job.plan.tensor * job.plan.data * job.plan.pipeline;
  if (members.has("num_gpus") && members.whole("num_gpus", most_gpus) != ranks) {
    members.mistake("num_gpus",
                    fmt::format("is not the product of tensor_, data_ and pipeline_parallel_size, "
                                "expected {:g}",
                                ranks));
  }
  job.global_batch = members.whole("global_batch_size", most_sequences);
  // Without a pipeline it takes all sequences of a rank at once.
  job.micro_batch = job.plan.pipeline > 1 ? members.whole("micro_batch_size", most_sequences)
                                          : job.global_batch / job.plan.data;
  if (members.has("use_checkpoint") && members.flag("use_checkpoint")) {
    job.recompute = Recompute::full;
  }
  const std::size_t schedule = members.has("pipeline_scheduling")
                                   ? members.word("pipeline_scheduling", vtrain_schedules)
                                   : 0;
  FORETRACE_TRY(job.schedule, find_schedule(vtrain_schedules[schedule]));
  return members.finish();
}

}  // namespace foretrace
