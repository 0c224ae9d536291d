// Reads Python pickles that hold plain containers, numbers and texts. A pickle is a program; the
// instructions that import or call anything are refused, so that reading one is safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::trace::formats {

enum class PickleKind : std::uint8_t { nothing, boolean, integer, real, text, list, dictionary };

/// The values of a pickle. They may share parts and, in hostile files, contain themselves: whoever
/// walks over them bounds what he visits (a sound file has fewer items than bytes).
class Pickle {
 public:
  static constexpr std::size_t most_bytes = std::size_t{1} << 31U;  // indices have 32 bits
  /// Reads the first pickle in `bytes`, which must outlive the result. Errors say what was refused
  /// and at which byte.
  [[nodiscard]] static Result<Pickle> read(std::string_view bytes);

  using Index = std::uint32_t;
  [[nodiscard]] Index root() const { return root_; }
  [[nodiscard]] PickleKind kind(Index value) const { return values_[value].kind; }
  /// Of booleans and integers; 0 for others.
  [[nodiscard]] std::int64_t integer(Index value) const;
  [[nodiscard]] std::string_view text(Index value) const;
  /// Items of a list or tuple; keys and values in turn of a dictionary.
  [[nodiscard]] std::span<const Index> items(Index value) const;
  /// The value of a key, or `absent`.
  static constexpr Index absent = 0xFFFFFFFFU;
  [[nodiscard]] Index find(Index dictionary, std::string_view key) const;

 private:
  class Machine;
  struct Value {
    PickleKind kind = PickleKind::nothing;
    std::uint32_t container = 0;  // index of texts_ or items_
    std::int64_t number = 0;      // bits of a double for reals
  };
  std::vector<Value> values_;
  std::vector<std::string_view> texts_;
  std::vector<std::vector<Index>> items_;
  Index root_ = 0;
};

}  // namespace foretrace::trace::formats
