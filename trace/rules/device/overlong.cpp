// Kernels that were recorded to end after later ones of their stream. A stream runs one after the
// other, so their ends are wrong (a fault of recorders, of ROCm's mostly): they end where the next
// one begins.
//
//   before:  A [0 .. 2500]  B [100 .. 200]  C [200 .. 300]
//   after:   A [0 .. 100]   B [100 .. 200]  C [200 .. 300]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::overlong_parts {
namespace {

/// Nodes of a device graph may run side by side under the number of one stream.
bool is_in_order(const Assembly& assembly, const DeviceOp& op) {
  return op.call != nothing && assembly.calls[op.call].kind != CallKind::graph_launch;
}

std::vector<std::vector<std::uint32_t>> ops_by_stream(const Assembly& assembly) {
  std::vector<std::vector<std::uint32_t>> lists(assembly.streams.size());
  for (std::size_t i = 0; i < assembly.ops.size(); ++i) {
    if (is_in_order(assembly, assembly.ops[i])) {
      lists[assembly.ops[i].stream].push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (auto& list : lists) {
    std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(assembly.ops[a].start_ns, a) < std::tuple(assembly.ops[b].start_ns, b);
    });
  }
  return lists;
}

void cut_overlong(Assembly& assembly) {
  const std::int64_t tolerance = std::max(assembly.slack_ns, -gap_floor_ns);
  std::size_t cut = 0;
  for (const std::vector<std::uint32_t>& list : ops_by_stream(assembly)) {
    std::int64_t earliest_end = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = list.size(); i-- > 0;) {
      DeviceOp& op = assembly.ops[list[i]];
      if (op.end_ns > earliest_end && op.end_ns - earliest_end > tolerance) {
        op.end_ns = assembly.ops[list[i + 1]].start_ns;
        ++cut;
      }
      earliest_end = std::min(earliest_end, op.end_ns);
    }
  }
  if (cut > 0) {
    assembly.honesty.flags.push_back(fmt::format(
        "{} kernel{} recorded to overlap later ones of their stream", cut, cut == 1 ? "" : "s"));
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "overlong",
    .doc =
        "kernels recorded to end after later ones of their stream end where "
        "the next one begins",
    .stage = Stage::collect,
    .apply = cut_overlong};

}  // namespace foretrace::trace::rules::overlong_parts
