// What a rank of a job does in a step: blocks with their kernels and collectives, and what the plan
// and the schedule make of them. Formula, graphs, memory and exported programs all read it.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/program/job.h"
#include "models/jobs/times/kernel_times.h"
#include "models/jobs/workloads/operator.h"

namespace foretrace {

enum class ActionType : std::uint8_t {
  compute,     ///< kernels
  collective,  ///< waited for at once
  start,       ///< a collective that runs beside what follows
  wait,        ///< for all collectives that were started
};

/// What a kernel of an operator computes.
enum class KernelPart : std::uint8_t {
  forward,
  input_gradient,   ///< all of backward where the operator has no weights
  weight_gradient,  ///< of a product
  accumulation,     ///< gradients of all weights of a block, added up
};

struct Action {
  static constexpr std::uint16_t no_operator = UINT16_MAX;

  ActionType type = ActionType::compute;
  CostSource source = CostSource::memory;
  Provenance provenance = Provenance::roofline;
  Axis axis = Axis::tensor;
  CollectiveKind collective = CollectiveKind::none;
  bool is_again = false;  ///< recomputed forward work
  std::uint16_t kernels = 0;
  float slowed = 1;                            ///< while a collective runs beside it
  std::uint16_t operator_index = no_operator;  ///< of the block, see RankProgram::divided
  KernelPart part = KernelPart::forward;
  double ns = 0;
  double bytes = 0;  ///< collectives
  std::string_view name = {};
  friend bool operator==(const Action&, const Action&) = default;
};

/// Factors of times by source; all 1 for the prediction itself.
using SourceScale = std::array<double, cost_source_count>;
[[nodiscard]] constexpr SourceScale no_scale() {
  SourceScale scale{};
  for (double& factor : scale) factor = 1;
  return scale;
}

/// Where the time of a pass through a block goes, in ns.
struct PassTime {
  double total = 0;  ///< device and exposed collectives, as if all was launched
  std::array<double, cost_source_count> computed{};      ///< kernels by source
  std::array<double, axis_count> exposed{};              ///< collectives that were waited for
  std::array<double, provenance_count> by_provenance{};  ///< computed and exposed
  double overlapped = 0;                                 ///< collectives beside kernels
  double again = 0;                                      ///< recomputation, part of the above
  double host_waits = 0;  ///< part of the total: what else the host does keeps the device waiting
  double late_calls = 0;  ///< part of the total: launches do, of a host that waits for messages
  double launching = 0;   ///< of the host, beside the device and ahead of it
  double rest = 0;        ///< what the device needs at least when the last of it is launched
  /// If the host was not ahead when the pass began.
  [[nodiscard]] double in_a_row() const { return std::max(total, launching); }
  /// `other` comes behind it, so often.
  void add(const PassTime& other, double count);
  friend bool operator==(const PassTime&, const PassTime&) = default;
};

/// All ranks of a stage do the same: a class of equal ranks is a program and a stage.
struct RankProgram {
  /// Of the actions of the program, in order.
  struct BlockPass {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    PassTime time;
    friend bool operator==(const BlockPass&, const BlockPass&) = default;
  };
  /// One kind of block of the model, as one rank has it.
  struct Block {
    BlockRole role = BlockRole::layer;
    std::string name;
    BlockPass forward;
    BlockPass backward;  ///< with recomputation
    /// Gradients of weights alone, for schedules that split backward; then not in `backward`.
    BlockPass weights;
    /// Collectives of gradients of recorded layers, in the order in which they start, instead of
    /// buckets of the framework.
    std::vector<Exchange> gradients;
    double dense_weights = 0;  ///< parameters of this rank
    double expert_weights = 0;
    double frozen_weights = 0;  ///< of recorded layers: parameters without gradients, beside these
    /// Elements of each gradient of dense ones, in the order in which they are ready; empty: all
    /// at once.
    std::vector<double> ready;
    std::uint32_t tensors = 0;  ///< that the parameters are held in
    /// Elements of the dense ones, in the order of their use, where they travel one by one.
    std::vector<double> traveling;
    double kept_bytes = 0;     ///< per micro-batch in flight
    double working_bytes = 0;  ///< while one block is computed or recomputed: what else is alive
    /// Alive while one operator runs, beside what is kept: forward, what products read and give;
    /// backward, the gradients of that.
    double passing_bytes = 0;
    double gradient_bytes = 0;
    double input_bytes = 0;
    double window = 0;  ///< keys of a sequence that attention looks at; 0: all

