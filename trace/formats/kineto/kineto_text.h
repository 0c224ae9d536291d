// Pieces of Kineto's JSON: numbers, texts, times, and the arguments that describe work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/writer.h"
#include "trace/table/events.h"

namespace foretrace::trace::formats {

/// Text on its way to a sink, handed over in large pieces.
class TextBuffer {
 public:
  explicit TextBuffer(const ByteSink& sink) : sink_(sink) {}
  TextBuffer& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  TextBuffer& operator<<(char c) {
    text_ += c;
    return *this;
  }
  TextBuffer& operator<<(std::int64_t number);
  /// ns as microseconds with three decimals.
  TextBuffer& microseconds(std::int64_t ns);
  /// A JSON string with its quotes.
  TextBuffer& quoted(std::string_view text);
  /// Hands over what has gathered, if it is much or `all` is asked for. False once the sink
  /// refused.
  bool flush(bool all);

 private:
  const ByteSink& sink_;
  std::string text_;
  bool usable_ = true;
};

/// "\"grid\": [1, 1, 1], ..." for each descriptor, made when first asked for.
class DescriptorTexts {
 public:
  explicit DescriptorTexts(const EventTable& table)
      : table_(table), texts_(table.descriptors.size()), made_(table.descriptors.size()) {}
  const std::string& of(DescriptorId id);
  /// Arguments that are no JSON and were left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] std::string make(const Descriptor& descriptor);

  const EventTable& table_;
  std::vector<std::string> texts_;
  std::vector<bool> made_;
  std::uint64_t left_out_ = 0;
};

/// "\"pid\": 12, \"tid\": \"stream 7\"" for each track, as it was recorded.
[[nodiscard]] std::vector<std::string> track_texts(const EventTable& table);

}  // namespace foretrace::trace::formats
