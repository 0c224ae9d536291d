// Several models at their frame rates on a few engines, each frame with a deadline, and the score
// of XRBench.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace::streams {

/// A model of a scenario.
struct FrameModel {
  std::string name;
  double per_second = 1;
  std::string after{};     ///< runs when a frame of this model is done; empty: by the clock
  double probability = 1;  ///< that it then runs
};
struct FrameScenario {
  std::string name;
  std::vector<FrameModel> models;
};
/// Of configs/streams/<name>.json.
[[nodiscard]] Result<std::vector<FrameScenario>> find_frame_scenarios(const Catalogue& catalogue,
                                                                      std::string_view name);
[[nodiscard]] Result<std::vector<FrameScenario>> parse_frame_scenarios(std::string_view text,
                                                                       const std::string& where);

/// What a model costs on an engine.
struct FrameCost {
  std::string model;
  double latency_ms = 0;
  double energy_mj = 0;
};
struct FrameEngine {
  std::string name;
  std::vector<FrameCost> costs;
};

/// Which engine a frame gets.
enum class Dispatch : std::uint8_t {
  latency,   ///< of the free ones the fastest
  energy,    ///< of the free ones the thriftiest
  product,   ///< least energy x latency
  balanced,  ///< of the free ones the one that worked least
};

struct FrameOptions {
  double seconds = 1;
  double jitter_ms = 0;            ///< of arrivals, evenly in this range; deadlines do not move
  bool whole_milliseconds = true;  ///< periods are cut to whole milliseconds, as in XRBench's code
  Dispatch dispatch = Dispatch::latency;
  std::uint64_t seed = 0;
  double sharpness = 15;         ///< k of the real-time score, per millisecond
  double most_energy_mj = 1500;  ///< at which the energy score is 0
};

struct ModelScore {
  std::string name;
  std::int64_t frames = 0;  ///< with the dropped ones
  std::int64_t dropped = 0;
  std::int64_t late = 0;  ///< done after their deadline
  double real_time = 0;   ///< means over frames that ran
  double energy = 0;
  double experience = 0;  ///< share that was not dropped
  double score = 0;       ///< mean of real time x energy, times experience
};
struct ScenarioScore {
  std::string name;
  std::vector<ModelScore> models;
  double score = 0;  ///< 0 to 100
  double busy = 0;   ///< share of the time in which engines work
};

/// 1 / (1 + e^(sharpness x lateness)); half at the deadline.
[[nodiscard]] double real_time_score(double late_ms, double sharpness);

/// Error: no engine runs a model.
[[nodiscard]] Result<ScenarioScore> run_frames(const FrameScenario& scenario,
                                               const std::vector<FrameEngine>& engines,
                                               const FrameOptions& options);

}  // namespace foretrace::streams
