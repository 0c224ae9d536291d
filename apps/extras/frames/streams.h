// Streams as users write them (schema foretrace.streams/1): frames of XRBench on some engines, the
// loads of MLPerf Inference on a system whose batch times are known, a control loop, and queries to
// a weight-shared network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/extras/frames/control_loop.h"
#include "apps/extras/frames/frames.h"
#include "apps/extras/frames/load_rules.h"
#include "apps/extras/frames/supernet.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view streams_schema = "foretrace.streams/1";

/// Times of batches of a system; between them time grows evenly, beyond the last as before it.
struct BatchTimes {
  std::vector<std::pair<std::int64_t, std::int64_t>> points;  ///< samples, ns; ascending
  [[nodiscard]] std::int64_t at(std::int64_t samples) const;
};

/// One load that is asked for.
struct LoadRequest {
  std::string kind;  ///< single_stream, multi_stream, server, offline
  std::int64_t queries = 1024;
  double share = 0;  ///< of the queries that count for the latency
  std::int64_t samples = 1;
  std::int64_t every_ns = 0;
  std::int64_t bound_ns = 0;
  std::int64_t largest_batch = 1;
  std::uint64_t seed = 0;
};

/// A control loop with its network as it is, or pruned.
struct LoopVariant {
  std::string name;
  std::int64_t network_ns = 0;  ///< of the stage that has layers
  streams::ControlLoop loop;
};
struct LoopRequest {
  std::vector<std::string> devices;
  std::vector<LoopVariant> variants;
};

struct Streams {
  std::string path;
  std::vector<streams::FrameScenario> scenarios;
  std::vector<streams::FrameEngine> engines;
  streams::FrameOptions frames;
  BatchTimes batches;
  std::vector<LoadRequest> loads;
  LoopRequest control;                     ///< no variants: none is asked for
  std::vector<streams::SuperNet> buffers;  ///< one network, by size of its buffer, as in the file
};

struct LoadAnswer {
  LoadRequest request;
  streams::LoadFigures figures;
  std::optional<double> rate;  ///< server: the highest that keeps the bound
  bool too_few = false;        ///< server: even all queries at once keep it
};
struct StreamsAnswer {
  std::vector<streams::ScenarioScore> scores;
  std::vector<LoadAnswer> loads;
  std::vector<streams::LoopFigures> control;      ///< by variant
  std::vector<streams::SuperNetFigures> buffers;  ///< by size of the buffer
};

[[nodiscard]] Result<Streams> read_streams(const Catalogue& catalogue, const std::string& path);
[[nodiscard]] Result<Streams> parse_streams(const Catalogue& catalogue, std::string_view text,
                                            const std::string& where);
[[nodiscard]] Result<StreamsAnswer> run_streams(const Streams& streams);

}  // namespace foretrace
