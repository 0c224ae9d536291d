#include "tests/laws/support/random_job.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/config.h"
#include "tests/configs.h"
#include "tests/laws/support/random_draws.h"

namespace foretrace::test {
namespace {

using Json = nlohmann::ordered_json;

// Draws that make no valid job are drawn again; about every second is one.
constexpr std::uint64_t most_attempts = 1000;

Json random_experts(Draws& draws) {
  Json experts = {{"count", draws.one_of<int>({2, 4, 8, 16, 64})},
                  {"top_k", draws.one_of<int>({1, 2})},
                  {"ffn", 128 * draws.within(2, 16)}};
  if (draws.chance(0.3)) experts["shared_ffn"] = 128 * draws.within(1, 8);
  if (draws.chance(0.3)) experts["first_dense"] = draws.within(1, 2);
  if (draws.chance(0.3)) experts["every"] = 2;
  if (draws.chance(0.2)) experts["node_limit"] = draws.within(1, 4);
  if (draws.chance(0.2)) experts["load_exponent"] = draws.one_of<double>({0, 0.5, 1, 2});
  return experts;
}

Json random_transformer(Draws& draws) {
  const auto heads = draws.one_of<std::uint32_t>({4, 8, 12, 16, 32});
  const auto head_size = draws.one_of<std::uint32_t>({32, 64, 80, 128});
  Json model = {{"family", "transformer"},
                {"layers", draws.within(1, 48)},
                {"hidden", heads * head_size},
                {"heads", heads},
                {"vocabulary", draws.within(1000, 150000)},
                {"positions", draws.one_of<int>({512, 1024, 2048, 4096, 8192})}};
  if (draws.chance(0.4)) model["kv_heads"] = heads / draws.one_of<std::uint32_t>({2, 4});
  if (draws.chance(0.2)) model["head_size"] = 2 * head_size;
  if (draws.chance(0.5)) model["ffn"] = 64 * draws.within(16, 200);
  model["activation"] =
      draws.one_of<const char*>({"gelu", "gelu_tanh", "relu", "squared_relu", "swiglu", "geglu"});
  model["norm"] = draws.one_of<const char*>({"layer_norm", "rms_norm"});
  model["position"] = draws.one_of<const char*>({"none", "learned", "rotary", "alibi"});
  for (const char* const key :
       {"causal", "has_bias", "attention_bias", "ties_embeddings", "drops_out", "has_pooler"}) {
    if (draws.chance(0.4)) model[key] = draws.chance(0.5);
  }
  if (draws.chance(0.1)) {
    model["ties_embeddings"] = false;
    model["outputs"] = draws.within(2, 1000);
  }
  if (draws.chance(0.25)) {
    model["window"] = draws.one_of<int>({128, 1000, 4096});
    if (draws.chance(0.5)) model["full_every"] = draws.within(1, 6);
  }
  if (draws.chance(0.4)) model["experts"] = random_experts(draws);
  if (draws.chance(0.1)) {
    model["latent"] = {{"key_rank", 64 * draws.within(1, 8)}, {"value_size", head_size}};
    if (draws.chance(0.5)) model["latent"]["query_rank"] = 64 * draws.within(2, 16);
    if (draws.chance(0.5)) model["latent"]["rope_size"] = head_size / 2;
  }
  return model;
}

Json random_layered(Draws& draws) {
  Json model = {{"family", "layers"}, {"widest", draws.within(1000, 1000000)}};
  const std::uint32_t blocks = draws.within(1, 6);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint32_t rows = draws.within(1, 4096);
    const std::uint32_t outputs = draws.within(1, 1024);
    const std::uint32_t numbers = rows * outputs;
    Json operators = Json::array();
    if (draws.chance(0.2)) {
      operators.push_back({{"gather", "table"}, {"outputs", outputs}, {"table", 10000}});
    }
    operators.push_back({{"product", "product"},
                         {"rows", rows},
                         {"inputs", draws.within(1, 2048)},
                         {"outputs", outputs}});
    if (draws.chance(0.6)) operators.push_back({{"norm", "norm"}, {"numbers", numbers}});
    operators.push_back({{"map", "relu"}, {"numbers", numbers}, {"keeps", draws.chance(0.5)}});
    model["blocks"].push_back({{"name", fmt::format("block {}", i)},
                               {"count", draws.within(1, 4)},
                               {"operators", operators}});
  }
  return model;
}

/// Links between and inside nodes get other figures; what the accelerator does stays.
Cluster changed_links(Cluster cluster, Draws& draws) {
  const double inside = draws.factor(4);
  cluster.link_bandwidth *= inside;
  cluster.link_latency_ns *= draws.factor(3);
  for (LocalRegime& regime : cluster.regimes) {
    regime.bandwidth *= inside;
    regime.fixed_ns *= draws.factor(2);
  }
  Network& network = cluster.network;
  network.nic_bandwidth *= draws.factor(6);
  network.step_latency_ns *= draws.factor(4);
  if (network.nics > 0 && draws.chance(0.5)) {
    network.nics = draws.one_of<std::uint32_t>({1, 2, cluster.node_accelerators});
  }
  if (draws.chance(0.3)) network.forwards_rails = !network.forwards_rails;
  for (Tier& tier : cluster.tier_network.tiers) {
    tier.bandwidth *= draws.factor(4);
    tier.latency_ns *= draws.factor(4);
  }
  // Curves were measured on the links as they were.
  if (draws.chance(0.5)) cluster.curves.clear();
  return cluster;
}

std::vector<std::uint32_t> divisors(std::uint32_t number) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 1; i <= number && i <= 4096; ++i) {
    if (number % i == 0) all.push_back(i);
  }
  return all;
}

