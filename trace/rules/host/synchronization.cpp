// Synchronizing calls: their recorded duration is mostly waiting. Each keeps its own cost and the
// completion latency; the wait follows from the work that is queued when the call is made.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/statistics.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"
#include "trace/rules/assembly/tails.h"

namespace foretrace::trace::rules::synchronization_parts {
namespace {

/// Of a device with more streams than this, a call that some of them contradict waits for those
/// that ended last: one call must not cost as much as all streams together.
constexpr std::size_t many_streams = 64;

class Synchronizations {
 public:
  explicit Synchronizations(Assembly& assembly)
      : assembly_(assembly),
        ended_inside_(assembly.calls.size(), nothing),
        pending_(assembly.calls.size(), -1),
        tails_(assembly) {}

  void run() {
    look_inside();
    find_targets();
    split_durations();
  }

 private:
  /// For calls that may not say what they wait for: the stream whose last operation, as of the call
  /// or of the event's record, ended inside the call.
  void look_inside() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> looks;  // position, call
    std::vector<std::uint32_t> last_record(assembly_.threads.size(), nothing);
    event_at_.assign(assembly_.calls.size(), nothing);
    for (const Item& item : assembly_.items) {
      if (item.kind != Item::Kind::call) continue;
      const HostCall& call = assembly_.calls[item.index];
      if (call.kind == CallKind::event_record) {
        last_record[call.thread] = call.position;
      } else if (call.kind == CallKind::stream_sync) {
        looks.emplace_back(call.position, item.index);
      } else if (call.kind == CallKind::event_sync) {
        const std::uint32_t record = last_record[call.thread];
        event_at_[item.index] = record == nothing ? call.position : record;
        looks.emplace_back(event_at_[item.index], item.index);
      }
    }
    std::sort(looks.begin(), looks.end());
    Tails tails(assembly_);
    for (const auto& [position, index] : looks) {
      const HostCall& call = assembly_.calls[index];
      tails.advance_to(position);
      ended_inside_[index] =
          tails.ended_within(call.start_ns, call.end_ns + sync_stream_tolerance_ns);
    }
  }

  /// Targets of every blocking call, in program order.
  void find_targets() {
    for (const Item& item : assembly_.items) {
      if (item.kind != Item::Kind::call) continue;
      switch (assembly_.calls[item.index].kind) {
        case CallKind::stream_sync: stream_target(item.index); break;
        case CallKind::device_sync:
        case CallKind::free: device_target(item.index); break;
        case CallKind::event_sync: event_target(item.index); break;
        default: break;
      }
    }
  }

  void stream_target(std::uint32_t call_index) {
    const HostCall& call = assembly_.calls[call_index];
    const SyncRecord* record = record_of(call);
    std::uint32_t stream =
        record != nullptr ? assembly_.stream_of(record->device, record->stream) : nothing;
    if (stream == nothing) {
      stream = call.used_stream;
      const std::uint32_t tail =
          stream == nothing ? nothing : assembly_.tail(stream, call.position);
      if (tail == nothing || assembly_.ops[tail].end_ns > call.end_ns + sync_stream_tolerance_ns) {
        const std::uint32_t other = ended_inside_[call_index];
        stream = other != nothing ? other : (contradicted(call, tail) ? nothing : stream);
      }
    }
    if (stream != nothing) {
      assembly_.targets.push_back({call_index, stream, call.position});
    }
  }

