// Config values made and changed, and written as JSON again.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/config.h"

namespace foretrace {

/// The value as JSON on one line, members in their order. Values with equal texts are equal.
[[nodiscard]] std::string json_text(const ConfigValue& value);
/// An object as a file: members on lines of their own, as are the elements of its lists.
[[nodiscard]] std::string config_file_text(const ConfigValue& object);

[[nodiscard]] ConfigValue text_value(std::string text);
/// A number as it is written.
[[nodiscard]] ConfigValue number_value(std::string text);
/// A member to change; null if there is none.
[[nodiscard]] ConfigValue* find_member(ConfigValue& object, std::string_view key);
/// In place of the member of this name, else behind the others.
void set_member(ConfigValue& object, const std::string& key, ConfigValue value);
void erase_member(ConfigValue& object, std::string_view key);
/// Members of objects are merged, everything else of `patch` but null replaces what is there.
void merge_members(ConfigValue& into, const ConfigValue& patch);

}  // namespace foretrace
