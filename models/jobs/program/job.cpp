#include "models/jobs/program/job.h"

namespace foretrace {

std::string_view to_string(Recompute recompute) {
  switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::full: return "full";
    case Recompute::operators: return "operators";
  }
  return "none";
}

BatchShape batch_of(const Job& job, double sequences) {
  BatchShape batch;
  batch.sequences = sequences;
  batch.length = job.pass == Pass::decode ? 1 : job.length;
  batch.keys = job.pass == Pass::decode ? job.keys : job.length;
  batch.pass = job.pass;
  return batch;
}

KernelSet kernel_set(const Job& job) {
  KernelSet set = job.framework->kernels;
  // Numbers of other precisions come as their units take them.
  set.channels_first = set.channels_first && job.precisions.activations == Precision::tf32;
  return set;
}

}  // namespace foretrace
