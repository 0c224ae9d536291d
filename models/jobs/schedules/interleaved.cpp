// Interleaved 1F1B: a stage holds several pieces of the model, so that the bubble shrinks by their
// number and more is sent.
//
//   two stages, two chunks each (a, b):
//   stage 0  Fa0 Fa1 Fb0 Fb1 ... Bb0 ...
//   stage 1      Fa0 Fa1 Fb0 Bb0 Fb1 Bb1 ...
//
// paper: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using
//   Megatron-LM, SC 2021
// assumes: micro-batches take equal times; their number is a multiple of the number of stages
// ignores: nothing
// calibrate: nothing
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::schedules::interleaved_parts {
namespace {

Status check(const ScheduleShape& shape) {
  if (shape.stages < 2) {
    return Error{ErrorCode::bad_config, "interleaved: 1 of stages, expected at least 2"};
  }
  if (shape.micro_batches % shape.stages == 0) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("interleaved: {} of micro-batches, expected a multiple of the {} stages",
                           shape.micro_batches, shape.stages)};
}

// Chunks take turns: `stages` micro-batches of one, then of the next.
ScheduleStep nth(const ScheduleShape& shape, StepKind kind, std::uint32_t n) {
  const std::uint32_t group = shape.stages * shape.chunks;
  const std::uint32_t chunk = n % group / shape.stages;
  return {kind, n / group * shape.stages + n % shape.stages,
          kind == StepKind::forward ? chunk : shape.chunks - 1 - chunk};
}

// Forward passes of a stage before its first backward pass follows one.
std::uint32_t warm_up(const ScheduleShape& shape, std::uint32_t stage) {
  return std::min(shape.micro_batches * shape.chunks,
                  2 * (shape.stages - 1 - stage) + (shape.chunks - 1) * shape.stages);
}

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  const std::uint32_t all = shape.micro_batches * shape.chunks;
  const std::uint32_t warm = warm_up(shape, stage);
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{2} * all);
  for (std::uint32_t i = 0; i < warm; ++i) steps.push_back(nth(shape, StepKind::forward, i));
  for (std::uint32_t i = 0; i < all; ++i) {
    if (i + warm < all) steps.push_back(nth(shape, StepKind::forward, i + warm));
    steps.push_back(nth(shape, StepKind::backward, i));
  }
  return steps;
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t stage) {
  return std::min(shape.micro_batches * shape.chunks, warm_up(shape, stage) + 1);
}

// Paths of a step, the longest of which bounds it from below. A path comes down to a stage, stays
// there while the stage works through all its steps, and goes back up. On the way down the first
// micro-batch may go round the stages chunk by chunk, in place of the steps of the earlier chunks
// of its group; on the way up the last one may do the same. In between the path may leave the stage
// for something that takes longer than the steps that it misses there:
//   rings   one micro-batch goes round all stages to the next chunk, instead of one step per stage:
//           decides where a send takes longer than the pass of the other direction
//   trips   down to the last stage and back, instead of the 2 k forward and 2 k backward steps that
//           a stage with k stages below it does meanwhile, as in 1F1B
// What comes out is exact where the passes of all positions are equal and no send takes longer than
// a pass.
class Paths {
 public:
  explicit Paths(const PipelineTimes& times)
      : times_(times),
        stages_(times.shape.stages),
        chunks_(times.shape.chunks),
        down_(times.forward.size()),
        up_(times.forward.size()) {
    for (std::size_t q = 1; q < down_.size(); ++q) {
      down_[q] = down_[q - 1] + times.forward[q - 1] + at(times.send_forward, q - 1);
      up_[q] = up_[q - 1] + times.backward[q - 1] + at(times.send_backward, q - 1);
    }
  }
  /// By this stage.
  [[nodiscard]] std::int64_t longest(std::uint32_t stage) const;
  /// By what this stage sends.
  [[nodiscard]] std::int64_t longest_sends(std::uint32_t stage) const;

 private:
  /// Of one way through the chunks of a stage: to the first position that the path takes there, in
  /// excess of the steps that it misses.
  struct Way {
    std::int64_t longest = 0;
    std::int64_t whole = 0;  ///< round all chunks
    std::int64_t own = 0;    ///< passes of the stage through its chunks, of one micro-batch
  };
  static std::int64_t at(const std::vector<std::int64_t>& list, std::size_t i) {
    return i < list.size() ? list[i] : 0;
  }
  [[nodiscard]] Way way(std::uint32_t stage, const std::vector<std::int64_t>& passes,
                        const std::vector<std::int64_t>& reached) const;
  [[nodiscard]] std::int64_t rings(std::uint32_t stage, const std::vector<std::int64_t>& reached,
                                   std::int64_t missed) const;
  [[nodiscard]] std::int64_t trip(std::uint32_t stage, std::uint32_t chunk) const;
  [[nodiscard]] std::int64_t trips(std::uint32_t stage, const Way& forward,
                                   const Way& backward) const;

  const PipelineTimes& times_;
  std::uint32_t stages_;
  std::uint32_t chunks_;
  std::vector<std::int64_t> down_;  ///< of the first micro-batch until it reaches a position
  std::vector<std::int64_t> up_;    ///< of the last one from a position on
};

