#include "sim/core/config_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/params.h"
#include "sim/core/utf8.h"

namespace foretrace {
namespace {

// Configs are at most 64 levels deep: the parser sees to it.
void append_value(const ConfigValue& value, std::string& out) {
  switch (value.kind) {
    case ConfigValue::Kind::null: out += "null"; return;
    case ConfigValue::Kind::boolean:
    case ConfigValue::Kind::number: out += value.text; return;
    case ConfigValue::Kind::text: out += json_string(value.text); return;
    case ConfigValue::Kind::list:
    case ConfigValue::Kind::object: break;
  }
  const bool is_list = value.kind == ConfigValue::Kind::list;
  out += is_list ? '[' : '{';
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += ',';
    if (!is_list) {
      out += json_string(value.keys[i]);
      out += ':';
    }
    append_value(value.items[i], out);
  }
  out += is_list ? ']' : '}';
}

bool is_field(std::string_view key, const ConfigValue& value) {
  using Kind = ConfigValue::Kind;
  return key != "schema" &&
         (value.kind == Kind::number || value.kind == Kind::text || value.kind == Kind::boolean);
}

}  // namespace

std::string json_text(const ConfigValue& value) {
  std::string out;
  append_value(value, out);
  return out;
}

std::string config_file_text(const ConfigValue& object) {
  std::string text = "{";
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    const ConfigValue& value = object.items[i];
    text += fmt::format("{}\n  {}: ", i == 0 ? "" : ",", json_string(object.keys[i]));
    if (value.kind != ConfigValue::Kind::list) {
      text += json_text(value);
      continue;
    }
    for (std::size_t j = 0; j < value.items.size(); ++j) {
      text += fmt::format("{}\n    {}", j == 0 ? "[" : ",", json_text(value.items[j]));
    }
    text += value.items.empty() ? "[]" : "]";
  }
  return text + "\n}\n";
}

ConfigValue text_value(std::string text) {
  return {.kind = ConfigValue::Kind::text, .text = std::move(text), .keys = {}, .items = {}};
}

ConfigValue number_value(std::string text) {
  return {.kind = ConfigValue::Kind::number, .text = std::move(text), .keys = {}, .items = {}};
}

ConfigValue* find_member(ConfigValue& object, std::string_view key) {
  const auto found = std::find(object.keys.begin(), object.keys.end(), key);
  return found == object.keys.end()
             ? nullptr
             : &object.items[static_cast<std::size_t>(found - object.keys.begin())];
}

void set_member(ConfigValue& object, const std::string& key, ConfigValue value) {
  if (ConfigValue* const member = find_member(object, key)) {
    *member = std::move(value);
    return;
  }
  object.keys.push_back(key);
  object.items.push_back(std::move(value));
}

void erase_member(ConfigValue& object, std::string_view key) {
  const auto found = std::find(object.keys.begin(), object.keys.end(), key);
  if (found == object.keys.end()) return;
  object.items.erase(object.items.begin() + (found - object.keys.begin()));
  object.keys.erase(found);
}

void merge_members(ConfigValue& into, const ConfigValue& patch) {
  using Kind = ConfigValue::Kind;
  if (patch.kind == Kind::null) return;
  if (into.kind != Kind::object || patch.kind != Kind::object) {
    into = patch;
    return;
  }
  for (std::size_t i = 0; i < patch.keys.size(); ++i) {
    if (ConfigValue* const there = find_member(into, patch.keys[i])) {
      merge_members(*there, patch.items[i]);
    } else {
      into.keys.push_back(patch.keys[i]);
      into.items.push_back(patch.items[i]);
    }
  }
}

Result<ChangedField> change_field(ConfigValue& document, std::span<const std::string_view> parts,
                                  std::string_view key, std::string_view text) {
  std::vector<ConfigValue*> objects = {&document};
  for (const std::string_view part : parts) {
    ConfigValue* const object = find_member(document, part);
    if (object != nullptr && object->kind == ConfigValue::Kind::object) objects.push_back(object);
  }
  std::vector<std::string_view> known;
  for (ConfigValue* const object : objects) {
    for (std::size_t i = 0; i < object->items.size(); ++i) {
      ConfigValue& field = object->items[i];
      if (!is_field(object->keys[i], field)) continue;
      if (object->keys[i] == key) {
        if (field.kind == ConfigValue::Kind::boolean && text != "true" && text != "false") {
          return Error{ErrorCode::bad_usage,
                       fmt::format("{}: got '{}', expected true or false", key, text)};
        }
        return ChangedField{object, &field, std::exchange(field.text, std::string(text))};
      }
      known.emplace_back(object->keys[i]);
    }
  }
  return Error{ErrorCode::bad_usage, fmt::format("unknown field '{}'{}, expected one of {}", key,
                                                 did_you_mean(key, known), fmt::join(known, ", "))};
}

}  // namespace foretrace
