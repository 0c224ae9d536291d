// Reader of Chakra execution traces (.et), schema 0.0.4: protobuf messages, each behind its length.
// The first describes the run (GlobalMetadata), the others are nodes. 0 is not written: proto3.
//
//   4b 08 01 12 29 "[pytorch|...]" 18 04 22 01 00 2a 01 01 38 0a 52 0e 0a 09 "is_cpu_op" d8 01 01
//   |  |     |                     |     |        |        |     |
//   |  |     |                     |     |        |        |     attribute (10), a message: also
//   |  |     |                     |     |        |        |     comm_type, comm_size, num_ops
//   |  |     |                     |     |        |        duration (7): 10 us; start is 6
//   |  |     |                     |     control (4) and data (5) dependencies: ids
//   |  |     |                     type (3): 4 computes, 5 sends, 6 receives, 7 is a collective
//   |  |     name (2)
//   |  id (1); each key is the field's number << 3 | kind of the value
//   bytes of this message
#include <array>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/chakra/chakra_fields.h"
#include "trace/formats/common/protobuf_wire.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/nodes/node_attribute.h"
#include "trace/formats/nodes/node_values.h"
#include "trace/formats/reader.h"
#include "trace/io/text.h"

namespace foretrace::trace::readers::chakra_et_parts {
namespace {

namespace chakra = formats::chakra;
using formats::AttributeValue;
using formats::WireField;
using formats::WireReader;
using formats::WireType;

// True if the fields of a message have the types that the schema gives them: none above `highest`
// (below 32), and numbers where `numbers` has a bit.
bool fits(std::string_view message, std::uint32_t highest, std::uint32_t numbers) {
  WireReader fields(message);
  bool any = message.empty();
  while (fields.next()) {
    if (fields->number > highest) return false;
    const bool number = fields->type == WireType::varint;
    const bool packed =
        fields->number == chakra::node_control || fields->number == chakra::node_data;
    const bool wants_number = ((numbers >> fields->number) & 1U) != 0;
    if (number != wants_number && !(packed && numbers != 0)) return false;
    any = true;
  }
  return any && fields.trouble().empty();
}

bool is_metadata(std::string_view message) { return fits(message, chakra::metadata_attribute, 0); }
bool is_node(std::string_view message) {
  constexpr std::uint32_t numbers = 1U << chakra::node_id | 1U << chakra::node_type |
                                    1U << chakra::node_control | 1U << chakra::node_data |
                                    1U << chakra::node_start | 1U << chakra::node_duration;
  return !message.empty() && fits(message, chakra::node_storage, numbers);
}

Confidence sniff(std::string_view prefix) {
  std::size_t at = 0;
  std::array<std::string_view, 2> messages;
  for (std::string_view& message : messages) {
    const auto length = formats::varint_at(prefix, at);
    if (!length || *length > prefix.size() - at) return Confidence::no;
    message = prefix.substr(at, static_cast<std::size_t>(*length));
    at += static_cast<std::size_t>(*length);
  }
  return is_metadata(messages[0]) && is_node(messages[1]) ? Confidence::yes : Confidence::no;
}

void append_list(const WireField& field, AttributeValue& out) {
  out.kind = AttributeValue::Kind::list;
  const bool zigzag = field.number == chakra::sint64_list;
  WireReader values(field.bytes);
  while (values.next()) {
    std::vector<std::uint64_t> numbers;
    if (!formats::append_varints(*values, numbers)) return;
    for (const std::uint64_t number : numbers) {
      const WireField one{.number = 1, .type = WireType::varint, .value = number, .bytes = {}};
      out.list.push_back(zigzag ? static_cast<std::uint64_t>(one.as_zigzag()) : number);
    }
  }
}

AttributeValue value_of(const WireField& field) {
  AttributeValue value;
  value.kind = AttributeValue::Kind::number;
  value.number = field.as_signed();
  switch (field.number) {
    case chakra::double_value:
      value.kind = AttributeValue::Kind::real;
      value.real = field.as_double();
      break;
    case chakra::float_value:
      value.kind = AttributeValue::Kind::real;
      value.real = static_cast<double>(field.as_float());
      break;
    case chakra::sint32_value:
    case chakra::sint64_value: value.number = field.as_zigzag(); break;
    case chakra::string_value:
    case chakra::bytes_value:
      value.kind = AttributeValue::Kind::text;
      value.text = field.bytes;
      break;
    case chakra::int64_list:
    case chakra::uint64_list:
    case chakra::sint64_list:
    case chakra::bool_list: append_list(field, value); break;
    default:
      value.kind = field.type == WireType::bytes ? AttributeValue::Kind::nothing : value.kind;
  }
  return value;
}

struct Attribute {
  std::string_view name;
  AttributeValue value;
};

// proto3 does not write a 0 of a value that is no member of a choice, but these are: a value that
// is missing is missing.
Attribute attribute_of(WireReader fields) {
  Attribute attribute;
  while (fields.next()) {
    if (fields->number == chakra::attribute_name && fields->type == WireType::bytes) {
      attribute.name = fields->bytes;
    } else if (fields->number != chakra::attribute_doc) {
      attribute.value = value_of(*fields);
    }
  }
  return attribute;
}

class Document {
 public:
  Document(ByteSource& source, LoadedTrace& trace)
      : stream_(source), trace_(trace), builder_(trace) {}

