// Arguments of operators as the profiler recorded them: shapes, element types, plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/table/events.h"

namespace foretrace::trace {

enum class ElementType : std::uint8_t {
  unknown,
  boolean,
  u8,
  i8,
  i16,
  i32,
  i64,
  f8,
  f16,
  bf16,
  f32,
  f64,
  c64,
  c128
};
/// Per element; 0 for an unknown type.
[[nodiscard]] std::int64_t bytes_of(ElementType type);
/// Of the texts in "Input type": "float", "c10::BFloat16", "long int", "Tensor(float)".
[[nodiscard]] ElementType element_type(std::string_view text);

/// By c10::ScalarType, which factories record as a number; an empty text is the default, float.
[[nodiscard]] ElementType scalar_type(std::string_view code);

/// A tensor's sizes and type.
struct TensorShape {
  static constexpr std::size_t most_dims = 8;

  std::array<std::int64_t, most_dims> dims{};
  std::uint8_t rank = 0;
  ElementType type = ElementType::unknown;

  [[nodiscard]] std::span<const std::int64_t> sizes() const { return {dims.data(), rank}; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return i < rank ? dims[i] : 1; }
  [[nodiscard]] std::int64_t elements() const;  ///< 0 beyond 2^40, which no tensor has
  [[nodiscard]] std::int64_t bytes() const { return elements() * bytes_of(type); }
  [[nodiscard]] bool has_sizes_of(const TensorShape& other) const;
  /// The same sizes with another type.
  [[nodiscard]] TensorShape as(ElementType other) const;
};
[[nodiscard]] TensorShape make_shape(std::span<const std::int64_t> sizes, ElementType type);

/// Without any recorded type, tensors are taken for float.
struct OperatorArguments {
  std::vector<std::vector<TensorShape>> tensors;  ///< per argument: none, one, or those of a list
  std::vector<std::string_view> values;           ///< "Concrete Inputs"; a tensor is ""

  /// The tensor that is this argument (the first of a list); none if it is no tensor.
  [[nodiscard]] const TensorShape* tensor(std::size_t argument) const;
  /// Numbers of a recorded value: "[2, 2]", "3"; nothing where it is not recorded.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(std::size_t argument) const;
  [[nodiscard]] std::optional<bool> flag(std::size_t argument) const;  ///< "True", "False"
};

/// Parses each distinct combination once. Views point into the names of the table.
class ArgumentTable {
 public:
  explicit ArgumentTable(const EventTable& events)
      : events_(&events), parsed_(events.descriptors.size()) {}

  [[nodiscard]] const OperatorArguments& of(EventId event);

 private:
  const EventTable* events_;
  std::vector<std::optional<OperatorArguments>> parsed_;
};

/// The numbers of "[2, 2]" or of "3"; nothing if it is neither.
[[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_in(std::string_view text);
/// Elements of a JSON list as they are written, strings without their quotes.
[[nodiscard]] std::vector<std::string_view> list_elements(std::string_view list);

}  // namespace foretrace::trace
