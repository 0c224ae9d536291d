#include "apps/driver/throughput.h"

#include <algorithm>

#include "apps/driver/predict.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/schedule/batch_resize.h"

namespace foretrace::driver {

std::int64_t recorded_batch(const Recording& recording) {
  const foretrace::Scenario scenario{recording.graph(),
                                     recording.accelerator ? &*recording.accelerator : nullptr,
                                     recording.catalogue()};
  const editing::KernelEditor editor(scenario);
  return editing::BatchResizer(editor, 0).batch();
}

std::optional<Throughput> throughput_of(const Recording& recording, const Run& baseline,
                                        const Prediction& prediction) {
  if (!prediction.samples) {
    return std::nullopt;
  }
  const auto seconds = [](const Run& run) {
    return static_cast<double>(std::max<std::int64_t>(1, run.answer.step_ns)) * 1e-9;
  };
  Throughput throughput;
  throughput.samples = *prediction.samples;
  throughput.ratio = throughput.samples * seconds(baseline) / seconds(prediction.run);
  const std::int64_t batch = recording.job == nullptr ? recorded_batch(recording) : 0;
  if (batch > 0) {
    throughput.now = static_cast<double>(batch) / seconds(baseline);
    throughput.predicted = *throughput.now * throughput.ratio;
  }
  return throughput;
}

}  // namespace foretrace::driver
