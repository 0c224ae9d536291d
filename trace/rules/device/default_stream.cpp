// Legacy default stream: work on it waits for every blocking stream and they wait for it. Streams
// created non-blocking (PyTorch's are) do not, so a stream takes part only if the trace shows it:
// it was never seen running beside the default stream and waited for it several times.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/range_min.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::default_stream_parts {
namespace {

/// Waits that must be seen before a stream counts as blocking.
constexpr std::uint32_t enough_waits = 3;

bool is_default_stream(const Stream& stream) { return stream.number == 7 || stream.number == 0; }

/// Beside more streams than this an operation waits only for what is new since the one before it,
/// which follows from the order of its stream: edges must not grow with operations times streams.
constexpr std::size_t many_streams = 64;

/// Operations behind one tail that are looked at where waits are counted.
constexpr int most_looks = 64;

/// The operations of a default stream, as far as a stream beside it is judged by them.
class BaseOps {
 public:
  BaseOps(const Assembly& assembly, const std::vector<bool>& explained, std::uint32_t stream)
      : assembly_(assembly),
        list_(assembly.streams[stream].ops),
        start_(list_.size()),
        ready_(list_.size()) {
    for (std::size_t k = 0; k < list_.size(); ++k) {
      const DeviceOp& op = assembly.ops[list_[k]];
      const bool counts = op.call != nothing && !explained[list_[k]];
      start_.set(k, counts ? op.start_ns : RangeMin::none);
      ready_.set(k, counts ? ready_of(assembly, op) : RangeMin::none);
    }
    start_.finish();
    ready_.finish();
  }

  static std::int64_t ready_of(const Assembly& assembly, const DeviceOp& op) {
    return std::max(assembly.calls[op.call].end_ns,
                    op.previous == nothing ? 0 : assembly.ops[op.previous].end_ns);
  }

  /// True if one of them ran while the tail of `other`, as of its launch, was still running.
  [[nodiscard]] bool overlap(std::uint32_t other) const {
    const auto& tails = assembly_.streams[other].ops;
    for (std::size_t j = 0; j < tails.size(); ++j) {
      const auto [first, last] = behind(tails, j);
      const std::int64_t end = assembly_.ops[tails[j]].end_ns;
      if (start_.first_below(first, last, end - source_tolerance_ns - assembly_.slack_ns) < last) {
        return true;
      }
    }
    return false;
  }

  /// How many of them waited for the tail of `other`, where none overlaps it; `enough` at most.
  [[nodiscard]] std::uint32_t waits(std::uint32_t other, std::uint32_t enough) const {
    const auto& tails = assembly_.streams[other].ops;
    std::uint32_t waited = 0;
    for (std::size_t j = 0; j < tails.size() && waited < enough; ++j) {
      const auto [first, last] = behind(tails, j);
      const std::int64_t end = assembly_.ops[tails[j]].end_ns;
      std::size_t k = ready_.first_below(first, last, end - late_start_ns);
      for (int looks = 0; k < last && looks < most_looks && waited < enough; ++looks) {
        waited += assembly_.ops[list_[k]].start_ns - end < gap_cap_ns ? 1 : 0;
        k = ready_.first_below(k + 1, last, end - late_start_ns);
      }
    }
    return waited;
  }

 private:
  /// Indices of those launched after the j-th of `tails` and before the next one.
  [[nodiscard]] std::pair<std::size_t, std::size_t> behind(const std::vector<std::uint32_t>& tails,
                                                           std::size_t j) const {
    const auto index_of = [&](std::uint32_t tail) {
      const auto at = std::partition_point(list_.begin(), list_.end(), [&](std::uint32_t op) {
        return assembly_.ops[op].position < assembly_.ops[tail].position;
      });
      return static_cast<std::size_t>(at - list_.begin());
    };
    return {index_of(tails[j]), j + 1 < tails.size() ? index_of(tails[j + 1]) : list_.size()};
  }

