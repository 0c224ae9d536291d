// First come, first served: the job at the head blocks all behind it.
//
// paper     every batch system; here as in J. Gu et al., Tiresias, NSDI 2019
// assumes   a job keeps what it got until it ends
// ignores   how long jobs take
// calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/policies/ordered.h"
#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::fifo_parts {
namespace {

class Fifo final : public Policy {
 public:
  Status decide(const View& view, Offer& offer) override {
    offer.keep_running();
    for (const JobId job : view.active) {
      if (offer.has(job)) continue;
      if (!offer.grant_request(job)) break;
    }
    return ok_status();
  }
};

Result<std::unique_ptr<Policy>> make(const ParamValues& /*params*/) {
  return std::unique_ptr<Policy>(std::make_unique<Fifo>());
}

constexpr std::array<std::string_view, 1> assumptions = {"A job keeps what it got until it ends."};
constexpr std::array<std::string_view, 1> ignores = {"how long jobs take"};

constexpr SchedulerInfo info = {
    .name = "fifo",
    .summary = "First come, first served; the head of the queue blocks the rest.",
    .paper = "every batch system; here as in J. Gu et al., Tiresias, NSDI 2019",
    .recipe =
        "Waiting jobs start in the order of arrival. The first one that does not fit stops the "
        "walk. Nothing is preempted.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::fifo_parts

namespace foretrace::schedulers {
extern const SchedulerInfo fifo;
constinit const SchedulerInfo fifo = scheduling::fifo_parts::info;
}  // namespace foretrace::schedulers
