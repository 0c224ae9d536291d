#include "tests/laws/support/random_service.h"

#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/configs.h"
#include "tests/laws/support/random_draws.h"

namespace foretrace::test {
namespace {

using Json = nlohmann::ordered_json;

Json random_requests(Draws& draws) {
  Json made = {{"requests", draws.within(1, 24)},
               {"input_tokens", draws.one_of<int>({1, 16, 100, 512, 1024, 3000, 9000})},
               {"output_tokens", draws.one_of<int>({1, 2, 16, 64, 200})},
               {"seed", draws.within(0, 99)}};
  if (draws.chance(0.5)) made["spread"] = draws.unit();
  if (draws.chance(0.5)) {
    made["per_second"] = draws.one_of<double>({0.01, 1, 30, 1e4});
  } else {
    made["in_flight"] = draws.within(1, 16);
    if (draws.chance(0.3)) made["steady"] = true;
  }
  if (draws.chance(0.3)) {
    made["prefix_groups"] = draws.within(1, 3);
    made["prefix_tokens"] = draws.within(1, 2000);
  }
  if (!made.contains("spread") && draws.chance(0.5)) {
    made["input_sigma"] = 2 * draws.unit();
    made["output_sigma"] = 2 * draws.unit();
  }
  return {{"generate", std::move(made)}};
}

void draw_steps(Draws& draws, Json& root) {
  Json steps = Json::object();
  if (draws.chance(0.5)) steps["batched_tokens"] = draws.one_of<int>({1, 64, 2048, 10000});
  if (draws.chance(0.3)) steps["sequences"] = draws.within(1, 64);
  if (draws.chance(0.3)) steps["block_tokens"] = draws.one_of<int>({1, 7, 16, 256});
  for (const char* const key : {"chunked_prompts", "mixed_steps", "prefix_cache"}) {
    if (draws.chance(0.2)) steps[key] = draws.chance(0.5);
  }
  root["steps"] = std::move(steps);
}

void draw_copies(Draws& draws, Json& root) {
  if (draws.chance(0.2)) root["replicas"] = draws.within(1, 3);
  if (draws.chance(0.15)) {
    root["prompt_replicas"] = draws.within(1, 2);
    root["transfer"] = {{"bandwidth", draws.one_of<const char*>({"1 MB/s", "25 GB/s", "900 GB/s"})},
                        {"latency", draws.one_of<const char*>({"0 us", "20 us", "1 s"})}};
  }
  if (draws.chance(0.3)) {
    Json cache = Json::object();
    if (draws.chance(0.5)) cache["bits"] = draws.one_of<double>({4, 8, 16});
    if (draws.chance(0.3)) cache["blocks"] = draws.within(1, 500);
    if (draws.chance(0.3)) cache["memory_share"] = 0.3 + 0.7 * draws.unit();
    root["cache"] = std::move(cache);
  }
}

}  // namespace

std::string random_service_text(std::uint64_t number) {
  Draws draws(number);
  const Catalogue& catalogue = *shipped();
  Json root = {{"schema", serving_schema},
               {"model", draws.one_of(model_names(catalogue))},
               {"engine", draws.one_of(serving_engine_names(catalogue))}};
  if (draws.chance(0.5)) {
    root["accelerator"] = draws.one_of(catalogue.accelerator_names());
  } else {
    root["cluster"] = draws.one_of(cluster_names(catalogue));
    Json groups = {{"tensor", draws.one_of<int>({1, 2, 3, 4, 8, 16})}};
    if (draws.chance(0.3)) groups["experts"] = draws.one_of<int>({1, 2, 4, 8});
    root["parallelism"] = std::move(groups);
  }
  if (draws.chance(0.6)) root["precision"] = draws.one_of<const char*>({"fp16", "bf16", "fp8"});
  if (draws.chance(0.2)) root["weight_bits"] = draws.one_of<double>({3, 4, 4.25, 8, 16});
  draw_steps(draws, root);
  draw_copies(draws, root);
  root["requests"] = random_requests(draws);
  return root.dump();
}

Serving on_cluster(Serving serving, const Cluster& cluster) {
  serving.cluster = std::make_shared<const Cluster>(cluster);
  serving.served.cluster = serving.cluster.get();
  return serving;
}

}  // namespace foretrace::test
