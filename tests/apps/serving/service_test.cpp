#include "apps/serving/service.h"

#include <cmath>

#include <doctest/doctest.h>

#include "models/jobs/workloads/model_spec.h"
#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::find_cluster;
using foretrace::find_framework;
using foretrace::find_model;
using foretrace::Framework;
using foretrace::ModelSpec;
using foretrace::ServedModel;
using foretrace::Service;
using foretrace::ServiceOptions;
using foretrace::ServingRequest;
using foretrace::StepCost;
using foretrace::StepWork;

namespace {

struct Machine {
  ModelSpec model = find_model(*foretrace::test::shipped(), "llama3_8b").value();
  Cluster cluster = find_cluster(*foretrace::test::shipped(), "dgx_h100").value();
  Framework framework = find_framework(*foretrace::test::shipped(), "serving").value();

  [[nodiscard]] ServedModel served() const {
    ServedModel served;
    served.model = &model.transformer;
    served.cluster = &cluster;
    served.framework = &framework;
    return served;
  }
};

const Machine& machine() {
  static const Machine made;
  return made;
}

ServiceOptions roomy() {
  ServiceOptions options;
  options.rules.batched_tokens = 4096;
  options.cache_blocks = 100'000;
  options.host_step_ns = 1000;
  return options;
}

std::int64_t prompt_ns(StepCost& cost, double tokens) {
  StepWork work;
  work.prompts = {{tokens, 0}};
  work.drawn = 1;
  return std::llround(cost.of(work).total() + 1000);
}

}  // namespace

TEST_CASE("step cost: weights and the cache have the size of the model") {
  const StepCost cost(machine().served());
  // Llama 3 8B: 8.03 G parameters of 2 bytes; 32 layers x 8 heads x 128 x 2 x 2 bytes.
  CHECK(cost.weight_bytes() == doctest::Approx(2 * 8.03e9).epsilon(0.01));
  CHECK(cost.cache_bytes_per_token() == 131072);
}

TEST_CASE("step cost: a tensor group divides both, and 4-bit weights take a quarter") {
  ServedModel served = machine().served();
  served.tensor = 4;
  CHECK(StepCost(served).cache_bytes_per_token() == 131072 / 4);
  const double whole = StepCost(served).weight_bytes();
  CHECK(whole == doctest::Approx(8.03e9 / 2).epsilon(0.01));
  served.weight_bytes = 0.5;
  // The table of the embedding and the head, 2 x 128,256 x 4,096, keep their precision.
  const double kept = 2.0 * 128256 * 4096 * 2 / 4;
  CHECK(StepCost(served).weight_bytes() < kept + (whole - kept) / 4 * 1.05);
}

TEST_CASE("step cost: writing is bound by the weights, and longer contexts cost their bytes") {
  StepCost cost(machine().served());
  StepWork work;
  work.writers = work.drawn = 1;
  work.writer_keys = 1000;
  const double one = cost.of(work).total();
  // 16 GB at 3.35 TB/s are 4.8 ms; nothing is faster.
  CHECK(one > 4.7e6);
  CHECK(one < 9e6);
  work.writers = work.drawn = 64;
  work.writer_keys = 64'000;
  const double many = cost.of(work).total();
  CHECK(many < 3 * one);
  work.writer_keys = 64'000 + 1'000'000;
  // A million positions x 131,072 bytes at 3.35 TB/s: 39 ms at least.
  CHECK(cost.of(work).total() - many > 39e6);
}

TEST_CASE("step cost: experts without a token are not read") {
  const ModelSpec mixtral = find_model(*foretrace::test::shipped(), "mixtral_8x7b").value();
  ServedModel served = machine().served();
  served.model = &mixtral.transformer;
  served.tensor = 2;
  StepCost cost(served);
  StepWork one;
  one.writers = one.drawn = one.writer_keys = 1;
  StepWork many;
  many.writers = many.drawn = many.writer_keys = 64;
  // One token visits 2 of 8 experts, 64 tokens all of them.
  CHECK(cost.of(many).total() > 2 * cost.of(one).total());
}

TEST_CASE("step cost: who writes reads low ranks as they are cached") {
  const ModelSpec deepseek = find_model(*foretrace::test::shipped(), "deepseek_v3").value();
  ServedModel served = machine().served();
  served.model = &deepseek.transformer;
  served.tensor = 8;
  StepCost cost(served);
  // 61 layers x (512 + 64) numbers of 2 bytes, whole on every accelerator.
  CHECK(cost.cache_bytes_per_token() == 61 * 576 * 2);
  StepWork work;
  work.writers = work.drawn = 1;
  work.writer_keys = 1000;
  const double near = cost.of(work).total();
  work.writer_keys += 1'000'000;
  // 70 GB at 3.35 TB/s are 21 ms; memory is not read faster, nor half as fast.
  const double further = cost.of(work).total() - near;
  CHECK(further > 21e6);
  CHECK(further < 42e6);
}

TEST_CASE("service: a request alone takes the step of its prompt and one per further token") {
  StepCost cost(machine().served());
  const ServingRequest request{.arrival_ns = 500, .input_tokens = 1000, .output_tokens = 2};
  const Service service = run_service(std::span(&request, 1), roomy(), cost);
  StepWork second;
  second.writers = second.drawn = 1;
  second.writer_keys = 1001;
  const std::int64_t first_ns = prompt_ns(cost, 1000);
  CHECK(service.requests[0].first_token_after_ns() == first_ns);
  CHECK(service.requests[0].end_ns - service.requests[0].first_token_ns ==
        std::llround(cost.of(second).total() + 1000));
  CHECK(service.steps == 2);
}

