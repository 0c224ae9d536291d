// The fallback for events that the hand scanner does not understand: simdjson reads them.
#include <simdjson.h>

#include "sim/core/text.h"
#include "trace/formats/chrome/event_scanner.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// Appends the members of an object with plain keys and their values as written. Only the two levels
// that the scanner looks into are respelled.
void append_object(std::string& out, simdjson::ondemand::object object, bool is_event) {
  out += '{';
  bool first = true;
  for (auto field : object) {
    const std::string key(std::string_view(field.unescaped_key()));
    simdjson::ondemand::value value = field.value();
    if (!first) {
      out += ',';
    }
    first = false;
    // A key that needs an escape is none of ours; the backslash is dropped to keep it scannable.
    out += '"';
    for (const char c : key) {
      out += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? '_' : c;
    }
    out += "\":";
    const simdjson::ondemand::json_type type = value.type();
    if (is_event && key == "args" && type == simdjson::ondemand::json_type::object) {
      append_object(out, value.get_object(), false);
    } else if (type == simdjson::ondemand::json_type::object) {
      out += trimmed(std::string_view(simdjson::to_json_string(value.get_object())));
    } else if (type == simdjson::ondemand::json_type::array) {
      out += trimmed(std::string_view(simdjson::to_json_string(value.get_array())));
    } else {
      out += trimmed(value.raw_json_token());
    }
  }
  out += '}';
}

}  // namespace

std::string canonical_event(std::string_view text, std::string& reason) {
  try {
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(is_valid_utf8(text) ? std::string(text)
                                                             : with_valid_utf8(text));
    simdjson::ondemand::document document = parser.iterate(padded);
    std::string out;
    append_object(out, document.get_object(), true);
    return out;
  } catch (const simdjson::simdjson_error& error) {
    reason = error.what();
    return {};
  }
}

}  // namespace foretrace::trace::formats
