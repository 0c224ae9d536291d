// Shortest remaining service first: remaining time times accelerators, with preemption.
//
// paper     J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019
// (baseline SRSF; here the scheduler knows how long jobs take) assumes   the remaining time of
// every job is known ignores   where a job would run faster calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/policies/ordered.h"
#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::srsf_parts {
namespace {

class Srsf final : public Policy {
 public:
  explicit Srsf(bool moves) : moves_(moves) {}

  Status decide(const View& view, Offer& offer) override {
    grant_in_order(jobs_by(view,
                           [&](JobId job) {
                             return static_cast<double>(view.remaining_ns(job)) *
                                    view.job(job).request.gpus;
                           }),
                   offer, moves_);
    return ok_status();
  }

 private:
  bool moves_;
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  return std::unique_ptr<Policy>(std::make_unique<Srsf>(params.boolean(moves_param)));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "The remaining time of every job is known."};
constexpr std::array<std::string_view, 1> ignores = {"where a job would run faster"};
constexpr std::array params = {moves_param};

constexpr SchedulerInfo info = {
    .name = "srsf",
    .summary =
        "The jobs with the least remaining time times accelerators run; others are preempted.",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019 "
        "(baseline SRSF; here the scheduler knows how long jobs take)",
    .recipe =
        "At every event jobs are sorted by remaining time times accelerators, equal ones by "
        "arrival, and start while they fit.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::srsf_parts

namespace foretrace::schedulers {
extern const SchedulerInfo srsf;
constinit const SchedulerInfo srsf = scheduling::srsf_parts::info;
}  // namespace foretrace::schedulers