TEST_CASE("service: where prompts have replicas of their own, the cache travels in between") {
  StepCost cost(machine().served());
  const ServingRequest request{.arrival_ns = 0, .input_tokens = 1000, .output_tokens = 2};
  ServiceOptions options = roomy();
  const Service together = run_service(std::span(&request, 1), options, cost);
  options.prompt_replicas = 1;
  options.transfer_bytes_per_s = 1e9;
  options.transfer_latency_ns = 7000;
  const Service apart = run_service(std::span(&request, 1), options, cost);
  CHECK(apart.requests[0].first_token_ns == together.requests[0].first_token_ns);
  // 1000 tokens x 131,072 bytes at 1 GB/s, and the latency.
  CHECK(apart.requests[0].end_ns - together.requests[0].end_ns == 131'072'000 + 7000);
}

TEST_CASE("service: a constant number of requests is in flight") {
  StepCost cost(machine().served());
  const std::vector<ServingRequest> requests(10, {.input_tokens = 100, .output_tokens = 20});
  ServiceOptions options = roomy();
  options.in_flight = 2;
  const Service service = run_service(requests, options, cost);
  CHECK(service.requests[1].arrival_ns == 0);
  CHECK(service.requests[2].arrival_ns == service.requests[0].end_ns);
  for (std::size_t i = 0; i < requests.size(); ++i) CHECK(service.requests[i].end_ns > 0);
}

TEST_CASE("service: a request that never fits is refused, the others go on") {
  StepCost cost(machine().served());
  const std::vector<ServingRequest> requests = {{.input_tokens = 10'000, .output_tokens = 5},
                                                {.input_tokens = 100, .output_tokens = 5}};
  ServiceOptions options = roomy();
  options.cache_blocks = 100;
  const Service service = run_service(requests, options, cost);
  CHECK(service.requests[0].refused);
  CHECK(service.requests[0].end_ns == -1);
  CHECK(service.requests[1].end_ns > 0);
}

TEST_CASE("service: everybody ends, also where the cache is far too small for all at once") {
  StepCost cost(machine().served());
  std::vector<ServingRequest> requests;
  for (int i = 0; i < 60; ++i) {
    requests.push_back({.arrival_ns = i * 1'000'000,
                        .input_tokens = 100 + 37 * (i % 7),
                        .output_tokens = 50 + 11 * (i % 5),
                        .prefix_group = i % 3,
                        .prefix_tokens = 64});
  }
  for (const bool mixes : {true, false}) {
    for (const bool chunks : {true, false}) {
      ServiceOptions options = roomy();
      options.rules.mixes = mixes;
      options.rules.chunks_prompts = chunks;
      options.rules.batched_tokens = chunks ? 64 : 512;
      options.cache_blocks = 60;
      const Service service = run_service(requests, options, cost);
      CHECK(service.preemptions > 0);
      CHECK(service.most_blocks <= 60);
      for (const auto& served : service.requests) CHECK(served.end_ns > served.first_token_ns);
    }
  }
}

TEST_CASE("service: more replicas never make the mean wait longer when all arrive at once") {
  StepCost cost(machine().served());
  const std::vector<ServingRequest> requests(40, {.input_tokens = 2000, .output_tokens = 10});
  double before = HUGE_VAL;
  for (const std::uint32_t replicas : {1U, 2U, 4U}) {
    ServiceOptions options = roomy();
    options.replicas = replicas;
    double sum = 0;
    for (const auto& served : run_service(requests, options, cost).requests) {
      sum += static_cast<double>(served.first_token_after_ns());
    }
    CHECK(sum < before);
    before = sum;
  }
}

TEST_CASE("service: one process hands the tokens on, and no step waits for it") {
  StepCost cost(machine().served());
  const std::vector<ServingRequest> requests(32, {.input_tokens = 10, .output_tokens = 50});
  ServiceOptions options = roomy();
  const Service at_once = run_service(requests, options, cost);
  options.host_token_ns = 1e6;
  const Service behind = run_service(requests, options, cost);
  CHECK(behind.busy_ns == at_once.busy_ns);
  // 32 tokens of each of 50 steps, behind the first one: longer than the steps take.
  const std::int64_t first_ns = at_once.requests[0].first_token_ns;
  for (const auto& served : behind.requests) {
    CHECK(served.first_token_ns == first_ns + 32'000'000);
    CHECK(served.end_ns == first_ns + 50 * 32'000'000);
  }
  CHECK(behind.end_ns == first_ns + 50 * 32'000'000);
  // One that is faster than the steps hands on the last tokens as they come.
  options.host_token_ns = 1000;
  const Service keeps_up = run_service(requests, options, cost);
  CHECK(keeps_up.requests[0].end_ns == at_once.requests[0].end_ns + 32'000);
}

TEST_CASE("service: a run that is too much work is stopped") {
  StepCost cost(machine().served());
  const std::vector<ServingRequest> requests(40, {.input_tokens = 2000, .output_tokens = 10});
  ServiceOptions options = roomy();
  const Service whole = run_service(requests, options, cost);
  CHECK(whole.is_whole);
  CHECK(whole.visits > 40);
  options.most_visits = whole.visits;
  CHECK(run_service(requests, options, cost).is_whole);
  options.most_visits = 40;
  CHECK_FALSE(run_service(requests, options, cost).is_whole);
}
