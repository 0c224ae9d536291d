// GPipe: all forward passes, then all backward passes.
//
//   stage 0  F0 F1 F2 F3          B0 B1 B2 B3
//   stage 1     F0 F1 F2 F3    B0 B1 B2 B3
//
// paper: Huang et al., GPipe, NeurIPS 2019
// assumes: micro-batches take equal times
// ignores: nothing
// calibrate: nothing
#include <algorithm>
#include <array>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::schedules::gpipe_parts {
namespace {

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t /*stage*/) {
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{2} * shape.micro_batches);
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
    steps.push_back({StepKind::forward, m, 0});
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
    steps.push_back({StepKind::backward, m, 0});
  }
  return steps;
}

// Equal jobs through machines in a row, of which the sends are some: the first job passes them all,
// then one leaves per longest time.
class Row {
 public:
  Row(std::int64_t jobs, std::int64_t begin_ns) : others_(jobs - 1), passed_ns_(begin_ns) {}
  void pass(std::int64_t ns) {
    passed_ns_ += ns;
    longest_ns_ = std::max(longest_ns_, ns);
  }
  [[nodiscard]] std::int64_t end_ns() const { return passed_ns_ + others_ * longest_ns_; }

 private:
  std::int64_t others_;
  std::int64_t passed_ns_;
  std::int64_t longest_ns_ = 0;
};

// Backward begins on the last stage when forward has ended there.
Executed formula(const PipelineTimes& times) {
  const std::size_t stages = times.shape.stages;
  Row down(times.shape.micro_batches, 0);
  for (std::size_t i = 0; i < stages; ++i) {
    down.pass(times.forward[i]);
    if (i < times.send_forward.size()) down.pass(times.send_forward[i]);
  }
  Row up(times.shape.micro_batches, down.end_ns());
  Executed executed;
  executed.stage_end_ns.resize(stages);
  for (std::size_t i = stages; i-- > 0;) {
    if (i < times.send_backward.size()) up.pass(times.send_backward[i]);
    up.pass(times.backward[i]);
    executed.stage_end_ns[i] = up.end_ns();
  }
  executed.makespan_ns = up.end_ns();
  return executed;
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t /*stage*/) {
  return shape.micro_batches;
}

constexpr std::array<std::string_view, 1> assumptions = {
    "activations of all micro-batches are kept until backward begins"};

}  // namespace

extern constexpr ScheduleInfo info = {.name = "gpipe",
                                      .summary = "all forward passes, then all backward passes",
                                      .paper = "Huang et al., GPipe, NeurIPS 2019",
                                      .assumptions = assumptions,
                                      .keeps_logits = true,
                                      .order = order,
                                      .formula = formula,
                                      .in_flight = in_flight};

}  // namespace foretrace::schedules::gpipe_parts
