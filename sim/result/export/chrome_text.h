// Pieces of text of a Chrome trace: microseconds, and a buffer in front of a sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/result/export/text_sink.h"

namespace foretrace {

/// Prints nanoseconds as microseconds with three decimals: exact for integers.
struct Microseconds {
  std::int64_t ns = 0;
};

/// Collects the elements of a JSON array, hands them on in large pieces and remembers a refusal.
class ChromeText {
 public:
  explicit ChromeText(const TextSink& sink) : sink_(sink) {}

  /// One element of the array.
  template <typename... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text(first_ ? "\n" : ",\n");
    first_ = false;
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= piece_bytes) {
      flush();
    }
  }
  void text(std::string_view text) { buffer_.append(text.data(), text.data() + text.size()); }
  void flush() {
    ok_ = ok_ && sink_(std::string_view(buffer_.data(), buffer_.size()));
    buffer_.clear();
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  // Large enough that calls of the sink cost nothing, small beside any trace.
  static constexpr std::size_t piece_bytes = 256UL * 1024;

  const TextSink& sink_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
  bool ok_ = true;
};

}  // namespace foretrace

template <>
struct fmt::formatter<foretrace::Microseconds> {
  static constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <typename Context>
  auto format(foretrace::Microseconds time, Context& context) const {
    const auto bits = static_cast<std::uint64_t>(time.ns);
    const std::uint64_t size = time.ns < 0 ? 0 - bits : bits;
    return fmt::format_to(context.out(), "{}{}.{:03}", time.ns < 0 ? "-" : "", size / 1000,
                          size % 1000);
  }
};
