// Late starts: which operation of another stream made one wait, from recorded times alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/rules/assembly.h"

namespace foretrace::trace::rules {

/// Finds causes that no recorded event tells. Knows all operations; changes none.
class CauseFinder {
 public:
  explicit CauseFinder(const Assembly& assembly);

  /// The operation of another stream that made operation `op` wait since `ready_ns`: one that ended
  /// just before (inferred), else a kernel that filled the device (capacity).
  [[nodiscard]] std::optional<Source> find(std::uint32_t op, std::int64_t ready_ns) const;

 private:
  [[nodiscard]] std::optional<Source> find_ended(std::uint32_t i, std::int64_t ready) const;
  [[nodiscard]] std::optional<Source> find_filling(std::uint32_t i, std::int64_t ready) const;
  [[nodiscard]] std::optional<double> predicted_fraction(const DeviceOp& blocker,
                                                         const DeviceOp& waiter) const;
  [[nodiscard]] Work shape_of(const DeviceOp& op) const;
  [[nodiscard]] bool may_cause(const DeviceOp& other, const DeviceOp& op) const;

  const Assembly& a_;
  std::vector<std::uint32_t> by_end_;
};

}  // namespace foretrace::trace::rules