/// Writes a scenario from what stands first in it on: model and machine decide about the rest.
class Writer {
 public:
  Writer(std::uint64_t seed, ScenarioParts& parts) : draws_(seed), seed_(seed), parts_(parts) {}

  [[nodiscard]] bool write() {
    root_["schema"] = scenario_schema;
    return write_model() && write_cluster() && write_rest();
  }
  [[nodiscard]] std::string text() const { return root_.dump(2); }

 private:
  bool write_model();
  bool write_cluster();
  bool write_rest();
  void write_passes();
  void write_precision();
  void write_groups();
  void write_experts(Json& groups);
  void write_sharding(Json& groups);
  void write_schedule();
  void write_stages(Json& groups);
  void write_batch();
  void write_sums();
  [[nodiscard]] std::uint32_t group(std::uint32_t most);

  Draws draws_;
  std::uint64_t seed_;
  ScenarioParts& parts_;
  Json root_;
  TransformerSpec model_;
  Cluster cluster_;
  bool trains_ = true;
  std::vector<std::uint32_t> tensors_ = {1};  // that divide the model
  std::uint32_t left_ = 1;                    // accelerators that no group has taken
  std::uint32_t tensor_ = 1;
  std::uint32_t context_ = 1;
  std::uint32_t data_ = 1;
  std::uint32_t pipeline_ = 1;
  std::uint32_t chunks_ = 1;
  bool has_own_ranks_ = false;
  bool is_sharded_ = false;
};

bool Writer::write_model() {
  if (draws_.chance(0.4)) {
    Json inner = draws_.chance(0.8) ? random_transformer(draws_) : random_layered(draws_);
    const auto document = parse_config(inner.dump());
    if (!document.ok()) return false;
    auto model = inline_model(*document, "random", "");
    if (!model.ok()) return false;
    model_ = model->transformer;
    root_["workload"]["model"] = std::move(inner);
    return true;
  }
  const std::string name = draws_.one_of(model_names(*shipped()));
  const auto model = find_model(*shipped(), name);
  if (!model.ok()) return false;
  model_ = model->transformer;
  root_["workload"]["model"] = name;
  return true;
}

bool Writer::write_cluster() {
  if (draws_.chance(0.1)) {
    const std::string name = draws_.one_of(shipped()->accelerator_names());
    const auto alone = lone_accelerator(*shipped(), name);
    if (!alone.ok()) return false;
    cluster_ = **alone;
    root_["accelerator"] = name;
    if (cluster_.accelerator.exec_model != nullptr && draws_.chance(0.5)) {
      root_["exec_model"]["weight_buffer"]["size"] = draws_.one_of<const char*>({"0 B", "1 MiB"});
    }
  } else {
    std::string name = draws_.one_of(cluster_names(*shipped()));
    auto cluster = find_cluster(*shipped(), name);
    if (!cluster.ok()) return false;
    cluster_ = *std::move(cluster);
    if (draws_.chance(0.35)) {
      name = fmt::format("changed {}", seed_);
      cluster_ = changed_links(std::move(cluster_), draws_);
      cluster_.name = name;
      parts_.clusters[name] = std::make_shared<const Cluster>(cluster_);
    }
    root_["cluster"] = name;
  }
  left_ = cluster_.network.nics > 0 || !cluster_.tier_network.tiers.empty()
              ? cluster_.accelerators()
              : cluster_.node_accelerators;
  return true;
}

bool Writer::write_rest() {
  std::vector<std::string> frameworks = framework_names(*shipped());
  root_["framework"] = draws_.chance(0.3) ? "megatron_core" : draws_.one_of(frameworks);
  write_passes();
  write_precision();
  root_["recompute"] =
      draws_.one_of<const char*>({"none", "none", "selective", "full", "operators"});
  write_groups();
  write_schedule();
  write_batch();
  write_sums();
  return true;
}

