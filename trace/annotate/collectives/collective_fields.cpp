#include "trace/annotate/collectives/collective_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "trace/annotate/collectives/argument_text.h"

namespace foretrace::trace {
namespace {

/// More ranks than any job has; larger figures are damage.
constexpr std::int64_t most_ranks = 1 << 20;

struct TypeSize {
  std::string_view name;
  std::uint8_t bytes;
};
// Names of torch.dtype as record_param_comms and as the operator columns of Kineto spell them.
constexpr std::array type_sizes = {TypeSize{"float", 4},
                                   TypeSize{"double", 8},
                                   TypeSize{"half", 2},
                                   TypeSize{"bfloat16", 2},
                                   TypeSize{"long", 8},
                                   TypeSize{"longint", 8},
                                   TypeSize{"int", 4},
                                   TypeSize{"short", 2},
                                   TypeSize{"char", 1},
                                   TypeSize{"byte", 1},
                                   TypeSize{"bool", 1},
                                   TypeSize{"unsignedchar", 1},
                                   TypeSize{"signedchar", 1},
                                   TypeSize{"float8_e4m3fn", 1},
                                   TypeSize{"float8_e5m2", 1},
                                   TypeSize{"float8_e4m3fnuz", 1},
                                   TypeSize{"float8_e5m2fnuz", 1},
                                   TypeSize{"complex<float>", 8},
                                   TypeSize{"complexfloat", 8},
                                   TypeSize{"complex<double>", 16},
                                   TypeSize{"complexdouble", 16}};

std::int64_t bytes_of(std::int64_t elements, std::uint8_t element_bytes) {
  return elements < 0 || element_bytes == 0 ||
                 elements > std::numeric_limits<std::int64_t>::max() / element_bytes
             ? -1
             : elements * element_bytes;
}

/// Elements of the list, with the type at the same place; -1 where a type is not known.
std::int64_t bytes_of_tensor(std::string_view dims, std::string_view type,
                             std::uint8_t& element_bytes) {
  const std::uint8_t size = bytes_of_type(unquoted(type));
  element_bytes = size != 0 ? size : element_bytes;
  const std::int64_t elements = dims == "[]" ? 1 : elements_of_dims(dims);
  return bytes_of(elements, size);
}

std::int32_t rank_of(std::optional<std::int64_t> number) {
  return number && *number >= 0 && *number < most_ranks ? static_cast<std::int32_t>(*number) : -1;
}

std::vector<std::string_view> elements(std::string_view list) {
  std::vector<std::string_view> values;
  visit_elements(list, [&](std::string_view value) { values.push_back(value); });
  return values;
}

/// What the descriptive arguments of newer versions say by name.
void read_named(std::string_view text, CollectiveFields& fields) {
  std::int64_t in = -1;
  std::int64_t out = -1;
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> stride;
  visit_members(text, [&](std::string_view key, std::string_view value) {
    if (key == "Collective name") {
      fields.is_wait = unquoted(value) == "wait";
      fields.kind = collective_kind(unquoted(value));
    } else if (key == "In msg nelems") {
      in = integer_of(value).value_or(-1);
    } else if (key == "Out msg nelems") {
      out = integer_of(value).value_or(-1);
    } else if (key == "Group size") {
      const std::int64_t size = integer_of(value).value_or(0);
      fields.group_size = size > 0 && size < most_ranks ? static_cast<std::uint32_t>(size) : 0;
    } else if (key == "dtype") {
      fields.element_bytes = bytes_of_type(unquoted(value));
    } else if (key == "Process Group Name") {
      fields.group = std::string(unquoted(value));
    } else if (key == "Process Group Ranks") {
      fields.ranks = integers_of(value).value_or(std::vector<std::int32_t>{});
    } else if (key == "Global rank start") {
      start = integer_of(value);
    } else if (key == "Global rank stride") {
      stride = integer_of(value);
    } else if (key == "Src Rank") {
      fields.source = rank_of(integer_of(value));
    } else if (key == "Dst Rank") {
      fields.target = rank_of(integer_of(value));
    } else if (key == "Seq") {
      fields.sequence = integer_of(value).value_or(-1);
    }
  });
  fields.in_bytes = bytes_of(in, fields.element_bytes);
  fields.out_bytes = bytes_of(out, fields.element_bytes);
  // Long lists are cut short in the text: the start, stride and size say the same.
  const bool cut = fields.ranks.size() != fields.group_size;
  if (cut) {
    fields.ranks.clear();
    const bool told = start && stride && *start >= 0 && *stride > 0 && *start < most_ranks &&
                      *stride < most_ranks && fields.group_size > 0;
    for (std::uint32_t i = 0; told && i < fields.group_size; ++i) {
      fields.ranks.push_back(static_cast<std::int32_t>(
          std::min<std::int64_t>(*start + *stride * i, std::numeric_limits<std::int32_t>::max())));
    }
  }
  std::sort(fields.ranks.begin(), fields.ranks.end());
}

/// Versions around 2.0 hide number, group and size in the inputs of record_param_comms: [tensor,
/// sequence, address of the group, rank, name, splits, splits, ..., size].
void read_positional(const NameTable& names, const Descriptor& arguments,
                     CollectiveFields& fields) {
  const std::vector<std::string_view> dims = elements(names[arguments.dims]);
  const std::vector<std::string_view> types = elements(names[arguments.types]);
  const bool scalar_tensor = !types.empty() && bytes_of_type(unquoted(types[0])) != 0;
  if (dims.empty() || (elements_of_dims(dims[0]) < 0 && !scalar_tensor)) {
    fields.is_wait = fields.is_wait || fields.kind == CollectiveKind::none;
    return;
  }
  if (fields.in_bytes < 0 && !types.empty()) {
    fields.in_bytes = bytes_of_tensor(dims[0], types[0], fields.element_bytes);
  }
  const std::vector<std::string_view> concrete = elements(names[arguments.concrete]);
  constexpr std::size_t fewest_inputs = 8;
  if (concrete.size() < fewest_inputs) return;
  if (fields.sequence < 0) {
    fields.sequence = integer_of(concrete[1]).value_or(-1);
  }
  if (integer_of(concrete[2]).value_or(0) != 0) {
    fields.pointer = std::string(unquoted(concrete[2]));
  }
  const std::int64_t size = integer_of(concrete.back()).value_or(0);
  if (fields.group_size == 0 && size > 0 && size < most_ranks) {
    fields.group_size = static_cast<std::uint32_t>(size);
  }
}

}  // namespace

std::uint8_t bytes_of_type(std::string_view type) {
  constexpr std::string_view scope = "c10::";
  if (type.substr(0, scope.size()) == scope) {
    type.remove_prefix(scope.size());
  }
  std::string plain;
  for (const char c : type) {
    if (c != ' ') {
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  for (const TypeSize& size : type_sizes) {
    if (size.name == plain) return size.bytes;
  }
  return 0;
}

CollectiveFields fields_of(const NameTable& names, const Descriptor& arguments) {
  CollectiveFields fields;
  read_named(names[arguments.text], fields);
  read_positional(names, arguments, fields);
  return fields;
}

std::int64_t annotated_bytes(const NameTable& names, const Descriptor& arguments,
                             std::uint8_t& element_bytes) {
  const std::vector<std::string_view> dims = elements(names[arguments.dims]);
  const std::vector<std::string_view> types = elements(names[arguments.types]);
  if (dims.empty() || dims.size() != types.size()) return -1;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t bytes = bytes_of_tensor(dims[i], types[i], element_bytes);
    if (bytes < 0 || bytes > std::numeric_limits<std::int64_t>::max() - sum) return -1;
    sum += bytes;
  }
  return sum;
}

}  // namespace foretrace::trace
