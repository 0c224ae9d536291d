// Reads foretrace.serving/1: the model, what serves it, and the requests.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "apps/serving/serving.h"
#include "models/hardware/catalogue/cells.h"
#include "models/hardware/catalogue/read_figures.h"
#include "models/hardware/kernels/kernel_class.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/config.h"
#include "sim/core/mersenne.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr double most_ranks = 1e5;
constexpr double most_request_tokens = 1e8;
constexpr double most_requests = 1e6;
constexpr double longest_s = 1e9;
constexpr std::int64_t most_ns = 1'000'000'000'000'000;
constexpr double largest_sigma = 3;
constexpr double normal_p95 = 1.6448536269514722;  // deviations to the 95th percentile
constexpr std::array<std::string_view, 3> precision_names = {"fp16", "bf16", "fp8"};

/// Tokens of generated prompts, or of answers: all alike, evenly spread, or log-normal.
struct Lengths {
  double mean = 1;
  double spread = 0;  ///< even: a share of the mean, to both sides
  double sigma = 0;   ///< of the logarithm

  [[nodiscard]] std::int64_t draw(scheduling::Random& random) const {
    double value = mean;
    if (sigma > 0) value *= std::exp(sigma * random.normal() - sigma * sigma / 2);
    if (spread > 0) value = random.uniform(mean * (1 - spread), mean * (1 + spread));
    return std::max<std::int64_t>(1, to_whole(std::min(value, most_request_tokens)));
  }
};

class Reader {
 public:
  Reader(const Catalogue& catalogue, const ConfigValue& root, const std::string& where)
      : catalogue_(catalogue), fields_(root, where), where_(where) {}

  Result<Serving> read();

 private:
  template <typename Value, typename Find>
  std::shared_ptr<const Value> named(std::string_view key, Find find);
  void read_machine();
  void read_arithmetic();
  void read_copies();
  void read_steps();
  void read_limits();
  void read_offline();
  void read_requests();
  void read_generated(const ConfigValue& object);
  void read_rows(const ConfigValue& object);
  [[nodiscard]] static Lengths read_lengths(ConfigFields& fields, const std::string& of);
  void read_loop(ConfigFields& fields);
  void add_row(const scheduling::Cells& cells, std::size_t row);
  [[nodiscard]] ConfigFields inside(std::string_view key, const ConfigValue& object) const {
    return {object, where_, fields_.pointer_of(key)};
  }

  const Catalogue& catalogue_;
  ConfigFields fields_;
  std::string where_;
  Serving serving_;
};

template <typename Value, typename Find>
std::shared_ptr<const Value> Reader::named(std::string_view key, Find find) {
  std::string name;
  fields_.text(key, name);
  if (name.empty()) return nullptr;
  auto found = find(catalogue_, name);
  if (found.ok()) return std::make_shared<const Value>(*std::move(found));
  fields_.mistake(key, found.error().message);
  return nullptr;
}

void Reader::read_machine() {
  if (fields_.has("cluster") == fields_.has("accelerator")) {
    fields_.mistake("cluster", "expected either a cluster or one accelerator");
    return;
  }
  if (fields_.has("cluster")) {
    serving_.cluster = named<Cluster>("cluster", find_cluster);
    return;
  }
  std::string name;
  fields_.text("accelerator", name);
  if (name.empty()) return;
  auto alone = lone_accelerator(catalogue_, name);
  if (alone.ok()) {
    serving_.cluster = *std::move(alone);
  } else {
    fields_.mistake("accelerator", alone.error().message);
  }
}

