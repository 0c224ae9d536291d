#include "trace/rules/assembly/late_starts.h"

#include <algorithm>
#include <numeric>

namespace foretrace::trace::rules {

LateStarts::LateStarts(const Assembly& of) : assembly(of), by_end(of.ops.size()) {
  std::iota(by_end.begin(), by_end.end(), 0U);
  std::sort(by_end.begin(), by_end.end(), [&](std::uint32_t x, std::uint32_t y) {
    return of.ops[x].end_ns != of.ops[y].end_ns ? of.ops[x].end_ns < of.ops[y].end_ns : x < y;
  });
}

}  // namespace foretrace::trace::rules
