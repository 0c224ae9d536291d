#include "trace/formats/chakra/node_message.h"

#include <protozero/pbf_writer.hpp>

namespace foretrace::trace::formats::chakra {
namespace {

protozero::data_view view_of(std::string_view text) { return {text.data(), text.size()}; }

std::string behind_its_length(const std::string& message) {
  std::string out;
  protozero::add_varint_to_buffer(&out, message.size());
  return out + message;
}

void add_text(std::string& message, std::uint32_t field, std::string_view name,
              std::string_view value) {
  protozero::pbf_writer out(message);
  protozero::pbf_writer attribute(out, field);
  attribute.add_string(attribute_name, view_of(name));
  attribute.add_string(string_value, view_of(value));
}

}  // namespace

std::string metadata_message() {
  std::string message;
  protozero::pbf_writer(message).add_string(metadata_version, "0.0.4");
  add_text(message, metadata_attribute, "schema", "0.0.4");
  return behind_its_length(message);
}

NodeMessage::NodeMessage(std::uint64_t id, std::string_view name, NodeType type) {
  protozero::pbf_writer out(text_);
  out.add_uint64(node_id, id);
  out.add_string(node_name, view_of(name));
  out.add_uint64(node_type, type);
}

void NodeMessage::after(const std::vector<std::uint64_t>& nodes) {
  protozero::pbf_writer(text_).add_packed_uint64(node_data, nodes.begin(), nodes.end());
}

void NodeMessage::microseconds(Node field, std::uint64_t value) {
  if (value != 0) protozero::pbf_writer(text_).add_uint64(field, value);
}

void NodeMessage::number(std::string_view name, Attribute type, std::uint64_t value) {
  protozero::pbf_writer out(text_);
  protozero::pbf_writer attribute(out, node_attribute);
  attribute.add_string(attribute_name, view_of(name));
  attribute.add_uint64(type, value);
}

void NodeMessage::text(std::string_view name, std::string_view value) {
  add_text(text_, node_attribute, name, value);
}

void NodeMessage::list(std::string_view name, const std::vector<std::int64_t>& values) {
  protozero::pbf_writer out(text_);
  protozero::pbf_writer attribute(out, node_attribute);
  attribute.add_string(attribute_name, view_of(name));
  protozero::pbf_writer inner(attribute, sint64_list);
  inner.add_packed_sint64(1, values.begin(), values.end());
}

std::string NodeMessage::delimited() const { return behind_its_length(text_); }

}  // namespace foretrace::trace::formats::chakra
