#include "trace/formats/common/protobuf_wire.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace foretrace::trace::formats {
namespace {

constexpr std::size_t longest_varint = 10;  // 64 bits in groups of 7
constexpr std::uint32_t highest_field = (std::uint32_t{1} << 29U) - 1;
constexpr std::size_t piece = std::size_t{1} << 18;

}  // namespace

std::optional<std::uint64_t> varint_at(std::string_view text, std::size_t& at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < longest_varint && at + i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if (i + 1 == longest_varint && byte > 1) {
      return std::nullopt;  // beyond 64 bits
    }
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
    if (byte < 0x80) {
      at += i + 1;
      return value;
    }
  }
  return std::nullopt;
}

bool WireReader::fail(std::string reason) {
  trouble_ = std::move(reason);
  at_ = text_.size();
  return false;
}

bool WireReader::take_varint(std::uint64_t& value) {
  const auto number = varint_at(text_, at_);
  if (!number) {
    ran_out_ = text_.size() - at_ < longest_varint;
    return fail("a number without an end");
  }
  value = *number;
  return true;
}

bool WireReader::take_fixed(std::size_t size) {
  if (text_.size() - at_ < size) {
    ran_out_ = true;
    return fail(fmt::format("a number of {} bytes where {} are left", size, text_.size() - at_));
  }
  field_.value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text_[at_ + i]);
    field_.value |= static_cast<std::uint64_t>(byte) << (8 * i);
  }
  at_ += size;
  return true;
}

bool WireReader::take_bytes() {
  std::uint64_t length = 0;
  if (!take_varint(length)) return false;
  if (length > text_.size() - at_) {
    ran_out_ = true;
    return fail(fmt::format("a field of {} bytes where {} are left", length, text_.size() - at_));
  }
  field_.bytes = text_.substr(at_, static_cast<std::size_t>(length));
  at_ += static_cast<std::size_t>(length);
  return true;
}

bool WireReader::next() {
  if (at_ >= text_.size()) return false;
  const std::uint64_t offset = this->offset();
  std::uint64_t key = 0;
  if (!take_varint(key)) return false;
  const std::uint64_t number = key >> 3U;
  if (number == 0 || number > highest_field) {
    return fail(fmt::format("a field with the number {}", number));
  }
  field_ = WireField{.number = static_cast<std::uint32_t>(number),
                     .type = WireType::varint,
                     .value = 0,
                     .bytes = {},
                     .offset = offset};
  switch (key & 7U) {
    case 0: return take_varint(field_.value);
    case 1: field_.type = WireType::fixed64; return take_fixed(8);
    case 2: field_.type = WireType::bytes; return take_bytes();
    case 5: field_.type = WireType::fixed32; return take_fixed(4);
    default: return fail(fmt::format("a field of the unknown wire type {}", key & 7U));
  }
}

bool append_varints(const WireField& field, std::vector<std::uint64_t>& out) {
  if (field.type != WireType::bytes) {
    out.push_back(field.value);
    return field.type == WireType::varint;
  }
  std::size_t at = 0;
  while (at < field.bytes.size()) {
    const auto number = varint_at(field.bytes, at);
    if (!number) return false;
    out.push_back(*number);
  }
  return true;
}

// Makes `wanted` bytes behind `at_` available as far as the source has them: memory grows with what
// was read, never with what a length promises.
bool MessageStream::fill(std::size_t wanted) {
  if (data_.size() - at_ >= wanted) return true;
  data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(at_));
  base_ += at_;
  at_ = 0;
  while (!ended_ && data_.size() < wanted) {
    const std::size_t held = data_.size();
    data_.resize(held + piece);
    auto got = source_.read(std::span<char>(data_).subspan(held));
    data_.resize(held + (got ? *got : 0));
    if (!got) {
      error_ = std::move(got).error();
      ended_ = true;
    } else if (*got < piece) {
      ended_ = true;
    }
  }
  return data_.size() >= wanted;
}

MessageStream::Outcome MessageStream::next() {
  at_ = start_ + static_cast<std::size_t>(length_);
  start_ = at_;
  length_ = 0;
  (void)fill(longest_varint);
  start_ = at_;
  if (at_ == data_.size()) return error_ ? Outcome::unreadable : Outcome::end;
  const std::string_view held(data_.data(), data_.size());
  const auto length = varint_at(held, at_);
  if (!length) {
    const bool short_of_bytes = data_.size() - at_ < longest_varint;
    start_ = data_.size();
    return short_of_bytes ? Outcome::cut_off : Outcome::no_length;
  }
  start_ = at_;
  if (*length > longest_message) {
    length_ = 0;
    return Outcome::too_long;
  }
  const bool whole = fill(static_cast<std::size_t>(*length));
  start_ = at_;
  if (!whole) {
    length_ = data_.size() - at_;
    return error_ ? Outcome::unreadable : Outcome::cut_off;
  }
  length_ = *length;
  return Outcome::message;
}

}  // namespace foretrace::trace::formats