void Reader::read_arithmetic() {
  ServedModel& served = serving_.served;
  served.precisions =
      *precisions_of(precision_names[optional_word(fields_, "precision", precision_names, 1)]);
  double bits = served.precisions.layers_in_8_bit ? 8 : 16;
  fields_.optional_quantity("weight_bits", ParamType::number, bits);
  if (bits < 1 || bits > 16) {
    fields_.mistake("weight_bits", fmt::format("got {}, expected 1 to 16", bits));
  }
  served.weight_bytes = bits / 8;
  if (const ConfigValue* object = fields_.optional_object("parallelism"); object != nullptr) {
    ConfigFields inner = inside("parallelism", *object);
    served.tensor = optional_count(inner, "tensor", most_ranks, 1);
    served.experts = optional_count(inner, "experts", most_ranks, 1);
    fields_.take(inner.finish());
  }
  double cache_bits =
      serving_.engine.cache_follows_weights && served.precisions.layers_in_8_bit ? 8 : 16;
  if (const ConfigValue* object = fields_.optional_object("cache"); object != nullptr) {
    ConfigFields inner = inside("cache", *object);
    serving_.options.cache_blocks = optional_count(inner, "blocks", 4e9, 0);
    inner.optional_quantity("bits", ParamType::number, cache_bits);
    if (cache_bits < 1 || cache_bits > 16) {
      inner.mistake("bits", fmt::format("got {}, expected 1 to 16", cache_bits));
    }
    serving_.memory_share =
        optional_within(inner, "memory_share", ParamType::number, 1, serving_.memory_share);
    fields_.take(inner.finish());
  }
  served.cache_bytes = cache_bits / 8;
}

void Reader::read_copies() {
  ServiceOptions& options = serving_.options;
  options.replicas = optional_count(fields_, "replicas", most_ranks, 1);
  options.prompt_replicas = optional_count(fields_, "prompt_replicas", most_ranks, 0);
  const ConfigValue* object = fields_.optional_object("transfer");
  if (object == nullptr) {
    if (options.prompt_replicas > 0) {
      fields_.mistake(
          "transfer",
          "missing key, expected the link on which caches leave the replicas of prompts");
    }
    return;
  }
  ConfigFields inner = inside("transfer", *object);
  options.transfer_bytes_per_s = read_positive(inner, "bandwidth", ParamType::bandwidth, 1e16);
  options.transfer_latency_ns =
      to_whole(optional_within(inner, "latency", ParamType::time, longest_time_ns, 0));
  fields_.take(inner.finish());
}

void Reader::read_steps() {
  if (const ConfigValue* object = fields_.optional_object("steps"); object != nullptr) {
    ConfigFields inner = inside("steps", *object);
    fields_.take(read_step_rules(inner, serving_.options.rules));
  }
}

/// Requests of a program that runs the engine as a library reach no server.
void Reader::read_offline() {
  bool is_offline = false;
  fields_.optional_boolean("offline", is_offline);
  if (!is_offline) return;
  serving_.engine.host_request_ns = serving_.engine.host_token_ns = {0, 0, 0};
}

void Reader::read_limits() {
  const ConfigValue* object = fields_.optional_object("limits");
  if (object == nullptr) return;
  ConfigFields inner = inside("limits", *object);
  const auto limit = [&inner](std::string_view key) {
    return to_whole(optional_within(inner, key, ParamType::time, longest_time_ns, 0));
  };
  serving_.limits = {limit("first_token"), limit("token")};
  fields_.take(inner.finish());
}

void Reader::read_loop(ConfigFields& fields) {
  serving_.options.in_flight = optional_count(fields, "in_flight", most_requests, 0);
  fields.optional_boolean("steady", serving_.is_steady);
  if (serving_.is_steady && serving_.options.in_flight == 0) {
    fields.mistake("steady", "needs in_flight beside it");
    serving_.is_steady = false;
  }
}

void Reader::add_row(const scheduling::Cells& cells, std::size_t row) {
  scheduling::CellFields cell(cells, row);
  ServingRequest request;
  const bool is_open = serving_.options.in_flight == 0;  // else one comes when another is done
  if (is_open) request.arrival_ns = cell.time("arrival_s", 0);
  request.input_tokens = cell.whole_number("input_tokens", 0, 1, 100'000'000);
  request.output_tokens = cell.whole_number("output_tokens", 0, 1, 100'000'000);
  if (is_open && !cell.given("arrival_s")) {
    cell.mistake("arrival_s", "missing, expected seconds, or requests with in_flight");
  }
  if (!cell.given("input_tokens")) cell.mistake("input_tokens", "missing, expected a number");
  if (!cell.given("output_tokens")) cell.mistake("output_tokens", "missing, expected a number");
  request.prefix_group = cell.whole_number("prefix", -1, -1, most_ns);
  request.prefix_tokens = cell.whole_number("prefix_tokens", 0, 0, request.input_tokens);
  if (request.prefix_group >= 0 && !cell.given("prefix_tokens")) {
    cell.mistake("prefix_tokens", "missing beside a prefix, expected how many tokens it has");
  }
  if (request.prefix_tokens > 0 && request.prefix_group < 0) {
    cell.mistake("prefix", "missing beside prefix_tokens, expected the number of its group");
  }
  fields_.take(cell.finish());
  serving_.requests.push_back(request);
}

