#include "sim/core/config_text.h"

#include <cstddef>

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

}  // namespace

std::string json_text(const ConfigValue& value) {
  std::string out;
  append_value(value, out);
  return out;
}

}  // namespace foretrace
