// Three runs: at the times as predicted, and at both ends of their range.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "apps/serving/serving.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

ServingFigures figures_of(const Serving& serving, const Service& service) {
  std::vector<double> first;
  std::vector<double> token;
  std::vector<double> latency;
  std::vector<double> waiting;
  double tokens = 0;
  std::int64_t begin_ns = INT64_MAX;
  std::int64_t end_ns = 0;
  const auto [from, to] = serving.counted_range();
  for (std::size_t i = from; i < to; ++i) {
    const ServedRequest& served = service.requests[i];
    if (served.end_ns < 0) continue;
    end_ns = std::max(end_ns, served.end_ns);
    const std::int64_t output = serving.requests[i].output_tokens;
    begin_ns = std::min(begin_ns, served.arrival_ns);
    tokens += static_cast<double>(output);
    first.push_back(seconds(served.first_token_after_ns()));
    latency.push_back(seconds(served.latency_ns()));
    waiting.push_back(seconds(served.scheduled_ns - served.reached_ns));
    if (output > 1) token.push_back(served.token_ns(output) * 1e-9);
  }
  ServingFigures figures;
  const auto done = static_cast<double>(first.size());
  double span = first.empty() ? 0 : seconds(end_ns - begin_ns);
  if (serving.is_steady) {
    // The requests around those that count work in the same time. With so many in flight at any
    // time their rate is that number over the mean latency (Little's law).
    const double all = std::accumulate(latency.begin(), latency.end(), 0.0);
    span = all / serving.options.in_flight;
  }
  if (span > 0) {
    figures.output_tokens_per_s = tokens / span;
    figures.requests_per_s = done / span;
  }
  figures.first_token_s = distribution_of(std::move(first));
  figures.token_s = distribution_of(std::move(token));
  figures.latency_s = distribution_of(std::move(latency));
  figures.waiting_s = distribution_of(std::move(waiting));
  return figures;
}

void count(const Serving& serving, ServingAnswer& answer) {
  const ServiceLimits& limits = serving.limits;
  const auto [from, to] = serving.counted_range();
  for (std::size_t i = from; i < to; ++i) {
    const ServedRequest& served = answer.service.requests[i];
    if (served.end_ns < 0) {
      ++answer.refused;
      continue;
    }
    ++answer.done;
    answer.prompt_tokens += serving.requests[i].input_tokens;
    answer.cached_tokens += served.cached_tokens;
    const bool first_fine =
        limits.first_token_ns == 0 || served.first_token_after_ns() <= limits.first_token_ns;
    const bool token_fine =
        limits.token_ns == 0 ||
        served.token_ns(serving.requests[i].output_tokens) <= static_cast<double>(limits.token_ns);
    answer.within_limits += first_fine && token_fine ? 1 : 0;
  }
  answer.preemptions = answer.service.preemptions;
  const double copies = serving.options.replicas + serving.options.prompt_replicas;
  const double span = static_cast<double>(std::max<std::int64_t>(1, answer.service.end_ns));
  answer.use = static_cast<double>(answer.service.busy_ns) / (span * copies);
}

/// Requests under these options, or an error where they are too much work.
Result<Service> service_of(const Serving& serving, const ServiceOptions& options, StepCost& cost) {
  Service service = run_service(serving.requests, options, cost);
  if (service.is_whole) return service;
  const auto done = std::count_if(service.requests.begin(), service.requests.end(),
                                  [](const ServedRequest& one) { return one.end_ns >= 0; });
  return Error{ErrorCode::bad_config,
               fmt::format("{}: /requests: got {} requests, expected at most about {} of their "
                           "length: more are over the {} changes of sequences that a run may take",
                           serving.path, service.requests.size(), done, options.most_visits)};
}

}  // namespace

void surround_closed_loop(Serving& serving) {
  const std::size_t in_flight = serving.options.in_flight;
  const std::vector<ServingRequest> asked = serving.requests;
  if (!serving.is_steady || asked.empty()) return;
  std::vector<ServingRequest> all;
  for (std::size_t i = 0; i < in_flight; ++i) {
    ServingRequest request = asked[i % asked.size()];
    const double share = static_cast<double>(i + 1) / static_cast<double>(in_flight);
    request.output_tokens =
        std::max<std::int64_t>(1, to_whole(static_cast<double>(request.output_tokens) * share));
    all.push_back(request);
  }
  serving.first_counted = in_flight;
  serving.counted = asked.size();
  all.insert(all.end(), asked.begin(), asked.end());
  for (std::size_t i = 0; i < in_flight; ++i) all.push_back(asked[i % asked.size()]);
  serving.requests = std::move(all);
}

Result<ServingAnswer> run_serving(const Serving& serving, bool with_range) {
  StepCost cost(serving.served);
  ServingAnswer answer;
  FORETRACE_TRY(answer.service, service_of(serving, serving.options, cost));
  answer.figures = answer.low = answer.high = figures_of(serving, answer.service);
  count(serving, answer);
  if (!with_range) return answer;
  const Ranged spread = cost.spread(answer.service.device);
  ServiceOptions options = serving.options;
  options.factor = spread.low;
  options.host_step_ns = serving.engine.host_step_ns.low;
  options.host_sequence_ns = serving.engine.host_sequence_ns.low;
  options.host_request_ns = serving.engine.host_request_ns.low;
  options.host_token_ns = serving.engine.host_token_ns.low;
  FORETRACE_TRY(const Service fast, service_of(serving, options, cost));
  answer.low = figures_of(serving, fast);
  options.factor = spread.high;
  options.host_step_ns = serving.engine.host_step_ns.high;
  options.host_sequence_ns = serving.engine.host_sequence_ns.high;
  options.host_request_ns = serving.engine.host_request_ns.high;
  options.host_token_ns = serving.engine.host_token_ns.high;
  FORETRACE_TRY(const Service slow, service_of(serving, options, cost));
  answer.high = figures_of(serving, slow);
  return answer;
}

}  // namespace foretrace
