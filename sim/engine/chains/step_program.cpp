#include "sim/engine/chains/step_program.h"

#include <algorithm>
#include <limits>

#include "sim/engine/release/release.h"
#include "sim/result/step_count.h"

namespace foretrace {
namespace {

using engine::add_ns;

constexpr std::int64_t after_all_ns = std::numeric_limits<std::int64_t>::max();

std::int64_t scaled_ns(double ns, double factor) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): times are not negative, and lround is a call
  return static_cast<std::int64_t>(ns * factor + 0.5);
}

std::int64_t counted_gap(std::int64_t gap_ns) {
  return std::clamp<std::int64_t>(gap_ns, 0, longest_stream_gap_ns);
}

}  // namespace

Factor factor_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::kernel:
    case TaskKind::set: return Factor::compute;
    case TaskKind::copy: return Factor::copies;
    case TaskKind::collective:
    case TaskKind::transfer: return Factor::communication;
    case TaskKind::host:
    case TaskKind::launch:
    case TaskKind::synchronization:
    case TaskKind::wait:
    case TaskKind::mark: break;
  }
  return Factor::host;
}

void ScaledTimes::add(std::size_t place, std::int64_t time_ns) {
  if (time_ns == 0) return;
  at.push_back(static_cast<std::uint32_t>(place));
  ns.push_back(static_cast<double>(time_ns));
}

void ScaledTimes::write(double factor, std::vector<std::int64_t>& column) const {
  for (std::size_t i = 0; i < at.size(); ++i) column[at[i]] = scaled_ns(ns[i], factor);
}

void StepProgram::run(const Factors& factors, State& state, StepTimes& steps) const {
  set(factors, state);
  simulate(state);
  steps.numbers.clear();
  steps.begin_ns.clear();
  steps.host_ns.clear();
  steps.device.assign(steps_.size(), {});
  steps.device_ns.clear();
  steps.reach_ns.clear();
  for (const StepMarks& step : steps_) {
    const std::int64_t begin_ns = time_of(state, step.begin);
    steps.numbers.push_back(step.number);
    steps.begin_ns.push_back(begin_ns);
    steps.host_ns.push_back(time_of(state, step.end) - begin_ns);
  }
  if (steps_.empty()) {
    steps.span_ns = span_of(state);
  } else if (is_one_stream_) {
    read_one_stream(state, steps);
  } else {
    read_streams(state, steps);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const DeviceStep& step = steps.device[i];
    if (i > 0) {
      const DeviceStep& before = steps.device[i - 1];
      const bool is_known = step.begin_ns >= 0 && before.begin_ns >= 0;
      steps.device_ns.push_back(
          is_known ? std::max<std::int64_t>(0, step.begin_ns - before.begin_ns) : -1);
    }
    steps.reach_ns.push_back(std::max(steps.host_ns[i], step.end_ns - steps.begin_ns[i]));
  }
}

void StepProgram::set(const Factors& factors, State& state) const {
  const bool is_new = state.program != number_;
  if (is_new) {
    state.program = number_;
    state.times.assign(2 * nodes_ + 2, 0);
    state.times.back() = engine::never_ns;
    state.duration_ns = duration_ns_;
    state.lag_ns = lags_;
    state.chain_ns.assign(2 * members_.size(), 0);
    state.gap_ns.clear();
    state.work_ns.assign(steps_.size(), 0);
    state.factors.fill(1);
  }
  bool changes = is_new;
  for (std::size_t kind = 0; kind < factor_count; ++kind) {
    if (!is_new && state.factors[kind] == factors[kind]) continue;
    durations_[kind].write(factors[kind], state.duration_ns);
    changes = true;
  }
  constexpr auto host = static_cast<std::size_t>(Factor::host);
  if (is_new || state.factors[host] != factors[host]) set_host(factors[host], state);
  state.factors = factors;
  if (!changes || !is_one_stream_) return;
  std::fill(state.work_ns.begin(), state.work_ns.end(), 0);
  const std::vector<Operation>& operations = streams_.front();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].step < 0) continue;
    state.work_ns[static_cast<std::size_t>(operations[i].step)] +=
        state.duration_ns[operations[i].node] + state.gap_ns[i];
  }
}