    [[nodiscard]] std::array<BlockPass*, 3> passes() { return {&forward, &backward, &weights}; }
    [[nodiscard]] std::array<const BlockPass*, 3> passes() const {
      return {&forward, &backward, &weights};
    }
    /// That are collected where they are sharded.
    [[nodiscard]] double collected_weights() const {
      return dense_weights + expert_weights + frozen_weights;
    }
    friend bool operator==(const Block&, const Block&) = default;
  };
  /// What a rank of a stage holds, of all its blocks, and how its step ends.
  struct Stage {
    double dense = 0;   ///< parameters, of a table that embedding and head share twice
    double expert = 0;  ///< parameters
    double tensors = 0;
    double tied_here = 0;       ///< parameters of a table that embedding and head share here
    double tied_away = 0;       ///< the same if the other one lies on another stage
    double resident = 0;        ///< sharded parameters: elements of tensors that all ranks keep
    double resident_parts = 0;  ///< that those tensors are collected from
    double kept = 0;            ///< bytes of one micro-batch, without the head's
    double head_kept = 0;       ///< bytes of one micro-batch
    double working = 0;         ///< bytes: the largest block
    double segments = 0;        ///< bytes beside it that an allocator has for operators: Framework
    double largest = 0;         ///< parameters that are collected together: of the largest block
    double positions = 0;  ///< inference: whose keys and values stay, of one sequence, all layers
    // Training, in ns that nothing hides:
    std::int64_t gradients = 0;   ///< their reduction
    std::int64_t parameters = 0;  ///< their collection
    std::int64_t update = 0;      ///< the optimizer, launched when gradients have their norm
    double late_share = 1;        ///< of the parameters: what is collected behind the update
  };
  /// Per position of the pipeline, and per stage.
  struct Step {
    PipelineTimes times;
    std::vector<PassTime> forward;  ///< per position, of one micro-batch
    std::vector<PassTime> backward;
    std::vector<BlockRun> runs;            ///< the order of the blocks, cut at positions
    std::vector<std::uint32_t> first_run;  ///< per position, and their number
    std::vector<Stage> stages;

    [[nodiscard]] std::span<const BlockRun> position(std::uint32_t at) const {
      return std::span(runs).subspan(first_run[at], first_run[at + 1] - first_run[at]);
    }
  };

  /// Shared by programs that differ in times or in what comes behind them.
  std::shared_ptr<const std::vector<Action>> actions;
  std::shared_ptr<const std::vector<Block>> blocks;
  /// Their operators as one rank has them, block by block; a block of a machine's own has none.
  std::shared_ptr<const std::vector<foretrace::Block>> divided;
  std::vector<BlockRun> order;     ///< of the model's blocks
  double attention_intensity = 1;  ///< rate of attention against that of large products
  double tied_weights = 0;         ///< of the table that embedding and head share; 0: none
  double hidden_bytes = 0;  ///< activation between two blocks on this rank, of one micro-batch
  Step step;

  [[nodiscard]] std::span<const Action> actions_of(const BlockPass& pass) const {
    return std::span(*actions).subspan(pass.first, pass.count);
  }
  /// Blocks have collectives of gradients of their own.
  [[nodiscard]] bool states_gradients() const;
};

/// Builds the model, divides it, gives every action its time and lays the step out. Error: it takes
/// longer than whole numbers hold, as where a rate is next to 0.
[[nodiscard]] Result<RankProgram> build_program(const Job& job);

// Its stages, for who shares them between jobs. Blocks come without times, and without a step.

/// At the typical clock.
[[nodiscard]] RankProgram lower_blocks(const Job& job);
/// The job without what lower_blocks() does not depend on, so that jobs for which it is equal share
/// their blocks. It leaves out, and does not list what stays: a new member of jobs is part of it.
[[nodiscard]] Job job_of_blocks(Job job);
/// What turns times of lower_blocks() into those at the clock that the job settles at. Of jobs with
/// the same blocks it depends on stage_waits() alone.
[[nodiscard]] SourceScale settled_scale(const Job& job, const RankProgram& lowered);
/// How long a stage waits for others, at both ends of a step.
struct StageWaits {
  double share = 0;     ///< of its own work; 0 where the clock does not follow the load
  double of_model = 0;  ///< of what one micro-batch takes through all stages, in one piece
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const StageWaits&, const StageWaits&) = default;
};
[[nodiscard]] StageWaits stage_waits(const Job& job);
/// With the times of its blocks' passes; actions stay as they are.
[[nodiscard]] RankProgram timed(const Job& job, RankProgram program, const SourceScale& scale);
/// With its step. `program` has its times at `scale`, and is of this job, or of one that differs in
/// what blocks do not depend on. Error: as of build_program().
[[nodiscard]] Result<RankProgram> laid_out(const Job& job, RankProgram program,
                                           const SourceScale& scale);

/// Runs actions on a device with two lanes.
[[nodiscard]] PassTime time_of(std::span<const Action> actions, const Framework& framework,
                               const SourceScale& scale);
/// Bytes that enter the blocks of a position on this stage, of one micro-batch and all ranks that
/// divide it.
[[nodiscard]] double passed_bytes(const Job& job, const RankProgram& program,
                                  std::uint32_t position, std::uint32_t stage);
/// Whether ranks of a tensor group each send a piece of what goes to the next stage.
[[nodiscard]] bool sends_pieces(const Job& job, const ParallelPlan& plan);
/// The group that adds up gradients that a recording states.
[[nodiscard]] GridAxis gradient_axis(const ParallelPlan& plan, const Exchange& stated);

}  // namespace foretrace
