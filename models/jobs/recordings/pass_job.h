// A recorded pass as a job: each recorded layer is a layer of a modelled one, with its recorded
// times and parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/parameters/gradients.h"
#include "models/jobs/program/job.h"
#include "models/jobs/recordings/layer_cuts.h"
#include "models/jobs/recordings/recorded_layers.h"
#include "models/jobs/recordings/spread_program.h"
#include "sim/core/result.h"

namespace foretrace {

/// What the job points to lives as long as it.
struct PassJob {
  TransformerSpec model;
  Framework framework;
  Job job;
  std::vector<std::uint32_t> cuts;  ///< first layer of every position, and the end
  std::vector<LayerTime> layer_times;
  std::int64_t loading_ns = 0;  ///< of the host, before the first layer
  std::vector<double> trained;  ///< share of every layer of the trained parameters
  std::vector<double> held;     ///< the same of all
  double parameters = 0;        ///< of a rank's stages, trained or not

  /// Once it stays where it is.
  [[nodiscard]] const Job& bound() {
    job.model = &model;
    job.framework = &framework;
    return job;
  }
  /// Layers of a stage.
  [[nodiscard]] std::set<std::uint32_t> layers_of(std::uint32_t stage) const;
};

/// The parameters of a pass, and the gradients of those that are trained.
struct PassParameters {
  editing::Gradients gradients;
  double all = 0;
};

/// Counts them; `given` > 0: so many, all trained.
class PassCounter {
 public:
  explicit PassCounter(const editing::KernelEditor& editor)
      : editor_(editor), finder_(editor), counts_(editing::parameter_counts(editor)) {}
  [[nodiscard]] PassParameters of(const editing::TrainingPass& pass, double given) const;

 private:
  const editing::KernelEditor& editor_;
  editing::GradientFinder finder_;
  std::map<editing::DeviceOfRank, editing::ParameterCount> counts_;
};

/// Errors: no_match without layers enough for the stages, missing_cost where nothing tells what
/// goes from one to the next, unsupported where nothing can be collected before a layer.
[[nodiscard]] Result<PassJob> job_of_pass(const editing::KernelEditor& editor,
                                          const SpreadOptions& options,
                                          const editing::PassLayers& layers,
                                          const PassParameters& parameters);

}  // namespace foretrace
