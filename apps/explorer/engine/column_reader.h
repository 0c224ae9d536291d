// Figures out of packed columns, as sim/result/export/graph_columns.h describes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/result/export/graph_columns.h"

namespace foretrace::explorer {

/// Columns by name. Once something is not as it was written, the graph is damaged.
class ColumnReader {
 public:
  explicit ColumnReader(const PackedGraph& packed) : packed_(packed) {}

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::size_t rows(std::string_view name) {
    const PackedColumn* const column = find(name);
    if (column == nullptr) return 0;
    expect(column->count <= most_rows);
    return is_damaged_ ? 0 : column->count;
  }

  /// visit(row, figure) for each of `count` figures that is not 0. A column may be left out.
  template <typename Visit>
  void each(std::string_view name, std::size_t count, const Visit& visit) {
    const PackedColumn* const column = find(name);
    if (column == nullptr) return;
    const std::size_t all = packed_.bytes.size();
    if (column->count != count || column->offset > all || column->bytes > all - column->offset) {
      return expect(false);
    }
    const char* at = packed_.bytes.data() + column->offset;
    const char* const end = at + column->bytes;
    std::size_t row = 0;
    while (row < count && !is_damaged_) {
      std::uint64_t value = next(at, end);
      if (value == 0) {  // how many more of them follow
        value = next(at, end);
        expect(value < count - row);
        row += static_cast<std::size_t>(value) + 1;
        continue;
      }
      const std::uint64_t figure = (value >> 1U) ^ (std::uint64_t{0} - (value & 1U));
      visit(row++, static_cast<std::int64_t>(figure * static_cast<std::uint64_t>(column->unit)));
    }
    expect(at == end);
  }

  /// Adds the figures of a column to what stands there.
  template <typename T>
  void add(std::string_view name, std::vector<T>& rows) {
    each(name, rows.size(), [&](std::size_t i, std::int64_t figure) {
      rows[i] = static_cast<T>(static_cast<std::int64_t>(rows[i]) + figure);
    });
  }

  void expect(bool holds) { is_damaged_ = is_damaged_ || !holds; }
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  static constexpr std::size_t most_rows = 0x7FFFFFF0;  // points of tasks have 32 bits

  [[nodiscard]] const PackedColumn* find(std::string_view name) const {
    const auto found = std::find_if(packed_.columns.begin(), packed_.columns.end(),
                                    [&](const PackedColumn& each) { return each.name == name; });
    return found == packed_.columns.end() ? nullptr : &*found;
  }

  std::uint64_t next(const char*& at, const char* end) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at++);
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
    expect(false);
    return 0;
  }

  const PackedGraph& packed_;
  bool is_damaged_ = false;
};

}  // namespace foretrace::explorer
