// Jobs drawn from distributions, the same for a seed on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Durations 10^U(low, high) seconds, with this probability.
struct DurationPiece {
  double share = 1;
  double low_exponent = 0;
  double high_exponent = 0;
  double unit_s = 1;
};
/// So many accelerators, cores and memory, with this probability.
struct SizePiece {
  double share = 1;
  std::int32_t gpus = 1;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
};
/// What a job may run; all are equally likely.
struct DrawnType {
  TypeId type{};
  bool on_several = true;  ///< it also runs on more than one accelerator
};

struct GeneratorOptions {
  std::size_t jobs = 0;
  std::uint64_t job_seed = 0;      ///< of durations, sizes and types
  std::uint64_t arrival_seed = 1;  ///< of times between arrivals
  double mean_gap_s = 0;           ///< exponentially distributed; 0: all arrive at once
  std::vector<DurationPiece> durations;
  std::vector<SizePiece> sizes;
  bool draws_sizes = true;  ///< false: sizes are drawn, for the sake of the sequence, and not used
  std::vector<DrawnType> types;
  KindId reference{};  ///< durations are those on this kind
};

/// A job is drawn as size, duration, type (again while it does not run on so many), the sequence of
/// Gavel's generator. Its steps are its duration times its rate on the reference kind.
/// Errors: nothing to draw from, or a type without a rate.
[[nodiscard]] Status add_drawn_jobs(const GeneratorOptions& options, const Throughput& throughput,
                                    Workload& workload);

}  // namespace foretrace::scheduling