  const Assembly& assembly_;
  const std::vector<std::uint32_t>& list_;
  RangeMin start_;
  RangeMin ready_;
};

struct Evidence {
  std::uint32_t waited = 0;
  bool overlapped = false;
};

/// Looks at every operation of `waiter` against the tail of the default stream when it was
/// launched.
Evidence look(const Assembly& assembly, const std::vector<bool>& explained, std::uint32_t waiter,
              std::uint32_t base) {
  Evidence evidence;
  for (const std::uint32_t i : assembly.streams[waiter].ops) {
    const DeviceOp& op = assembly.ops[i];
    if (op.call == nothing || explained[i]) continue;
    const std::uint32_t tail = assembly.tail(base, op.position);
    if (tail == nothing) continue;
    const std::int64_t tail_end = assembly.ops[tail].end_ns;
    if (tail_end > op.start_ns + source_tolerance_ns + assembly.slack_ns) {
      evidence.overlapped = true;
    } else if (tail_end > BaseOps::ready_of(assembly, op) + late_start_ns &&
               op.start_ns - tail_end < gap_cap_ns) {
      ++evidence.waited;
    }
  }
  return evidence;
}

bool takes_part(const Assembly& assembly, const std::vector<bool>& explained, const BaseOps& base,
                std::uint32_t side, std::uint32_t default_stream) {
  const Evidence to = look(assembly, explained, side, default_stream);
  return !to.overlapped && !base.overlap(side) &&
         to.waited + base.waits(side, enough_waits) >= enough_waits;
}

void add_source(Assembly& assembly, std::uint32_t op, std::uint32_t tail) {
  assembly.sources.push_back({.op = op,
                              .source_op = tail,
                              .origin = EdgeOrigin::default_stream,
                              .at = assembly.calls[assembly.ops[op].call].position});
  ++assembly.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::default_stream)];
}

void connect(Assembly& assembly, std::uint32_t waiter, std::uint32_t other) {
  for (const std::uint32_t i : assembly.streams[waiter].ops) {
    const DeviceOp& op = assembly.ops[i];
    const std::uint32_t tail = op.call == nothing ? nothing : assembly.tail(other, op.position);
    if (tail != nothing) {
      add_source(assembly, i, tail);
    }
  }
}

/// Each tail of `other` for the first operation of `waiter` that was launched behind it.
void connect_once(Assembly& assembly, std::uint32_t waiter, std::uint32_t other) {
  const auto& list = assembly.streams[waiter].ops;
  auto from = list.begin();
  for (const std::uint32_t tail : assembly.streams[other].ops) {
    from = std::partition_point(from, list.end(), [&](std::uint32_t op) {
      return assembly.ops[op].position < assembly.ops[tail].position;
    });
    from = std::find_if(from, list.end(),
                        [&](std::uint32_t op) { return assembly.ops[op].call != nothing; });
    if (from != list.end() && assembly.tail(other, assembly.ops[*from].position) == tail) {
      add_source(assembly, *from, tail);
    }
  }
}

void join(Assembly& assembly, const std::vector<std::uint32_t>& sides, std::uint32_t base) {
  const auto& link = sides.size() > many_streams ? connect_once : connect;
  for (const std::uint32_t side : sides) {
    link(assembly, side, base);
    link(assembly, base, side);
  }
}

void join_default_stream(Assembly& assembly) {
  std::vector<bool> explained(assembly.ops.size(), false);  // an event already explains the start
  for (const Source& source : assembly.sources) {
    explained[source.op] = true;
  }
  std::map<std::int32_t, std::vector<std::uint32_t>> of_device;
  for (std::size_t s = 0; s < assembly.streams.size(); ++s) {
    of_device[assembly.streams[s].device].push_back(static_cast<std::uint32_t>(s));
  }
  for (std::size_t d = 0; d < assembly.streams.size(); ++d) {
    if (!is_default_stream(assembly.streams[d])) continue;
    const auto base = static_cast<std::uint32_t>(d);
    const BaseOps base_ops(assembly, explained, base);
    std::vector<std::uint32_t> sides;
    for (const std::uint32_t side : of_device[assembly.streams[d].device]) {
      if (side != base && takes_part(assembly, explained, base_ops, side, base)) {
        sides.push_back(side);
      }
    }
    join(assembly, sides, base);
  }
}

}  // namespace

extern constexpr Rule info = {.name = "default_stream",
                              .doc =
                                  "streams that take part in the legacy default stream's "
                                  "synchronization, where the recording shows it",
                              .apply = join_default_stream};

}  // namespace foretrace::trace::rules::default_stream_parts