void Reader::read_rows(const ConfigValue& object) {
  ConfigFields inner = inside("requests", object);
  read_loop(inner);
  const auto cells = scheduling::table_of(inner, request_columns, serving_.files);
  fields_.take(inner.finish());
  if (!cells.ok()) return fields_.take(cells.error());
  for (std::size_t row = 0; row < cells->rows.size(); ++row) add_row(*cells, row);
  std::stable_sort(
      serving_.requests.begin(), serving_.requests.end(),
      [](const ServingRequest& a, const ServingRequest& b) { return a.arrival_ns < b.arrival_ns; });
  surround_closed_loop(serving_);
}

// exp(mu + sigma^2/2) is the mean of a log-normal length, exp(mu + 1.645 sigma) its 95th percentile:
// of the two sigmas with this quotient the smaller one.
Lengths Reader::read_lengths(ConfigFields& fields, const std::string& of) {
  Lengths lengths;
  lengths.mean = read_count(fields, of + "_tokens", most_request_tokens);
  lengths.sigma = optional_within(fields, of + "_sigma", ParamType::number, largest_sigma, 0);
  const std::string key = of + "_p95";
  if (!fields.has(key)) return lengths;
  const double p95 = read_count(fields, key, most_request_tokens);
  const double most = lengths.mean * std::exp(normal_p95 * normal_p95 / 2);
  if (fields.has(of + "_sigma")) {
    fields.mistake(key, fmt::format("expected either it or {}_sigma", of));
  } else if (p95 < lengths.mean || p95 > most) {
    fields.mistake(key, fmt::format("got {}, expected from the mean of {} to {:.0f}: no log-normal "
                                    "length goes further",
                                    p95, lengths.mean, std::floor(most)));
  } else {
    const double apart = 2 * std::log(p95 / lengths.mean);
    lengths.sigma = normal_p95 - std::sqrt(std::max(0.0, normal_p95 * normal_p95 - apart));
  }
  return lengths;
}

void Reader::read_generated(const ConfigValue& object) {
  ConfigFields inner(object, where_, "/requests/generate");
  const std::uint32_t count = read_count(inner, "requests", most_requests);
  Lengths input = read_lengths(inner, "input");
  Lengths output = read_lengths(inner, "output");
  input.spread = output.spread = optional_within(inner, "spread", ParamType::number, 1, 0);
  if (input.spread > 0 && (input.sigma > 0 || output.sigma > 0)) {
    inner.mistake("spread", "expected either it or log-normal lengths (sigma or p95)");
  }
  double rate = 0;
  inner.optional_quantity("per_second", ParamType::number, rate);
  read_loop(inner);
  const std::uint32_t groups = optional_count(inner, "prefix_groups", most_requests, 0);
  const std::uint32_t common =
      groups > 0 ? optional_count(inner, "prefix_tokens", most_request_tokens, 0) : 0;
  const double seed = optional_within(inner, "seed", ParamType::integer, largest_seed, 0);
  if ((rate > 0) == (serving_.options.in_flight > 0)) {
    inner.mistake("per_second", "expected either per_second above 0 or in_flight");
  }
  const Status fine = inner.finish();
  fields_.take(fine);
  if (!fine.ok()) return;
  scheduling::Random random(static_cast<std::uint64_t>(seed));
  double now_s = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    ServingRequest request;
    if (rate > 0 && i > 0) now_s += random.exponential(1 / rate);
    request.arrival_ns = to_whole(std::min(now_s, longest_s) * 1e9);
    request.input_tokens = input.draw(random);
    request.output_tokens = output.draw(random);
    if (groups > 0) {
      request.prefix_group = static_cast<std::int64_t>(random.below(groups));
      request.prefix_tokens = std::min<std::int64_t>(common, request.input_tokens);
    }
    serving_.requests.push_back(request);
  }
  if (now_s > longest_s) {
    fields_.mistake("requests", fmt::format("the last one would arrive after {:.3g} s, expected at "
                                            "most {:.0e} s: more per second, or fewer",
                                            now_s, longest_s));
  }
  surround_closed_loop(serving_);
}

