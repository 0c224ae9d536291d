// Operators as calls: who called whom, and what each launches on a device itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/annotate/annotate.h"
#include "trace/annotate/nesting.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// Device work that an operator launches itself, not through another operator.
struct OwnWork {
  std::int32_t device = -1;
  bool computes = false;   ///< kernels, sets, copies on the device
  bool uploads = false;    ///< copies from the host
  bool downloads = false;  ///< copies to the host
  std::size_t kernels = 0;
};

class OperatorCalls {
 public:
  static constexpr int deepest = 256;  ///< calls within calls that are looked at

  OperatorCalls(const EventTable& events, const Annotation& annotation);

  [[nodiscard]] const Nesting& nesting() const { return nesting_; }
  [[nodiscard]] bool any_work() const { return !works_.empty(); }
  /// Null for operators that launch nothing themselves.
  [[nodiscard]] const OwnWork* work_of(EventId event) const;

  /// The operator that called this one; none for an outermost one.
  [[nodiscard]] EventId caller_of(EventId event) const;
  /// The operator itself or the innermost one around it that is so.
  template <typename Is>
  [[nodiscard]] EventId nearest(EventId event, const Is& is) const {
    for (int depth = 0; event != none<EventId> && !is(event); event = caller_of(event)) {
      if (++depth > deepest) return none<EventId>;
    }
    return event;
  }
  [[nodiscard]] bool contains(EventId outer, EventId inner) const;
  /// Operators, and the ranges that clear gradients, in the order in which they return: inner ones
  /// before what contains them.
  [[nodiscard]] std::vector<EventId> in_order_of_return() const;

 private:
  void collect_work();

  const EventTable& events_;
  const Annotation& annotation_;
  Nesting nesting_;
  std::vector<std::uint32_t> work_of_;  // per event: index of works_
  std::vector<OwnWork> works_;
};

/// Optimizer.zero_grad ranges.
[[nodiscard]] bool clears_gradients(const EventTable& events, EventId event);

}  // namespace foretrace::trace
