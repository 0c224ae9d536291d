// What ranks of a stage hold, and what their step ends with: gradients are added up, parameters
// updated and collected.
#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/program/rank_program.h"
#include "models/jobs/program/sharded_passes.h"
#include "models/jobs/program/stages.h"

namespace foretrace {

/// References live longer than it. The step of the program has its positions and their times.
class StageEnds {
 public:
  StageEnds(const Job& job, const RankProgram& program, const SourceScale& scale,
            const KernelTimes& kernels)
      : job_(job),
        program_(program),
        blocks_(*program.blocks),
        step_(program.step),
        scale_(scale),
        kernels_(kernels),
        plan_(stage_plan(job, 0)) {}

  [[nodiscard]] std::vector<RankProgram::Stage> all();

 private:
  [[nodiscard]] std::uint32_t position_at(std::uint32_t stage, std::uint32_t chunk) const {
    return position_of(*job_.schedule, step_.times.shape, stage, chunk);
  }
  [[nodiscard]] double collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const;
  [[nodiscard]] RankProgram::Stage stage_sums(std::uint32_t stage) const;
  void add_resident(const BlockRun& run, RankProgram::Stage& own) const;
  void end_stage(std::uint32_t stage, RankProgram::Stage& own);
  [[nodiscard]] double update_ns(const RankProgram::Stage& own) const;
  [[nodiscard]] bool is_as_before(std::uint32_t stage) const;
  [[nodiscard]] double reduction_ns(double dense, double expert);
  [[nodiscard]] double gradient_ns(const Exchange& stated) const;
  template <typename Start>
  [[nodiscard]] double beside_backward(std::uint32_t stage, const Start& start) const;
  [[nodiscard]] double exposed_reduction(std::uint32_t stage, double dense, double expert);
  void collect_parameters(std::uint32_t stage, RankProgram::Stage& own) const;
  [[nodiscard]] double once_a_step(std::uint32_t stage, const ShardedPasses& sharded,
                                   RankProgram::Stage& own) const;

  const Job& job_;
  const RankProgram& program_;
  const std::vector<RankProgram::Block>& blocks_;
  const RankProgram::Step& step_;
  const SourceScale& scale_;
  const KernelTimes& kernels_;
  ParallelPlan plan_;  // of the stage that is looked at
  // Buckets of gradients are mostly alike: the last one.
  double bucket_dense_ = -1;
  double bucket_expert_ = -1;
  double bucket_ns_ = 0;
};

}  // namespace foretrace
