#include "apps/session/range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "apps/session/recording/modelled.h"
#include "apps/session/recording/without_events.h"
#include "apps/session/replay/analysis.h"
#include "apps/session/replay/lighter_host.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Shares of time, as natural logarithms of factors. Set so that nine of ten of the pairs of
// recordings that `validate` lists lie inside; each value was also set without the pair, or the two
// pairs of one recording, that it is reported on, which moves none of them by more than a third.
// The profiler's is not: it comes from tables of its own.
constexpr RangeConstant host_same = {
    "host, same machine", 0.06, "pairs S1, S3: Python and framework time of one program, twice"};
constexpr RangeConstant host_other = {
    "host, another machine", 0.12,
    "pairs T-bert, T-vit: hosts of two vendors' machines differ by 6 and 10 %"};
constexpr RangeConstant communication = {
    "communication", 0.10, "pairs R1, R1b, R2: transfers of equal size from run to run"};
constexpr RangeConstant change_slower = {
    "size of the change, slower side", 0.18,
    "pairs K1, K2, R1, S2: large gains are smaller in measurements than in predictions"};
constexpr RangeConstant change_faster = {"size of the change, faster side", 0.09,
                                         "half of the slower side: pairs S1, T-bert"};
constexpr RangeConstant scatter_weight = {
    "scatter of recorded steps / root of their number", 1.85,
    "standard error of a median of normal values, from their median deviation: 1.253 x 1.483"};
constexpr RangeConstant like_device = {
    "a device like the recorded one", 0.15,
    "assumed: boards of one chip differ in clock and memory by about this"};
constexpr RangeConstant rest = {"rest", 0.015, "worst replay of a recording with usual latencies"};
constexpr RangeConstant profiler = {
    "profiler, us of the host per event, faster side", likely_event_ns * 1e-3,
    "90 % quantile of what four programs lost to it (examples/traces/h200 and h100_host)"};
constexpr RangeConstant doubt = {"factor where the answer is doubtful", 2.0, "assumed"};

/// A faster host is simulated where the host holds more than this share of the critical path: it
/// takes no more than that away.
constexpr double host_limits_share = 0.1;
/// Less of a step is not worth a word.
constexpr double least_profiler_part = 0.001;

/// Shares of the critical path of the predicted step.
struct PathShare {
  double host = 0;
  double communication = 0;
};

PathShare share_of(const TaskGraph& graph, const Run& run) {
  const PathShares shares = step_path(graph, run).shares;
  const std::int64_t communicates =
      shares.network_ns + shares.kind_ns[static_cast<std::size_t>(TaskKind::collective)];
  const std::int64_t all = shares.host_ns + shares.device_ns + shares.network_ns + shares.gap_ns +
                           shares.latency_ns + shares.unexplained_ns;
  const double whole = static_cast<double>(std::max<std::int64_t>(1, all));
  return {static_cast<double>(shares.host_ns + shares.latency_ns) / whole,
          static_cast<double>(communicates) / whole};
}

/// Steps that the median is of: pieces of steps are not.
double steps_of(const StepTimes& measured) {
  const std::vector<bool> whole = whole_steps(measured);
  return static_cast<double>(
      std::max<std::ptrdiff_t>(1, std::count(whole.begin(), whole.end(), true)));
}

double log_ratio(std::int64_t a, std::int64_t b) {
  return a <= 0 || b <= 0 ? 0 : std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

bool is_another_machine(const Recording& recording, const Prediction& prediction) {
  return prediction.accelerator &&
         (!recording.accelerator || recording.accelerator->name != prediction.accelerator->name);
}

/// How much shorter the predicted step may be, beside the recorded one, because the host's times
/// hold the profiler's work: what it adds to both leaves what they are to each other. Nothing is
/// known of it where the times are another recorder's, nothing is left where it was taken out.
Result<double> profiler_part(const Recording& recording, const Replay& baseline,
                             const RunOptions& options, const Prediction& prediction) {
  if (recording.unprofiled) return 0.0;
  FORETRACE_TRY(const LighterHost& lighter,
                baseline.lighter_host.get([&] { return lighter_host(recording, options); }));
  if (lighter.events_per_step == 0) return 0.0;
  FORETRACE_TRY(const Run run, simulate_run(without_events(prediction.graph, prediction.origin,
                                                           recording.graph(), lighter.graph),
                                            options));
  const std::int64_t before = baseline.run.answer.step_ns;
  const std::int64_t step = prediction.run.answer.step_ns;
  return std::max(0.0, log_ratio(step, std::min(step, run.answer.step_ns)) -
                           log_ratio(before, std::min(before, lighter.step_ns)));
}

std::int64_t times(std::int64_t value, double log_factor) {
  return to_whole(static_cast<double>(value) * std::exp(log_factor));
}

}  // namespace

std::array<RangeConstant, 10> range_constants() {
  return {host_same,      host_other,  communication, change_slower, change_faster,
          scatter_weight, like_device, rest,          doubt,         profiler};
}

Status set_range(const Recording& recording, const Replay& baseline, const RunOptions& options,
                 Prediction& prediction) {
  const std::int64_t step = prediction.run.answer.step_ns;
  const PathShare shares = share_of(prediction.graph, prediction.run);
  const bool moves = is_another_machine(recording, prediction);
  RangeSide side;
  if (moves) side.host = shares.host * host_other.value;
  // The range of a modelled step holds what differs from run to run.
  if (recording.modelled == nullptr) {
    if (!moves) side.host = shares.host * host_same.value;
    side.communication = shares.communication * communication.value;
    side.scatter = baseline.scatter * scatter_weight.value / std::sqrt(steps_of(baseline.measured));
    side.rest = rest.value;
  }
  side.device = recording.accelerator_note.empty() ? 0 : like_device.value;
  const std::vector<Doubt> doubts = prediction.doubts();
  const bool is_doubtful =
      !baseline.doubts.empty() ||
      std::any_of(doubts.begin(), doubts.end(), [](const Doubt& one) { return !one.is_bounded; });
  side.doubt = is_doubtful ? doubt.value : 1;
  // The share of the time that is gone, or that has come: from 0 to 1 however large the factor.
  const double size = 1 - std::exp(-log_ratio(step, baseline.run.answer.step_ns));
  prediction.faster = prediction.slower = side;
  prediction.faster.recipe = log_ratio(step, prediction.declared_low_ns);
  prediction.faster.change = size * change_faster.value;
  if (shares.host > host_limits_share) {
    FORETRACE_TRY(const double part, profiler_part(recording, baseline, options, prediction));
    if (part >= least_profiler_part) {
      prediction.faster.profiler = part;
      prediction.profiler_event_ns = likely_event_ns;
    }
  }
  if (recording.modelled != nullptr) {
    const RangedStep& range = recording.modelled->range;
    prediction.faster.model = log_ratio(range.step_ns, range.low_ns);
    prediction.slower.model = log_ratio(range.high_ns, range.step_ns);
  }
  prediction.slower.recipe = log_ratio(prediction.declared_high_ns, step);
  prediction.slower.change = size * change_slower.value;
  place_ends(prediction);
  return ok_status();
}

void place_ends(Prediction& prediction) {
  const std::int64_t step = prediction.run.answer.step_ns;
  prediction.low_ns = std::min(step, times(step, -prediction.faster.total()));
  prediction.high_ns = std::max(step, times(step, prediction.slower.total()));
}

}  // namespace foretrace
