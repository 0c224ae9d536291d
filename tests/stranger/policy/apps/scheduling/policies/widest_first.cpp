// The jobs that ask for the most accelerators first.
#include <algorithm>
#include <vector>

#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::widest_first_parts {
namespace {

class WidestFirst final : public Policy {
 public:
  Status decide(const View& view, Offer& offer) override {
    offer.keep_running();
    std::vector<JobId> jobs(view.active.begin(), view.active.end());
    std::stable_sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
      return view.job(a).request.gpus > view.job(b).request.gpus;
    });
    for (const JobId job : jobs) {
      if (!offer.has(job)) offer.grant_request(job);
    }
    return ok_status();
  }
  [[nodiscard]] bool settles() const override { return true; }
};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "widest_first",
    .summary = "The jobs that ask for the most accelerators start first.",
    .paper = "made up",
    .recipe =
        "Waiting jobs start in the order of what they ask for, the most first, while they "
        "fit. Nothing is preempted.",
    .assumptions = {"A job keeps what it got until it ends."},
    .ignores = {"how long jobs take"},
    .calibrate = "nothing",
    .params = {},
    .make = make_as<WidestFirst>};

}  // namespace foretrace::scheduling::widest_first_parts
