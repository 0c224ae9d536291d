#include "tests/validation/maps/generation_time.h"

#include <memory>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::find_cluster;
using foretrace::find_framework;
using foretrace::find_model;
using foretrace::Framework;
using foretrace::GenerationRequest;
using foretrace::GenerationTime;
using foretrace::ModelSpec;
using foretrace::Precision;
using foretrace::Scenario;
using foretrace::time_generation;

namespace {

Scenario served(const std::string& model, std::uint32_t tensor) {
  auto spec = find_model(*foretrace::test::shipped(), model);
  auto cluster = find_cluster(*foretrace::test::shipped(), "polaris");
  auto framework = find_framework(*foretrace::test::shipped(), "tensorrt_llm_2024");
  REQUIRE((spec.ok() && cluster.ok() && framework.ok()));
  Scenario scenario;
  scenario.model = std::make_shared<const ModelSpec>(std::move(*spec));
  scenario.cluster = std::make_shared<const Cluster>(std::move(*cluster));
  scenario.framework = std::make_shared<const Framework>(std::move(*framework));
  scenario.job.precisions = {Precision::fp16, false};
  scenario.job.plan.tensor = tensor;
  if (scenario.model->transformer.experts.count > 0) scenario.job.plan.expert_tensor = tensor;
  return scenario;
}

GenerationTime timed(const Scenario& scenario, const GenerationRequest& request) {
  const auto time = time_generation(scenario, request);
  REQUIRE_MESSAGE(time.ok(), (time.ok() ? "" : time.error().message));
  return *time;
}

}  // namespace

TEST_CASE("generation: a token reads all weights, a prompt of one wave is read once") {
  const GenerationTime one = timed(served("llama2_7b", 1), {1, 128, 128, 0.9});
  // 6.6 G weights of 2 bytes at 1.555 TB/s are 8.5 ms at least.
  CHECK(one.token.typical > 8.5e-3);
  CHECK(one.token.typical < 16e-3);
  CHECK(one.waves == 1);
  CHECK(one.total.typical ==
        doctest::Approx(one.prompt.typical + 127 * one.token.typical).epsilon(1e-9));
  CHECK(one.total.low < one.total.typical);
  CHECK(one.total.high > one.total.typical);
}

TEST_CASE("generation: the host of an engine takes its time for every step and running sequence") {
  for (const std::uint32_t tensor : {1U, 4U}) {
    Scenario scenario = served("llama2_7b", tensor);
    const GenerationRequest request{16, 128, 128, 0.9};
    const GenerationTime device = timed(scenario, request);
    Framework framework = *scenario.framework;
    framework.step_host = {0.1e6, 0.07e6, 1e6};
    scenario.framework = std::make_shared<const Framework>(framework);
    const GenerationTime whole = timed(scenario, request);
    const double host = 0.1e-3 + 16 * 0.07e-3 + (tensor > 1 ? 1e-3 : 0);
    CHECK(whole.token.typical - device.token.typical == doctest::Approx(host));
    CHECK(whole.token.low - device.token.low == doctest::Approx(host));
    CHECK(whole.prompt.typical - device.prompt.typical == doctest::Approx(host));
    CHECK(whole.total.typical - device.total.typical == doctest::Approx(128 * host));
  }
}

TEST_CASE("generation: longer outputs, larger batches and fewer devices take longer") {
  const auto total = [](std::uint32_t tensor, double sequences, double length) {
    return timed(served("llama2_7b", tensor), {sequences, length, length, 0.9}).total.typical;
  };
  CHECK(total(1, 1, 256) > 2 * total(1, 1, 128));
  CHECK(total(1, 16, 128) > total(1, 1, 128));
  CHECK(total(1, 16, 128) < 2 * total(1, 1, 128));  // weights are read once for all
  CHECK(total(4, 16, 128) < total(1, 16, 128));
}

TEST_CASE("generation: sequences beyond the memory wait for the next wave") {
  // 40 GiB less 12.6 GiB of weights, nine tenths of it; 0.5 MiB per position of a sequence.
  const Scenario scenario = served("llama2_7b", 1);
  const GenerationTime fits = timed(scenario, {48, 512, 512, 0.9});
  CHECK(fits.waves == 1);
  CHECK(fits.sequences_held == 48);
  const GenerationTime more = timed(scenario, {64, 512, 512, 0.9});
  CHECK(more.waves == 2);
  CHECK(more.sequences_held == doctest::Approx(49).epsilon(0.03));
  // The second wave reads all weights again: more than the batch has grown.
  CHECK(more.total.typical > 1.5 * fits.total.typical);
}

TEST_CASE("generation: one token reaches few experts, many reach all") {
  const Scenario scenario = served("mixtral_8x7b", 4);
  const double one = timed(scenario, {1, 128, 128, 0.9}).token.typical;
  const double many = timed(scenario, {32, 128, 128, 0.9}).token.typical;
  // 12.9 of 46.7 billion weights
  CHECK(many > 2 * one);
}

TEST_CASE("generation: weights that do not fit are an answer") {
  const auto time = time_generation(served("llama2_70b", 1), {1, 128, 128, 0.9});
  REQUIRE_FALSE(time.ok());
  CHECK(time.error().message.find("the weights need 128") != std::string::npos);
  CHECK(time.error().message.find("expected at most 40.0 GiB") != std::string::npos);
}
