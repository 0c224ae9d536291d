// Synchronizing calls: their recorded duration is mostly waiting. Each keeps its own cost and the
// completion latency; the wait follows from the work that is queued when the call is made.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core/statistics.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules {
namespace {

/// The stream whose last operation (as of the call) ended inside the call, the latest of them.
std::uint32_t stream_that_ended_inside(const Assembly& assembly, const HostCall& call,
                                       std::uint32_t at) {
  std::uint32_t best = nothing;
  std::int64_t best_end = call.start_ns;
  for (std::size_t i = 0; i < assembly.streams.size(); ++i) {
    const std::uint32_t tail = assembly.tail(static_cast<std::uint32_t>(i), at);
    if (tail != nothing && assembly.ops[tail].end_ns > best_end &&
        assembly.ops[tail].end_ns <= call.end_ns + sync_stream_tolerance_ns) {
      best = static_cast<std::uint32_t>(i);
      best_end = assembly.ops[tail].end_ns;
    }
  }
  return best;
}

class Synchronizations {
 public:
  explicit Synchronizations(Assembly& assembly)
      : assembly_(assembly), last_record_(assembly.threads.size(), nothing) {}

  void run() {
    find_targets();
    split_durations();
  }

 private:
  /// Targets of every blocking call, in program order.
  void find_targets() {
    for (const Item& item : assembly_.items) {
      if (item.kind != Item::Kind::call) {
        continue;
      }
      const HostCall& call = assembly_.calls[item.index];
      if (call.kind == CallKind::event_record) {
        last_record_[call.thread] = item.index;
      }
      switch (call.kind) {
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
        const std::uint32_t other = stream_that_ended_inside(assembly_, call, call.position);
        stream = other != nothing ? other : (contradicted(call, tail) ? nothing : stream);
      }
    }
    if (stream != nothing) {
      assembly_.targets.push_back({call_index, stream, call.position});
    }
  }

  void device_target(std::uint32_t call_index) {
    const HostCall& call = assembly_.calls[call_index];
    const std::int32_t rank = rank_of(assembly_.threads[call.thread].track);
    bool all = true;
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < assembly_.streams.size(); ++i) {
      const auto stream = static_cast<std::uint32_t>(i);
      if (rank_of(assembly_.streams[i].track) != rank) {
        all = false;  // of another process in the same recording
        continue;
      }
      const std::uint32_t tail = assembly_.tail(stream, call.position);
      if (contradicted(call, tail)) {
        ++assembly_.honesty.contradicted_edges;
        all = false;
      } else {
        kept.push_back(stream);
      }
    }
    if (all) {
      assembly_.targets.push_back({call_index, nothing, call.position});
      return;
    }
    for (const std::uint32_t stream : kept) {
      assembly_.targets.push_back({call_index, stream, call.position});
    }
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
    const std::uint32_t at = last_record_[call.thread] == nothing
                                 ? call.position
                                 : assembly_.calls[last_record_[call.thread]].position;
    const std::uint32_t stream = stream_that_ended_inside(assembly_, call, at);
    if (stream != nothing) {
      assembly_.targets.push_back({call_index, stream, at});
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
    std::uint32_t best = nothing;
    for (const Stream& stream : assembly_.streams) {
      for (const std::uint32_t i : stream.ops) {
        const DeviceOp& op = assembly_.ops[i];
        const bool near = op.end_ns >= call.end_ns - hidden_sync_before_ns &&
                          op.end_ns <= call.end_ns + hidden_sync_after_ns;
        if (near && op.position < call.position && op.end_ns > call.start_ns &&
            (best == nothing || op.end_ns > assembly_.ops[best].end_ns)) {
          best = i;
        }
      }
    }
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

  /// Latest end of what a call waits for; its start if there is nothing.
  [[nodiscard]] std::int64_t target_end(const Target& target) const {
    const HostCall& call = assembly_.calls[target.call];
    std::int64_t latest = call.start_ns;
    for (std::size_t i = 0; i < assembly_.streams.size(); ++i) {
      if (target.stream != nothing && target.stream != i) {
        continue;
      }
      const std::uint32_t tail = assembly_.tail(static_cast<std::uint32_t>(i), target.at);
      if (tail != nothing) {
        latest = std::max(latest, assembly_.ops[tail].end_ns);
      }
    }
    return latest;
  }

  /// Own cost and completion latency: recorded where the call shows them, medians otherwise.
  void split_durations() {
    std::vector<std::int64_t> pending(assembly_.calls.size(), -1);
    for (const Target& target : assembly_.targets) {
      pending[target.call] = std::max(pending[target.call], target_end(target));
    }
    const std::size_t names = assembly_.events.names.size();
    std::vector<std::vector<std::int64_t>> own(names);
    std::vector<std::vector<std::int64_t>> post(names);
    for (std::size_t i = 0; i < assembly_.calls.size(); ++i) {
      const HostCall& call = assembly_.calls[i];
      if (!is_sync(call)) {
        continue;
      }
      if (pending[i] > call.start_ns) {
        post[index(call.api)].push_back(call.end_ns - pending[i]);
      } else {
        own[index(call.api)].push_back(call.end_ns - call.start_ns);
      }
    }
    fill_medians(own, post);
    for (std::size_t i = 0; i < assembly_.calls.size(); ++i) {
      HostCall& call = assembly_.calls[i];
      if (is_sync(call)) {
        split(call, pending[i]);
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
  std::vector<std::uint32_t> last_record_;  // per thread: its last call that recorded an event
};

void find_waits(Assembly& assembly) { Synchronizations(assembly).run(); }

}  // namespace

extern const Rule synchronization;
constinit const Rule synchronization{
    .name = "synchronization",
    .doc =
        "what each synchronizing call waits for; it keeps its own cost and the completion latency",
    .apply = find_waits};

}  // namespace foretrace::trace::rules
