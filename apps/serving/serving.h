// A served language model under load, as users write it (schema foretrace.serving/1), and what
// comes of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/serving/engine.h"
#include "apps/serving/request.h"
#include "apps/serving/service.h"
#include "apps/serving/step_cost.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/distribution.h"
#include "sim/core/ranged.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view serving_schema = "foretrace.serving/1";

/// What a request must keep to count as well served; 0: anything.
struct ServiceLimits {
  std::int64_t first_token_ns = 0;
  std::int64_t token_ns = 0;
};

struct Serving {
  std::string path;
  std::vector<std::string> files;  ///< that it names
  std::shared_ptr<const ModelSpec> model;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const Framework> framework;
  ServingEngine engine;
  ServedModel served;
  ServiceOptions options;  ///< cache_blocks 0: as many as fit
  double memory_share = 0.9;
  std::vector<ServingRequest> requests;
  /// With in_flight: figures are of the middle of a long run, not of one that begins with all of
  /// them at once.
  bool is_steady = false;
  std::size_t first_counted = 0;  ///< figures are about these requests only
  std::size_t counted = SIZE_MAX;
  ServiceLimits limits;

  [[nodiscard]] std::uint32_t accelerators() const {
    return served.tensor * (options.replicas + options.prompt_replicas);
  }
  /// First of the requests that figures are about, and one behind the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> counted_range() const {
    const std::size_t first = std::min(first_counted, requests.size());
    return {first, first + std::min(counted, requests.size() - first)};
  }
};

/// Of a table of requests.
inline constexpr std::array<std::string_view, 5> request_columns = {
    "arrival_s", "input_tokens", "output_tokens", "prefix", "prefix_tokens"};

/// Errors name file, JSON pointer, what was got and what is expected.
[[nodiscard]] Result<Serving> read_serving(const Catalogue& catalogue, const std::string& path);
[[nodiscard]] Result<Serving> parse_serving(const Catalogue& catalogue, std::string_view text,
                                            const std::string& where);

/// What the engine decides where nothing else is said: the rules of its steps on this cluster's
/// accelerator, and its share of the memory.
void adopt_engine(Serving& serving, ServingEngine engine,
                  std::shared_ptr<const Framework> framework);
/// For a steady number of requests in flight: a round before the requests, whose members end one
/// after the other, and a round behind them, so that those that count see a load that is even.
void surround_closed_loop(Serving& serving);
/// Pointers of `served` set, the cache as large as memory allows where nothing else is asked for.
[[nodiscard]] Result<Serving> complete_serving(Serving serving);

struct ServingFigures {
  Distribution first_token_s;
  Distribution token_s;  ///< per request the mean time of every token after the first
  Distribution latency_s;
  Distribution waiting_s;  ///< until the first step that computes some of it
  double output_tokens_per_s = 0;
  double requests_per_s = 0;
};

struct ServingAnswer {
  Service service;
  ServingFigures figures;
  ServingFigures low;   ///< with every time at the low end of its range
  ServingFigures high;  ///< and at the high end
  std::size_t done = 0;
  std::size_t refused = 0;
  std::size_t within_limits = 0;
  std::int64_t preemptions = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;  ///< of the prompts, found in the cache
  double use = 0;                  ///< share of the time in which replicas compute

  /// A rate and a mean time with their ranges: what shorter and longer steps give, unless another
  /// order of steps costs more than that. They hold the figure in any case.
  [[nodiscard]] Ranged rate(double ServingFigures::*of) const {
    return joined(figures.*of, low.*of, high.*of);
  }
  [[nodiscard]] Ranged mean(Distribution ServingFigures::*of) const {
    return joined((figures.*of).mean, (low.*of).mean, (high.*of).mean);
  }

 private:
  [[nodiscard]] static Ranged joined(double value, double one, double other) {
    return {value, std::min({value, one, other}), std::max({value, one, other})};
  }
};

/// An error where requests are too much work. `with_range`: also at both ends of the range of its times.
[[nodiscard]] Result<ServingAnswer> run_serving(const Serving& serving, bool with_range = true);

}  // namespace foretrace
