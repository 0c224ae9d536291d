// Legacy default stream: work on it waits for every blocking stream and they wait for it. Streams
// created non-blocking (PyTorch's are) do not, so a stream takes part only if the trace shows it:
// it was never seen running beside the default stream and waited for it several times.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules {
namespace {

/// Waits that must be seen before a stream counts as blocking.
constexpr std::uint32_t enough_waits = 3;

bool is_default_stream(const Stream& stream) { return stream.number == 7 || stream.number == 0; }

struct Evidence {
  std::uint32_t waited = 0;
  std::uint32_t overlapped = 0;
};

/// Looks at every operation of `waiter` against the tail of `other` when it was launched.
Evidence look(const Assembly& assembly, const std::vector<bool>& explained, std::uint32_t waiter,
              std::uint32_t other) {
  Evidence evidence;
  for (const std::uint32_t i : assembly.streams[waiter].ops) {
    const DeviceOp& op = assembly.ops[i];
    if (op.call == nothing || explained[i]) {
      continue;
    }
    const std::uint32_t tail = assembly.tail(other, op.position);
    if (tail == nothing) {
      continue;
    }
    const HostCall& call = assembly.calls[op.call];
    const std::int64_t tail_end = assembly.ops[tail].end_ns;
    const std::int64_t ready =
        std::max(call.end_ns, op.previous == nothing ? 0 : assembly.ops[op.previous].end_ns);
    if (tail_end > op.start_ns + source_tolerance_ns + assembly.slack_ns) {
      ++evidence.overlapped;
    } else if (tail_end > ready + late_start_ns && op.start_ns - tail_end < gap_cap_ns) {
      ++evidence.waited;
    }
  }
  return evidence;
}

void connect(Assembly& assembly, std::uint32_t waiter, std::uint32_t other) {
  for (const std::uint32_t i : assembly.streams[waiter].ops) {
    const DeviceOp& op = assembly.ops[i];
    const std::uint32_t tail = op.call == nothing ? nothing : assembly.tail(other, op.position);
    if (tail == nothing) {
      continue;
    }
    assembly.sources.push_back({.op = i,
                                .source_op = tail,
                                .origin = EdgeOrigin::default_stream,
                                .at = assembly.calls[op.call].position});
    ++assembly.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::default_stream)];
  }
}

void join_default_stream(Assembly& assembly) {
  std::vector<bool> explained(assembly.ops.size(), false);  // an event already explains the start
  for (const Source& source : assembly.sources) {
    explained[source.op] = true;
  }
  for (std::size_t d = 0; d < assembly.streams.size(); ++d) {
    if (!is_default_stream(assembly.streams[d])) {
      continue;
    }
    for (std::size_t s = 0; s < assembly.streams.size(); ++s) {
      if (s == d || assembly.streams[s].device != assembly.streams[d].device) {
        continue;
      }
      const auto base = static_cast<std::uint32_t>(d);
      const auto side = static_cast<std::uint32_t>(s);
      const Evidence to = look(assembly, explained, side, base);
      const Evidence from = look(assembly, explained, base, side);
      if (to.overlapped + from.overlapped == 0 && to.waited + from.waited >= enough_waits) {
        connect(assembly, side, base);
        connect(assembly, base, side);
      }
    }
  }
}

}  // namespace

extern const Rule default_stream;
constinit const Rule default_stream{.name = "default_stream",
                                    .doc =
                                        "streams that take part in the legacy default stream's "
                                        "synchronization, where the recording shows it",
                                    .apply = join_default_stream};

}  // namespace foretrace::trace::rules
