// Reads the keys of a config object by name and type.
#include "sim/core/config.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/utf8.h"

namespace foretrace {
namespace {

std::string_view kind_name(ConfigValue::Kind kind) {
  switch (kind) {
    case ConfigValue::Kind::null: return "null";
    case ConfigValue::Kind::boolean: return "a boolean";
    case ConfigValue::Kind::number: return "a number";
    case ConfigValue::Kind::text: return "a text";
    case ConfigValue::Kind::list: return "a list";
    case ConfigValue::Kind::object: return "an object";
  }
  return "something else";
}

}  // namespace

const ConfigValue* ConfigValue::find(std::string_view key) const {
  const auto at = std::find(keys.begin(), keys.end(), key);
  if (at == keys.end()) return nullptr;
  const auto position = static_cast<std::size_t>(at - keys.begin());
  return position < items.size() ? &items[position] : nullptr;
}

std::string ConfigValue::described() const {
  if (kind == Kind::number || kind == Kind::boolean) {
    return fmt::format("got the {} {}", kind_name(kind).substr(2), text);
  }
  if (kind == Kind::text) return fmt::format("got {}", in_quotes(text));
  return fmt::format("got {}", kind_name(kind));
}

ConfigFields::ConfigFields(const ConfigValue& object, std::string file, std::string pointer)
    : value_(&object), file_(std::move(file)), pointer_(std::move(pointer)) {
  if (pointer_.empty()) known_.emplace_back("schema");
}

std::string ConfigFields::pointer_of(std::string_view key) const {
  std::string pointer = pointer_ + "/";
  for (const char c : key) {  // RFC 6901
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

void ConfigFields::mistake(std::string_view key, std::string_view what) {
  if (!mistake_.empty()) return;
  const std::string where = key.empty() ? (pointer_.empty() ? "/" : pointer_) : pointer_of(key);
  mistake_ = on_one_line(fmt::format("{}: {}: {}", file_, where, what));
}

void ConfigFields::take(const Status& part) {
  if (!part && mistake_.empty()) mistake_ = part.error().message;
}

const ConfigValue* ConfigFields::taken(std::string_view key, std::string_view expected,
                                       bool required) {
  known_.emplace_back(key);
  const ConfigValue* value = value_->find(key);
  if (value == nullptr && required) {
    mistake(key, fmt::format("missing key, expected {}", expected));
  }
  return value;
}

void ConfigFields::text(std::string_view key, std::string& out) {
  const ConfigValue* value = taken(key, "a text", true);
  if (value == nullptr) return;
  if (value->kind != ConfigValue::Kind::text || value->text.empty()) {
    return mistake(key, fmt::format("{}, expected a text", value->described()));
  }
  out = value->text;
}

void ConfigFields::optional_text(std::string_view key, std::string& out) {
  if (has(key)) {
    text(key, out);
  } else {
    known_.emplace_back(key);
  }
}

std::optional<std::size_t> ConfigFields::word(std::string_view key,
                                              std::span<const std::string_view> words) {
  std::string found;
  text(key, found);
  const auto at = std::find(words.begin(), words.end(), found);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  mistake(key, fmt::format("got {}{}, expected one of {}", in_quotes(found),
                           did_you_mean(found, words), fmt::join(words, ", ")));
  return std::nullopt;
}

void ConfigFields::texts(std::string_view key, std::vector<std::string>& out) {
  const ConfigValue* value = taken(key, "a list of texts", true);
  if (value == nullptr) return;
  if (value->kind != ConfigValue::Kind::list) {
    return mistake(key, fmt::format("{}, expected a list of texts", value->described()));
  }
  for (const ConfigValue& item : value->items) {
    if (item.kind != ConfigValue::Kind::text) {
      return mistake(key, fmt::format("{} in the list, expected a text", item.described()));
    }
    out.push_back(item.text);
  }
}

void ConfigFields::read_quantity(std::string_view key, ParamType type, const ConfigValue& value,
                                 double& out) {
  const bool plain = type == ParamType::number || type == ParamType::integer;
  const auto wanted = plain ? ConfigValue::Kind::number : ConfigValue::Kind::text;
  if (value.kind != wanted) {
    return mistake(key, fmt::format("{}, expected {}{}", value.described(), expectation(type),
                                    plain ? " without quotes" : ""));
  }
  auto number = parse_quantity(value.text, type);
  if (!number) return mistake(key, number.error().message);
  out = *number;
}

void ConfigFields::quantity(std::string_view key, ParamType type, double& out) {
  const ConfigValue* value = taken(key, expectation(type), true);
  if (value != nullptr) read_quantity(key, type, *value, out);
}

void ConfigFields::optional_quantity(std::string_view key, ParamType type, double& out) {
  const ConfigValue* value = taken(key, {}, false);
  if (value != nullptr) read_quantity(key, type, *value, out);
}

const ConfigValue* ConfigFields::object(std::string_view key) {
  const ConfigValue* value = taken(key, "an object", true);
  if (value == nullptr || value->kind == ConfigValue::Kind::object) return value;
  mistake(key, fmt::format("{}, expected an object", value->described()));
  return nullptr;
}

const ConfigValue* ConfigFields::optional_object(std::string_view key) {
  if (has(key)) return object(key);
  known_.emplace_back(key);
  return nullptr;
}

const ConfigValue* ConfigFields::objects(std::string_view key) {
  const ConfigValue* value = taken(key, "a list of objects", true);
  if (value == nullptr) return nullptr;
  if (value->kind != ConfigValue::Kind::list) {
    mistake(key, fmt::format("{}, expected a list of objects", value->described()));
    return nullptr;
  }
  for (const ConfigValue& item : value->items) {
    if (item.kind == ConfigValue::Kind::object) continue;
    mistake(key, fmt::format("{} in the list, expected an object", item.described()));
    return nullptr;
  }
  return value;
}

const ConfigValue* ConfigFields::optional_objects(std::string_view key) {
  if (has(key)) return objects(key);
  known_.emplace_back(key);
  return nullptr;
}

void ConfigFields::optional_texts(std::string_view key, std::vector<std::string>& out) {
  if (has(key)) {
    texts(key, out);
  } else {
    known_.emplace_back(key);
  }
}

void ConfigFields::numbers(std::string_view key, std::vector<double>& out) {
  const ConfigValue* value = taken(key, "a list of numbers", true);
  if (value == nullptr) return;
  if (value->kind != ConfigValue::Kind::list) {
    return mistake(key, fmt::format("{}, expected a list of numbers", value->described()));
  }
  for (const ConfigValue& item : value->items) {
    double number = 0;
    read_quantity(key, ParamType::number, item, number);
    out.push_back(number);
  }
}

const ConfigValue* ConfigFields::optional_value(std::string_view key) {
  return taken(key, {}, false);
}

void ConfigFields::optional_boolean(std::string_view key, bool& out) {
  const ConfigValue* value = taken(key, {}, false);
  if (value == nullptr) return;
  if (value->kind != ConfigValue::Kind::boolean) {
    return mistake(key, fmt::format("{}, expected true or false", value->described()));
  }
  out = value->text == "true";
}

Status ConfigFields::finish() {
  for (const std::string& key : value_->keys) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::vector<std::string_view> names;  // each once, however often it was asked for
    for (const std::string& name : known_) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: {}: unknown key{}, expected one of {}", file_, in_quotes(pointer_of(key)),
                    did_you_mean(key, names), fmt::join(names, ", "))};
  }
  if (!mistake_.empty()) return Error{ErrorCode::bad_config, mistake_};
  return ok_status();
}

}  // namespace foretrace
