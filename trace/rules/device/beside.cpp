// Copies that run beside each other: the lines of asynchronous transfers that some profilers write
// ("Async XLA Ops" of a TPU) are no queues. Each copy gets a lane in which nothing is in its way.
//
//   before:  stream 3: A B C     they overlap: in a queue B would begin after A
//   after:   stream 3: A, beside it B, beside it C
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::beside_parts {
namespace {

/// Only what no call of the host put into a stream: a stream of CUDA or HIP is a queue, whatever
/// the recorder says.
std::vector<std::vector<std::uint32_t>> copies_by_stream(const Assembly& assembly) {
  std::vector<bool> is_queue(assembly.streams.size(), false);
  for (const DeviceOp& op : assembly.ops) {
    is_queue[op.stream] = is_queue[op.stream] || op.call != nothing || op.kind != TaskKind::copy;
  }
  std::vector<std::vector<std::uint32_t>> copies(assembly.streams.size());
  for (std::size_t i = 0; i < assembly.ops.size(); ++i) {
    const std::uint32_t stream = assembly.ops[i].stream;
    if (!is_queue[stream]) {
      copies[stream].push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (auto& list : copies) {
    std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(assembly.ops[a].start_ns, a) < std::tuple(assembly.ops[b].start_ns, b);
    });
  }
  return copies;
}

bool overlap(const Assembly& assembly, const std::vector<std::uint32_t>& copies) {
  for (std::size_t i = 1; i < copies.size(); ++i) {
    const std::int64_t end = assembly.ops[copies[i - 1]].end_ns;
    if (assembly.ops[copies[i]].start_ns + assembly.slack_ns < end) return true;
  }
  return false;
}

template <typename T>
using Lowest = std::priority_queue<T, std::vector<T>, std::greater<>>;

/// Every copy takes the first lane that is free when it begins.
void spread(Assembly& assembly, std::uint32_t stream, const std::vector<std::uint32_t>& copies) {
  std::vector<std::uint32_t> lanes = {stream};
  Lowest<std::pair<std::int64_t, std::size_t>> busy;  // until when, lane
  Lowest<std::size_t> free;
  free.push(0);
  assembly.streams[stream].is_beside = true;
  for (const std::uint32_t copy : copies) {
    DeviceOp& op = assembly.ops[copy];
    for (; !busy.empty() && busy.top().first <= op.start_ns; busy.pop()) {
      free.push(busy.top().second);
    }
    if (free.empty()) {
      free.push(lanes.size());
      lanes.push_back(static_cast<std::uint32_t>(assembly.streams.size()));
      const Stream beside = assembly.streams[stream];
      assembly.streams.push_back(beside);
    }
    op.stream = lanes[free.top()];
    busy.emplace(op.end_ns, free.top());
    free.pop();
  }
}

void put_beside(Assembly& assembly) {
  const auto copies = copies_by_stream(assembly);
  for (std::size_t stream = 0; stream < copies.size(); ++stream) {
    if (overlap(assembly, copies[stream])) {
      spread(assembly, static_cast<std::uint32_t>(stream), copies[stream]);
    }
  }
}

}  // namespace

extern constexpr Rule info = {.name = "beside",
                              .doc =
                                  "copies of one line that overlap each other are in no queue: "
                                  "each runs in parallel from its request on",
                              .stage = Stage::collect,
                              .apply = put_beside};

}  // namespace foretrace::trace::rules::beside_parts
