// Attributes of execution trace nodes: those with a column of their own, and the others as text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/formats/nodes/node_builder.h"

namespace foretrace::trace::formats {

/// The value of an attribute, whatever type a format gave it.
struct AttributeValue {
  enum class Kind : std::uint8_t { nothing, number, real, text, list };
  Kind kind = Kind::nothing;
  std::int64_t number = 0;
  double real = 0;
  std::string_view text;
  std::vector<std::uint64_t> list;  ///< bits of whole numbers
};

/// Puts an attribute where it belongs.
void apply_attribute(std::string_view name, const AttributeValue& value, RawNode& node,
                     NodeBuilder& builder);
/// Chakra's CollectiveCommType in words: "all_reduce"; "unknown" beyond it.
[[nodiscard]] std::string_view collective_name(std::int64_t type);
/// Chakra's NodeType; `known` is false beyond it.
[[nodiscard]] NodeKind node_kind(std::int64_t type, bool& known);
/// Whole microseconds as ns; -1 where it does not fit.
[[nodiscard]] std::int64_t nanoseconds_of(std::uint64_t microseconds);

}  // namespace foretrace::trace::formats
