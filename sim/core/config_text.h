// Config values made and changed, and written as JSON again.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/core/config.h"
#include "sim/core/result.h"

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

/// A number, text or boolean that was changed, and the object that holds it.
struct ChangedField {
  ConfigValue* object = nullptr;
  ConfigValue* field = nullptr;
  std::string before;  ///< as it was written
};
/// Gives the field `key` of `document`, or else of the first of these parts of it (members that are
/// objects) that has one, what is written here: a number stays a number, a text a text. Errors
/// name the key, the nearest one and all there are.
[[nodiscard]] Result<ChangedField> change_field(ConfigValue& document,
                                                std::span<const std::string_view> parts,
                                                std::string_view key, std::string_view text);

}  // namespace foretrace
