// Every threshold of the dependency rules, in one place, with its source.
#pragma once

#include <cstdint>

namespace foretrace::trace::rules {

// Measured on 25 recorded traces (V100, A100, H100, MI300X) unless stated otherwise. ns.

/// Entries that a CUDA stream's launch queue holds ahead of the executing one. Measured: blocked
/// calls sit at 1,022 outstanding entries on V100, A100 and H100; HIP shows no limit.
inline constexpr std::uint32_t cuda_queue_depth = 1021;
/// A long launch counts as blocked from this many outstanding entries on.
inline constexpr std::uint32_t queue_nearly_full = 1015;
/// A launch is long above max(5 x median of its API, 20 us).
inline constexpr std::int64_t long_launch_factor = 5;
inline constexpr std::int64_t long_launch_ns = 20'000;

/// Idle-stream launch latencies above this are event waits or other effects, not latency.
inline constexpr std::int64_t latency_cap_cuda_ns = 50'000;
inline constexpr std::int64_t latency_cap_hip_ns = 100'000;
/// Used where a trace has no idle launch at all.
inline constexpr std::int64_t latency_default_cuda_ns = 2'000;
inline constexpr std::int64_t latency_default_hip_ns = 15'000;
/// Back-to-back gaps above this are waits for other streams. Programmatic dependent launch on
/// Hopper starts up to 1.6 us before the end of its predecessor.
inline constexpr std::int64_t gap_cap_ns = 20'000;
inline constexpr std::int64_t gap_floor_ns = -5'000;
inline constexpr std::uint64_t enough_samples = 3;

/// A start later than predicted by more than this needs an explanation.
inline constexpr std::int64_t late_start_ns = 30'000;
/// An operation that ended this shortly before a late start is taken as its cause.
inline constexpr std::int64_t cause_before_ns = 25'000;
/// A source may end this much after the start of what waits for it (clock noise).
inline constexpr std::int64_t source_tolerance_ns = 1'500;

/// The shortest launches on agreeing clocks, from the begin of the call: the call takes 4 to 6 us,
/// and an idle stream begins 1.5 to 2.2 us after it (A100, V100, H100). Work of a clock that is
/// behind moves until its shortest launches take that; queues and slower calls explain longer ones.
inline constexpr std::int64_t shortest_launch_ns = 6'000;
/// A shift of a device's clock rests on this many launches...
inline constexpr std::size_t fewest_clock_launches = 50;
/// ...of which this many, and this share, begin before their calls and close to each other. Seen:
/// 1.7 % to 95 % (5 % is one launch of a step with one synchronization). Correlations that name
/// another call are single ones, each off by a time of its own.
inline constexpr std::size_t fewest_early_launches = 3;
inline constexpr double early_launch_share = 0.01;
/// Neighbours among launches of an idle device: all of them lie within 5 to 14 us on common clocks,
/// and within 28 us with the slowest calls.
inline constexpr std::int64_t launch_spread_ns = 20'000;
/// Clocks of one machine that are farther apart have another origin, or launches are wrong. Seen:
/// 20 to 300 us; reported: 20 ms (assumed bound).
inline constexpr std::int64_t largest_clock_lack_ns = 1'000'000'000;

/// Blocking calls that found nothing pending: their own cost, where the trace shows none.
inline constexpr std::int64_t sync_own_default_ns = 3'000;
/// Completion latency, where the trace shows none.
inline constexpr std::int64_t sync_post_default_ns = 5'000;
/// A target may end this much after the call returned: host and device clocks differ (HIP: 8 us).
inline constexpr std::int64_t sync_clock_skew_ns = 50'000;
/// The stream a thread used last is wrong if its work ended this much after the call.
inline constexpr std::int64_t sync_stream_tolerance_ns = 20'000;

/// CUDA stages pageable host-to-device copies up to this size and returns at once (CUDA runtime
/// API, "API synchronization behavior").
inline constexpr std::int64_t staged_copy_bytes = 64 << 10;
/// Larger ones start after the first piece is staged: 160-250 us measured for 2 to 28 MB.
inline constexpr std::int64_t staging_limit_ns = 500'000;
/// A copy call that lasts this long and returns with its copy was blocking.
inline constexpr std::int64_t blocking_copy_ns = 50'000;
inline constexpr std::int64_t blocking_copy_tolerance_ns = 5'000;
/// A "blocking" copy whose call returned this much before the copy ended was not.
inline constexpr std::int64_t blocking_copy_early_ns = 200'000;

/// Silence of a thread that may be a wait for another thread.
inline constexpr std::int64_t hand_over_gap_ns = 20'000;
/// A thread's first event follows another thread within this time.
inline constexpr std::int64_t first_event_hand_over_ns = 2'000'000;

/// Device work that starts this late with no cause: the device was busy before the window.
inline constexpr std::int64_t initial_backlog_ns = 1'000'000;
/// cudaEventElapsedTime after a gap this long hides an unrecorded cudaEventSynchronize.
inline constexpr std::int64_t hidden_sync_gap_ns = 300'000;
inline constexpr std::int64_t hidden_sync_before_ns = 1'500'000;
inline constexpr std::int64_t hidden_sync_after_ns = 60'000;
/// A silence that may be a wait for a kernel whose flag the host polls. Of 100 us and more there
/// are up to 350 in the recordings; of those that end with the kernel launched before them by
/// chance, none makes up three quarters of its kernel's, and single ones are shorter than 200 us.
inline constexpr std::int64_t polling_gap_ns = 100'000;
inline constexpr std::int64_t single_polling_gap_ns = 200'000;
/// Once a kernel is known to be polled for, shorter silences after it are waits too.
inline constexpr std::int64_t short_polling_gap_ns = 20'000;
/// The kernel still runs this long after the silence began.
inline constexpr std::int64_t polled_ns = 15'000;
/// The flag may be set this much before the kernel ends, and be seen this much after.
inline constexpr std::int64_t polling_before_ns = 5'000;
inline constexpr std::int64_t polling_after_ns = 30'000;

/// A kernel that starts this shortly before its long launch returns was submitted at its end.
inline constexpr std::int64_t submitted_at_end_ns = 20'000;

/// Share of the span above which a trace is flagged.
inline constexpr double flag_share = 0.05;

}  // namespace foretrace::trace::rules
