// 32-bit ids for recorded ids of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/formats/json/number.h"

namespace foretrace::trace::formats {

/// 32-bit ids from recorded ids of any size: those that fit stay as they are, the others get free
/// ones when the file is read, so that equal ids stay equal and different ones stay different.
class NarrowIds {
 public:
  static constexpr std::int64_t all_bits_32 = 0xFFFFFFFF;

  /// 0 ("none") for 0, -1 and what is no number. Rows are told apart later by their position.
  std::uint32_t narrow(const Number& recorded, std::size_t row) {
    const bool fits = recorded.plain && recorded.thousandths == 0 && recorded.whole >= 0 &&
                      recorded.whole <= all_bits_32;
    return fits ? static_cast<std::uint32_t>(recorded.whole) : narrow_other(recorded, row);
  }
  /// Puts the free ids into the column.
  void finish(std::vector<std::uint32_t>& column);
  /// The id that rows with this recorded one have now; -1 if no row has it. After finish().
  [[nodiscard]] std::int64_t narrowed(std::int64_t recorded) const;

 private:
  std::uint32_t narrow_other(const Number& recorded, std::size_t row);

  std::vector<std::pair<std::int64_t, std::uint32_t>> wide_;   // recorded id, row
  std::vector<std::pair<std::int64_t, std::uint32_t>> given_;  // recorded id, free id; sorted
};

}  // namespace foretrace::trace::formats
