#include "trace/formats/chakra/protobuf_out.h"

namespace foretrace::trace::formats {
namespace {

void append_varint(std::string& out, std::uint64_t value) {
  for (; value > 0x7FU; value >>= 7U) {
    out += static_cast<char>((value & 0x7FU) | 0x80U);
  }
  out += static_cast<char>(value);
}

std::uint64_t zigzag_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return (bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}

constexpr std::uint64_t bytes_type = 2;

}  // namespace

void WireMessage::varint(std::uint32_t field, std::uint64_t value) {
  append_varint(text_, std::uint64_t{field} << 3U);
  append_varint(text_, value);
}

void WireMessage::zigzag(std::uint32_t field, std::int64_t value) {
  varint(field, zigzag_of(value));
}

void WireMessage::bytes(std::uint32_t field, std::string_view value) {
  append_varint(text_, std::uint64_t{field} << 3U | bytes_type);
  append_varint(text_, value.size());
  text_ += value;
}

void WireMessage::packed(std::uint32_t field, const std::vector<std::uint64_t>& values) {
  std::string list;
  for (const std::uint64_t value : values) {
    append_varint(list, value);
  }
  if (!list.empty()) {
    bytes(field, list);
  }
}

void WireMessage::packed_zigzag(std::uint32_t field, const std::vector<std::int64_t>& values) {
  std::vector<std::uint64_t> bits;
  bits.reserve(values.size());
  for (const std::int64_t value : values) {
    bits.push_back(zigzag_of(value));
  }
  packed(field, bits);
}

std::string WireMessage::delimited() const {
  std::string out;
  append_varint(out, text_.size());
  return out + text_;
}

}  // namespace foretrace::trace::formats
