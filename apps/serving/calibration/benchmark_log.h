// What the benchmarks of vLLM and SGLang print and write: times of a server, of a batch, of a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

enum class BenchmarkFigure : std::uint8_t {
  token,  ///< mean time of a token after the first one
  step,   ///< of a batch in which everybody writes
  total,  ///< until the last answer is complete
};

/// One run of a benchmark. What its text does not say is 0.
struct BenchmarkRun {
  std::string program{};  ///< "vllm bench latency"
  BenchmarkFigure figure = BenchmarkFigure::token;
  double seconds = 0;
  double requests = 0;
  double in_flight = 0;   ///< at most; 0: as many as there are
  double per_second = 0;  ///< 0: all at once, as far as in_flight lets them
  double input = 0;       ///< tokens of a request, the mean
  double output = 0;
  std::uint32_t tensor = 0;
  std::vector<std::pair<double, double>> lengths{};  ///< of each request, where they are told
};

struct BenchmarkLog {
  std::vector<BenchmarkRun> runs{};
  double cache_tokens = 0;  ///< that the engine says its cache holds
};

/// True for text that has the marks of one of these benchmarks, or of an engine that tells its
/// cache.
[[nodiscard]] bool is_benchmark_log(std::string_view text);

/// Results (--save-result, --output-json, --result-filename, --output-file; also several, one on a
/// line) and printed text. Error: no run, a figure that is none, runs that write several tokens a
/// step.
[[nodiscard]] Result<BenchmarkLog> parse_benchmark_log(std::string_view text,
                                                       const std::string& where);

/// The parts of it.
[[nodiscard]] Result<BenchmarkRun> benchmark_result(const ConfigValue& document);
[[nodiscard]] Result<BenchmarkLog> read_benchmark_text(std::string_view text);

}  // namespace foretrace
