// JSON documents that are changed at some places: the points of a sweep.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

/// json_text() for people: texts without quotes, null as "none".
[[nodiscard]] std::string shown_text(const ConfigValue& value);

/// The names that a JSON pointer (RFC 6901) goes through: "/apply/0" gives "apply", "0".
[[nodiscard]] Result<std::vector<std::string>> pointer_parts(std::string_view pointer);

/// Puts a value where the pointer leads. The way there must exist; its end may be a new member, or
/// the place behind the last item of a list. Null takes a member away. Errors name the nearest
/// member.
[[nodiscard]] Status set_at(ConfigValue& document, std::span<const std::string> parts,
                            const ConfigValue& value);

}  // namespace foretrace::sweeping