void Reader::read_requests() {
  const ConfigValue* object = fields_.object("requests");
  if (object == nullptr) return;
  if (const ConfigValue* generate = object->find("generate"); generate != nullptr) {
    ConfigFields inner = inside("requests", *object);
    if (inner.object("generate") != nullptr) read_generated(*generate);
    fields_.take(inner.finish());
  } else {
    read_rows(*object);
  }
  if (serving_.requests.empty()) fields_.mistake("requests", "got none, expected at least one");
}

Result<Serving> Reader::read() {
  serving_.path = where_;
  serving_.model = named<ModelSpec>("model", find_model);
  read_machine();
  if (const auto engine = named<ServingEngine>("engine", find_serving_engine); engine != nullptr) {
    FORETRACE_TRY(auto framework,
                  find_framework(catalogue_, engine->framework).with_context(where_));
    adopt_engine(serving_, *engine, std::make_shared<const Framework>(std::move(framework)));
  }
  read_arithmetic();
  read_copies();
  read_steps();
  read_limits();
  read_offline();
  read_requests();
  FORETRACE_TRY(fields_.finish());
  return complete_serving(std::move(serving_)).with_context(where_);
}

}  // namespace

void adopt_engine(Serving& serving, ServingEngine engine,
                  std::shared_ptr<const Framework> framework) {
  serving.engine = std::move(engine);
  serving.framework = std::move(framework);
  serving.memory_share = serving.engine.memory_share;
  if (serving.cluster == nullptr) return;  // a mistake that is told
  serving.options.rules = serving.engine.rules_on(serving.cluster->accelerator);
}

Result<Serving> complete_serving(Serving serving) {
  ServedModel& served = serving.served;
  served.model = &serving.model->transformer;
  served.cluster = serving.cluster.get();
  served.framework = serving.framework.get();
  served.one_shot_ns = serving.engine.one_shot_ns.typical;
  served.query_tile = serving.engine.query_tile_on(serving.cluster->accelerator);
  FORETRACE_TRY(check_served(served));
  serving.options.host_step_ns = serving.engine.host_step_ns.typical;
  serving.options.host_sequence_ns = serving.engine.host_sequence_ns.typical;
  serving.options.host_request_ns = serving.engine.host_request_ns.typical;
  serving.options.host_token_ns = serving.engine.host_token_ns.typical;
  if (serving.accelerators() > serving.cluster->accelerators()) {
    return Error{ErrorCode::bad_config,
                 fmt::format("/replicas: got {} accelerators in all, expected at most the {} of {}",
                             serving.accelerators(), serving.cluster->accelerators(),
                             serving.cluster->name)};
  }
  const StepRules& rules = serving.options.rules;
  std::int64_t longest = 0;
  for (const ServingRequest& request : serving.requests) {
    longest = std::max(longest, request.input_tokens);
  }
  if (!rules.chunks_prompts && longest > rules.batched_tokens) {
    return Error{ErrorCode::bad_config,
                 fmt::format("/steps/batched_tokens: got {} without chunked prompts, expected at "
                             "least the {} tokens of the longest prompt",
                             rules.batched_tokens, longest)};
  }
  const StepCost cost(served);
  const Accelerator& accelerator = serving.cluster->accelerator;
  const auto given = serving.options.cache_blocks;
  const CacheBudget budget = given == 0
                                 ? CacheBudget{serving.memory_share, serving.engine.memory_share_of}
                                 : CacheBudget{1, CacheShare::weights};
  const auto room = cache_blocks_of(cost, accelerator, budget, serving.options.rules);
  if (given == 0) serving.options.cache_blocks = room;
  if (given > room && room > 0) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("/cache/blocks: got {}, expected at most the {} that fit beside the weights",
                    given, room)};
  }
  if (room < 1) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("/model: its weights occupy {:.1f} GiB of every accelerator, {} has {:.1f} GiB "
                    "x {}: no memory left for a cache; expected more of them "
                    "(/parallelism/tensor), fewer bits (/weight_bits) or another accelerator",
                    cost.weight_bytes() / (1 << 30), accelerator.name,
                    static_cast<double>(accelerator.memory_bytes) / (1 << 30),
                    serving.memory_share)};
  }
  return serving;
}

Result<Serving> parse_serving(const Catalogue& catalogue, std::string_view text,
                              const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, serving_schema));
  return Reader(catalogue, root, where).read();
}

Result<Serving> read_serving(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_serving(catalogue, text, path);
}

}  // namespace foretrace
