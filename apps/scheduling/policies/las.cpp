// Tiresias: jobs that got the least service first, in a few queues, without knowing how long they
// take.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/policies/scheduler_info.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::las_parts {
namespace {

constexpr ParamInfo limits_param = {
    .name = "limits",
    .type = ParamType::text,
    .default_text = "3250 s/7200 s/18000 s",
    .doc = "Service at which a job leaves each queue for the next, separated by '/'."};
constexpr ParamInfo service_param = {.name = "service",
                                     .type = ParamType::text,
                                     .default_text = "accelerator_time",
                                     .doc = "What counts: time times accelerators, or time alone.",
                                     .choices = "accelerator_time|time"};
constexpr ParamInfo promote_param = {
    .name = "promote",
    .type = ParamType::number,
    .unit = "x",
    .default_text = "0",
    .doc =
        "A job that waited this many times as long as it ran begins again in the "
        "first queue; 0: never.",
    .minimum = 0,
    .maximum = 1e9};
constexpr ParamInfo reorder_param = {
    .name = "reorder",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "Jobs that wait move behind those that run in their queue."};

struct Settings {
  std::vector<std::int64_t> limits_ns;  ///< service at which a job leaves queue i for the next
  bool two_dimensional = true;          ///< service is time times accelerators
  double promote = 0;                   ///< 0: never
  bool reorders = true;
};

class Las final : public Policy {
 public:
  explicit Las(Settings settings)
      : settings_(std::move(settings)), queues_(settings_.limits_ns.size() + 1) {}

  void on_arrival(const View& view, JobId job) override {
    if (forgotten_.empty()) forgotten_.assign(view.workload->jobs.size(), 0);
    queues_.front().push_back(job);
  }
  void on_end(const View& /*view*/, JobId job) override { leave(job); }

  Status decide(const View& view, Offer& offer) override {
    demote(view);
    if (settings_.promote > 0) promote(view);
    for (const std::vector<JobId>& queue : queues_) {
      for (const JobId job : queue) offer.grant_request(job);
    }
    if (settings_.reorders) {
      // What must wait goes behind what runs in its queue.
      for (std::vector<JobId>& queue : queues_) {
        std::stable_partition(queue.begin(), queue.end(),
                              [&offer](JobId job) { return offer.has(job); });
      }
    }
    return ok_status();
  }

  [[nodiscard]] std::int64_t next_decision_ns(const View& view) const override {
    std::int64_t next = never_ns;
    for (std::size_t q = 0; q < settings_.limits_ns.size(); ++q) {
      for (const JobId job : queues_[q]) {
        const JobState& state = view.state(job);
        if (state.status != JobStatus::running) continue;
        const std::int64_t rest = settings_.limits_ns[q] - service(view, job);
        const std::int64_t speed = settings_.two_dimensional ? std::max(1, state.grant.gpus) : 1;
        next = std::min(next, view.now_ns + std::max<std::int64_t>(1, (rest + speed - 1) / speed));
      }
    }
    return next;
  }

  /// What runs stands in front of what waits, until it leaves its queue.
  [[nodiscard]] bool settles() const override {
    return settings_.promote == 0 && settings_.reorders;
  }

 private:
  [[nodiscard]] std::int64_t service(const View& view, JobId job) const {
    const JobState& state = view.state(job);
    const std::int64_t all =
        settings_.two_dimensional ? to_whole(state.accelerator_ns) : state.executed_ns;
    return all - forgotten_[index(job)];
  }
  void leave(JobId job) {
    for (std::vector<JobId>& queue : queues_) std::erase(queue, job);
  }
  void demote(const View& view) {
    for (std::size_t q = 0; q < settings_.limits_ns.size(); ++q) {
      const auto too_much = [&](JobId job) { return service(view, job) >= settings_.limits_ns[q]; };
      std::copy_if(queues_[q].begin(), queues_[q].end(), std::back_inserter(queues_[q + 1]),
                   too_much);
      std::erase_if(queues_[q], too_much);
    }
  }
  // A job that has waited for long starts again in the first queue.
  void promote(const View& view) {
    for (std::size_t q = 1; q < queues_.size(); ++q) {
      const auto starved = [&](JobId job) {
        const JobState& state = view.state(job);
        return state.status == JobStatus::waiting && state.executed_ns > 0 &&
               static_cast<double>(view.now_ns - state.waiting_since_ns) >=
                   settings_.promote * static_cast<double>(state.executed_ns);
      };
      for (const JobId job : queues_[q]) {
        if (!starved(job)) continue;
        queues_.front().push_back(job);
        forgotten_[index(job)] += service(view, job);
      }
      std::erase_if(queues_[q], starved);
    }
  }

  Settings settings_;
  std::vector<std::vector<JobId>> queues_;
  std::vector<std::int64_t> forgotten_;  ///< service before the last promotion
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  Settings settings;
  settings.two_dimensional = params.text(service_param) == "accelerator_time";
  settings.promote = params.number(promote_param);
  settings.reorders = params.boolean(reorder_param);
  std::string text = params.text(limits_param);
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find('/'));
    const auto limit = parse_quantity(text.substr(0, end), ParamType::time);
    if (!limit) {
      return Error{ErrorCode::bad_usage, "las: limits: " + limit.error().message};
    }
    settings.limits_ns.push_back(static_cast<std::int64_t>(*limit));
    text.erase(0, end + 1);
  }
  if (!std::is_sorted(settings.limits_ns.begin(), settings.limits_ns.end())) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("las: limits: {} do not grow", in_quotes(params.text(limits_param)))};
  }
  return std::unique_ptr<Policy>(std::make_unique<Las>(std::move(settings)));
}

constexpr std::array params = {limits_param, service_param, promote_param, reorder_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "las",
    .summary = "Least attained service first, in a few queues (Tiresias).",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
        "2019",
    .recipe =
        "A job begins in the first queue and moves to the next when the service that it got "
        "reaches the limit of its queue. Queues are walked in order, each from its front; what "
        "fits runs, what does not is passed over and preempted if it ran.",
    .assumptions = {"Preemption loses no work; the run can charge a restart."},
    .ignores = {"the Gittins index, which needs a distribution of job sizes"},
    .calibrate = "limits: from the sizes of past jobs of the cluster",
    .params = params,
    .make = make};

}  // namespace foretrace::scheduling::las_parts
