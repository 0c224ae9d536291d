// When an answer is doubtful, and why.
#include "apps/session/replay/doubt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "sim/result/device_steps.h"
#include "trace/annotate/flags.h"

namespace foretrace {
namespace {

/// A replay that misses the recorded step by more: whatever is asked of it is off as well.
constexpr double replay_share = 0.02;
/// More of the span without a reason (device and launches together).
constexpr double unexplained_share = 0.05;
/// A reaction farther than this from its reference...
constexpr double reaction_share = 0.10;
/// ...and by more than this of the span: latencies of waits are in no reference, and of a device
/// that is busy for 0.3 ms of 5 they are a large share.
constexpr double reaction_of_span = 0.02;
/// A device that is busy for more of the span...
constexpr double busy_share = 0.90;
/// ...must answer to kernel times: twice as long, they add at least this share of the busy time.
constexpr double least_response = 0.5;

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double value) { return fmt::format("{:.1f} %", 100 * value); }

/// Why device work starts late, as far as the trace tells.
std::string_view reason_of_late_work(const trace::Honesty& honesty) {
  if (trace::flags::any_has(honesty.flags, trace::flags::first_use)) {
    return "kernels are used for the first time";
  }
  if (trace::flags::any_has(honesty.flags, trace::flags::missing_records)) {
    return "waits between streams were not recorded";
  }
  return "no recorded reason: another program may share the GPU";
}

void add_unexplained(const trace::Honesty& honesty, std::int64_t ranks,
                     std::vector<Doubt>& doubts) {
  const std::int64_t device = honesty.unexplained_device_ns / ranks;
  const std::int64_t launch = honesty.unexplained_launch_ns / ranks;
  const double all = share(device + launch, honesty.span_ns);
  if (all <= unexplained_share) return;
  std::string parts[2];
  if (device > 0) {
    parts[0] = fmt::format("late kernels ({}; {})", percent(share(device, honesty.span_ns)),
                           reason_of_late_work(honesty));
  }
  if (launch > 0) {
    parts[1] = fmt::format("blocked launch calls ({}; preempted or locked)",
                           percent(share(launch, honesty.span_ns)));
  }
  if (launch > device) std::swap(parts[0], parts[1]);
  std::string text = fmt::format("{} of the span has no recorded cause: {}{}{}", percent(all),
                                 parts[0], parts[1].empty() ? "" : ", ", parts[1]);
  doubts.push_back({percent(all) + " of the span unexplained", std::move(text)});
}

/// From what the events say to the most that is no reason to doubt.
void add_reaction(std::string_view what, std::int64_t simulated,
                  const std::array<std::int64_t, 2>& expected, std::int64_t span_ns,
                  std::vector<Doubt>& doubts) {
  const std::int64_t nearest = std::clamp(simulated, expected[0], expected[1]);
  const std::int64_t off = simulated - nearest;
  if (expected[0] == 0 || std::abs(share(off, nearest)) <= reaction_share ||
      std::abs(share(off, span_ns)) <= reaction_of_span) {
    return;
  }
  // Said against the same figure as in the table of reactions.
  const std::string size =
      fmt::format("{:+.0f} %", 100 * share(simulated - expected[0], expected[0]));
  doubts.push_back(
      {fmt::format("{} is {} off",
                   what == "device" ? "the step with an infinitely fast GPU"
                                    : "the step with an infinitely fast CPU",
                   size),
       fmt::format("with an infinitely fast {} the step is {:.2f} ms simulated, {:.2f} ms from the "
                   "events ({})",
                   what == "device" ? "GPU" : "CPU", static_cast<double>(simulated) / 1e6,
                   static_cast<double>(expected[0]) / 1e6, size)});
}

void add_deafness(const trace::Honesty& honesty, const Reactions& reactions,
                  std::vector<Doubt>& doubts) {
  const double busy = share(honesty.device_busy_ns, honesty.span_ns);
  const std::int64_t longer = reactions.device_double_ns - honesty.span_ns;
  if (busy <= busy_share || share(longer, honesty.device_busy_ns) >= least_response) return;
  doubts.push_back({"kernel times do not change the step",
                    fmt::format("the GPU is busy for {} of the span, but kernels twice as long "
                                "lengthen the run by {} only",
                                percent(busy), percent(share(longer, honesty.span_ns)))});
}

void add_lost_kernels(const trace::Honesty& honesty, std::vector<Doubt>& doubts) {
  for (const std::string& flag : honesty.flags) {
    if (trace::flags::has_words(flag, trace::flags::kernels_lost)) {
      doubts.push_back({flag, flag + ": the GPU did more work than is simulated"});
    } else if (trace::flags::has_words(flag, trace::flags::all_kernels_lost)) {
      doubts.push_back({"no device work recorded",
                        flag + ": only the CPU is simulated (GPU records need permission for "
                               "counters and no second profiler, and hardly work under WSL)"});
    }
  }
}

/// A replay of the host alone is not a replay of the run.
void add_missing_work(const TaskGraph& graph, std::vector<Doubt>& doubts) {
  constexpr std::size_t most_by_chance = 10;  // a window may end right behind a few
  std::size_t launches = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (is_device(graph.kind(task))) return;
    // Without its work a launch is a call like any other.
    const bool launches_work = graph.kind(task) == TaskKind::launch ||
                               graph.name(task).find("LaunchKernel") != std::string_view::npos;
    launches += launches_work ? 1 : 0;
  }
  if (launches <= most_by_chance) return;
  doubts.push_back(
      {"no device work recorded",
       fmt::format("{} calls launch GPU work, none of which is recorded: only the CPU is simulated",
                   launches)});
}

}  // namespace

