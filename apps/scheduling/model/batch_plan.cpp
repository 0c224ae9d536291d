#include "apps/scheduling/model/batch_plan.h"

#include <algorithm>
#include <cmath>

namespace foretrace::scheduling {
namespace {

double epochs_of(const BatchPlan& plan, double steps, std::int64_t batch) {
  return std::ceil(steps / static_cast<double>(plan.steps_per_epoch(batch)));
}

}  // namespace

std::int64_t BatchPlan::steps_per_epoch(std::int64_t batch) const {
  return (samples_per_epoch + batch - 1) / batch;
}

std::int64_t BatchPlan::wanted_in(std::int64_t epoch) const {
  const std::int64_t at = period > 0 ? epoch % period : epoch;
  std::int64_t batch = wanted.front().batch;
  for (const WantedBatch& one : wanted) {
    if (one.from_epoch <= at) batch = one.batch;
  }
  return batch;
}

std::optional<TypeId> BatchPlan::type_of(std::int64_t batch) const {
  const auto found = std::find_if(types.begin(), types.end(),
                                  [batch](const auto& entry) { return entry.first == batch; });
  if (found == types.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> BatchPlan::next(std::int64_t batch, double steps) const {
  if (wanted.empty() || samples_per_epoch <= 0 || batch <= 0) return std::nullopt;
  const auto epoch = static_cast<std::int64_t>(epochs_of(*this, steps, batch));
  std::int64_t to = wanted_in(epoch);
  if (grows) {
    const bool larger = std::max(to, wanted_in(epoch + 1)) > batch;
    to = larger ? 2 * batch : batch;
  }
  if (to == batch || !type_of(to)) return std::nullopt;
  return to;
}

Progress rescaled(const BatchPlan& plan, const Progress& progress, std::int64_t from,
                  std::int64_t to) {
  const auto per_epoch = static_cast<double>(plan.steps_per_epoch(to));
  const double epochs = epochs_of(plan, progress.total, from);
  Progress scaled;
  scaled.total = std::ceil(progress.total * static_cast<double>(from) / static_cast<double>(to));
  if (epochs_of(plan, scaled.total, to) != epochs) scaled.total = per_epoch * epochs;
  scaled.done = epochs_of(plan, progress.done, from) * per_epoch;
  return scaled;
}

}  // namespace foretrace::scheduling
