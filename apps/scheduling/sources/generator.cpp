#include "apps/scheduling/sources/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/core/mersenne.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

SizePiece size_at(const std::vector<SizePiece>& sizes, double drawn) {
  double sum = 0;
  for (const SizePiece& piece : sizes) {
    sum += piece.share;
    if (drawn < sum) return piece;
  }
  return sizes.empty() ? SizePiece{} : sizes.back();
}

const DurationPiece& duration_at(const std::vector<DurationPiece>& pieces, double drawn) {
  double sum = 0;
  for (const DurationPiece& piece : pieces) {
    sum += piece.share;
    if (drawn < sum) return piece;
  }
  return pieces.back();
}

}  // namespace

Status add_drawn_jobs(const GeneratorOptions& options, const Throughput& throughput,
                      Workload& workload) {
  if (options.durations.empty() || options.types.empty()) {
    return Error{ErrorCode::bad_config, "generator: no durations or no types to draw from"};
  }
  const bool any_on_several = std::any_of(options.types.begin(), options.types.end(),
                                          [](const DrawnType& type) { return type.on_several; });
  Random jobs(options.job_seed);
  Random arrivals(options.arrival_seed);
  double arrival_s = 0;
  for (std::size_t i = 0; i < options.jobs; ++i) {
    Job job;
    job.name = fmt::format("{}", i);
    const SizePiece size = size_at(options.sizes, jobs.uniform());
    job.request.gpus = options.draws_sizes && (any_on_several || size.gpus == 0) ? size.gpus : 1;
    job.request.cpu_milli = size.cpu_milli;
    job.request.memory_mib = size.memory_mib;
    const DurationPiece& piece = duration_at(options.durations, jobs.uniform());
    const double duration_s =
        piece.unit_s * std::pow(10.0, jobs.uniform(piece.low_exponent, piece.high_exponent));
    const DrawnType* drawn = nullptr;
    while (drawn == nullptr || (job.request.gpus > 1 && !drawn->on_several)) {
      drawn = &options.types[jobs.below(options.types.size())];
    }
    job.type = drawn->type;
    const double rate =
        throughput.rate(job.type, {.kind = options.reference, .gpus = job.request.gpus});
    if (!(rate > 0)) {
      return Error{ErrorCode::missing_cost,
                   fmt::format("generator: {} has no rate on {} accelerators of the reference kind",
                               workload.types[job.type].name, job.request.gpus)};
    }
    job.phases = {duration_s * rate};
    job.arrival_ns = to_whole(arrival_s * 1e9);
    workload.jobs.push_back(std::move(job));
    if (options.mean_gap_s > 0) arrival_s += arrivals.exponential(options.mean_gap_s);
  }
  return ok_status();
}

}  // namespace foretrace::scheduling
