#include "apps/scheduling/policies/offer.h"

#include <algorithm>
#include <utility>

namespace foretrace::scheduling {

Offer::Offer(const View& view, Place place)
    : view_(&view),
      place_(std::move(place)),
      free_(*view.capacity),
      granted_(view.workload->jobs.size(), false) {}

bool Offer::has(JobId job) const { return granted_[index(job)]; }

bool Offer::promise(const Grant& grant) {
  // Jobs that share one accelerator are counted by whoever places them.
  const bool is_part = view_->job(grant.job).request.milli < whole;
  if (!is_part && grant.gpus > free_[grant.kind]) return false;
  if (places_at_once_ && place_ && !place_(grant)) return false;
  if (!is_part) free_[grant.kind] -= grant.gpus;
  grants_.push_back(grant);
  granted_[index(grant.job)] = true;
  if (grant.partner != none<JobId>) granted_[index(grant.partner)] = true;
  return true;
}

bool Offer::grant(JobId job, KindId kind, std::int32_t gpus) {
  if (has(job)) return false;
  return promise({.job = job, .kind = kind, .gpus = gpus});
}

bool Offer::grant_pair(JobId first, JobId second, KindId kind, std::int32_t gpus) {
  if (has(first) || has(second)) return false;
  return promise({.job = first, .partner = second, .kind = kind, .gpus = gpus});
}

void Offer::waste(JobId job, KindId kind, std::int32_t gpus) {
  if (has(job) || gpus > free_[kind]) return;
  free_[kind] -= gpus;
  granted_[index(job)] = true;
}

bool Offer::grant_request(JobId job, bool moves) {
  const std::int32_t gpus = view_->job(job).request.gpus;
  const JobState& state = view_->state(job);
  const bool can_stay = state.status == JobStatus::running && state.grant.gpus == gpus;
  if (can_stay && !moves && grant(job, state.grant.kind, gpus)) return true;
  // By rate, where it runs now and then the first kind among equal ones; a kind without room gives
  // way to the next. Of a long queue most find none: nothing else is asked for them.
  const bool is_part = view_->job(job).request.milli < whole;
  const auto free = free_.values();
  const auto has_room = [&](std::int32_t of_kind) { return is_part || gpus <= of_kind; };
  if (std::none_of(free.begin(), free.end(), has_room)) return false;
  std::vector<bool> tried(view_->kinds(), false);
  while (true) {
    KindId best = none<KindId>;
    double best_rate = 0;
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (tried[i] || !has_room(free[i])) continue;
      const double rate = view_->rate(job, make_id<KindId>(i), gpus);
      const bool is_here = can_stay && state.grant.kind == make_id<KindId>(i);
      if (rate < best_rate || (rate == best_rate && !is_here) || rate <= 0) continue;
      best = make_id<KindId>(i);
      best_rate = rate;
    }
    if (best == none<KindId>) return false;
    if (grant(job, best, gpus)) return true;
    tried[index(best)] = true;
  }
}

void Offer::keep_running() {
  for (const JobId job : view_->active) {
    const JobState& state = view_->state(job);
    if (state.status == JobStatus::running && state.grant.job == job) promise(state.grant);
  }
  places_at_once_ = true;
}

}  // namespace foretrace::scheduling
