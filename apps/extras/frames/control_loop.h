// A control loop: a sensor gives a frame at a period, the frame passes stages on devices that it
// shares with other work, and the last stage acts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::streams {

struct LoopStage {
  std::string name;
  std::size_t device = 0;
  std::int64_t time_ns = 0;
};
/// Other work on a device, at a period of its own.
struct LoopGuest {
  std::string name;
  std::size_t device = 0;
  std::int64_t period_ns = 1;
  std::int64_t time_ns = 0;
};

/// What becomes of a frame that waits for a stage when the next one comes.
enum class LateFrames : std::uint8_t {
  skip,  ///< it is dropped: the stage takes the newest
  queue  ///< all are served in order
};

struct ControlLoop {
  std::size_t devices = 0;
  std::vector<LoopStage> stages;  ///< in the order in which a frame passes them
  std::vector<LoopGuest> guests;
  std::int64_t period_ns = 1;
  std::int64_t deadline_ns = 1;  ///< from the sensor to the end of the last stage
  std::int64_t frames = 1000;
  std::int64_t jitter_ns = 0;  ///< a frame comes so much late, evenly from 0
  LateFrames late = LateFrames::skip;
  std::uint64_t seed = 0;
};

struct LoopFigures {
  std::int64_t frames = 0;
  std::int64_t dropped = 0;
  std::int64_t late = 0;  ///< done after their deadline
  double mean_ns = 0;     ///< latency of frames that were not dropped
  std::int64_t p99_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t span_ns = 0;              ///< from the first frame's time to the last end
  std::vector<std::int64_t> busy_ns{};   ///< by device, of the loop's stages
  std::vector<std::int64_t> guest_ns{};  ///< by device, of other work

  /// Share of the frames that were dropped or late.
  [[nodiscard]] double missed() const {
    return frames > 0 ? static_cast<double>(dropped + late) / static_cast<double>(frames) : 0;
  }
};

/// A device serves one piece of work at a time, in the order in which it came, without preemption.
/// At one moment ends come before arrivals.
[[nodiscard]] LoopFigures run_loop(const ControlLoop& loop);

/// At most so long, and so many events, before the last frame is through.
struct LoopEffort {
  double span_ns = 0;
  double events = 0;
};
[[nodiscard]] LoopEffort effort_of(const ControlLoop& loop);

/// A layer of a network whose channels can be pruned.
struct PrunedLayer {
  std::int64_t time_ns = 0;   ///< at all channels, without `fixed_ns`
  std::int64_t fixed_ns = 0;  ///< launches and whatever does not shrink
};
/// Time of a network of which each layer keeps this share of its output channels: the time of a
/// layer goes with channels in times channels out, as its operations do. The input of the first
/// layer is whole.
[[nodiscard]] std::int64_t pruned_time_ns(const std::vector<PrunedLayer>& layers,
                                          const std::vector<double>& kept);

}  // namespace foretrace::streams