/// Everything that host time moves: segments, chains, and lags behind members of chains.
void StepProgram::set_host(double factor, State& state) const {
  std::int64_t reached_ns = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.is_first) reached_ns = 0;
    reached_ns = add_ns(reached_ns, scaled_ns(member.segment_ns, factor));
    state.chain_ns[2 * i] = reached_ns;
    reached_ns = add_ns(reached_ns, scaled_ns(member.duration_ns, factor));
    state.chain_ns[2 * i + 1] = reached_ns;
  }
  std::vector<std::int64_t>& lane = state.lag_ns[lane_slot];
  for (std::size_t i = 0; i < nodes_; ++i) lane[i] = scaled_ns(segment_ns_[i], factor);
  state.gap_ns.clear();
  for (const std::vector<Operation>& operations : streams_) {
    for (const Operation& one : operations) state.gap_ns.push_back(counted_gap(lane[one.node]));
  }
  if (is_one_stream_ && !state.gap_ns.empty()) state.gap_ns.front() = 0;  // nothing runs before it
  for (const ChainLag& one : chain_lags_[lane_slot]) {
    lane[one.node] = add_ns(lane[one.node], state.chain_ns[one.chain]);
  }
  for (const Slot slot : {cause_slot, extra_slot}) {
    for (const ChainLag& one : chain_lags_[slot]) {
      state.lag_ns[slot][one.node] = add_ns(one.lag_ns, state.chain_ns[one.chain]);
    }
  }
}

void StepProgram::simulate(State& state) const {
  std::int64_t* const times = state.times.data();
  const std::int64_t* const duration = state.duration_ns.data();
  const std::int64_t* const lane_lag = state.lag_ns[lane_slot].data();
  const std::int64_t* const cause_lag = state.lag_ns[cause_slot].data();
  const std::int64_t* const extra_lag = state.lag_ns[extra_slot].data();
  const std::uint32_t* const lane = sources_[lane_slot].data();
  const std::uint32_t* const cause = sources_[cause_slot].data();
  const std::uint32_t* const extra = sources_[extra_slot].data();
  for (const Stretch& stretch : stretches_) {
    if (stretch.kind == Stretch::Kind::overflow) {
      run_overflow(stretch.from, state);
      continue;
    }
    if (stretch.kind == Stretch::Kind::stream) {
      // What follows the node before it need not wait for that to be written.
      std::int64_t end = times[2 * std::size_t{stretch.from} - 1];
      for (std::size_t node = stretch.from; node < stretch.to; ++node) {
        const std::int64_t caused = add_ns(times[cause[node]], cause_lag[node]);
        const std::int64_t start =
            std::max(add_ns(end, lane_lag[node]), std::max(caused, std::int64_t{0}));
        end = add_ns(start, duration[node]);
        times[2 * node] = start;
        times[2 * node + 1] = end;
      }
      continue;
    }
    for (std::size_t node = stretch.from; node < stretch.to; ++node) {
      const std::int64_t after = add_ns(times[lane[node]], lane_lag[node]);
      const std::int64_t caused = add_ns(times[cause[node]], cause_lag[node]);
      const std::int64_t further = add_ns(times[extra[node]], extra_lag[node]);
      const std::int64_t start =
          std::max(std::max(after, caused), std::max(further, std::int64_t{0}));
      times[2 * node] = start;
      times[2 * node + 1] = add_ns(start, duration[node]);
    }
  }
}

void StepProgram::run_overflow(std::uint32_t node, State& state) const {
  std::int64_t start = 0;
  for (std::size_t slot = 0; slot < sources_.size(); ++slot) {
    start = std::max(start, add_ns(state.times[sources_[slot][node]], state.lag_ns[slot][node]));
  }
  const auto first = std::lower_bound(further_nodes_.begin(), further_nodes_.end(), node);
  for (auto at = first; at != further_nodes_.end() && *at == node; ++at) {
    const Further& one = further_[static_cast<std::size_t>(at - further_nodes_.begin())];
    const std::int64_t source = time_of(state, one.source);
    if (one.has_late_after && source <= time_of(state, one.late_after)) continue;
    const std::int64_t share =
        one.fraction == 0 ? 0 : engine::share_of(one.fraction, state.duration_ns[one.node]);
    start = std::max(start, add_ns(add_ns(source, one.lag_ns), share));
  }
  state.times[2 * std::size_t{node}] = start;
  state.times[2 * std::size_t{node} + 1] = add_ns(start, state.duration_ns[node]);
}

