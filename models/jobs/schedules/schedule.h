// Pipeline schedules: in which order a stage works on the chunks of its micro-batches.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

enum class StepKind : std::uint8_t {
  forward,
  backward,  ///< of inputs and weights; of inputs alone where the schedule splits it
  weights,   ///< gradients of weights, where the schedule splits backward
};
[[nodiscard]] std::string_view to_string(StepKind kind);

struct ScheduleStep {
  StepKind kind = StepKind::forward;
  std::uint32_t micro_batch = 0;
  std::uint32_t chunk = 0;  ///< of the stage's own chunks
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

struct ScheduleShape {
  std::uint32_t stages = 1;
  std::uint32_t micro_batches = 1;
  std::uint32_t chunks = 1;  ///< pieces of the model that one stage holds
  friend bool operator==(const ScheduleShape&, const ScheduleShape&) = default;
};

/// What the host does of a pass, in ns. It goes from pass to pass and waits for nothing, so that it
/// may be ahead of the device, or behind it.
struct LaunchTime {
  std::int64_t host = 0;  ///< to launch all of the pass
  std::int64_t rest = 0;  ///< what the device needs at least when the last of it is launched
  friend bool operator==(const LaunchTime&, const LaunchTime&) = default;
};

/// Times in ns by position in the model: `stages * chunks` positions, in the order in which data
/// passes them.
struct PipelineTimes {
  ScheduleShape shape;
  std::vector<std::int64_t> forward;
  std::vector<std::int64_t> backward;
  std::vector<std::int64_t> weights;        ///< schedules that split backward; else empty
  std::vector<std::int64_t> send_forward;   ///< from position to position + 1, beside computation
  std::vector<std::int64_t> send_backward;  ///< from position + 1 to position
  /// By StepKind and position; empty: the host is never behind.
  std::array<std::vector<LaunchTime>, 3> launches;
  [[nodiscard]] bool has_launches() const { return !launches.front().empty(); }
  friend bool operator==(const PipelineTimes&, const PipelineTimes&) = default;
};

/// When each stage is done with all micro-batches, in ns from the beginning.
struct Executed {
  std::vector<std::int64_t> stage_end_ns;
  std::int64_t makespan_ns = 0;
  /// Per stage and step of its order: how long the device waits for launches, in ns; empty: never,
  /// or a formula that does not tell.
  std::vector<std::vector<std::int64_t>> launch_waits_ns;
};

/// One schedule: a file of this folder.
struct ScheduleInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  std::span<const std::string_view> assumptions;
  bool splits_backward = false;
  /// Chunk c of stage r lies at position c * stages + r; folded: forth and back, so that the first
  /// and the last position are on one stage.
  bool folds = false;
  /// Every micro-batch of a chunk is forward before one is backward: also the head's logits wait.
  bool keeps_logits = false;
  std::uint32_t least_chunks = 1;
  std::uint32_t most_chunks = 1;
  Status (*check)(const ScheduleShape& shape) = nullptr;
  /// Steps of one stage in order; every forward and backward of every chunk and micro-batch.
  std::vector<ScheduleStep> (*order)(const ScheduleShape& shape, std::uint32_t stage) = nullptr;
  /// When stages are done; null: only running the steps tells (finished).
  Executed (*formula)(const PipelineTimes& times) = nullptr;
  /// most_in_flight() of the order of a stage, without making it; null: it is made.
  std::uint32_t (*in_flight)(const ScheduleShape& shape, std::uint32_t stage) = nullptr;
};

namespace schedules {
[[nodiscard]] std::span<const ScheduleInfo* const> all();
}  // namespace schedules

/// Error: unknown name, with the nearest.
[[nodiscard]] Result<const ScheduleInfo*> find_schedule(std::string_view name);
/// Errors name what was got and what the schedule expects.
[[nodiscard]] Status check_shape(const ScheduleInfo& schedule, const ScheduleShape& shape);

/// Position of a chunk of a stage in the model.
[[nodiscard]] std::uint32_t position_of(const ScheduleInfo& schedule, const ScheduleShape& shape,
                                        std::uint32_t stage, std::uint32_t chunk);
/// Stage that has this position.
[[nodiscard]] std::uint32_t stage_of(const ScheduleInfo& schedule, const ScheduleShape& shape,
                                     std::uint32_t position);

/// The last micro-batch goes back up: a stage is done before the first one by the backward passes
/// and the sends above it.
[[nodiscard]] Executed done_upwards(const PipelineTimes& times, std::int64_t makespan_ns);

/// Most micro-batch chunks of a stage whose activations are held at once.
[[nodiscard]] std::uint32_t most_in_flight(std::span<const ScheduleStep> order);
/// The same of one stage of a schedule.
[[nodiscard]] std::uint32_t most_in_flight(const ScheduleInfo& schedule, const ScheduleShape& shape,
                                           std::uint32_t stage);

}  // namespace foretrace
