#include "apps/serving/step_cost.h"

#include <memory>

#include <doctest/doctest.h>

#include "apps/serving/engine.h"
#include "apps/serving/service.h"
#include "models/hardware/networks/cluster.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

struct Case {
  std::shared_ptr<const Cluster> cluster;
  ModelSpec model;
  Framework framework;
  ServedModel served;
};

std::unique_ptr<Case> llama_on(std::string_view accelerator) {
  const Catalogue& catalogue = *foretrace::test::shipped();
  auto made = std::make_unique<Case>();
  made->cluster = lone_accelerator(catalogue, accelerator).value();
  made->model = find_model(catalogue, "llama3_8b").value();
  made->framework = find_framework(catalogue, "serving").value();
  made->served.model = &made->model.transformer;
  made->served.cluster = made->cluster.get();
  made->served.framework = &made->framework;
  return made;
}

StepWork writers_of(double writers, double keys, double prompt) {
  StepWork work;
  work.writers = writers;
  work.writer_keys = writers * keys;
  work.drawn = writers;
  if (prompt > 0) work.prompts.push_back({prompt, 0});
  return work;
}

double attention_ns(const ServedModel& served, const StepWork& work) {
  return StepCost(served).of(work).by_source[static_cast<std::size_t>(CostSource::attention)];
}

}  // namespace

TEST_CASE("step cost: beside a prompt a writer fills a tile of queries of every head") {
  const auto engine = find_serving_engine(*foretrace::test::shipped(), "vllm").value();
  const auto llama = llama_on("rtx_4090");
  ServedModel& served = llama->served;
  served.query_tile = engine.query_tile_on(llama->cluster->accelerator);
  REQUIRE(served.query_tile == 64);
  // 64 writers, 32 heads of 128 numbers, 1,024 keys, 64 queries: 4 x 128 x 64 x 64 x 32 x 1024
  // operations a layer, 68.7 G at 0.62 of 165.2 TFLOP/s: 671 us in each of 32 layers. Measured
  // (LLMServingSim's table): 633 us with 16 tokens of a prompt, 333 us without.
  const double padded = attention_ns(served, writers_of(64, 1024, 16));
  CHECK(padded == doctest::Approx(32 * 671e3).epsilon(0.02));
  // Without prompts the heads that share keys fill the tile, and memory bounds it.
  CHECK(attention_ns(served, writers_of(64, 1024, 0)) == 0);
  const double alone = StepCost(served).of(writers_of(64, 1024, 0)).total();
  served.query_tile = 0;
  CHECK(StepCost(served).of(writers_of(64, 1024, 0)).total() == alone);
  CHECK(attention_ns(served, writers_of(64, 1024, 16)) == 0);
}

TEST_CASE("step cost: keys of one head each bound a padded tile by memory as before") {
  const auto llama = llama_on("rtx_4090");
  llama->model.transformer.kv_heads = llama->model.transformer.heads;
  llama->served.query_tile = 64;
  CHECK(attention_ns(llama->served, writers_of(64, 1024, 16)) == 0);
}

TEST_CASE("step cost: devices with other kernels of attention have no such tile") {
  const auto engine = find_serving_engine(*foretrace::test::shipped(), "vllm").value();
  const auto tile = [&engine](const char* name) {
    return engine.query_tile_on(foretrace::test::find_accelerator(name).value());
  };
  CHECK(tile("a100_sxm_80gb") == 64);
  CHECK(tile("rtx_pro_6000") == 64);
  CHECK(tile("h100_sxm") == 0);
  CHECK(tile("b200_sxm") == 0);
  CHECK(tile("mi300x") == 0);
  const auto other = find_serving_engine(*foretrace::test::shipped(), "sglang").value();
  CHECK(other.query_tile_on(foretrace::test::find_accelerator("rtx_4090").value()) == 0);
}

TEST_CASE("step cost: a model on no accelerator, or with experts on none, is refused") {
  const auto llama = llama_on("rtx_4090");
  CHECK(check_served(llama->served).ok());
  for (std::uint32_t ServedModel::*const ranks : {&ServedModel::tensor, &ServedModel::experts}) {
    ServedModel served = llama->served;
    served.*ranks = 0;
    CHECK_FALSE(check_served(served).ok());
  }
}

TEST_CASE("step cost: what steps and driver need is not the cache's") {
  const auto llama = llama_on("h100_sxm");
  const StepCost cost(llama->served);
  const Accelerator& device = llama->cluster->accelerator;
  const StepRules rules{.batched_tokens = 8192, .sequences = 256, .block_tokens = 16};
  // 8,192 tokens: gate and up of 2 x 14,336 numbers read and 14,336 written in 16 bit are 705 MB;
  // the logits of 256 sequences, 128,256 of 2 + 4 bytes, are less.
  const double steps = cost.working_bytes(rules.batched_tokens, rules.sequences);
  CHECK(steps == doctest::Approx(8192. * 3 * 14336 * 2));
  CHECK(cost.working_bytes(16, 1024) == doctest::Approx(1024. * 128256 * 6));
  const auto memory = static_cast<double>(device.memory_bytes);
  const double context = 450. * (1 << 20);
  const double weights = cost.weight_bytes();
  const double block = cost.cache_bytes_per_token() * 16;
  const auto blocks = [&](CacheShare of) {
    return static_cast<double>(cache_blocks_of(cost, device, {0.9, of}, rules));
  };
  const auto whole = [&](double room) { return doctest::Approx(room / block).epsilon(1e-4); };
  CHECK(blocks(CacheShare::device) == whole(0.9 * memory - weights - steps - context));
  CHECK(blocks(CacheShare::weights) == whole(0.9 * (memory - context) - weights));
  CHECK(blocks(CacheShare::rest) == whole(0.9 * (memory - weights - steps - context)));
}
