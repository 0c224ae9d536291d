// Event record -> stream wait: the next operation of the waiting stream starts after the work that
// stood before the record. cuda_sync records say exactly which, or (PyTorch 2.11 with CUDA 13) only
// which stream waits; where they do not name the recording, each thread's last record is taken for
// every other stream, and sources that the trace contradicts are dropped.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"
#include "trace/rules/assembly/tails.h"

namespace foretrace::trace::rules::event_wait_parts {
namespace {

/// A wait that was called and not yet consumed by an operation.
struct Pending {
  std::uint32_t at = nothing;             ///< program position whose tails count
  std::uint32_t source_stream = nothing;  ///< nothing: every other stream
  std::uint32_t target_stream = nothing;  ///< nothing: the stream of the thread's next operation
};

/// With more streams than this a wait that does not say for which one is not tried on all of them.
constexpr std::size_t many_streams = 64;

class EventWaits {
 public:
  explicit EventWaits(Assembly& assembly)
      : assembly_(assembly),
        last_record_(assembly.threads.size(), nothing),
        by_thread_(assembly.threads.size()) {}

  void run() {
    if (assembly_.streams.size() > many_streams) {
      is_trial_ = true;
      pass();
      look();
      is_trial_ = false;
      // Waits behind which nothing came are looked at in neither pass.
      std::fill(last_record_.begin(), last_record_.end(), nothing);
      aimed_.clear();
      for (std::vector<Pending>& waits : by_thread_) waits.clear();
    }
    pass();
  }

 private:
  void pass() {
    for (const Item& item : assembly_.items) {
      if (item.kind != Item::Kind::call) continue;
      const HostCall& call = assembly_.calls[item.index];
      if (call.kind == CallKind::event_record) {
        last_record_[call.thread] = call.position;
      } else if (call.kind == CallKind::stream_wait) {
        add_wait(call);
      } else if (call.op_count > 0) {
        consume(call);
      }
    }
  }

  /// Which streams those waits may be for that do not say: of very many those that ended last.
  void look() {
    std::vector<std::size_t> order(looks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return looks_[a].at < looks_[b].at; });
    Tails tails(assembly_);
    for (const std::size_t i : order) {
      tails.advance_to(looks_[i].at);
      looks_[i].streams =
          tails.ended_by(assembly_.ops[looks_[i].op].start_ns + source_tolerance_ns, many_streams);
      std::sort(looks_[i].streams.begin(), looks_[i].streams.end());
    }
  }

  void add_wait(const HostCall& call) {
    const auto& waits = assembly_.syncs.stream_waits;
    const auto found = waits.find(assembly_.events.correlation[index(call.event)]);
    if (found != waits.end()) {
      const SyncRecord& record = *found->second;
      const std::uint32_t source = assembly_.stream_of(record.device, record.wait_on_stream);
      if (record.wait_on_stream >= 0) {
        if (source != nothing && !is_trial_) {  // else: no work of that stream was recorded
          const std::uint32_t recorded = assembly_.recording_of(record);
          const std::uint32_t at =
              recorded == nothing ? call.position : assembly_.calls[recorded].position;
          aimed_.push_back({at, source, assembly_.stream_of(record.device, record.stream)});
        }
        return;
      }
      const std::uint32_t target = assembly_.stream_of(record.device, record.stream);
      if (record.stream >= 0 && target != nothing) {
        aimed_.push_back({place_of_record(call), nothing, target});
        return;
      }
    }
    by_thread_[call.thread].push_back({place_of_record(call), nothing, nothing});
  }

  [[nodiscard]] std::uint32_t place_of_record(const HostCall& wait) const {
    return last_record_[wait.thread] == nothing || assembly_.events.info.is_hip
               ? wait.position
               : last_record_[wait.thread];
  }

  void consume(const HostCall& call) {
    for (std::uint32_t i = 0; i < call.op_count && !aimed_.empty(); ++i) {
      const std::uint32_t op = call.first_op + i;
      const std::uint32_t on = assembly_.ops[op].stream;
      std::erase_if(aimed_, [&](const Pending& wait) {
        if (wait.target_stream != on && wait.target_stream != nothing) return false;
        if (wait.source_stream == nothing) {
          follow_others(op, wait.at);
        } else {
          add_source(op, wait.source_stream, wait.at, EdgeOrigin::record);
        }
        return true;
      });
    }
    auto& waits = by_thread_[call.thread];
    for (const Pending& wait : waits) {
      follow_others(call.first_op, wait.at);
    }
    waits.clear();
  }

  /// The operation follows what stood on every other stream at this place.
  void follow_others(std::uint32_t op, std::uint32_t at) {
    if (is_trial_) {
      looks_.push_back({at, op, {}});
    } else if (assembly_.streams.size() > many_streams) {
      for (const std::uint32_t source : looks_[next_look_++].streams) {
        add_source(op, source, at, EdgeOrigin::heuristic);
      }
    } else {
      for (std::size_t source = 0; source < assembly_.streams.size(); ++source) {
        add_source(op, static_cast<std::uint32_t>(source), at, EdgeOrigin::heuristic);
      }
    }
  }

  void add_source(std::uint32_t op, std::uint32_t source, std::uint32_t at, EdgeOrigin origin) {
    if (source == assembly_.ops[op].stream ||
        assembly_.streams[source].device != assembly_.streams[assembly_.ops[op].stream].device) {
      return;
    }
    const std::uint32_t tail = assembly_.tail(source, at);
    if (tail == nothing) return;
    if (assembly_.ops[tail].end_ns > assembly_.ops[op].start_ns + source_tolerance_ns) {
      ++assembly_.honesty.contradicted_edges;
      return;
    }
    for (auto other = assembly_.sources.rbegin();
         other != assembly_.sources.rend() && other->op == op; ++other) {
      if (other->source_op == tail) return;
    }
    assembly_.sources.push_back({.op = op, .source_op = tail, .origin = origin, .at = at});
    ++assembly_.honesty.edges_by_origin[static_cast<std::size_t>(origin)];
  }

  Assembly& assembly_;
  std::vector<std::uint32_t> last_record_;
  std::vector<std::vector<Pending>> by_thread_;
  std::vector<Pending> aimed_;  // waits of which the waiting stream is known

  struct Look {
    std::uint32_t at = 0;
    std::uint32_t op = 0;
    std::vector<std::uint32_t> streams;
  };
  bool is_trial_ = false;  // only looks are taken down
  std::vector<Look> looks_;
  std::size_t next_look_ = 0;
};

void find_event_waits(Assembly& assembly) { EventWaits(assembly).run(); }

}  // namespace

extern constexpr Rule info = {
    .name = "event_wait",
    .doc = "work of a stream that waits for an event follows the work before the event's record",
    .apply = find_event_waits};

}  // namespace foretrace::trace::rules::event_wait_parts
