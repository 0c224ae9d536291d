// Which forward operator made which autograd node: sequence numbers and fwdbwd flows.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/annotate/names.h"
#include "trace/annotate/nesting.h"

namespace foretrace::trace {

enum class AutogradSide : std::uint8_t { none, forward, backward };

struct AutogradLinks {
  /// Per event: forward if it is the operator that made an autograd node, backward if it runs one.
  std::vector<AutogradSide> side;
  /// Per event: for a backward operator the forward operator that made its node; none if unknown.
  std::vector<EventId> source;
};

/// An operator records the number that the next autograd node of its thread will get. So the last
/// operator of a thread before the number grows is the one that made the node, and a backward
/// operator with that number runs it. Flows do the same where numbers are absent.
[[nodiscard]] AutogradLinks link_autograd(const EventTable& events, const Nesting& nesting,
                                          NameMeanings& meanings);

}  // namespace foretrace::trace
