// Builds the nodes of one rank: passes in the order of the schedule, and the end of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/jobs/program/gradient_sum.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/stages.h"

namespace foretrace {

/// References live longer than it.
class RankBuilder {
 public:
  RankBuilder(const Job& job, const RankProgram& program, std::uint32_t stage, NodeGrain grain)
      : grain_(grain),
        job_(job),
        program_(program),
        blocks_(*program.blocks),
        step_(program.step),
        own_(step_.stages[stage]),
        stage_(stage),
        plan_(stage_plan(job, stage)),
        buckets_(*job.framework, plan_) {}

  [[nodiscard]] std::vector<RankNode> build();

 private:
  struct Amounts {
    double dense = 0;
    double expert = 0;
  };
  /// One number.
  static constexpr double norm_bytes = 4;

  [[nodiscard]] std::uint32_t blocks_before(std::uint32_t position) const;
  void pass(const ScheduleStep& step);
  void blocks(std::uint32_t position, bool backward, bool is_last);
  void block(std::uint32_t index, bool backward);
  [[nodiscard]] static bool is_in_pieces(std::span<const Action> actions, std::size_t at);
  void in_pieces(const Action& pieces, const Action& product);
  void action(const Action& action);
  void compute(std::string_view name, double ns);
  void compute(const Action& action, double ns);
  std::uint32_t collective(std::string_view name, CollectiveKind kind, const GridAxis& group,
                           double bytes);
  void beside(std::string_view name, CollectiveKind kind, const GridAxis& group, double bytes);
  void message(RankNodeType type, std::uint32_t position, std::uint32_t micro_batch, bool forward);

  [[nodiscard]] std::vector<double> pieces_of(const RankProgram::Block& block, double least) const;
  void collect(const RankProgram::Block& block);
  void divide_gradients(const RankProgram::Block& block);

  [[nodiscard]] Amounts own_weights() const { return {own_.dense - own_.tied_here, own_.expert}; }
  /// False: nobody to exchange it with.
  [[nodiscard]] bool exchange(std::string_view name, const GradientSum& what, bool is_beside);
  void collect_parameters(double share, bool is_beside);
  void take_sum_time(double bytes);
  void reduce_gradients(const Amounts& elements, bool is_beside);
  void gradients_of(const RankProgram::Block& block);
  void early_parameters();
  void late_parameters();
  void end();

  std::uint32_t add(RankNode node);
  void chain(std::uint32_t node) { last_ = {node}; }
  void wait_for_started();
  void wait_for_traveled();
  [[nodiscard]] double end_of(const std::vector<std::uint32_t>& nodes);
  void fill_up(double wanted_ns, double begin);
  void wait_for_host(double ns, double most_ns);
  void wait_for_launches(double late_calls);
  [[nodiscard]] bool shards_parameters() const { return plan_.sharding == Sharding::parameters; }
  [[nodiscard]] bool gathers(bool backward) const {
    return shards_parameters() && !keeps_collected(job_, plan_) &&
           (!backward || job_.framework->reshards_after_forward);
  }
  void divide_all();

  NodeGrain grain_;
  const Job& job_;
  const RankProgram& program_;
  const std::vector<RankProgram::Block>& blocks_;
  const RankProgram::Step& step_;
  const RankProgram::Stage& own_;
  std::uint32_t stage_;
  ParallelPlan plan_;
  std::vector<RankNode> nodes_;
  NodePlace place_;
  std::vector<double> ends_;               // of each node, as if nobody else were waited for
  std::vector<std::uint32_t> last_;        // what the next node of the chain waits for
  std::vector<std::uint32_t> started_;     // collectives that run beside it
  std::optional<std::uint32_t> received_;  // the last message
  // The last collective of parameters or gradients.
  std::optional<std::uint32_t> traveled_;
  GradientBuckets buckets_;
  std::vector<std::int64_t> launch_waits_;  // NodeGrain::runs: of passes
  std::size_t passes_ = 0;                  // so many are there
  Amounts waiting_;                         // gradients that wait for their bucket, in elements
  std::uint32_t ready_ = 0;                 // gradients so far, where blocks tell them one by one
};

}  // namespace foretrace
