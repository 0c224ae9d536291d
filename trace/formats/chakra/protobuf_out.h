// Writes protobuf's wire format: fields of a message, messages behind their length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::trace::formats {

/// One message being written. Zeros and empty texts are left out where proto3 leaves them out.
class WireMessage {
 public:
  void varint(std::uint32_t field, std::uint64_t value);  ///< also where it is 0
  void number(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      varint(field, value);
    }
  }
  void zigzag(std::uint32_t field, std::int64_t value);
  void bytes(std::uint32_t field, std::string_view value);  ///< also where it is empty
  void message(std::uint32_t field, const WireMessage& value) { bytes(field, value.text()); }
  /// A repeated number, packed; nothing for an empty list.
  void packed(std::uint32_t field, const std::vector<std::uint64_t>& values);
  void packed_zigzag(std::uint32_t field, const std::vector<std::int64_t>& values);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The message behind its length.
  [[nodiscard]] std::string delimited() const;

 private:
  std::string text_;
};

}  // namespace foretrace::trace::formats