void Writer::write_passes() {
  Json& workload = root_["workload"];
  trains_ = draws_.chance(0.8);
  if (!trains_) workload["pass"] = draws_.one_of<const char*>({"prefill", "decode"});
  if (model_.layered != nullptr) return;
  if (draws_.chance(0.8)) {
    workload["sequence"] = draws_.one_of<int>({1, 128, 384, 1000, 1024, 2048, 4096, 8192, 16384});
  }
  if (!trains_ && draws_.chance(0.5)) workload["context"] = draws_.within(1, 8192);
}

void Writer::write_precision() {
  std::vector<std::string> known;
  for (const char* const name : {"fp32", "tf32", "fp16", "bf16", "fp8", "int8"}) {
    const auto precisions = precisions_of(name);
    if (check_precision(*precisions, cluster_.accelerator).ok()) known.emplace_back(name);
  }
  if (!known.empty()) root_["precision"] = draws_.one_of(known);
}

// Of the accelerators that are left.
std::uint32_t Writer::group(std::uint32_t most) {
  const auto size = draws_.one_of<std::uint32_t>({1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 16, 32});
  const std::uint32_t taken = std::max(1U, std::min({size, most, left_}));
  left_ /= taken;
  return taken;
}

void Writer::write_groups() {
  Json groups = Json::object();
  ParallelPlan plan;
  for (plan.tensor = 2; plan.tensor <= std::min(left_, 16U); ++plan.tensor) {
    if (check_plan(plan, model_).ok()) tensors_.push_back(plan.tensor);
  }
  tensor_ = draws_.chance(0.4) ? 1 : draws_.one_of(tensors_);
  left_ /= tensor_;
  if (draws_.chance(0.25)) context_ = group(8);
  pipeline_ = draws_.chance(0.4) ? 1 : group(model_.layers);
  data_ = group(left_);
  const auto add = [&](const char* key, std::uint32_t size, double share) {
    if (size > 1 || draws_.chance(share)) groups[key] = size;
  };
  add("data", data_, 0.5);
  add("tensor", tensor_, 0.2);
  add("pipeline", pipeline_, 0.2);
  add("context", context_, 0.1);
  if (tensor_ > 1 && draws_.chance(0.6)) groups["sequence"] = true;
  if (draws_.chance(0.2)) {
    groups["context_kind"] = draws_.one_of<const char*>({"ring", "all_gather", "all_to_all"});
  }
  if (draws_.chance(0.2)) groups["balances_context"] = draws_.chance(0.5);
  write_experts(groups);
  write_sharding(groups);
  if (draws_.chance(0.9) || !groups.empty()) root_["parallelism"] = std::move(groups);
}

void Writer::write_experts(Json& groups) {
  if (model_.experts.count == 0) return;
  const std::uint32_t etp = draws_.chance(0.5) ? 1 : tensor_;
  if (etp == tensor_ ? draws_.chance(0.5) : true) groups["expert_tensor"] = etp;
  std::vector<std::uint32_t> sizes;
  for (const std::uint32_t size : divisors(model_.experts.count)) {
    if (data_ * context_ * tensor_ % (size * etp) == 0) sizes.push_back(size);
  }
  if (!sizes.empty()) groups["expert"] = draws_.one_of(sizes);
}

void Writer::write_sharding(Json& groups) {
  if (draws_.chance(0.4)) return;
  const auto* const kind =
      draws_.one_of<const char*>({"none", "optimizer", "gradients", "parameters"});
  is_sharded_ = kind != std::string("none");
  groups["sharding"] = kind;
  if (draws_.chance(0.3)) groups["shard_size"] = draws_.one_of(divisors(data_ * context_));
}

void Writer::write_schedule() {
  if (draws_.chance(0.2)) return;
  std::vector<const ScheduleInfo*> usable;
  for (const ScheduleInfo* schedule : schedules::all()) {
    if (schedule->least_chunks * pipeline_ <= model_.layers) usable.push_back(schedule);
  }
  const ScheduleInfo& schedule = *draws_.one_of(usable);
  const std::uint32_t most = std::min(schedule.most_chunks, model_.layers / pipeline_);
  chunks_ = draws_.within(schedule.least_chunks, std::min(most, schedule.least_chunks + 4));
  root_["schedule"]["kind"] = schedule.name;
  if (chunks_ > 1 || draws_.chance(0.3)) root_["schedule"]["chunks"] = chunks_;
  if (draws_.chance(0.2)) write_stages(root_["parallelism"]);
}

