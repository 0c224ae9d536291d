// Laws of served models, on random models, machines, engines and requests.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "apps/serving/serving.h"
#include "models/jobs/workloads/transformer.h"
#include "tests/configs.h"
#include "tests/laws/support/faster_machine.h"
#include "tests/laws/support/random_draws.h"
#include "tests/laws/support/random_job.h"
#include "tests/laws/support/random_service.h"

namespace foretrace {
namespace {

Result<Serving> drawn(std::uint64_t number) {
  return parse_serving(*test::shipped(), test::random_service_text(number), "s.json");
}

bool is_seconds(double value) { return std::isfinite(value) && value >= 0 && value < 1e12; }

void check_distribution(const Distribution& times) {
  for (const double value : {times.mean, times.median, times.p90, times.p99, times.most}) {
    CHECK(is_seconds(value));
    CHECK(value <= times.most * (1 + 1e-9));
  }
  CHECK(times.median <= times.p90);
  CHECK(times.p90 <= times.p99);
}

void check_figures(const ServingFigures& figures) {
  check_distribution(figures.first_token_s);
  check_distribution(figures.token_s);
  check_distribution(figures.latency_s);
  check_distribution(figures.waiting_s);
  CHECK(is_seconds(figures.output_tokens_per_s));
  CHECK(is_seconds(figures.requests_per_s));
  CHECK(figures.waiting_s.mean <= figures.first_token_s.mean);
  CHECK(figures.first_token_s.mean <= figures.latency_s.mean);
}

void check_requests(const Serving& serving, const Service& service) {
  REQUIRE(service.requests.size() == serving.requests.size());
  for (const ServedRequest& request : service.requests) {
    if (request.refused) {
      CHECK(request.end_ns < 0);
      continue;
    }
    CHECK(request.arrival_ns >= 0);
    CHECK(request.scheduled_ns >= request.arrival_ns);
    CHECK(request.first_token_ns > request.scheduled_ns);
    CHECK(request.end_ns >= request.first_token_ns);
    CHECK(request.end_ns <= service.end_ns);
  }
}

void check_answer(const Serving& serving, const ServingAnswer& answer) {
  check_figures(answer.figures);
  check_figures(answer.low);
  check_figures(answer.high);
  check_requests(serving, answer.service);
  const auto check_range = [&](const Ranged& of) {
    CHECK(of.low <= of.typical);
    CHECK(of.typical <= of.high);
    return of;
  };
  for (const auto of : {&ServingFigures::output_tokens_per_s, &ServingFigures::requests_per_s}) {
    CHECK((check_range(answer.rate(of)).low > 0) == (answer.done > 0));
  }
  for (const auto of : {&ServingFigures::first_token_s, &ServingFigures::token_s}) {
    check_range(answer.mean(of));
  }
  const auto [from, to] = serving.counted_range();
  CHECK(answer.done + answer.refused == to - from);
  CHECK(answer.within_limits <= answer.done);
  CHECK(answer.use >= 0);
  CHECK(answer.use <= 1 + 1e-9);
  CHECK(answer.service.most_blocks <= serving.options.cache_blocks);
  CHECK(answer.cached_tokens <= answer.prompt_tokens);
  for (const double ns : answer.service.device.by_source) CHECK(is_seconds(ns * 1e-9));
}

/// Weights of products in the layers of one accelerator, each read once by a step, and the
/// arithmetic with them, as the numbers of the model alone have it.
double layer_weights(const ServedModel& served) {
  const TransformerSpec& spec = *served.model;
  const double heads = spec.heads * spec.head_size;
  const double keys = 2.0 * spec.kv_heads * spec.head_size;
  const double rows = is_gated(spec.activation) ? 3 : 2;
  return spec.layers * spec.hidden * (2 * heads + keys + rows * spec.ffn) / served.tensor;
}

bool is_dense(const TransformerSpec& spec) {
  return spec.experts.count == 0 && !(spec.latent.key_rank > 0);
}

StepWork random_work(test::Draws& draws) {
  StepWork work;
  if (draws.chance(0.8)) {
    work.writers = draws.one_of<double>({1, 2, 8, 33, 256});
    work.writer_keys = work.writers * draws.one_of<double>({1, 100, 1024, 20000});
  }
  work.drawn = work.writers;
  const std::uint32_t prompts = work.writers > 0 ? draws.within(0, 2) : draws.within(1, 3);
  for (std::uint32_t i = 0; i < prompts; ++i) {
    work.prompts.push_back(
        {draws.one_of<double>({1, 17, 512, 4096}), draws.one_of<double>({0, 0, 1000})});
    work.drawn += draws.chance(0.5) ? 1 : 0;
  }
  return work;
}

double bytes_of_layers(const ServedModel& served) {
  const double usual = served.precisions.layers_in_8_bit ? 1 : 2;
  return layer_weights(served) * std::min(usual, served.weight_bytes);
}

double most_flops(const Accelerator& accelerator) {
  return std::max(accelerator.vector_fp32_flops,
                  *std::max_element(accelerator.peak_flops.begin(), accelerator.peak_flops.end()));
}

}  // namespace

TEST_CASE("jobs: an answer of a served model has possible figures, or it is one line of error") {
  int answers = 0;
  int errors = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    CAPTURE(test::random_service_text(number));
    const auto serving = drawn(number);
    if (!serving.ok()) {
      ++errors;
      CHECK(serving.error().message.find('\n') == std::string::npos);
      CHECK(serving.error().message.find("expected") != std::string::npos);
      continue;
    }
    ++answers;
    check_answer(*serving, *run_serving(*serving));
  }
  CHECK(answers > 40);
  CHECK(errors > 40);
}

