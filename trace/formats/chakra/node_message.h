// Messages of Chakra's protobuf as writers make them, each behind its length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/chakra/chakra_fields.h"

namespace foretrace::trace::formats::chakra {

/// The first message of a file: the schema.
[[nodiscard]] std::string metadata_message();

/// A node being written. Fields of a node that are 0 are left out, as in proto3; attributes are
/// not.
class NodeMessage {
 public:
  NodeMessage(std::uint64_t id, std::string_view name, NodeType type);

  /// The nodes that must end before it.
  void after(const std::vector<std::uint64_t>& nodes);
  /// node_start or node_duration.
  void microseconds(Node field, std::uint64_t value);
  void number(std::string_view name, Attribute type, std::uint64_t value);
  void signed_number(std::string_view name, std::int64_t value) {
    number(name, int64_value, static_cast<std::uint64_t>(value));
  }
  void boolean(std::string_view name, bool value) { number(name, bool_value, value ? 1 : 0); }
  void text(std::string_view name, std::string_view value);
  void list(std::string_view name, const std::vector<std::int64_t>& values);

  [[nodiscard]] std::string delimited() const;

 private:
  std::string text_;
};

}  // namespace foretrace::trace::formats::chakra