// Layers of each position, one at least; in some jobs each stage has its own ranks.
void Writer::write_stages(Json& groups) {
  const std::uint32_t positions = pipeline_ * chunks_;
  has_own_ranks_ = trains_ && chunks_ == 1 && pipeline_ > 1 && draws_.chance(0.5);
  std::vector<std::uint32_t> layers(positions, 1);
  for (std::uint32_t rest = model_.layers - positions; rest > 0; --rest) {
    ++layers[draws_.within(0, positions - 1)];
  }
  if (has_own_ranks_) {
    groups = Json::object();
    is_sharded_ = false;
    data_ = 1;
  }
  for (const std::uint32_t count : layers) {
    Json stage = {{"layers", count}};
    if (has_own_ranks_) {
      const std::uint32_t tensor = draws_.one_of(tensors_);
      stage["data"] = std::max(1U, 4 / tensor);
      stage["tensor"] = tensor;
      if (draws_.chance(0.5)) {
        stage["sharding"] = draws_.one_of<const char*>({"none", "optimizer", "gradients"});
      }
      if (draws_.chance(0.5)) {
        stage["recompute"] = draws_.one_of<const char*>({"none", "selective", "full"});
      }
    }
    groups["stages"].push_back(std::move(stage));
  }
  if (draws_.chance(0.5)) groups.erase("pipeline");
}

void Writer::write_batch() {
  const std::uint32_t micro = has_own_ranks_ ? draws_.one_of<std::uint32_t>({4, 8, 16})
                                             : draws_.one_of<std::uint32_t>({1, 1, 2, 3, 4, 8, 64});
  std::uint32_t passes = draws_.within(1, 40);
  // Most schedules ask for as many micro-batches as stages, or a multiple of them.
  if (draws_.chance(0.7)) passes = pipeline_ * draws_.within(1, 6);
  root_["batch"]["global"] = std::uint64_t{data_} * micro * passes;
  if (micro > 1 || draws_.chance(0.5)) root_["batch"]["micro"] = micro;
}

void Writer::write_sums() {
  const bool has_network = cluster_.network.nics > 0 && cluster_.tier_network.tiers.empty();
  if (!has_network) return;
  const bool adds_up = draws_.chance(0.1);
  if (adds_up) {
    root_["aggregation"] = {{"trees", draws_.within(1, 2)},
                            {"port_rate", fmt::format("{} GB/s", draws_.within(1, 100))},
                            {"level_latency", "1 us"}};
  }
  if (is_sharded_ || !draws_.chance(0.15)) return;
  Json sums = {{"density", draws_.one_of<double>({0.01, 0.3, 1})}};
  if (draws_.chance(0.5)) sums["overlap"] = draws_.one_of<double>({0, 0.25, 1});
  if (draws_.chance(0.3)) sums["block"] = draws_.within(1, 1024);
  if (draws_.chance(0.3)) sums["index_bytes"] = "8 B";
  if (draws_.chance(0.3)) sums["servers"] = draws_.within(0, 8);
  if (draws_.chance(0.6)) {
    sums["method"] = adds_up ? "switch" : draws_.one_of<const char*>({"servers", "all_gather"});
  }
  root_["sparse_gradients"] = std::move(sums);
}

}  // namespace

Result<Scenario> RandomJobs::parsed(const std::string& text) {
  auto document = parse_config_document(text, "random", scenario_schema);
  if (!document) return std::move(document).error();
  auto scenario = scenario_of(*shipped(), *document, "random", parts_);
  if (!scenario.ok()) return scenario;
  if (Status status = completion_.complete(*scenario); !status.ok()) {
    return std::move(status).error();
  }
  return scenario;
}

RandomJob RandomJobs::draw(std::uint64_t number) {
  std::string last;
  for (std::uint64_t attempt = 0; attempt < most_attempts; ++attempt) {
    Writer writer(number * most_attempts + attempt, parts_);
    if (!writer.write()) continue;
    const std::string text = writer.text();
    auto scenario = parsed(text);
    if (scenario.ok()) return named(number, text, *std::move(scenario));
    last = scenario.error().message;
  }
  FAIL("no job of number " << number << " is valid; the last: " << last);
  return {};
}

RandomJob RandomJobs::named(std::uint64_t number, std::string text, Scenario scenario) {
  const ScenarioNames names{fmt::format("model {}", number), fmt::format("machine {}", number),
                            scenario.framework->name};
  parts_.models[names.model] = scenario.model;
  parts_.clusters[names.cluster] = scenario.cluster;
  return {number, std::move(text), std::move(scenario), names};
}

std::uint64_t law_jobs(std::uint64_t usual, std::uint64_t cost) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
  const char* const stated = std::getenv("FORETRACE_LAW_JOBS");
  return stated == nullptr ? usual : std::strtoull(stated, nullptr, 10) / cost;
}

}  // namespace foretrace::test
