// Recorded jobs: a graph per place where the job was asked for, and simulation of it with factors.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/predictor/device_use.h"
#include "apps/predictor/mig_half.h"
#include "apps/predictor/source.h"
#include "apps/session/session.h"
#include "sim/core/whole.h"
#include "sim/engine/chains/step_program.h"
#include "sim/engine/pull/pull.h"

namespace foretrace {
namespace {

/// The job at one place: its graph there and what the answer says besides the step.
struct Place {
  TaskGraph graph;
  StepPrediction answer;  ///< with all factors at 1
  double low = 1;         ///< ends of the range / the step
  double high = 1;
  std::array<ScaledTimes, factor_count> durations;
  ScaledTimes segments;  ///< host time before tasks
  std::int64_t device_bytes = 0;
  DeviceUse use;
  std::string product{};                 ///< empty: not known
  std::optional<MigHalf> half{};         ///< none: the device has no MIG
  bool is_pull = true;                   ///< the pull engine is exact
  std::optional<StepProgram> program{};  ///< none: the whole graph is simulated
};

std::int64_t scaled(std::int64_t ns, double factor) {
  return to_whole(static_cast<double>(ns) * factor);
}

/// As many as share its batches: of a job, or of the groups that a single rank was in.
std::uint32_t ranks_of(const Recording& recording) {
  std::size_t ranks = recording.job ? recording.job->ranks.size() : 1;
  for (const Communicator& group : recording.graph().context().communicators) {
    ranks = std::max<std::size_t>(ranks, group.size);
  }
  return static_cast<std::uint32_t>(ranks);
}

class RecordedJob final : public Predictor::Source {
 public:
  explicit RecordedJob(Session session) : session_(std::move(session)) {
    static_cast<void>(session_.need());  // whoever asks for a place does not wait for it
  }

  Result<StepPrediction> predict(const JobPlacement& placement) const override {
    FORETRACE_TRY(auto found, place(placement));
    return answer_at(*found, placement);
  }

  Result<StepPrediction> predict_half(const JobPlacement& placement) const override {
    FORETRACE_TRY(const auto whole, place(placement));
    const Place& device = *whole;
    FORETRACE_TRY(check_half(device));
    const auto half = place(placement, device.half);
    if (half.ok()) return answer_at(**half, placement);
    // It has room: no kernel needs more than the half.
    if (half.error().code != ErrorCode::no_match) return half.error();
    return answer_at(device, placement);
  }

  Result<DeviceUse> use(const JobPlacement& placement) const override {
    if (Status fine = check_one_device(session_.graph()); !fine.ok()) {
      return std::move(fine).error().with_context(session_.recording().path);
    }
    FORETRACE_TRY(auto found, place(placement));
    return found->use;
  }

  Result<std::int64_t> device_bytes(const JobPlacement& placement) const override {
    FORETRACE_TRY(auto found, place(placement));
    return found->device_bytes;
  }

  Result<std::int64_t> state_bytes() const override {
    const TaskGraph& graph = session_.graph();
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const CollectiveKind kind = graph.work(make_id<TaskId>(i)).collective;
      if (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter) continue;
      return Error{ErrorCode::unsupported,
                   "restart: ranks share the state of the job, whose size one rank's recording "
                   "does not contain; expected a scenario"};
    }
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> devices;
    for (const Tensor& tensor : graph.context().tensors) {
      const bool is_state = tensor.category == TensorCategory::weight ||
                            tensor.category == TensorCategory::optimizer_state;
      if (!is_state || tensor.freed_in != none<TaskId>) continue;
      devices[{graph.rank_of(tensor), tensor.device}] +=
          tensor.requested_bytes >= 0 ? tensor.requested_bytes : tensor.bytes;
    }
    std::int64_t most = 0;  // copies hold the same
    for (const auto& [device, bytes] : devices) most = std::max(most, bytes);
    if (most > 0) return most;
    return Error{ErrorCode::no_match,
                 "restart: the recording contains no weights, expected one with memory or shapes"};
  }
  std::string accelerator() const override {
    const auto& own = session_.recording().accelerator;
    return own ? own->name : std::string();
  }
  std::vector<Doubt> doubts() const override { return session_.replay().doubts; }
  std::size_t tasks() const override { return session_.graph().size(); }
  std::int64_t step_ns() const override { return session_.step_ns(); }

