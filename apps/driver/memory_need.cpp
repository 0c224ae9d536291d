#include "apps/driver/memory_need.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/driver/memory_fits.h"
#include "models/catalogue/accelerator.h"
#include "sim/core/params.h"

namespace foretrace::driver {

std::int64_t MemoryNeed::reserved_bytes() const {
  return std::max(live_bytes, std::min(reserved.fresh_bytes, reserved.expected_bytes));
}

MemoryModel::MemoryModel(const Recording& recording, const Timeline& timeline)
    : recording_(recording) {
  if (recording.graph().context().tensors.empty()) {
    return;
  }
  recorded_ = track_memory(recording.graph(), timeline);
  for (const MemoryCurve& curve : recorded_) {
    fresh_bytes_.push_back(fresh_reserved_bytes({recording.built, recording.graph()}, curve));
  }
}

std::optional<MemoryNeed> MemoryModel::need(const TaskGraph& graph,
                                            const Timeline& timeline) const {
  std::optional<MemoryNeed> most;
  if (recorded_.empty()) {
    return most;
  }
  for (const MemoryCurve& curve : track_memory(graph, timeline)) {
    const auto before =
        std::find_if(recorded_.begin(), recorded_.end(), [&](const MemoryCurve& candidate) {
          return candidate.rank == curve.rank && candidate.device == curve.device;
        });
    const MemoryInputs inputs{recording_.built, graph};
    MemoryNeed need{.rank = curve.rank, .device = curve.device, .live_bytes = curve.peak_bytes};
    need.reserved =
        before == recorded_.end()
            ? reserved_range(inputs, fresh_reserved_bytes(inputs, curve), curve)
            : reserved_range(inputs,
                             fresh_bytes_[static_cast<std::size_t>(before - recorded_.begin())],
                             curve);
    if (!most || need.reserved_bytes() > most->reserved_bytes()) {
      most = need;
    }
  }
  return most;
}

MemoryTarget target_of(const Accelerator& accelerator) {
  const ContextBytes context = context_bytes_of(accelerator.name);
  return {accelerator.name, accelerator.memory_bytes, context.low, context.high};
}

Result<MemoryTarget> parse_target(std::string_view text,
                                  const std::optional<Accelerator>& accelerator) {
  const std::vector<std::string> names = accelerator_names();
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    const Result<Accelerator> named = find_accelerator(std::string(text));
    if (!named.ok()) {
      return named.error();
    }
    return target_of(*named);
  }
  const Result<double> bytes = parse_quantity(text, ParamType::bytes);
  if (!bytes.ok() || !(*bytes >= 1 && *bytes <= 1e15)) {
    const std::vector<std::string_view> valid(names.begin(), names.end());
    return Error{ErrorCode::bad_usage,
                 fmt::format("--fit: got {}{}, expected a size such as '24 GiB' or the name of an "
                             "accelerator; foretrace list accelerators names all",
                             in_quotes(text), did_you_mean(text, valid))};
  }
  const ContextBytes context = context_bytes_of(accelerator ? accelerator->name : std::string());
  return MemoryTarget{"", std::llround(*bytes), context.low, context.high};
}

}  // namespace foretrace::driver
