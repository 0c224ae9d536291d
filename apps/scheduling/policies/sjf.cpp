// Jobs that ask for the fewest accelerators first, with preemption.
//
// paper     J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019
// (baseline SJF) assumes   preemption loses no work; the run can charge a restart ignores   how
// long jobs take calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/policies/ordered.h"
#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::sjf_parts {
namespace {

class Sjf final : public Policy {
 public:
  explicit Sjf(bool moves) : moves_(moves) {}

  Status decide(const View& view, Offer& offer) override {
    grant_in_order(jobs_by(view, [&](JobId job) { return view.job(job).request.gpus; }), offer,
                   moves_);
    return ok_status();
  }

 private:
  bool moves_;
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  return std::unique_ptr<Policy>(std::make_unique<Sjf>(params.boolean(moves_param)));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "Preemption loses no work; the run can charge a restart."};
constexpr std::array<std::string_view, 1> ignores = {"how long jobs take"};
constexpr std::array params = {moves_param};

constexpr SchedulerInfo info = {
    .name = "sjf",
    .summary = "The jobs that ask for the fewest accelerators run; others are preempted.",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019 "
        "(baseline SJF)",
    .recipe =
        "At every event jobs are sorted by the accelerators they ask for, equal ones by arrival, "
        "and start while they fit.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::sjf_parts

namespace foretrace::schedulers {
extern const SchedulerInfo sjf;
constinit const SchedulerInfo sjf = scheduling::sjf_parts::info;
}  // namespace foretrace::schedulers
