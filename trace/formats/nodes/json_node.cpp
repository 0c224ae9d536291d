#include "trace/formats/nodes/json_node.h"

#include <array>
#include <cctype>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <simdjson.h>

#include "trace/formats/json/json_check.h"
#include "trace/formats/json/number.h"
#include "trace/formats/nodes/node_attribute.h"
#include "trace/formats/nodes/node_values.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// "ctrlDeps", "ctrl_deps" and "CtrlDeps" are one key.
std::string plain_key(std::string_view key) {
  std::string plain;
  for (const char c : key) {
    if (c != '_') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

// A whole number, also in quotes (protobuf's JSON writes 64-bit numbers so).
std::optional<std::uint64_t> whole(element value) {
  std::uint64_t number = 0;
  std::int64_t negative = 0;
  std::string_view text;
  if (value.get(number) == simdjson::SUCCESS) return number;
  if (value.get(negative) == simdjson::SUCCESS) return static_cast<std::uint64_t>(negative);
  if (value.get(text) == simdjson::SUCCESS) {
    const auto parsed = integer_from(text);
    return parsed ? std::optional(static_cast<std::uint64_t>(*parsed)) : std::nullopt;
  }
  return std::nullopt;
}

std::string text_of(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return with_plain_blanks(simdjson::minify(value));
}

AttributeValue attribute_value(element value, std::string& storage) {
  AttributeValue out;
  switch (value.type()) {
    case element_type::INT64:
    case element_type::UINT64: {
      const std::uint64_t number = whole(value).value_or(0);
      out.kind = AttributeValue::Kind::number;
      out.number = static_cast<std::int64_t>(number);
      break;
    }
    case element_type::DOUBLE:
      out.kind = AttributeValue::Kind::real;
      out.real = value.get_double().value_unsafe();
      break;
    case element_type::BOOL:
      out.kind = AttributeValue::Kind::number;
      out.number = value.get_bool().value_unsafe() ? 1 : 0;
      break;
    case element_type::NULL_VALUE: break;
    default:
      storage = text_of(value);
      out.kind = AttributeValue::Kind::text;
      out.text = storage;
  }
  return out;
}

void append_ids(element value, std::vector<std::uint64_t>& out) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) {
    if (const auto one = whole(value)) {
      out.push_back(*one);
    }
    return;
  }
  for (const element item : list) {
    if (const auto one = whole(item)) {
      out.push_back(*one);
    }
  }
}

// Everything of one node; a type so that the parts share what they fill.
class NodeText {
 public:
  NodeText(RawNode& node, NodeBuilder& builder) : node_(node), builder_(builder) {}

  // False if there is no usable id.
  [[nodiscard]] bool take(simdjson::dom::object object) {
    for (const auto field : object) {
      take_field(plain_key(field.key), field.value);
    }
    if (node_.parent == 0 && !node_.control.empty()) {
      node_.parent = node_.control.front();
    }
    return has_id_;
  }

 private:
  void take_field(const std::string& key, element value) {
    if (key == "id") {
      const auto id = whole(value);
      has_id_ = id.has_value();
      node_.id = id.value_or(0);
    } else if (key == "name") {
      node_.name = builder_.name(text_of(value));
    } else if (key == "parent") {
      node_.parent = whole(value).value_or(0);
    } else if (key == "ctrldeps") {
      take_control(value);
    } else if (key == "datadeps") {
      append_ids(value, node_.data);
    } else if (key == "type" || key == "nodetype") {
      take_type(value);
    } else if (key == "durationmicros" || key == "runtime") {
      node_.duration_ns = take_time(value);
    } else if (key == "starttimemicros") {
      node_.start_ns = take_time(value);
    } else if (key == "attr" || key == "attrs") {
      take_attributes(value);
    } else {
      take_argument(key, value);
    }
  }

  // PyTorch writes the parent as a number, Chakra a list of dependencies.
  void take_control(element value) {
    if (value.is_array()) {
      append_ids(value, node_.control);
    } else {
      node_.parent = whole(value).value_or(0);
    }
  }

  std::int64_t take_time(element value) {
    const auto time = whole(value);
    const std::int64_t ns = time ? nanoseconds_of(*time) : -1;
    if (ns < 0) {
      builder_.report().count(DamageKind::repaired, "time out of range", node_.offset,
                              fmt::format("node {}: {}", node_.id, shortened(text_of(value), 40)));
    }
    return ns;
  }