 private:
  using Key = std::tuple<std::string, std::uint32_t, std::string, bool>;
  /// A place that somebody has asked for.
  struct Slot {
    std::mutex making;                     ///< held while it is made
    std::shared_ptr<const Place> place{};  ///< written under both locks; null: not there yet
  };

  Result<StepPrediction> answer_at(const Place& there, const JobPlacement& placement) const {
    const bool is_plain = placement.compute == 1 && placement.copies == 1 &&
                          placement.communication == 1 && placement.host == 1;
    if (is_plain) return there.answer;
    FORETRACE_TRY(auto step, simulated_step(there, placement));
    StepPrediction answer = there.answer;
    answer.step_ns = step;
    answer.low_ns = scaled(step, there.low);
    answer.high_ns = scaled(step, there.high);
    return answer;
  }

  /// Whether the device can be halved, and the job has room in a half.
  static Status check_half(const Place& device) {
    if (!device.half) {
      return Error{
          ErrorCode::unsupported,
          fmt::format("MIG: {} has none, expected an NVIDIA data-center GPU from A100 on",
                      device.product.empty() ? std::string("an unknown device") : device.product)};
    }
    const auto room = static_cast<double>(device.device_bytes) * device.half->memory;
    if (static_cast<double>(device.answer.memory_bytes) <= room) return ok_status();
    constexpr double gib = 0x1p30;
    return Error{ErrorCode::no_match,
                 fmt::format("MIG: does not fit: the job needs {:.1f} GiB, half of {} has {:.1f}",
                             static_cast<double>(device.answer.memory_bytes) / gib, device.product,
                             room / gib)};
  }

