#include "apps/session/throughput.h"

#include <algorithm>

#include "models/editing/batches/batch_resize.h"
#include "models/editing/kernels/kernel_editor.h"

namespace foretrace {
namespace {

/// A step of no time counts as the shortest one.
double least_one(std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(1, ns)); }

}  // namespace

double speedup_of(std::int64_t before_ns, std::int64_t after_ns, double samples) {
  return samples * least_one(before_ns) / least_one(after_ns);
}

double time_ratio_of(std::int64_t before_ns, std::int64_t after_ns) {
  return least_one(after_ns) / least_one(before_ns);
}

std::int64_t recorded_batch(const Recording& recording) {
  const foretrace::WhatIfInput scenario{recording.graph(),
                                        recording.accelerator ? &*recording.accelerator : nullptr,
                                        recording.catalogue()};
  const editing::KernelEditor editor(scenario);
  return editing::BatchResizer(editor, 0).batch();
}

std::optional<Throughput> throughput_of(std::int64_t batch, const Run& baseline,
                                        const ChangedRun& changed) {
  if (!changed.samples) return std::nullopt;
  const std::int64_t before = baseline.answer.step_ns;
  Throughput throughput;
  throughput.samples = *changed.samples;
  throughput.ratio = speedup_of(before, changed.run.answer.step_ns, throughput.samples);
  if (batch > 0) {
    throughput.now = static_cast<double>(batch) / (least_one(before) * 1e-9);
    throughput.predicted = *throughput.now * throughput.ratio;
  }
  return throughput;
}

}  // namespace foretrace
