// Parts of policies that walk through the jobs in some order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/offer.h"
#include "apps/scheduling/policies/view.h"
#include "sim/core/params.h"

namespace foretrace::scheduling {

/// Jobs that wait or run, smallest key first; equal keys in the order of arrival.
template <typename Key>
[[nodiscard]] std::vector<JobId> jobs_by(const View& view, Key key) {
  std::vector<std::pair<decltype(key(JobId{})), JobId>> keyed;
  keyed.reserve(view.active.size());
  for (const JobId job : view.active) keyed.emplace_back(key(job), job);
  std::sort(keyed.begin(), keyed.end());
  std::vector<JobId> jobs;
  jobs.reserve(keyed.size());
  for (const auto& entry : keyed) jobs.push_back(entry.second);
  return jobs;
}

/// Every job in this order that fits gets what it asks for; what does not fit is passed over.
void grant_in_order(const std::vector<JobId>& jobs, Offer& offer, bool moves = false);

inline constexpr ParamInfo moves_param = {
    .name = "moves",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "A running job leaves for a kind of accelerator where it is faster once there is room."};

}  // namespace foretrace::scheduling
