// Policies that walk through the jobs in some order, and start what fits.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::ordered_parts {
namespace {

// The order of arrival, without preemption. A job that does not fit blocks those behind it, or lets
// them pass.
template <bool blocks>
class ByArrival final : public Policy {
 public:
  Status decide(const View& view, Offer& offer) override {
    offer.keep_running();
    for (const JobId job : view.active) {
      if (!offer.has(job) && !offer.grant_request(job) && blocks) break;
    }
    return ok_status();
  }
  [[nodiscard]] bool settles() const override { return true; }
};

constexpr ParamInfo moves_param = {
    .name = "moves",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "A running job moves to a kind of accelerator where it is faster, once one is free."};

// The smallest key first, equal ones in the order of arrival; what no longer fits is preempted.
template <auto key>
class ByKey final : public Policy {
 public:
  explicit ByKey(const ParamValues& params) : moves_(params.boolean(moves_param)) {}

  Status decide(const View& view, Offer& offer) override {
    std::vector<std::pair<decltype(key(view, JobId{})), JobId>> keyed;
    keyed.reserve(view.active.size());
    for (const JobId job : view.active) keyed.emplace_back(key(view, job), job);
    std::sort(keyed.begin(), keyed.end());
    for (const auto& entry : keyed) offer.grant_request(entry.second, moves_);
    return ok_status();
  }
  /// Keys of what runs only shrink: what waits finds no more room than before.
  [[nodiscard]] bool settles() const override { return !moves_; }

 private:
  bool moves_;
};

std::int32_t accelerators(const View& view, JobId job) { return view.job(job).request.gpus; }
std::int64_t remaining_time(const View& view, JobId job) { return view.remaining_ns(job); }
double remaining_service(const View& view, JobId job) {
  return static_cast<double>(view.remaining_ns(job)) * view.job(job).request.gpus;
}

constexpr std::array by_key_params = {moves_param};

constexpr std::array rows = {
    SchedulerInfo{
        .name = "fifo",
        .summary = "First come, first served; the head of the queue blocks the rest.",
        .paper = "every batch system; here as in J. Gu et al., Tiresias, NSDI 2019",
        .recipe =
            "Waiting jobs start in the order of arrival. The first one that does not fit stops the "
            "walk. Nothing is preempted.",
        .assumptions = {"A job keeps what it got until it ends."},
        .ignores = {"how long jobs take"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<ByArrival<true>>},
    SchedulerInfo{
        .name = "fjf",
        .summary = "First come, first served; a job that does not fit lets later ones pass.",
        .paper =
            "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
            "2019 (fit job first)",
        .recipe =
            "Waiting jobs start in the order of arrival; those that do not fit are passed over. "
            "Nothing is preempted.",
        .assumptions = {"A job keeps what it got until it ends."},
        .ignores = {"how long jobs take", "reservations: a large job may never start"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<ByArrival<false>>},
    SchedulerInfo{
        .name = "sjf",
        .summary = "The jobs that ask for the fewest accelerators run; others are preempted.",
        .paper =
            "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
            "2019 (baseline SJF)",
        .recipe = "At every event jobs are sorted by the accelerators they ask for, equal ones by "
                  "arrival, and start while they fit.",
        .assumptions = {"Preemption loses no work; the run can charge a restart."},
        .ignores = {"how long jobs take"},
        .calibrate = "nothing",
        .params = by_key_params,
        .make = make_as<ByKey<accelerators>>},
    SchedulerInfo{
        .name = "srsf",
        .summary =
            "The jobs with the least remaining time times accelerators run; others are preempted.",
        .paper =
            "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
            "2019 (baseline SRSF; here the scheduler knows how long jobs take)",
        .recipe =
            "At every event jobs are sorted by remaining time times accelerators, equal ones by "
            "arrival, and start while they fit.",
        .assumptions = {"The remaining time of every job is known."},
        .ignores = {"where a job would run faster"},
        .calibrate = "nothing",
        .params = by_key_params,
        .make = make_as<ByKey<remaining_service>>},
    SchedulerInfo{
        .name = "srtf",
        .summary = "The jobs with the shortest remaining time run; others are preempted.",
        .paper =
            "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
            "2019 (baseline SRTF; here the scheduler knows how long jobs take)",
        .recipe =
            "At every event jobs are sorted by their remaining time on what they ask for, equal "
            "ones by arrival, and start while they fit.",
        .assumptions = {"The remaining time of every job is known."},
        .ignores = {"how many accelerators a job takes"},
        .calibrate = "nothing",
        .params = by_key_params,
        .make = make_as<ByKey<remaining_time>>}};

}  // namespace

extern constexpr std::span<const SchedulerInfo> infos = rows;

}  // namespace foretrace::scheduling::ordered_parts