Paths::Way Paths::way(std::uint32_t stage, const std::vector<std::int64_t>& passes,
                      const std::vector<std::int64_t>& reached) const {
  Way way;
  for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
    const std::size_t q = std::size_t{chunk} * stages_ + stage;
    way.whole = reached[q] - std::int64_t{stages_} * way.own;
    way.longest = std::max(way.longest, way.whole);
    way.own += passes[q];
  }
  return way;
}

// To each next chunk, in excess of one step per stage.
std::int64_t Paths::rings(std::uint32_t stage, const std::vector<std::int64_t>& reached,
                          std::int64_t missed) const {
  std::int64_t sum = 0;
  for (std::size_t q = stage; q + stages_ < reached.size(); q += stages_) {
    sum += std::max<std::int64_t>(0, reached[q + stages_] - reached[q] - missed);
  }
  return sum;
}

// Between two steps of a chunk, without the stage.
std::int64_t Paths::trip(std::uint32_t stage, std::uint32_t chunk) const {
  const std::size_t first = std::size_t{chunk} * stages_ + stage;
  const std::size_t last = std::size_t{chunk} * stages_ + stages_ - 1;
  const auto below = [&](const std::vector<std::int64_t>& reached,
                         const std::vector<std::int64_t>& passes) {
    return reached[last] + passes[last] - reached[first] - passes[first];
  };
  return below(down_, times_.forward) + below(up_, times_.backward);
}

// One while the stage fills up, one while it empties, and those that have room in between.
std::int64_t Paths::trips(std::uint32_t stage, const Way& forward, const Way& backward) const {
  const std::int64_t all = std::int64_t{times_.shape.micro_batches} * chunks_;
  const std::int64_t slots = all - warm_up(times_.shape, stage);
  const std::int64_t others = 2 * std::int64_t{stages_ - 1 - stage};
  if (others == 0 || slots <= 0) return 0;
  const auto gain = [&](std::int64_t trip, std::int64_t own) {
    return std::max<std::int64_t>(0, trip - (others * own + chunks_ - 1) / chunks_);
  };
  const std::int64_t filling = gain(trip(stage, chunks_ - 1), forward.own);
  const std::int64_t emptying = gain(trip(stage, 0), backward.own);
  if (slots == 1) return std::max(filling, emptying);
  std::int64_t mean = 0;
  for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) mean += trip(stage, chunk);
  mean /= chunks_;
  return filling + emptying + (slots - 2) / (others + 1) * gain(mean, forward.own + backward.own);
}

std::int64_t Paths::longest(std::uint32_t stage) const {
  const Way forward = way(stage, times_.forward, down_);
  const Way backward = way(stage, times_.backward, up_);
  const std::int64_t both = forward.own + backward.own;
  const std::int64_t missed = (both * stages_ + chunks_ - 1) / chunks_;
  const std::int64_t groups = times_.shape.micro_batches / stages_;
  const std::int64_t by_rings =
      forward.longest + backward.longest +
      (groups - 1) * std::max(rings(stage, down_, missed), rings(stage, up_, missed));
  const std::int64_t by_trips = forward.whole + backward.whole + trips(stage, forward, backward);
  return times_.shape.micro_batches * both + std::max(by_rings, by_trips);
}

// A stage sends one message after the other each way: the first micro-batch comes to the stage, all
// messages of its chunks follow each other instead of one of each, and the last one goes on. The
// messages between the first and the last one are part of a round trip.
std::int64_t Paths::longest_sends(std::uint32_t stage) const {
  const std::size_t last = down_.size() - 1;
  const std::int64_t there = down_[last] + times_.forward[last];
  const std::int64_t back = up_[last] + times_.backward[last];
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  for (std::size_t q = stage; q <= last; q += stages_) {
    forward += at(times_.send_forward, q);
    if (q > 0) backward += at(times_.send_backward, q - 1);
  }
  const std::int64_t m = times_.shape.micro_batches;
  // The first and the last boundary that the stage sends over, seen from the side that sends.
  const std::size_t first_down = stage;
  const std::size_t last_down = stage + std::size_t{chunks_ - 1} * stages_ < last
                                    ? stage + std::size_t{chunks_ - 1} * stages_
                                    : last - stages_;
  const std::size_t first_up = stage + std::size_t{chunks_ - 1} * stages_;
  const std::size_t last_up = stage > 0 ? stage : stages_;
  const std::int64_t missed_down =
      down_[last_down + 1] - down_[first_down] - times_.forward[first_down];
  const std::int64_t missed_up = up_[first_up] - up_[last_up - 1] - times_.backward[last_up - 1];
  return there + back + std::max(m * forward - missed_down, m * backward - missed_up);
}

Executed formula(const PipelineTimes& times) {
  const Paths paths(times);
  std::int64_t longest = 0;
  for (std::uint32_t stage = 0; stage < times.shape.stages; ++stage) {
    longest = std::max({longest, paths.longest(stage), paths.longest_sends(stage)});
  }
  return done_upwards(times, longest);
}

constexpr std::array<std::string_view, 1> assumptions = {
    "the number of micro-batches is a multiple of the number of stages"};

}  // namespace

extern constexpr ScheduleInfo info = {.name = "interleaved",
                                      .summary = "1F1B with several pieces of the model per stage",
                                      .paper = "Narayanan et al., Megatron-LM, SC 2021",
                                      .assumptions = assumptions,
                                      .least_chunks = 2,
                                      .most_chunks = 1024,
                                      .check = check,
                                      .order = order,
                                      .formula = formula,
                                      .in_flight = in_flight};

}  // namespace foretrace::schedules::interleaved_parts
