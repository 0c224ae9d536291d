#include "apps/session/replay/memory_need.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/hardware/catalogue/accelerator.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {

namespace {

// Of the kernels. Recordings of training have 0.55 and more: fused kernels, mostly of updates, are
// what is missing. Serving engines have 0.4 and less: their caches are not seen at all.
constexpr double least_coverage = 0.5;

}  // namespace

double memory_coverage(const trace::BuiltGraph& built) {
  double least = 1;
  for (const trace::DeviceMemory& device : built.memory) {
    least = device.is_from_shapes ? std::min(least, device.known_share) : least;
  }
  return least;
}

Status check_tensors(const Recording& recording, std::string_view what) {
  if (recording.graph().context().tensors.empty()) {
    return Error{ErrorCode::missing_cost,
                 fmt::format("{}: {} records neither device memory nor tensor shapes, expected a "
                             "trace recorded with profile_memory=True (or record_shapes=True)",
                             what, recording.path)};
  }
  const double coverage = memory_coverage(recording.built);
  if (coverage < least_coverage) {
    return Error{
        ErrorCode::missing_cost,
        fmt::format(
            "{}: {} records no device memory, and shapes give the output size of {:.0f} % of its "
            "kernels, expected {:.0f} %, or a trace recorded with profile_memory=True",
            what, recording.path, 100 * coverage, 100 * least_coverage)};
  }
  return ok_status();
}

MemoryModel::MemoryModel(const Recording& recording, const Timeline& timeline)
    : recording_(recording) {
  if (recording.graph().context().tensors.empty()) return;
  is_least_ = std::any_of(recording.built.memory.begin(), recording.built.memory.end(),
                          [](const trace::DeviceMemory& device) { return device.is_from_shapes; });
  coverage_ = memory_coverage(recording.built);
  recorded_ = track_memory(recording.graph(), timeline);
  for (const MemoryCurve& curve : recorded_) {
    fresh_bytes_.push_back(fresh_reserved_bytes({recording.built, recording.graph()}, curve));
  }
}

HeldMemory MemoryModel::held(const TaskGraph& graph, const Timeline& timeline) const {
  HeldMemory held;
  if (graph.context().tensors.empty()) return held;
  held.curves = track_memory(graph, timeline);
  for (const MemoryCurve& curve : held.curves) {
    const auto before =
        std::find_if(recorded_.begin(), recorded_.end(), [&](const MemoryCurve& candidate) {
          return candidate.rank == curve.rank && candidate.device == curve.device;
        });
    const MemoryInputs inputs{recording_.built, graph, {}, recording_.catalogue()};
    // Tensors of a device that had none are known to the changed graph alone.
    const std::int64_t fresh =
        before == recorded_.end()
            ? fresh_reserved_bytes(inputs, curve)
            : fresh_bytes_[static_cast<std::size_t>(before - recorded_.begin())];
    held.reserved.push_back(reserved_range(inputs, fresh, curve));
  }
  return held;
}

std::optional<MemoryNeed> MemoryModel::need(const HeldMemory& held) const {
  std::optional<MemoryNeed> most;
  if (!is_known()) return most;
  for (std::size_t i = 0; i < held.curves.size(); ++i) {
    const MemoryCurve& curve = held.curves[i];
    const MemoryNeed need{.rank = curve.rank,
                          .device = curve.device,
                          .live_bytes = curve.peak_bytes,
                          .reserved = held.reserved[i],
                          .is_least = is_least_,
                          .coverage = coverage_};
    if (!most || need.reserved_bytes() > most->reserved_bytes()) {
      most = need;
    }
  }
  return most;
}

MemoryTarget target_of(const Recording& recording, const MemoryNeed& before,
                       const Accelerator& accelerator) {
  MemoryTarget target = target_of(accelerator);
  const bool is_recorded_device = recording.modelled == nullptr && recording.accelerator &&
                                  recording.accelerator->name == accelerator.name;
  if (is_recorded_device) target.held_bytes = before.reserved_bytes();
  return target;
}

std::string text_of_misfit(const MemoryTarget& target, const MemoryNeed& need) {
  const auto gib = [](std::int64_t bytes) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 1073741824.0);
  };
  return fmt::format("does not fit: needs {}{}, has {} ({})", need.is_least ? "at least " : "",
                     gib(target.needed_bytes(need)), gib(target.capacity_bytes), target.name);
}

Result<MemoryTarget> parse_target(const Catalogue& catalogue, std::string_view text,
                                  const std::optional<Accelerator>& accelerator) {
  if (accelerator && accelerator->name == text) return target_of(*accelerator);
  const auto named = catalogue.accelerator(text);
  if (named.ok()) return target_of(**named);
  const Result<double> bytes = parse_quantity(text, ParamType::bytes);
  if (!bytes.ok() || !(*bytes >= 1 && *bytes <= 1e15)) {
    const std::vector<std::string> names = catalogue.accelerator_names();
    const std::vector<std::string_view> valid(names.begin(), names.end());
    return Error{
        ErrorCode::bad_usage,
        fmt::format("memory to fit: got {}{}, expected a size such as '24 GiB' or the name of an "
                    "accelerator; foretrace list accelerators names all",
                    in_quotes(text), did_you_mean(text, valid))};
  }
  return target_of_size(to_whole(*bytes), accelerator);
}

}  // namespace foretrace
