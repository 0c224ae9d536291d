// Program order: calls of each thread in sequence, threads merged by time, device operations right
// after the call that enqueues them.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::program_order_parts {
namespace {

int rank_at_equal_time(CallKind kind) {
  switch (kind) {
    case CallKind::thread_first: return 0;
    case CallKind::hand_over_to: return 1;
    case CallKind::step_end: return 2;
    case CallKind::step_begin: return 3;
    case CallKind::hand_over_from: return 5;
    case CallKind::thread_last: return 6;
    default: return 4;
  }
}

/// Sorts the calls of a thread and makes them disjoint: a call that starts inside the previous one
/// ends it there (a nested call must not count twice); a mark inside a call moves to its end.
void order_thread(Assembly& assembly, HostThread& thread) {
  auto& calls = assembly.calls;
  std::sort(thread.calls.begin(), thread.calls.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(calls[i].start_ns, rank_at_equal_time(calls[i].kind), -calls[i].end_ns, i);
    };
    return key(a) < key(b);
  });
  std::int64_t latest = thread.calls.empty() ? 0 : calls[thread.calls.front()].start_ns;
  for (std::size_t i = 0; i < thread.calls.size(); ++i) {
    HostCall& call = calls[thread.calls[i]];
    if (is_mark(call.kind)) {
      call.start_ns = call.end_ns = std::max(call.start_ns, latest);
      continue;
    }
    for (std::size_t next = i + 1; next < thread.calls.size(); ++next) {
      const HostCall& inner = calls[thread.calls[next]];
      if (!is_mark(inner.kind)) {
        call.end_ns = std::max(call.start_ns, std::min(call.end_ns, inner.start_ns));
        break;
      }
    }
    latest = call.end_ns;
    // Until a rule takes waiting out of it, all the time of a call is its own.
    call.own_ns = call.end_ns - call.start_ns;
    if (call.kind == CallKind::blocking_copy) {
      call.post_ns = call.end_ns - assembly.ops[call.first_op].end_ns;
    }
  }
}

/// A thread begins when it was first seen, unless another one starts it.
void begin_thread(Assembly& assembly, const HostThread& thread) {
  HostCall& first = assembly.calls[thread.calls.front()];
  if (first.handed_by == nothing) {
    first.segment_ns = first.start_ns - assembly.origin_ns;
  }
}

struct Cursor {
  std::size_t call = 0;
  bool finish_pending = false;
};

std::int64_t next_time(const Assembly& assembly, const HostThread& thread, const Cursor& cursor) {
  const HostCall& call = assembly.calls[thread.calls[cursor.call]];
  return cursor.finish_pending ? call.end_ns : call.start_ns;
}

void place(Assembly& assembly, Item::Kind kind, std::uint32_t index) {
  const auto position = static_cast<std::uint32_t>(assembly.items.size());
  assembly.items.push_back({kind, index});
  if (kind == Item::Kind::op) {
    DeviceOp& op = assembly.ops[index];
    op.position = position;
    auto& ops = assembly.streams[op.stream].ops;
    op.previous = ops.empty() ? nothing : ops.back();
    ops.push_back(index);
  } else if (kind == Item::Kind::call) {
    assembly.calls[index].position = position;
  } else {
    assembly.calls[index].finish_position = position;
  }
}

/// Operations without a call: launched before the window, or their launch was not recorded.
struct Orphans {
  std::vector<std::uint32_t> first;  ///< older than every launched operation of their stream
  std::vector<std::pair<std::uint32_t, std::uint32_t>> before;  ///< (launched operation, orphan)
  std::vector<std::uint32_t> last;  ///< younger than every launched operation of their stream
};

Orphans find_orphans(const Assembly& assembly) {
  const auto& ops = assembly.ops;
  std::vector<std::vector<std::uint32_t>> launched(assembly.streams.size());
  std::size_t orphan = 0;
  for (; orphan < ops.size() && ops[orphan].call != nothing; ++orphan) {
    launched[ops[orphan].stream].push_back(static_cast<std::uint32_t>(orphan));
  }
  const auto by_start = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(ops[a].start_ns, a) < std::tuple(ops[b].start_ns, b);
  };
  for (auto& list : launched) {
    std::sort(list.begin(), list.end(), by_start);
  }
  Orphans found;
  for (; orphan < ops.size(); ++orphan) {
    const auto& list = launched[ops[orphan].stream];
    const auto at = std::partition_point(list.begin(), list.end(), [&](std::uint32_t op) {
      return ops[op].start_ns <= ops[orphan].start_ns;
    });
    const auto id = static_cast<std::uint32_t>(orphan);
    if (at == list.begin()) {
      found.first.push_back(id);
    } else if (at == list.end()) {
      found.last.push_back(id);
    } else {
      found.before.emplace_back(*at, id);
    }
  }
  std::sort(found.before.begin(), found.before.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : by_start(a.second, b.second);
  });
  return found;
}

/// Places the next piece of a thread: a call with its operations, or the finish of a blocking one.
void advance(Assembly& assembly, HostThread& thread, Cursor& cursor, const Orphans& orphans,
             std::vector<std::uint32_t>& used_stream) {
  const std::uint32_t index = thread.calls[cursor.call];
  HostCall& call = assembly.calls[index];
  if (cursor.finish_pending) {
    place(assembly, Item::Kind::finish, index);
    cursor.finish_pending = false;
    ++cursor.call;
    return;
  }
  place(assembly, Item::Kind::call, index);
  call.used_stream = used_stream[call.thread];
  for (std::uint32_t i = 0; i < call.op_count; ++i) {
    const std::uint32_t op = call.first_op + i;
    for (auto at = std::lower_bound(orphans.before.begin(), orphans.before.end(),
                                    std::pair(op, std::uint32_t{0}));
         at != orphans.before.end() && at->first == op; ++at) {
      place(assembly, Item::Kind::op, at->second);
    }
    place(assembly, Item::Kind::op, op);
  }
  if (call.op_count == 1) {
    used_stream[call.thread] = assembly.ops[call.first_op].stream;
  }
  if (is_blocking(call.kind)) {
    cursor.finish_pending = true;
  } else {
    ++cursor.call;
  }
}

void order_program(Assembly& assembly) {
  for (HostThread& thread : assembly.threads) {
    order_thread(assembly, thread);
    begin_thread(assembly, thread);
  }
  std::vector<Cursor> cursors(assembly.threads.size());
  std::vector<std::uint32_t> used_stream(assembly.threads.size(), nothing);
  const Orphans orphans = find_orphans(assembly);
  assembly.items.reserve(assembly.calls.size() * 2 + assembly.ops.size());
  for (const std::uint32_t op : orphans.first) {
    place(assembly, Item::Kind::op, op);
  }
  // The next piece of each thread that has one; of equal times the first thread's.
  using Next = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto queue = [&](std::size_t thread) {
    if (cursors[thread].call < assembly.threads[thread].calls.size()) {
      next.emplace(next_time(assembly, assembly.threads[thread], cursors[thread]), thread);
    }
  };
  for (std::size_t i = 0; i < assembly.threads.size(); ++i) {
    queue(i);
  }
  while (!next.empty()) {
    const std::size_t thread = next.top().second;
    next.pop();
    advance(assembly, assembly.threads[thread], cursors[thread], orphans, used_stream);
    queue(thread);
  }
  for (const std::uint32_t op : orphans.last) {
    place(assembly, Item::Kind::op, op);
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "program_order",
    .doc = "one order for all: calls by time, device work right after its call",
    .required = true,
    .apply = order_program};

}  // namespace foretrace::trace::rules::program_order_parts