  void device_target(std::uint32_t call_index) {
    const HostCall& call = assembly_.calls[call_index];
    tails_.advance_to(call.position);
    std::vector<std::uint32_t> contradicted = tails_.ended_after(call.end_ns + sync_clock_skew_ns);
    const std::int32_t rank = rank_of(assembly_.threads[call.thread].track);
    // Streams of another process in the same recording are none of its own.
    std::erase_if(contradicted, [&](std::uint32_t stream) {
      return rank_of(assembly_.streams[stream].track) != rank;
    });
    assembly_.honesty.contradicted_edges += contradicted.size();
    if (contradicted.empty() && all_streams_are_of(rank)) {
      assembly_.targets.push_back({call_index, nothing, call.position});
      pending_[call_index] = std::max(call.start_ns, tails_.latest_end(call.start_ns));
      return;
    }
    for (const std::uint32_t stream : kept_streams(call, rank, contradicted)) {
      assembly_.targets.push_back({call_index, stream, call.position});
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> kept_streams(
      const HostCall& call, std::int32_t rank, std::vector<std::uint32_t>& contradicted) const {
    std::vector<std::uint32_t> kept;
    if (assembly_.streams.size() > many_streams) {
      kept = tails_.ended_by(call.end_ns + sync_clock_skew_ns, many_streams);
    } else {
      kept.resize(assembly_.streams.size());
      std::iota(kept.begin(), kept.end(), 0U);
    }
    std::sort(contradicted.begin(), contradicted.end());
    std::erase_if(kept, [&](std::uint32_t stream) {
      return rank_of(assembly_.streams[stream].track) != rank ||
             std::binary_search(contradicted.begin(), contradicted.end(), stream);
    });
    std::sort(kept.begin(), kept.end());
    return kept;
  }

  [[nodiscard]] bool all_streams_are_of(std::int32_t rank) {
    if (!rank_of_streams_) {
      const auto& streams = assembly_.streams;
      const std::int32_t first = streams.empty() ? rank : rank_of(streams.front().track);
      const bool is_one = std::all_of(streams.begin(), streams.end(), [&](const Stream& stream) {
        return rank_of(stream.track) == first;
      });
      rank_of_streams_ = is_one ? first : several_ranks;
    }
    return assembly_.streams.empty() || *rank_of_streams_ == rank;
  }

  [[nodiscard]] std::int32_t rank_of(TrackId track) const {
    return assembly_.events.tracks[index(track)].rank;
  }

  void event_target(std::uint32_t call_index) {
    const HostCall& call = assembly_.calls[call_index];
    if (call.hidden) {
      hidden_target(call_index);
      return;
    }
    const SyncRecord* record = record_of(call);
    if (record != nullptr && record->wait_on_stream >= 0) {
      const std::uint32_t stream = assembly_.stream_of(record->device, record->wait_on_stream);
      const std::uint32_t recorded = assembly_.recording_of(*record);
      if (stream != nothing && recorded != nothing) {
        assembly_.targets.push_back({call_index, stream, assembly_.calls[recorded].position});
        return;
      }
    }
    // Unknown record: the stream whose last work before the thread's last record ended inside the
    // call; a call that did not wait needs none.
    if (ended_inside_[call_index] != nothing) {
      assembly_.targets.push_back({call_index, ended_inside_[call_index], event_at_[call_index]});
    }
  }

  /// The latest operation enqueued before the silence that ended near its end.
  void hidden_target(std::uint32_t call_index) {
    const HostCall& call = assembly_.calls[call_index];
    if (call.waits_for != nothing) {
      const DeviceOp& op = assembly_.ops[call.waits_for];
      assembly_.targets.push_back({call_index, op.stream, op.position + 1});
      return;
    }
    if (!ends_) {
      ends_.emplace(assembly_);
    }
    const std::uint32_t best =
        ends_->last_within(std::max(call.start_ns + 1, call.end_ns - hidden_sync_before_ns),
                           call.end_ns + hidden_sync_after_ns, call.position);
    if (best != nothing) {
      assembly_.targets.push_back(
          {call_index, assembly_.ops[best].stream, assembly_.ops[best].position + 1});
    }
  }

  [[nodiscard]] bool contradicted(const HostCall& call, std::uint32_t tail) const {
    return tail != nothing && assembly_.ops[tail].end_ns > call.end_ns + sync_clock_skew_ns;
  }

  [[nodiscard]] const SyncRecord* record_of(const HostCall& call) const {
    const auto at = assembly_.syncs.by_call.find(assembly_.events.correlation[index(call.event)]);
    return at == assembly_.syncs.by_call.end() ? nullptr : at->second;
  }

  /// End of what a call waits for on one stream; its start if there is nothing.
  [[nodiscard]] std::int64_t target_end(const Target& target) const {
    const HostCall& call = assembly_.calls[target.call];
    const std::uint32_t tail = assembly_.tail(target.stream, target.at);
    return tail == nothing ? call.start_ns : std::max(call.start_ns, assembly_.ops[tail].end_ns);
  }

  /// Own cost and completion latency: recorded where the call shows them, medians otherwise.
  void split_durations() {
    for (const Target& target : assembly_.targets) {
      if (target.stream != nothing) {  // every stream: known since it was found
        pending_[target.call] = std::max(pending_[target.call], target_end(target));
      }
    }
    const std::size_t names = assembly_.events.names.size();
    std::vector<std::vector<std::int64_t>> own(names);
    std::vector<std::vector<std::int64_t>> post(names);
    for (std::size_t i = 0; i < assembly_.calls.size(); ++i) {
      const HostCall& call = assembly_.calls[i];
      if (!is_sync(call)) continue;
      if (pending_[i] > call.start_ns) {
        post[index(call.api)].push_back(call.end_ns - pending_[i]);
      } else {
        own[index(call.api)].push_back(call.end_ns - call.start_ns);
      }
    }
    fill_medians(own, post);
    for (std::size_t i = 0; i < assembly_.calls.size(); ++i) {
      HostCall& call = assembly_.calls[i];
      if (is_sync(call)) {
        split(call, pending_[i]);
      }
    }
  }

  [[nodiscard]] static bool is_sync(const HostCall& call) {
    return is_blocking(call.kind) && call.kind != CallKind::blocking_copy;
  }

  void fill_medians(std::vector<std::vector<std::int64_t>>& own,
                    std::vector<std::vector<std::int64_t>>& post) {
    assembly_.medians.own_ns.resize(own.size());
    assembly_.medians.post_ns.resize(post.size());
    for (std::size_t name = 0; name < own.size(); ++name) {
      assembly_.medians.own_ns[name] = upper_median(own[name], sync_own_default_ns);
      assembly_.medians.post_ns[name] = upper_median(post[name], sync_post_default_ns);
    }
  }

  void split(HostCall& call, std::int64_t pending_end) const {
    const std::int64_t recorded = call.end_ns - call.start_ns;
    const bool waited = pending_end > call.start_ns;
    if (call.kind == CallKind::free) {  // works after the wait
      call.own_ns = std::max<std::int64_t>(0, call.end_ns - std::max(call.start_ns, pending_end));
      call.post_ns = 0;
      return;
    }
    call.own_ns = waited ? std::min(recorded, assembly_.medians.own_ns[index(call.api)]) : recorded;
    call.post_ns = waited && !assembly_.options.constant_latency
                       ? call.end_ns - pending_end
                       : assembly_.medians.post_ns[index(call.api)];
  }

  Assembly& assembly_;
  std::vector<std::uint32_t> event_at_;      // per event_sync: the thread's last record, or itself
  std::vector<std::uint32_t> ended_inside_;  // per stream_sync and event_sync: see look_inside
  std::vector<std::int64_t> pending_;        // per call: latest end of what it waits for, or -1
  std::optional<Ends> ends_;                 // once a silence asks for them
  Tails tails_;
  static constexpr std::int32_t several_ranks = -2;
  std::optional<std::int32_t> rank_of_streams_;
};

void find_waits(Assembly& assembly) { Synchronizations(assembly).run(); }

}  // namespace

extern constexpr Rule info = {
    .name = "synchronization",
    .doc =
        "what each synchronizing call waits for; it keeps its own cost and the completion latency",
    .apply = find_waits};

}  // namespace foretrace::trace::rules::synchronization_parts
