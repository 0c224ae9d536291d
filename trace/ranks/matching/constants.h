// Thresholds of matching and aligning ranks, in one place, with their source. ns.
//
// Measured on six recorded jobs (8 x A100, 8 x V100, 4 x V100, 2 x V100) and on 1,800 pairs cut at
// random from them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace foretrace::trace::ranks {

/// Pairs that a shift must rest on: with five, 5 of 1,800 random cuts were matched wrongly.
inline constexpr std::size_t fewest_pairs = 6;
/// Share of the shorter list that must overlap.
inline constexpr double fewest_overlap = 0.15;
/// Share of pairs that must look alike.
inline constexpr double alike_share = 0.9;
/// Differences of ends spread by 0.5-48 us at the right shift, by 2.3 ms or more at any other.
inline constexpr std::int64_t largest_spread_ns = 200'000;
/// The second-best shift spreads 130 times as much or more on whole files.
inline constexpr std::int64_t clearly_best_factor = 4;
/// A spread below this is as good as none: clocks and ends agree no better.
inline constexpr std::int64_t smallest_spread_ns = 5'000;
/// Ranks whose clocks show the same time: on one host they agree to 0.1 ms in the recordings (most
/// of it the device's own axis), hosts that synchronize theirs to some 0.1 ms. Clocks that have
/// nothing to do with each other are this close once in thousands of times.
inline constexpr std::int64_t same_time_ns = 1'000'000;
/// After alignment every member must have started before the first has ended, give or take this.
inline constexpr std::int64_t interval_slack_ns = 300'000;
/// Host clocks drift by up to this much against each other (crystals: some 20 ppm each).
inline constexpr double largest_drift = 100e-6;
/// Drift is taken out if it moves the ends by more than this times their spread.
inline constexpr double drift_significance = 3;
/// Shifts are tried on this many pairs before the best are looked at in full.
inline constexpr std::size_t sampled_pairs = 256;
inline constexpr std::size_t refined_shifts = 8;

/// Lists of sends and receives are shifted against each other by this many at most: windows of one
/// job begin within a few steps of each other.
inline constexpr std::size_t most_message_shifts = 1024;

/// Voting: differences within this window count as one offset, pairs may be this far from it.
inline constexpr std::int64_t voting_window_ns = 1'000'000;
inline constexpr std::int64_t voting_tolerance_ns = 5'000'000;
/// More differences than this are thinned out.
inline constexpr std::size_t most_votes = 1'000'000;

/// Launch latencies on a common axis are 5-14 us; a first percentile below this means that the
/// device's times lie before the host's.
inline constexpr std::int64_t smallest_latency_ns = 4'000;
/// What the first percentile becomes: the middle of what devices with agreeing axes show.
inline constexpr std::int64_t usual_latency_ns = 6'000;
/// Launches that the percentile must rest on.
inline constexpr std::size_t fewest_launches = 50;

/// Transfers of a matched collective that shares its device with others take this much longer than
/// its own median before it is called unexplained.
inline constexpr std::int64_t stall_ns = 1'000'000;
/// A stall is this many times as long as the same gap of the other ranks.
inline constexpr std::int64_t stall_factor = 3;

}  // namespace foretrace::trace::ranks
