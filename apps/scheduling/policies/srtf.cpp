// Shortest remaining time first, with preemption.
//
// paper     J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019
// (baseline SRTF; here the scheduler knows how long jobs take) assumes   the remaining time of
// every job is known ignores   how many accelerators a job takes calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/policies/ordered.h"
#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::srtf_parts {
namespace {

class Srtf final : public Policy {
 public:
  explicit Srtf(bool moves) : moves_(moves) {}

  Status decide(const View& view, Offer& offer) override {
    grant_in_order(jobs_by(view, [&](JobId job) { return view.remaining_ns(job); }), offer, moves_);
    return ok_status();
  }

 private:
  bool moves_;
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  return std::unique_ptr<Policy>(std::make_unique<Srtf>(params.boolean(moves_param)));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "The remaining time of every job is known."};
constexpr std::array<std::string_view, 1> ignores = {"how many accelerators a job takes"};
constexpr std::array params = {moves_param};

constexpr SchedulerInfo info = {
    .name = "srtf",
    .summary = "The jobs with the shortest remaining time run; others are preempted.",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019 "
        "(baseline SRTF; here the scheduler knows how long jobs take)",
    .recipe =
        "At every event jobs are sorted by their remaining time on what they ask for, equal ones "
        "by arrival, and start while they fit.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::srtf_parts

namespace foretrace::schedulers {
extern const SchedulerInfo srtf;
constinit const SchedulerInfo srtf = scheduling::srtf_parts::info;
}  // namespace foretrace::schedulers
