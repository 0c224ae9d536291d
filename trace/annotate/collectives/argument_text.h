// Small pieces of the JSON text of event arguments, taken apart without trusting them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace foretrace::trace {

/// Calls visit(key, value) for every member of an object; values are JSON text. What is not an
/// object, or breaks off, gives the members before the damage.
void visit_members(std::string_view object,
                   const std::function<void(std::string_view, std::string_view)>& visit);
/// Calls visit(value) for every element of an array; an array in quotes will do.
void visit_elements(std::string_view array, const std::function<void(std::string_view)>& visit);
/// Without quotes, if it has any; escapes stay as they are.
[[nodiscard]] std::string_view unquoted(std::string_view value);
/// A whole number, in quotes or not.
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view value);
/// The numbers of a list; nullopt if it is no list, is cut short or holds anything else.
[[nodiscard]] std::optional<std::vector<std::int32_t>> integers_of(std::string_view list);
/// Elements of a tensor ([2,3]: 6), or of a list of tensors ([[2,3],[4]]: 10); -1 if it is neither,
/// or has no extents at all.
[[nodiscard]] std::int64_t elements_of_dims(std::string_view dims);

}  // namespace foretrace::trace
