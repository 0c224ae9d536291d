// Field numbers of Chakra's protobuf schema 0.0.4 (mlcommons/chakra, schema/protobuf/et_def.proto).
#pragma once

#include <cstdint>

#include "sim/graph/task.h"

namespace foretrace::trace::formats::chakra {

enum Metadata : std::uint32_t { metadata_version = 1, metadata_attribute = 2 };

enum Node : std::uint32_t {
  node_id = 1,
  node_name = 2,
  node_type = 3,
  node_control = 4,
  node_data = 5,
  node_start = 6,     ///< microseconds
  node_duration = 7,  ///< microseconds
  node_inputs = 8,
  node_outputs = 9,
  node_attribute = 10,
  node_storage = 11
};

/// Kinds of nodes that are written.
enum NodeType : std::uint8_t { comp = 4, comm_send = 5, comm_recv = 6, comm_coll = 7 };

/// Chakra's CollectiveCommType; -1: it has none.
[[nodiscard]] constexpr std::int64_t comm_type(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return 0;
    case CollectiveKind::reduce: return 1;
    case CollectiveKind::all_gather: return 2;
    case CollectiveKind::gather: return 3;
    case CollectiveKind::scatter: return 4;
    case CollectiveKind::broadcast: return 5;
    case CollectiveKind::all_to_all: return 6;
    case CollectiveKind::reduce_scatter: return 7;
    case CollectiveKind::barrier: return 9;
    case CollectiveKind::none:
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::send_receive: return -1;
  }
  return -1;
}

enum Argument : std::uint32_t { argument_values = 1, argument_shapes = 2, argument_types = 3 };

/// Values of an attribute; each list has the number behind its single value.
enum Attribute : std::uint32_t {
  attribute_name = 1,
  attribute_doc = 2,
  double_value = 3,
  float_value = 5,
  int32_value = 7,
  int64_value = 9,
  int64_list = 10,
  uint32_value = 11,
  uint64_value = 13,
  uint64_list = 14,
  sint32_value = 15,
  sint64_value = 17,
  sint64_list = 18,
  fixed32_value = 19,
  fixed64_value = 21,
  sfixed32_value = 23,
  sfixed64_value = 25,
  bool_value = 27,
  bool_list = 28,
  string_value = 29,
  string_list = 30,
  bytes_value = 31,
  bytes_list = 32
};

}  // namespace foretrace::trace::formats::chakra
