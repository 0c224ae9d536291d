// First come, first served, but a job that does not fit lets the next ones pass.
//
// paper     J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019
// (fit job first) assumes   a job keeps what it got until it ends ignores   how long jobs take;
// reservations: a large job may wait for ever calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/policies/ordered.h"
#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::fjf_parts {
namespace {

class Fjf final : public Policy {
 public:
  Status decide(const View& view, Offer& offer) override {
    offer.keep_running();
    for (const JobId job : view.active) {
      if (!offer.has(job)) offer.grant_request(job);
    }
    return ok_status();
  }
};

Result<std::unique_ptr<Policy>> make(const ParamValues& /*params*/) {
  return std::unique_ptr<Policy>(std::make_unique<Fjf>());
}

constexpr std::array<std::string_view, 1> assumptions = {"A job keeps what it got until it ends."};
constexpr std::array<std::string_view, 2> ignores = {"how long jobs take",
                                                     "reservations: a large job may wait for ever"};

constexpr SchedulerInfo info = {
    .name = "fjf",
    .summary = "First come, first served; a job that does not fit lets later ones pass.",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019 "
        "(fit job first)",
    .recipe =
        "Waiting jobs start in the order of arrival; those that do not fit are passed over. "
        "Nothing is preempted.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::fjf_parts

namespace foretrace::schedulers {
extern const SchedulerInfo fjf;
constinit const SchedulerInfo fjf = scheduling::fjf_parts::info;
}  // namespace foretrace::schedulers
