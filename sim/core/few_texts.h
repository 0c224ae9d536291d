// A few texts inside a descriptor, so that its rows can list them where they belong.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

namespace foretrace {

/// At most twelve texts that live as long as the program.
class FewTexts {
 public:
  constexpr FewTexts() = default;
  // Lists are written as they are: `.ignores = {"host memory", "which jobs come later"}`.
  constexpr FewTexts(std::initializer_list<std::string_view> texts)  // NOLINT(google-explicit-*)
      : FewTexts(std::span<const std::string_view>(texts.begin(), texts.size())) {}
  constexpr explicit FewTexts(std::span<const std::string_view> texts) : count_(texts.size()) {
    for (std::size_t i = 0; i < texts.size(); ++i) texts_.at(i) = texts[i];
  }

  [[nodiscard]] constexpr const std::string_view* begin() const { return texts_.data(); }
  [[nodiscard]] constexpr const std::string_view* end() const { return texts_.data() + count_; }
  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<std::string_view, 12> texts_{};
  std::size_t count_ = 0;
};

}  // namespace foretrace
