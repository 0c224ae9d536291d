// Rows of plain structs as columns: each member has a number in the file, so that later versions
// may add members; what a file does not have keeps its default.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trace/ftr/column.h"

namespace foretrace::trace::ftr {

/// More rows than this are never in one chunk, and never more than 8 per byte of its payload.
inline constexpr std::uint64_t most_rows = std::uint64_t{1} << 22U;
inline constexpr std::uint64_t most_rows_per_byte = 8;

/// A member of a row and its number in the file.
template <typename Row>
struct Field {
  std::uint16_t id;
  std::int64_t (*get)(const Row& row);
  void (*set)(Row& row, std::int64_t value);
};

/// A column of a chunk as it is stored.
struct StoredColumn {
  std::uint64_t id = 0;
  std::string_view bytes;
};
/// The parts of a payload of rows.
struct StoredRows {
  std::uint64_t first = 0;  ///< position of the first row in its table
  std::uint64_t count = 0;
  std::vector<StoredColumn> columns;

  /// Empty if there is none.
  [[nodiscard]] std::string_view column(std::uint64_t id) const;
};

/// Empty if it is no payload of rows.
[[nodiscard]] std::optional<StoredRows> take_rows(std::string_view payload);

/// Starts a payload of rows; columns follow with put_stored_column, then finish_rows.
[[nodiscard]] std::string start_rows(std::uint64_t first, std::uint64_t count, std::size_t columns);
void put_stored_column(std::string& payload, std::uint64_t id,
                       std::span<const std::int64_t> values);
/// Fills up to the size that its count asks for.
void finish_rows(std::string& payload, std::uint64_t count);

namespace cells {

template <typename T>
[[nodiscard]] constexpr std::int64_t to_bits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::int64_t>(static_cast<double>(value));
  } else {
    return static_cast<std::int64_t>(value);
  }
}
template <typename T>
[[nodiscard]] constexpr T from_bits(std::int64_t bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::bit_cast<double>(bits));
  } else if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    return static_cast<T>(bits);
  }
}

template <typename Member>
struct MemberOf;
template <typename RowType, typename ValueType>
struct MemberOf<ValueType RowType::*> {
  using Row = RowType;
  using Value = ValueType;
};

}  // namespace cells

/// The field of a member: field<&Row::member>(3).
template <auto member>
[[nodiscard]] constexpr auto field(std::uint16_t id) {
  using Of = cells::MemberOf<decltype(member)>;
  using Row = typename Of::Row;
  using Value = typename Of::Value;
  return Field<Row>{
      id, [](const Row& row) { return cells::to_bits(row.*member); },
      [](Row& row, std::int64_t value) { row.*member = cells::from_bits<Value>(value); }};
}
/// The field of an element of an array member.
template <auto member, std::size_t at>
[[nodiscard]] constexpr auto element(std::uint16_t id) {
  using Of = cells::MemberOf<decltype(member)>;
  using Row = typename Of::Row;
  using Value = typename Of::Value::value_type;
  return Field<Row>{
      id, [](const Row& row) { return cells::to_bits((row.*member)[at]); },
      [](Row& row, std::int64_t value) { (row.*member)[at] = cells::from_bits<Value>(value); }};
}

template <typename Row, std::size_t size>
[[nodiscard]] std::string put_rows(std::span<const Row> rows,
                                   const std::array<Field<Row>, size>& fields,
                                   std::uint64_t first) {
  std::string payload = start_rows(first, rows.size(), size);
  std::vector<std::int64_t> values(rows.size());
  for (const Field<Row>& one : fields) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      values[i] = one.get(rows[i]);
    }
    put_stored_column(payload, one.id, values);
  }
  finish_rows(payload, rows.size());
  return payload;
}

/// Appends the rows of a payload; false, and nothing appended, if it is damaged.
template <typename Row, std::size_t size>
[[nodiscard]] bool append_rows(const StoredRows& stored, const std::array<Field<Row>, size>& fields,
                               std::vector<Row>& out) {
  const std::size_t before = out.size();
  const auto count = static_cast<std::size_t>(stored.count);
  std::vector<std::int64_t> values(count);
  out.resize(before + count);
  for (const Field<Row>& one : fields) {
    const std::string_view bytes = stored.column(one.id);
    if (bytes.empty()) {
      continue;
    }
    if (!take_column(bytes, std::span<std::int64_t>(values))) {
      out.resize(before);
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      one.set(out[before + i], values[i]);
    }
  }
  return true;
}

}  // namespace foretrace::trace::ftr
