#include "trace/formats/nodes/node_attribute.h"

#include <array>
#include <bit>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/graph/task.h"
#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::array<std::string_view, 10> collectives = {
    "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};

constexpr std::string_view unknown_collective = "unknown";

std::string text_of(const AttributeValue& value) {
  switch (value.kind) {
    case AttributeValue::Kind::nothing: return {};
    case AttributeValue::Kind::number: return fmt::format("{}", value.number);
    case AttributeValue::Kind::real: return fmt::format("{}", value.real);
    case AttributeValue::Kind::text: return with_valid_utf8(value.text);
    case AttributeValue::Kind::list: return fmt::format("[{}]", fmt::join(value.list, ", "));
  }
  return {};
}

std::int64_t number_of(const AttributeValue& value) {
  if (value.kind == AttributeValue::Kind::text) return integer_from(value.text).value_or(-1);
  return value.kind == AttributeValue::Kind::number ? value.number : -1;
}

std::int32_t narrow(std::int64_t value) {
  return value > std::numeric_limits<std::int32_t>::max() || value < 0
             ? -1
             : static_cast<std::int32_t>(value);
}

// Bytes or numbers of a message or tensor; none (-1) where there can be no such amount, which is
// counted. Writers say -1 themselves where they do not know.
std::int64_t amount_of(std::string_view name, const AttributeValue& value, const RawNode& node,
                       NodeBuilder& builder) {
  constexpr std::int64_t most = std::int64_t{1} << 50U;  // of bytes: a thousand times any memory
  const std::int64_t amount = number_of(value);
  if (amount >= 0 && amount <= most) return amount;
  if (value.kind != AttributeValue::Kind::number || amount != -1) {
    builder.report().count(DamageKind::repaired, "size out of range", node.offset,
                           fmt::format("node {}: {} {}", node.id, name, text_of(value)));
  }
  return -1;
}

std::string_view collective_of(const AttributeValue& value, const RawNode& node,
                               NodeBuilder& builder) {
  const std::string_view name = collective_name(number_of(value));
  if (name == unknown_collective) {
    builder.report().count(DamageKind::repaired, "comm_type that no collective has", node.offset,
                           fmt::format("node {}: {}", node.id, text_of(value)));
  }
  return name;
}

// Attributes that every node has and that say nothing where they are 0 or empty.
bool is_idle(std::string_view name, const AttributeValue& value) {
  const bool empty =
      value.kind == AttributeValue::Kind::text ? value.text.empty() : value.number == 0;
  return value.kind == AttributeValue::Kind::nothing || name == "scope" ||
         (empty && (name == "fw_parent" || name == "fw_tid" || name == "kernel_backend" ||
                    name == "kernel_file" || name == "tensor_range"));
}

bool apply_to_node(std::string_view name, const AttributeValue& value, RawNode& node,
                   NodeBuilder& builder) {
  const std::int64_t number = number_of(value);
  if (name == "rf_id") {
    node.record_function = number;
  } else if (name == "seq_id") {
    node.sequence = number;
  } else if (name == "tid") {
    node.thread = number;
  } else if (name == "stream") {
    node.stream = number;
  } else if (name == "num_ops") {
    node.operations = number;
  } else if (name == "tensor_size") {
    node.bytes = amount_of(name, value, node, builder);
  } else if (name == "op_schema") {
    node.signature.schema = builder.name(text_of(value));
  } else if (name == "is_cpu_op") {
    node.place = number != 0 ? NodePlace::host : NodePlace::device;
  } else {
    return false;
  }
  return true;
}

std::int64_t time_of(const AttributeValue& value) {
  constexpr std::int64_t latest = std::int64_t{1} << 61U;  // ends of events fit too
  const std::int64_t time = number_of(value);
  return time > latest ? -1 : time;
}

