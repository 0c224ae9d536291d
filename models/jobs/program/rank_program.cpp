#include "models/jobs/program/rank_program.h"

#include <algorithm>
#include <utility>

#include "models/jobs/program/stages.h"
#include "models/jobs/times/two_lanes.h"

namespace foretrace {

void PassTime::add(const PassTime& other, double count) {
  // The host may launch ahead; what is launched last waits for the device, or for its launch.
  const double ahead = other.total - other.launching;
  rest = std::max(rest + count * ahead, other.rest + (count - 1) * std::max(0.0, ahead));
  launching += count * other.launching;
  total += count * other.total;
  overlapped += count * other.overlapped;
  again += count * other.again;
  host_waits += count * other.host_waits;
  late_calls += count * other.late_calls;
  for (std::size_t i = 0; i < computed.size(); ++i) computed[i] += count * other.computed[i];
  for (std::size_t i = 0; i < exposed.size(); ++i) exposed[i] += count * other.exposed[i];
  for (std::size_t i = 0; i < by_provenance.size(); ++i) {
    by_provenance[i] += count * other.by_provenance[i];
  }
}

PassTime time_of(std::span<const Action> actions, const Framework& framework,
                 const SourceScale& scale) {
  PassTime time;
  TwoLanes lanes(framework.communication_slowdown.typical);
  const double launch_ns =
      framework.host_kernel_ns.typical * scale[static_cast<std::size_t>(CostSource::host)];
  double late = 0;  // most that a launch is behind the device, and what runs from there
  Axis started = Axis::tensor;
  for (const Action& action : actions) {
    const auto source = static_cast<std::size_t>(action.source);
    const double ns = action.ns * scale[source];
    const double before = lanes.now();
    if (action.kernels > 0) {  // launched one by one, each of them as long
      const double one = action.type == ActionType::compute ? ns / action.kernels : 0;
      const double calls = action.kernels * launch_ns;
      late = std::max({late, time.launching + launch_ns - before,
                       time.launching + calls - (before + ns - one)});
      time.launching += calls;
    }
    switch (action.type) {
      case ActionType::compute:
        lanes.compute(ns, action.slowed);
        time.computed[source] += lanes.now() - before;
        break;
      case ActionType::start:
        static_cast<void>(lanes.start(ns));
        started = action.axis;
        break;
      case ActionType::collective:
        static_cast<void>(lanes.start(ns));
        time.exposed[static_cast<std::size_t>(action.axis)] += lanes.wait_all();
        break;
      case ActionType::wait:
        time.exposed[static_cast<std::size_t>(started)] += lanes.wait_all();
        break;
    }
    time.by_provenance[static_cast<std::size_t>(action.provenance)] += lanes.now() - before;
    if (action.is_again) time.again += lanes.now() - before;
  }
  time.exposed[static_cast<std::size_t>(started)] += lanes.wait_all();
  time.overlapped = lanes.overlapped();
  time.total = lanes.now();
  time.rest = std::max(0.0, late + time.total - time.launching);
  return time;
}

bool RankProgram::states_gradients() const {
  return std::any_of(blocks->begin(), blocks->end(),
                     [](const Block& block) { return !block.gradients.empty(); });
}

RankProgram timed(const Job& job, RankProgram program, const SourceScale& scale) {
  auto blocks = std::make_shared<std::vector<RankProgram::Block>>(*program.blocks);
  for (RankProgram::Block& block : *blocks) {
    for (RankProgram::BlockPass* pass : block.passes()) {
      pass->time = time_of(program.actions_of(*pass), *job.framework, scale);
    }
  }
  program.blocks = std::move(blocks);
  return program;
}

Result<RankProgram> build_program(const Job& job) {
  RankProgram program = lower_blocks(job);
  const SourceScale scale = settled_scale(job, program);
  auto actions = std::make_shared<std::vector<Action>>(*program.actions);
  for (Action& action : *actions) action.ns *= scale[static_cast<std::size_t>(action.source)];
  program.actions = std::move(actions);
  return laid_out(job, timed(job, std::move(program), no_scale()), no_scale());
}

double passed_bytes(const Job& job, const RankProgram& program, std::uint32_t position,
                    std::uint32_t stage) {
  const std::span<const BlockRun> runs = program.step.position(position);
  if (!job.has_samples() || runs.empty()) return program.hidden_bytes;
  const double bytes = (*program.blocks)[runs.front().block].input_bytes;
  return bytes > 0 ? bytes * batch_parts(job, stage) : program.hidden_bytes;
}

bool sends_pieces(const Job& job, const ParallelPlan& plan) {
  return plan.tensor > 1 && (plan.sequence || job.framework->scatters_sends);
}

GridAxis gradient_axis(const ParallelPlan& plan, const Exchange& stated) {
  return stated.among_expert_copies ? expert_copies(plan) : axis_of(plan, stated.axis);
}

}  // namespace foretrace
