// Sets of memory that a profiler shows until the next operation begins take what they cost alone.
#include <algorithm>
#include <cstdint>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::long_memsets_parts {
namespace {

constexpr std::int64_t longest_ns = 100'000;

void shorten(Assembly& assembly) {
  for (DeviceOp& op : assembly.ops) {
    if (op.kind == TaskKind::set) op.end_ns = std::min(op.end_ns, op.start_ns + longest_ns);
  }
}

}  // namespace

extern constexpr Rule info = {.name = "long_memsets",
                              .doc = "sets of memory that last longer than any set does",
                              .stage = Stage::collect,
                              .apply = shorten};

}  // namespace foretrace::trace::rules::long_memsets_parts
