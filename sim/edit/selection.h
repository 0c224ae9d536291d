// The selection grammar: which tasks of a graph a text means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Predicates joined by `&`, each `key=value` (equal) or `key~expression` (an ECMAScript regular
/// expression without look-around and back references, found anywhere in it); `!` before the key or
/// the operator negates:
///
///   kind=kernel&name~gemm&phase=backward        resource=device&!step=0
///   layer~'^ResNet/layer[12]/'&name!~nccl       stream=7
///
/// Keys: kind, name, operator, layer, phase, resource (host, device), rank, device, stream, step
/// (the number as recorded). A value with `& ' ! = ~` or blanks at an end stands in '...', where ''
/// is one quote. A task without the property (a call has no stream) equals nothing.
class Selection {
 public:
  /// Errors name the position, what was expected there, and the nearest valid key or value.
  [[nodiscard]] static Result<Selection> parse(std::string_view text);

  /// The tasks that it means, in id order. Expressions run once per distinct text.
  [[nodiscard]] std::vector<TaskId> of(const TaskGraph& graph) const;

  enum class Key : std::uint8_t {
    kind,
    name,
    operator_name,
    layer,
    phase,
    resource,
    rank,
    device,
    stream,
    step
  };
  struct Predicate {
    Key key{};
    bool expression = false;  ///< value is a regular expression
    bool negated = false;
    std::string value;
  };
  [[nodiscard]] const std::vector<Predicate>& predicates() const { return predicates_; }

 private:
  std::vector<Predicate> predicates_;
};

/// The tasks that a text means; errors as Selection::parse().
[[nodiscard]] Result<std::vector<TaskId>> select(const TaskGraph& graph,
                                                 std::string_view selection);

}  // namespace foretrace