  void take_type(element value) {
    constexpr std::array<std::string_view, 8> names = {
        "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
        "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
    std::string_view text;
    std::int64_t type = -1;
    if (value.get(text) == simdjson::SUCCESS && !text.empty() && text[0] >= 'A') {
      for (std::size_t i = 0; i < names.size(); ++i) {
        type = names[i] == text ? static_cast<std::int64_t>(i) : type;
      }
    } else {
      type = static_cast<std::int64_t>(whole(value).value_or(~std::uint64_t{0}));
    }
    bool known = false;
    node_.kind = node_kind(type, known);
    if (!known) {
      builder_.report().count(DamageKind::repaired, "unknown type of node", node_.offset,
                              fmt::format("node {}: {}", node_.id, shortened(text_of(value), 40)));
    }
  }

  void take_attributes(element value) {
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS) return;
    for (const element item : list) {
      simdjson::dom::object attribute;
      std::string_view name;
      if (item.get(attribute) != simdjson::SUCCESS ||
          attribute["name"].get(name) != simdjson::SUCCESS) {
        continue;
      }
      for (const auto field : attribute) {
        const std::string_view key = field.key;
        if (key == "value" || key.ends_with("Val") || key.ends_with("_val")) {
          std::string storage;
          apply_attribute(name, attribute_value(field.value, storage), node_, builder_);
        }
      }
    }
  }

  // The form of 2023 has "inputs", "input_shapes", ... side by side, later ones nest them.
  void take_argument(const std::string& key, element value) {
    const bool output = key.starts_with("output");
    simdjson::dom::object parts;
    if ((key == "inputs" || key == "outputs") && value.get(parts) == simdjson::SUCCESS) {
      for (const auto part : parts) {
        take_part(plain_key(part.key), part.value, output);
      }
    } else if (key == "inputs" || key == "outputs") {
      take_part("values", value, output);
    } else if (key == "inputshapes" || key == "outputshapes") {
      take_part("shapes", value, output);
    } else if (key == "inputtypes" || key == "outputtypes") {
      take_part("types", value, output);
    } else {
      std::string storage;
      std::string name = key == "iscpuop"    ? "is_cpu_op"
                         : key == "rfid"     ? "rf_id"
                         : key == "seqid"    ? "seq_id"
                         : key == "opschema" ? "op_schema"
                         : key == "commtype" ? "comm_type"
                         : key == "commsize" ? "comm_size"
                         : key == "commsrc"  ? "comm_src"
                         : key == "commdst"  ? "comm_dst"
                         : key == "commtag"  ? "comm_tag"
                         : key == "pgname"   ? "pg_name"
                         : key == "pgsize"   ? "pg_size"
                         : key == "numops"   ? "num_ops"
                         : key == "fwparent" ? "fw_parent"
                         : key == "fwtid"    ? "fw_tid"
                                             : key;
      apply_attribute(name, attribute_value(value, storage), node_, builder_);
    }
  }

  void take_part(std::string_view part, element value, bool output) {
    const std::string text = text_of(value);
    NodeSignature& signature = node_.signature;
    if (text.empty() || text == "[]") return;
    if (part == "values") {
      const std::string others = take_tensors(text, output, builder_.names(), node_.tensors);
      if (!output) {
        signature.values = builder_.name(others);
      }
    } else if (part == "shapes") {
      (output ? signature.output_shapes : signature.shapes) = builder_.name(as_json(text));
    } else if (part == "types") {
      (output ? signature.output_types : signature.types) = builder_.name(as_json(text));
    }
  }

  RawNode& node_;
  NodeBuilder& builder_;
  bool has_id_ = false;
};

}  // namespace

class JsonNodeReader::Parser {
 public:
  [[nodiscard]] simdjson::simdjson_result<element> parse(std::string_view json) {
    if (json.empty()) {
      return simdjson::EMPTY;  // simdjson would copy from a null pointer
    }
    if (!is_valid_utf8(json)) {
      repaired_ = with_valid_utf8(json);
      json = repaired_;
    }
    return parser_.parse(json.data(), json.size(), true);
  }

 private:
  simdjson::dom::parser parser_;
  std::string repaired_;
};

JsonNodeReader::JsonNodeReader(NodeBuilder& builder)
    : parser_(std::make_unique<Parser>()), builder_(builder) {}
JsonNodeReader::~JsonNodeReader() = default;

bool JsonNodeReader::add(std::string_view json, std::uint64_t offset) {
  auto parsed = parser_->parse(json);
  simdjson::dom::object object;
  if (parsed.error() != simdjson::SUCCESS) {
    builder_.drop(fmt::format("invalid JSON: {}", simdjson::error_message(parsed.error())), offset,
                  json);
    return false;
  }
  if (parsed.get(object) != simdjson::SUCCESS) {
    builder_.drop("node is not an object", offset, json);
    return false;
  }
  RawNode node;
  node.offset = offset;
  if (!NodeText(node, builder_).take(object)) {
    builder_.drop("node without an id", offset, json);
    return false;
  }
  builder_.add(std::move(node));
  return true;
}

std::string JsonNodeReader::schema_of(std::string_view attributes) {
  auto parsed = parser_->parse(attributes);
  simdjson::dom::array list;
  if (parsed.get(list) != simdjson::SUCCESS) {
    return {};
  }
  for (const element attribute : list) {
    std::string_view name;
    std::string_view text;
    if (attribute["name"].get(name) == simdjson::SUCCESS && name == "schema" &&
        attribute["stringVal"].get(text) == simdjson::SUCCESS) {
      return shortened(text, 60);
    }
  }
  return {};
}

}  // namespace foretrace::trace::formats