std::int64_t StepProgram::span_of(const State& state) const {
  std::int64_t span_ns = 0;
  for (std::size_t node = 0; node < nodes_; ++node) {
    span_ns = std::max(span_ns, state.times[2 * node + 1]);
  }
  for (const Time& end : chain_ends_) span_ns = std::max(span_ns, time_of(state, end));
  return span_ns;
}

/// Nothing of a step ends after its last operation, and nothing begins before its first one.
void StepProgram::read_one_stream(const State& state, StepTimes& steps) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    DeviceStep& step = steps.device[i];
    const StepOperations& own = step_operations_[i];
    if (own.count == 0) continue;
    const Operation& first = streams_.front()[own.first];
    const Operation& last = streams_.front()[own.last];
    step.begin_ns = state.times[2 * std::size_t{first.node}];
    step.end_ns = state.times[2 * std::size_t{last.node} + 1];
    step.work_ns = step.occupied_ns = state.work_ns[i];
    step.operations = own.count;
    step.first = first.task;
    step.last = last.task;
  }
}

/// The stream whose next operation begins first goes on, of equal ones that of the lower lane:
/// until another one has to.
void StepProgram::read_streams(const State& state, StepTimes& steps) const {
  std::array<std::size_t, most_streams> next{};
  std::array<std::int64_t, most_streams> at_ns{};
  std::array<const std::int64_t*, most_streams> gap_ns{};
  const std::int64_t* gaps = state.gap_ns.data();
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    at_ns[s] = streams_[s].empty() ? after_all_ns : begin_of(state, streams_[s].front());
    gap_ns[s] = gaps;
    gaps += streams_[s].size();
  }
  DeviceStep outside;  // what no step launched
  std::int64_t covered_to_ns = -1;
  std::array<std::int64_t, most_streams> stream_to_ns{};
  stream_to_ns.fill(-1);
  for (DeviceStep& step : steps.device) {
    for (std::size_t s = 0; s < streams_.size(); ++s)
      step.streams.emplace_back(make_id<LaneId>(s), 0);
  }
  while (!streams_.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(streams_.size());
    const auto first = static_cast<std::size_t>(
        std::min_element(at_ns.begin(), at_ns.begin() + count) - at_ns.begin());
    std::int64_t begin_ns = at_ns[first];
    if (begin_ns == after_all_ns) break;
    if (covered_to_ns < 0) covered_to_ns = begin_ns;
    std::int64_t until_ns = after_all_ns;  // it goes on with what begins before
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      if (s != first)
        until_ns = std::min(until_ns,
                            s < first ? at_ns[s] : at_ns[s] + (at_ns[s] != after_all_ns ? 1 : 0));
    }
    const std::vector<Operation>& operations = streams_[first];
    std::size_t at = next[first];
    do {
      const Operation& one = operations[at];
      DeviceStep& step = one.step < 0 ? outside : steps.device[static_cast<std::size_t>(one.step)];
      const std::int64_t end_ns = state.times[2 * std::size_t{one.node} + 1];
      const std::int64_t own =
          std::max<std::int64_t>(0, end_ns - std::max(begin_ns, covered_to_ns));
      const std::int64_t silence = std::max<std::int64_t>(0, begin_ns - covered_to_ns);
      step.work_ns += own + std::min(silence, gap_ns[first][at]);
      covered_to_ns = std::max(covered_to_ns, end_ns);
      const std::int64_t of_stream =
          uncovered_ns(begin_ns, end_ns, gap_ns[first][at], stream_to_ns[first]);
      if (one.step >= 0) step.streams[first].second += of_stream;
      extend_step(step, one.task, begin_ns, end_ns);
      ++step.operations;
      begin_ns = ++at < operations.size() ? begin_of(state, operations[at]) : after_all_ns;
    } while (begin_ns < until_ns);
    next[first] = at;
    at_ns[first] = begin_ns;
  }
  for (DeviceStep& step : steps.device) step.occupied_ns = step.work_ns;
}

}  // namespace foretrace
