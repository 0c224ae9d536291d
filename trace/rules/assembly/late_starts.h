// What rules that explain late starts look at: all operations, and which of them ended when.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/tail_looks.h"

namespace foretrace::trace::rules {

struct LateStarts {
  explicit LateStarts(const Assembly& of);

  const Assembly& assembly;
  std::vector<std::uint32_t> by_end;  ///< operations in the order of their ends

  /// Numbers of the streams of the device that this operation runs on, its own included.
  [[nodiscard]] const std::vector<std::uint32_t>& streams_beside(const DeviceOp& op) const {
    return of_device_.at(assembly.streams[op.stream].device);
  }
  /// Another stream of the same device, placed earlier in program order.
  [[nodiscard]] bool may_cause(const DeviceOp& other, const DeviceOp& op) const {
    return other.stream != op.stream && other.position < op.position &&
           assembly.streams[other.stream].device == assembly.streams[op.stream].device;
  }
  /// An operation that was launched later and began before: what `op` waits for, if `op` and its
  /// stream can take their place behind it in program order. Nothing in between may look at that
  /// stream, and collectives keep their order, in which other ranks meet them.
  [[nodiscard]] bool may_overtake(const DeviceOp& other, const DeviceOp& op) const;

 private:
  std::map<std::int32_t, std::vector<std::uint32_t>> of_device_;
  TailLooks looks_;
  std::vector<std::uint32_t> collectives_;  // positions, sorted
};

}  // namespace foretrace::trace::rules