  Result<std::int64_t> simulated_step(const Place& there, const JobPlacement& placement) const {
    const Factors factors = {placement.compute, placement.copies, placement.communication,
                             placement.host};
    if (there.program) {
      thread_local StepProgram::State state;
      thread_local StepTimes steps;
      there.program->run(factors, state, steps);
      FORETRACE_TRY(const auto answer, answer_of(steps, session_.options().step));
      return answer.step_ns;
    }
    Weights weights = there.graph.weights();
    std::vector<std::int64_t> durations = *weights.duration_ns;
    std::vector<std::int64_t> segments = *weights.segment_ns;
    for (std::size_t kind = 0; kind < factor_count; ++kind) {
      there.durations[kind].write(factors[kind], durations);
    }
    there.segments.write(placement.host, segments);
    weights.duration_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(durations));
    weights.segment_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(segments));
    const TaskGraph graph = there.graph.with_weights(std::move(weights));
    if (!there.is_pull) {
      FORETRACE_TRY(auto run, simulate_run(graph, session_.options()));
      return run.answer.step_ns;
    }
    FORETRACE_TRY(const auto answer,
                  answer_of(simulated_steps(graph, simulate(graph)), session_.options().step));
    return answer.step_ns;
  }

  Result<std::shared_ptr<const Place>> place(const JobPlacement& placement,
                                             const std::optional<MigHalf>& half = {}) const {
    const Key key(placement.accelerator, placement.accelerators, placement.cluster,
                  half.has_value());
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::shared_ptr<Slot>& known = places_[key];
      if (known == nullptr) known = std::make_shared<Slot>();
      if (known->place != nullptr) return known->place;
      slot = known;
    }
    // Whoever asks for the same place waits for it; all others go on.
    const std::lock_guard<std::mutex> making(slot->making);
    if (slot->place != nullptr) return slot->place;
    auto made = make_place(placement, half);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (made.ok()) {
      slot->place = *made;
    } else if (const auto at = places_.find(key); at != places_.end() && at->second == slot) {
      places_.erase(at);
    }
    return made;
  }

  Result<std::shared_ptr<const Place>> make_place(const JobPlacement& placement,
                                                  const std::optional<MigHalf>& half) const {
    std::vector<WhatIfSpec> specs;
    const bool is_own = placement.accelerator.empty() || placement.accelerator == accelerator();
    if (!is_own) specs.push_back(swap_to(placement.accelerator));
    const std::uint32_t own = ranks_of(session_.recording());
    if (placement.accelerators != 0 && placement.accelerators < own) {
      return Error{ErrorCode::no_match,
                   fmt::format("the job was recorded on {} accelerators, which "
                               "{} cannot do",
                               own, placement.accelerators)};
    }
    if (placement.accelerators > own) {
      FORETRACE_TRY(auto spread,
                    spread_over(fmt::format("data={}", placement.accelerators), placement.cluster));
      specs.push_back(std::move(spread));
    }
    if (half) {
      specs.push_back({"mig_slice",
                       {{"compute", fmt::format("{}", half->compute)},
                        {"memory", fmt::format("{}", half->memory)}}});
    }
    FORETRACE_TRY(auto stack, check_stack(specs));
    FORETRACE_TRY(const auto answer, session_.ask(stack));
    return finished(answer);
  }

  static std::shared_ptr<const Place> finished(const Answer& moved) {
    auto there = std::make_shared<Place>();
    there->graph = moved.graph();
    StepPrediction& answer = there->answer;
    answer.step_ns = moved.step_ns();
    answer.low_ns = moved.low_ns();
    answer.high_ns = moved.high_ns();
    answer.samples = moved.samples();
    const auto step = static_cast<double>(std::max<std::int64_t>(1, answer.step_ns));
    there->low = static_cast<double>(answer.low_ns) / step;
    there->high = static_cast<double>(answer.high_ns) / step;
    add_memory(moved, *there);
    const TaskGraph& graph = there->graph;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto kind = static_cast<std::size_t>(factor_of(graph.kind(make_id<TaskId>(i))));
      there->durations[kind].add(i, (*graph.weights().duration_ns)[i]);
      there->segments.add(i, (*graph.weights().segment_ns)[i]);
    }
    const auto& lanes = graph.context().lanes;
    there->is_pull = std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) {
      return lane.policy == LanePolicy::program_order;
    });
    if (there->is_pull) there->program = StepProgram::of(graph);
    there->use = use_of(graph, moved.run());
    if (const auto& device = moved.prediction().accelerator) {
      there->product = device->product;
      there->half = mig_half(*device);
    }
    return there;
  }

  static void add_memory(const Answer& moved, Place& there) {
    if (const auto& device = moved.prediction().accelerator) {
      there.device_bytes = device->memory_bytes;
    }
    if (!moved.need()) return;
    there.answer.memory_bytes = moved.need()->reserved_bytes();
    if (!moved.target()) return;
    there.answer.memory_bytes = moved.target()->needed_bytes(*moved.need());
    there.answer.fits = moved.fits();
  }

  Session session_;
  mutable std::mutex mutex_;  ///< never held while a place is made
  mutable std::map<Key, std::shared_ptr<Slot>> places_;
};

}  // namespace

Result<std::shared_ptr<const Predictor::Source>> recorded_job(std::span<const std::string> paths,
                                                              const PredictorOptions& options) {
  RunOptions run;
  FORETRACE_TRY(auto step, parse_step_choice(options.step));
  if (step.kind == StepChoice::Kind::all) {
    return Error{ErrorCode::bad_usage, "step: got 'all', expected median or a step number"};
  }
  run.step = step;
  FORETRACE_TRY(auto session, open(paths, {.load = {.catalogue = options.catalogue}, .run = run}));
  return std::shared_ptr<const Predictor::Source>(
      std::make_shared<RecordedJob>(std::move(session)));
}

}  // namespace foretrace