TEST_CASE("jobs: where room is kept for all that is written, no request is put back") {
  int crowded = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    CAPTURE(test::random_service_text(number));
    auto serving = drawn(number);
    if (!serving.ok()) continue;
    serving->options.rules.reserved_output = 0;
    crowded += run_serving(*serving, false)->preemptions > 0 ? 1 : 0;
    serving->options.rules.reserved_output = 1;
    CHECK(run_serving(*serving, false)->preemptions == 0);
  }
  CHECK(crowded > 0);
}

TEST_CASE("jobs: no step of a served model beats memory, nor the arithmetic of its device") {
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    CAPTURE(test::random_service_text(number));
    const auto serving = drawn(number);
    if (!serving.ok() || !is_dense(*serving->served.model)) continue;
    ++seen;
    const ServedModel& served = serving->served;
    const Accelerator& accelerator = served.cluster->accelerator;
    StepCost cost(served);
    test::Draws draws(number);
    const StepWork work = random_work(draws);
    const StepTime time = cost.of(work);
    const double total_s = time.total() * 1e-9;
    // Nor does the low end of its range.
    CHECK(time.at(cost.spread(time).low) * 1e-9 * (1 + 1e-9) >=
          bytes_of_layers(served) / accelerator.memory_bandwidth);
    double keys = work.writer_keys;
    for (const PromptPart& part : work.prompts) keys += part.before;
    const bool sees_all = !(served.model->window > 0);
    const double bytes =
        bytes_of_layers(served) + (sees_all ? keys * cost.cache_bytes_per_token() : 0);
    CHECK(total_s * (1 + 1e-9) >= bytes / accelerator.memory_bandwidth);
    CHECK(total_s * (1 + 1e-9) >=
          2 * layer_weights(served) * work.tokens() / most_flops(accelerator));
  }
  CHECK(seen > 40);
}

TEST_CASE("jobs: a faster machine makes no served step longer, nor more work a shorter one") {
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    CAPTURE(test::random_service_text(number));
    const auto serving = drawn(number);
    if (!serving.ok()) continue;
    ++seen;
    test::Draws draws(number);
    const StepWork work = random_work(draws);
    Cluster plain = test::faster_machine(*serving->cluster, 1, 1);
    const Serving base = test::on_cluster(*serving, plain);
    const Serving fast = test::on_cluster(
        *serving, test::faster_machine(plain, 1 + 3 * draws.unit(), 1 + draws.unit()));
    StepCost cost(base.served);
    StepCost fast_cost(fast.served);
    const double total = cost.of(work).total();
    CHECK(fast_cost.of(work).total() <= total * (1 + 1e-9));
    StepWork more = work;
    more.writers += 1;
    more.drawn += 1;
    more.writer_keys += 500;
    more.prompts.push_back({64, 0});
    CHECK(cost.of(more).total() >= total * (1 - 1e-9));
  }
  CHECK(seen > 40);
}

TEST_CASE("jobs: requests that come at once are done no later on a faster machine") {
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    CAPTURE(test::random_service_text(number));
    auto serving = drawn(number);
    if (!serving.ok() || serving->options.replicas > 1 || serving->options.prompt_replicas > 0) {
      continue;
    }
    ++seen;
    for (ServingRequest& request : serving->requests) request.arrival_ns = 0;
    serving->options.in_flight = 0;
    Cluster plain = test::faster_machine(*serving->cluster, 1, 1);
    const auto end = [&](const Cluster& cluster) {
      return run_serving(test::on_cluster(*serving, cluster), false)->service.end_ns;
    };
    CHECK(end(test::faster_machine(plain, 1.5, 2)) <= end(plain));
  }
  CHECK(seen > 40);
}

}  // namespace foretrace