  Status read(const ByteSource& source, const ReadOptions& options) {
    using Outcome = formats::MessageStream::Outcome;
    Outcome outcome = stream_.next();
    bool first = true;
    for (; outcome == Outcome::message; outcome = stream_.next()) {
      if (first && is_metadata(stream_.message())) {
        take_metadata(WireReader(stream_.message(), stream_.offset()));
      } else {
        take_node(WireReader(stream_.message(), stream_.offset()));
      }
      first = false;
      if (options.progress) {
        options.progress(source.consumed(), source.file_size());
      }
    }
    trace_.report.bytes = stream_.bytes();
    if (outcome == Outcome::unreadable) return stream_.error();
    if (trace_.report.events == 0) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: has no nodes of a Chakra execution trace", source.path())};
    }
    warn_about_end(outcome, source);
    builder_.finish(schema_);
    return ok_status();
  }

 private:
  void warn_about_end(formats::MessageStream::Outcome outcome, const ByteSource& source) {
    using Outcome = formats::MessageStream::Outcome;
    const std::uint64_t nodes = trace_.report.events;
    if (!source.trouble().empty()) {
      trace_.report.warnings.push_back(
          fmt::format("{}; {} nodes were read", source.trouble(), nodes));
    } else if (outcome == Outcome::cut_off) {
      trace_.report.warnings.push_back(fmt::format(
          "the file ends inside a node, at byte {}: {} nodes were read", stream_.bytes(), nodes));
    } else if (outcome != Outcome::end) {
      trace_.report.warnings.push_back(
          fmt::format("byte {} begins no message, reading stopped: {} nodes were read",
                      stream_.offset(), nodes));
    }
  }

  void take_metadata(WireReader fields) {
    while (fields.next()) {
      if (fields->number == chakra::metadata_version) {
        schema_ = shortened(fields->bytes, 60);
      } else if (const Attribute attribute = attribute_of(fields.message());
                 attribute.name == "schema") {
        schema_ = shortened(attribute.value.text, 60);
      }
    }
  }

  void take_node(WireReader fields) {
    formats::RawNode node;
    node.offset = fields.offset();
    bool has_id = false;
    while (fields.next()) {
      has_id = has_id || fields->number == chakra::node_id;
      if (!take_field(fields, node)) {
        builder_.drop(fmt::format("field {} of a node has the wrong type", fields->number),
                      fields->offset, fmt::format("node {}", node.id));
        return;
      }
    }
    if (!fields.trouble().empty()) {
      builder_.drop("broken message of a node", node.offset, fields.trouble());
    } else if (!has_id && trace_.report.events > 0) {
      builder_.drop("node without an id", node.offset, "");  // 0, which proto3 does not write
    } else {
      node.parent = node.control.empty() ? 0 : node.control.front();
      builder_.add(std::move(node));
    }
  }

  // False if the field has another type than the schema says.
  bool take_field(const WireReader& fields, formats::RawNode& node) {
    const bool bytes = fields->type == WireType::bytes;
    const bool number = fields->type == WireType::varint;
    switch (fields->number) {
      case chakra::node_id: node.id = fields->value; return number;
      case chakra::node_name:
        node.name = builder_.name(with_valid_utf8(fields->bytes));
        return bytes;
      case chakra::node_type: take_type(*fields, node); return number;
      case chakra::node_control: return formats::append_varints(*fields, node.control);
      case chakra::node_data: return formats::append_varints(*fields, node.data);
      case chakra::node_start: node.start_ns = time_of(*fields, node); return number;
      case chakra::node_duration: node.duration_ns = time_of(*fields, node); return number;
      case chakra::node_inputs: take_arguments(fields.message(), false, node); return bytes;
      case chakra::node_outputs: take_arguments(fields.message(), true, node); return bytes;
      case chakra::node_attribute:
        if (const Attribute attribute = attribute_of(fields.message()); bytes) {
          formats::apply_attribute(attribute.name, attribute.value, node, builder_);
        }
        return bytes;
      default: return true;  // fields of later schemas
    }
  }

  void take_type(const WireField& field, formats::RawNode& node) {
    bool known = false;
    node.kind = formats::node_kind(field.as_signed(), known);
    if (!known) {
      builder_.report().count(DamageKind::repaired, "unknown type of node", field.offset,
                              fmt::format("node {}: {}", node.id, field.value));
    }
  }

  std::int64_t time_of(const WireField& field, const formats::RawNode& node) {
    const std::int64_t ns = formats::nanoseconds_of(field.value);
    if (ns < 0) {
      builder_.report().count(DamageKind::repaired, "time out of range", field.offset,
                              fmt::format("node {}: {} us", node.id, field.value));
    }
    return ns;
  }

  void take_arguments(WireReader fields, bool output, formats::RawNode& node) {
    NodeSignature& signature = node.signature;
    while (fields.next()) {
      const std::string_view text = fields->bytes;
      if (text.empty() || text == "[]") continue;
      if (fields->number == chakra::argument_values) {
        const std::string others =
            formats::take_tensors(text, output, builder_.names(), node.tensors);
        if (!output) {
          signature.values = builder_.name(others);
        }
      } else if (fields->number == chakra::argument_shapes) {
        (output ? signature.output_shapes : signature.shapes) =
            builder_.name(formats::as_json(text));
      } else if (fields->number == chakra::argument_types) {
        (output ? signature.output_types : signature.types) = builder_.name(formats::as_json(text));
      }
    }
  }

  formats::MessageStream stream_;
  LoadedTrace& trace_;
  formats::NodeBuilder builder_;
  std::string schema_;
};

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  LoadedTrace trace = formats::started(source, "chakra_et");
  FORETRACE_TRY(Document(source, trace).read(source, options));
  return formats::checked(std::move(trace), source, options);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "chakra_et",
    .summary = "Chakra execution traces (protobuf): nodes with dependencies and durations",
    .suffixes = ".et .et.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::chakra_et_parts