// Six numbers per dependency, as our writer puts them: source, from its start, kind, lag, bits of
// the fraction, 2 * the node it must be later than + its end.
void apply_timing(const std::vector<std::uint64_t>& list, RawNode& node, NodeBuilder& builder) {
  constexpr std::int64_t longest = std::int64_t{1} << 61U;
  for (std::size_t i = 0; i + 6 <= list.size(); i += 6) {
    const auto lag = static_cast<std::int64_t>(list[i + 3]);
    const auto fraction = std::bit_cast<float>(static_cast<std::uint32_t>(list[i + 4]));
    if (list[i] == 0 || list[i + 2] >= dependency_kind_count || lag > longest || lag < -longest ||
        !(fraction >= 0 && fraction <= 1)) {
      builder.report().count(DamageKind::repaired, "dependency with numbers out of range",
                             node.offset, fmt::format("node {}", node.id));
      continue;
    }
    RawTiming raw{.source = list[i], .late_after = list[i + 5] / 2};
    raw.timing.from_start = list[i + 1] != 0;
    raw.timing.kind = static_cast<std::uint8_t>(list[i + 2]);
    raw.timing.lag_ns = lag;
    raw.timing.fraction = fraction;
    raw.timing.late_after_end = list[i + 5] % 2 != 0;
    node.timings.push_back(raw);
  }
}

// What our own writer adds.
bool apply_own(std::string_view name, const AttributeValue& value, RawNode& node,
               NodeBuilder& builder) {
  if (name == duration_attribute) {
    node.exact_duration_ns = time_of(value);
  } else if (name == start_attribute) {
    node.exact_start_ns = time_of(value);
  } else if (name == kind_attribute) {
    const std::int64_t kind = number_of(value);
    const bool known = kind >= 0 && kind < static_cast<std::int64_t>(task_kind_count);
    node.task_kind = known ? static_cast<std::int16_t>(kind) : std::int16_t{-1};
  } else if (name == timing_attribute) {
    apply_timing(value.list, node, builder);
  } else {
    return false;
  }
  return true;
}

bool apply_to_communication(std::string_view name, const AttributeValue& value, RawNode& node,
                            NodeBuilder& builder) {
  const std::int64_t number = number_of(value);
  if (name == "comm_type") {
    node.communicating().kind = builder.name(collective_of(value, node, builder));
  } else if (name == "collective_name") {
    node.communicating().kind = builder.name(text_of(value));
  } else if (name == "comm_size") {
    node.communicating().bytes = amount_of(name, value, node, builder);
  } else if (name == "pg_name" || name == "pg_id") {
    node.communicating().group = builder.name(text_of(value));
  } else if (name == "pg_size") {
    node.communicating().group_size = narrow(number);
  } else if (name == "dtype") {
    node.communicating().element_type = builder.name(text_of(value));
  } else if (name == "in_msg_nelems") {
    node.communicating().input_elements = amount_of(name, value, node, builder);
  } else if (name == "out_msg_nelems") {
    node.communicating().output_elements = amount_of(name, value, node, builder);
  } else if (name == "comm_src") {
    node.communicating().source = narrow(number);
  } else if (name == "comm_dst") {
    node.communicating().destination = narrow(number);
  } else if (name == "comm_tag") {
    node.communicating().tag = narrow(number);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string_view collective_name(std::int64_t type) {
  return type >= 0 && type < static_cast<std::int64_t>(collectives.size())
             ? collectives[static_cast<std::size_t>(type)]
             : unknown_collective;
}

NodeKind node_kind(std::int64_t type, bool& known) {
  constexpr std::array kinds = {NodeKind::unknown,      NodeKind::metadata,  NodeKind::memory_load,
                                NodeKind::memory_store, NodeKind::compute,   NodeKind::send,
                                NodeKind::receive,      NodeKind::collective};
  known = type >= 0 && type < static_cast<std::int64_t>(kinds.size());
  return known ? kinds[static_cast<std::size_t>(type)] : NodeKind::unknown;
}

std::int64_t nanoseconds_of(std::uint64_t microseconds) {
  constexpr std::uint64_t highest = (std::uint64_t{1} << 61U) / 1000;  // ends of events fit too
  return microseconds > highest ? -1 : static_cast<std::int64_t>(microseconds * 1000);
}

void apply_attribute(std::string_view name, const AttributeValue& value, RawNode& node,
                     NodeBuilder& builder) {
  if (apply_to_node(name, value, node, builder) ||
      apply_to_communication(name, value, node, builder) || apply_own(name, value, node, builder) ||
      is_idle(name, value)) {
    return;
  }
  node.attributes.emplace_back(builder.name(with_valid_utf8(name)), builder.name(text_of(value)));
}

}  // namespace foretrace::trace::formats
