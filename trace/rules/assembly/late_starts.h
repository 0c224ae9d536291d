// What rules that explain late starts look at: all operations, and which of them ended when.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

struct LateStarts {
  explicit LateStarts(const Assembly& of);

  const Assembly& assembly;
  std::vector<std::uint32_t> by_end;  ///< operations in the order of their ends

  /// Another stream of the same device, placed earlier in program order.
  [[nodiscard]] bool may_cause(const DeviceOp& other, const DeviceOp& op) const {
    return other.stream != op.stream && other.position < op.position &&
           assembly.streams[other.stream].device == assembly.streams[op.stream].device;
  }
};

}  // namespace foretrace::trace::rules
