// Reads protobuf's wire format without its library: fields of a message, messages of a stream.
// Nothing is believed: sizes are held against what is there, and nothing is copied or allocated.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

namespace foretrace::trace::formats {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message. What its bytes mean is the schema's to say.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;   ///< varint, fixed64, fixed32: the bits
  std::string_view bytes;    ///< WireType::bytes: a string, a message or packed numbers
  std::uint64_t offset = 0;  ///< of the field's key in the file

  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(value); }
  /// sint32, sint64: the sign is the lowest bit.
  [[nodiscard]] std::int64_t as_zigzag() const {
    return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
  }
  [[nodiscard]] double as_double() const { return std::bit_cast<double>(value); }
  [[nodiscard]] float as_float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
  }
};

/// Walks over the fields of one message.
///
///   WireReader fields(message);
///   while (fields.next()) { switch (fields->number) { ... } }
///   if (!fields.trouble().empty()) { ... }
class WireReader {
 public:
  /// `offset`: of the message's first byte in the file, for messages to the user.
  explicit WireReader(std::string_view message, std::uint64_t offset = 0)
      : text_(message), offset_(offset) {}

  /// Goes to the next field. False at the end and at the first damage, see trouble().
  [[nodiscard]] bool next();
  [[nodiscard]] const WireField& operator*() const { return field_; }
  [[nodiscard]] const WireField* operator->() const { return &field_; }
  /// A reader of the current field's bytes as a message.
  [[nodiscard]] WireReader message() const {
    return WireReader(field_.bytes,
                      offset_ + static_cast<std::uint64_t>(field_.bytes.data() - text_.data()));
  }
  /// Empty, or why the message ends early: "a number without an end", "a field of 12 bytes where 3
  /// are left", ...
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// What is missing would stand behind the end of the message: it is cut, or says a wrong length.
  [[nodiscard]] bool ran_out() const { return ran_out_; }
  /// Of the next byte to be read, in the file.
  [[nodiscard]] std::uint64_t offset() const { return offset_ + at_; }

 private:
  [[nodiscard]] bool take_fixed(std::size_t size);
  [[nodiscard]] bool take_bytes();
  [[nodiscard]] bool take_varint(std::uint64_t& value);
  [[nodiscard]] bool fail(std::string reason);

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t offset_;
  WireField field_;
  std::string trouble_;
  bool ran_out_ = false;
};

/// The number at `at` (which moves behind it); empty if it has no end within 10 bytes.
[[nodiscard]] std::optional<std::uint64_t> varint_at(std::string_view text, std::size_t& at);

/// Appends the numbers of a repeated integer field: one, or packed ones. False if they are broken.
[[nodiscard]] bool append_varints(const WireField& field, std::vector<std::uint64_t>& out);

/// A source of messages, each behind its length (protobuf's delimited streams). Holds one message.
class MessageStream {
 public:
  /// Longer messages are an error: no writer makes them, and they are held in memory.
  static constexpr std::uint64_t longest_message = std::uint64_t{1} << 28;

  explicit MessageStream(ByteSource& source) : source_(source) {}

  enum class Outcome : std::uint8_t { message, end, cut_off, too_long, no_length, unreadable };
  /// Goes to the next message; its text is valid until the next call.
  [[nodiscard]] Outcome next();
  [[nodiscard]] std::string_view message() const {
    return {data_.data() + start_, static_cast<std::size_t>(length_)};
  }
  /// Of the message's first byte (without its length).
  [[nodiscard]] std::uint64_t offset() const { return base_ + start_; }
  /// Bytes read so far.
  [[nodiscard]] std::uint64_t bytes() const { return base_ + data_.size(); }
  /// After Outcome::unreadable.
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  [[nodiscard]] bool fill(std::size_t wanted);

  ByteSource& source_;
  std::vector<char> data_;  // what is held of the source
  std::uint64_t base_ = 0;  // offset of data_[0]
  std::size_t at_ = 0;      // first byte not used up
  std::size_t start_ = 0;   // of the message
  std::uint64_t length_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace foretrace::trace::formats
