// Parses recorded arguments.
#include "trace/annotate/tensors/operator_arguments.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

// More than any tensor has; sums of products of it stay far from overflow.
constexpr std::int64_t most_elements = std::int64_t{1} << 40;

// Lists of tensors hold the parameters of a model at most.
constexpr std::size_t most_in_list = std::size_t{1} << 16;

bool is_list(std::string_view text) {
  return text.size() >= 2 && text.front() == '[' && text.back() == ']';
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The shape that "[64, 3, 7, 7]" gives; none for nested lists and what is no size.
std::optional<TensorShape> parse_shape(std::string_view text, ElementType type) {
  if (!is_list(text)) return std::nullopt;
  TensorShape shape;
  shape.type = type;
  for (const std::string_view part : list_elements(text)) {
    const auto size = number(part);
    if (!size || *size < 0 || *size > most_elements || shape.rank == TensorShape::most_dims) {
      return std::nullopt;
    }
    shape.dims[shape.rank++] = *size;
  }
  return shape;
}

std::vector<TensorShape> parse_argument(std::string_view dims, std::string_view type) {
  std::vector<TensorShape> shapes;
  const ElementType element = element_type(type);
  const bool nested = dims.size() > 1 && dims[1] == '[';
  if (nested) {
    for (const std::string_view part : list_elements(dims)) {
      if (shapes.size() == most_in_list) break;
      if (const auto shape = parse_shape(part, element)) shapes.push_back(*shape);
    }
  } else if (element != ElementType::unknown) {
    if (const auto shape = parse_shape(dims, element)) shapes.push_back(*shape);
  }
  return shapes;
}

OperatorArguments parse(const EventTable& events, const Descriptor& descriptor) {
  OperatorArguments arguments;
  const auto dims = list_elements(events.names[descriptor.dims]);
  const auto types = list_elements(events.names[descriptor.types]);
  // Recordings of 2020 have sizes without types.
  const std::string_view otherwise = types.empty() ? "float" : "";
  arguments.tensors.reserve(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    arguments.tensors.push_back(parse_argument(dims[i], i < types.size() ? types[i] : otherwise));
  }
  arguments.values = list_elements(events.names[descriptor.concrete]);
  return arguments;
}

}  // namespace

std::int64_t bytes_of(ElementType type) {
  static constexpr std::array<std::int64_t, 14> bytes = {0, 1, 1, 1, 2, 4, 8, 1, 2, 2, 4, 8, 8, 16};
  return bytes[static_cast<std::size_t>(type)];
}

ElementType element_type(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, ElementType>, 21> names = {{
      {"float", ElementType::f32},
      {"double", ElementType::f64},
      {"c10::BFloat16", ElementType::bf16},
      {"c10::Half", ElementType::f16},
      {"long int", ElementType::i64},
      {"long", ElementType::i64},
      {"long long", ElementType::i64},
      {"int", ElementType::i32},
      {"short", ElementType::i16},
      {"short int", ElementType::i16},
      {"signed char", ElementType::i8},
      {"char", ElementType::i8},
      {"unsigned char", ElementType::u8},
      {"bool", ElementType::boolean},
      {"c10::Float8_e4m3fn", ElementType::f8},
      {"c10::Float8_e5m2", ElementType::f8},
      {"c10::Float8_e4m3fnuz", ElementType::f8},
      {"c10::Float8_e5m2fnuz", ElementType::f8},
      {"c10::complex<float>", ElementType::c64},
      {"c10::complex<double>", ElementType::c128},
      {"c10::Float8_e8m0fnu", ElementType::f8},
  }};
  constexpr std::string_view wrapper = "Tensor(";  // execution traces
  if (text.starts_with(wrapper) && text.ends_with(')')) {
    text = text.substr(wrapper.size(), text.size() - wrapper.size() - 1);
  }
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.first == text; });
  return found == names.end() ? ElementType::unknown : found->second;
}

ElementType scalar_type(std::string_view code) {
  static constexpr std::array<ElementType, 16> types = {
      ElementType::u8,      ElementType::i8,  ElementType::i16,  ElementType::i32,
      ElementType::i64,     ElementType::f16, ElementType::f32,  ElementType::f64,
      ElementType::unknown, ElementType::c64, ElementType::c128, ElementType::boolean,
      ElementType::i8,      ElementType::u8,  ElementType::i32,  ElementType::bf16};
  if (code.empty()) return ElementType::f32;
  const auto at = number(code);
  return at && *at >= 0 && *at < static_cast<std::int64_t>(types.size())
             ? types[static_cast<std::size_t>(*at)]
             : ElementType::unknown;
}

std::int64_t TensorShape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes()) {
    if (size == 0 || product > most_elements / size) return 0;
    product *= size;
  }
  return product;
}

bool TensorShape::has_sizes_of(const TensorShape& other) const {
  return std::ranges::equal(sizes(), other.sizes());
}

TensorShape TensorShape::as(ElementType other) const {
  TensorShape shape = *this;
  shape.type = other;
  return shape;
}

TensorShape make_shape(std::span<const std::int64_t> sizes, ElementType type) {
  TensorShape shape;
  shape.type = type;
  for (const std::int64_t size : sizes.first(std::min(sizes.size(), TensorShape::most_dims))) {
    shape.dims[shape.rank++] = std::max<std::int64_t>(0, size);
  }
  return shape;
}

const TensorShape* OperatorArguments::tensor(std::size_t argument) const {
  return argument < tensors.size() && !tensors[argument].empty() ? &tensors[argument].front()
                                                                 : nullptr;
}

std::optional<std::vector<std::int64_t>> OperatorArguments::numbers(std::size_t argument) const {
  return argument < values.size() ? numbers_in(values[argument]) : std::nullopt;
}

std::optional<bool> OperatorArguments::flag(std::size_t argument) const {
  if (argument >= values.size()) return std::nullopt;
  if (values[argument] == "True" || values[argument] == "true") return true;
  if (values[argument] == "False" || values[argument] == "false") return false;
  return std::nullopt;
}

const OperatorArguments& ArgumentTable::of(EventId event) {
  const std::size_t row = index(events_->descriptor[index(event)]);
  std::optional<OperatorArguments>& known = parsed_[row];
  if (!known) known = parse(*events_, events_->descriptors[row]);
  return *known;
}

std::optional<std::vector<std::int64_t>> numbers_in(std::string_view text) {
  if (const auto single = number(text)) return std::vector{*single};
  if (!is_list(text)) return std::nullopt;
  std::vector<std::int64_t> list;
  for (const std::string_view part : list_elements(text)) {
    const auto value = number(part);
    if (!value) return std::nullopt;
    list.push_back(*value);
  }
  return list;
}

std::vector<std::string_view> list_elements(std::string_view list) {
  std::vector<std::string_view> elements;
  list = trimmed(list);
  if (!is_list(list)) return elements;
  list = list.substr(1, list.size() - 2);
  int depth = 0;
  bool quoted = false;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    std::string_view part = trimmed(list.substr(from, to - from));
    if (part.size() >= 2 && part.front() == '"' && part.back() == '"') {
      part = part.substr(1, part.size() - 2);
    }
    elements.push_back(part);
    from = to + 1;
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '"' && (i == 0 || list[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) add(i);
  }
  if (!trimmed(list).empty()) add(list.size());
  return elements;
}

}  // namespace foretrace::trace