std::int64_t ranks_of(const TaskGraph& graph) {
  std::set<std::int32_t> ranks;
  for (const Lane& lane : graph.context().lanes) {
    if (lane.rank >= 0) {
      ranks.insert(lane.rank);
    }
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(ranks.size()));
}

Reactions reactions_of(const TaskGraph& graph) {
  const std::array<Weights, 4> variants = {scale_device(graph, 0.0), scale_device(graph, 0.5),
                                           scale_device(graph, 2.0), host_x0(graph)};
  const std::vector<std::int64_t> spans = simulate_batch_spans(graph.topology(), variants);
  return {spans[0], spans[1], spans[2], spans[3]};
}

std::vector<Doubt> doubts_of(const trace::BuiltGraph& built, const Timeline& timeline,
                             const Reactions& reactions) {
  const trace::Honesty& honesty = built.honesty;
  std::vector<Doubt> doubts;
  if (honesty.span_ns == 0) return doubts;
  add_missing_work(built.graph, doubts);
  add_lost_kernels(honesty, doubts);
  add_unexplained(honesty, ranks_of(built.graph), doubts);
  add_reaction("device", reactions.device_x0_ns, {honesty.host_only_ns, honesty.host_only_ns},
               honesty.span_ns, doubts);
  // The gaps of its streams are the device's own, whatever the host does.
  const std::int64_t with_gaps =
      std::max(honesty.device_busy_ns, device_occupied_ns(built.graph, timeline));
  add_reaction("host", reactions.host_x0_ns, {honesty.device_busy_ns, with_gaps}, honesty.span_ns,
               doubts);
  add_deafness(honesty, reactions, doubts);
  return doubts;
}

std::optional<Doubt> doubt_of_replay(std::int64_t simulated_ns, std::int64_t measured_ns) {
  const double error = share(simulated_ns - measured_ns, measured_ns);
  if (std::abs(error) <= replay_share) return std::nullopt;
  const std::string size = fmt::format("{:+.1f} %", 100 * error);
  return Doubt{"the replay is " + size + " off",
               fmt::format("the replay takes {:.2f} ms, the recorded run took {:.2f} ms ({})",
                           static_cast<double>(simulated_ns) / 1e6,
                           static_cast<double>(measured_ns) / 1e6, size)};
}

std::vector<Doubt> doubts_of(const trace::ImportReport& report) {
  if (!report.ends_early) {
    return {};
  }
  return {{"the trace is truncated",
           "the trace ends early: its last events and later steps are missing"}};
}

}  // namespace foretrace
