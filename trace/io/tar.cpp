#include "trace/io/tar.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

// Offsets and lengths of the ustar header (POSIX.1-1988).
constexpr std::size_t block_size = 512;
constexpr std::size_t name_length = 100;
constexpr std::size_t size_at = 124;
constexpr std::size_t size_length = 12;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t checksum_length = 8;
constexpr std::size_t type_at = 156;
constexpr std::size_t magic_at = 257;
constexpr std::size_t prefix_at = 345;
constexpr std::size_t prefix_length = 155;
/// Names longer than this are damage.
constexpr std::uint64_t longest_text = std::uint64_t{1} << 20;

std::string_view text_at(std::string_view block, std::size_t at, std::size_t length) {
  const std::string_view field = block.substr(at, length);
  return field.substr(0, field.find('\0'));
}

/// Octal digits, or GNU's base 256 if the first bit is set.
std::optional<std::uint64_t> number_at(std::string_view block, std::size_t at, std::size_t length) {
  std::uint64_t value = 0;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> 9U;
  if ((static_cast<unsigned char>(block[at]) & 0x80U) != 0) {
    for (std::size_t i = 0; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(block[at + i]);
      if (value > most) {
        return std::nullopt;
      }
      value = (value << 8U) | (i == 0 ? byte & 0x7FU : byte);
    }
    return value <= most ? std::optional(value) : std::nullopt;
  }
  for (const char c : text_at(block, at, length)) {
    if (c == ' ') {
      continue;
    }
    if (c < '0' || c > '7' || value > most) {
      return std::nullopt;
    }
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool checksum_holds(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block_size; ++i) {
    const bool own = i >= checksum_at && i < checksum_at + checksum_length;
    sum += own ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(block[i]);
  }
  return number_at(block, checksum_at, checksum_length) == sum;
}

/// "path" of a pax header: lines of "length key=value".
std::string pax_path(std::string_view text) {
  constexpr std::string_view key = " path=";
  const std::size_t at = text.find(key);
  const std::size_t end = text.find('\n', at == std::string_view::npos ? 0 : at);
  return at == std::string_view::npos || end == std::string_view::npos
             ? std::string()
             : std::string(text.substr(at + key.size(), end - at - key.size()));
}

}  // namespace

/// Bytes of one member; ends with it.
class TarReader::Member : public ByteSource {
 public:
  Member(TarReader& tar, std::string path, std::uint64_t size)
      : tar_(tar), path_(std::move(path)), left_(size) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t most =
        static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer.size()));
    if (most == 0) {
      return std::size_t{0};
    }
    Result<std::size_t> got = tar_.archive_.read(buffer.first(most));
    if (got) {
      left_ -= *got;
      tar_.position_ += *got;
      if (*got < most) {
        trouble_ = "the archive ends inside this file";
        left_ = 0;
      }
    }
    return got;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return tar_.archive_.consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return tar_.archive_.file_size(); }
  [[nodiscard]] std::string_view trouble() const override { return trouble_; }
  [[nodiscard]] std::string_view path() const override { return path_; }

 private:
  TarReader& tar_;
  std::string path_;
  std::uint64_t left_;
  std::string trouble_;
};

bool is_tar(std::string_view prefix) {
  return prefix.size() >= block_size && prefix.substr(magic_at, 5) == "ustar" &&
         checksum_holds(prefix);
}

Error TarReader::damaged(std::string_view what) const {
  return Error{ErrorCode::bad_format,
               fmt::format("{}: tar archive, at byte {}: {}", archive_.path(), position_, what)};
}

/// False at the end of the archive.
Result<bool> TarReader::read_block(std::string& block) {
  block.assign(block_size, '\0');
  FORETRACE_TRY(auto got, archive_.read(block));
  if (got == 0) {
    return false;
  }
  if (got < block_size) {
    return damaged("ends inside a header");
  }
  position_ += block_size;
  return true;
}

Status TarReader::skip(std::uint64_t bytes) {
  std::array<char, std::size_t{1} << 16U> buffer{};
  while (bytes > 0) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size()));
    FORETRACE_TRY(auto got, archive_.read(std::span(buffer).first(most)));
    position_ += got;
    bytes -= got;
    if (got < most) {
      return damaged("ends inside a file");
    }
  }
  return ok_status();
}

Result<std::string> TarReader::read_text(std::uint64_t bytes) {
  if (bytes > longest_text) {
    return damaged(
        fmt::format("a name is {} bytes long, expected at most {}", bytes, longest_text));
  }
  std::string text(static_cast<std::size_t>(bytes), '\0');
  FORETRACE_TRY(auto got, archive_.read(text));
  position_ += got;
  if (got < text.size()) {
    return damaged("ends inside a name");
  }
  const std::uint64_t rest = (block_size - bytes % block_size) % block_size;
  FORETRACE_TRY(skip(rest));
  return text;
}

Result<std::optional<TarMember>> TarReader::next() {
  if (member_end_ > position_) {
    FORETRACE_TRY(skip(member_end_ - position_));
  }
  std::string block;
  std::string long_name;
  while (true) {
    FORETRACE_TRY(auto more, read_block(block));
    if (!more || block.find_first_not_of('\0') == std::string::npos) {
      return std::optional<TarMember>{};
    }
    const std::optional<std::uint64_t> size = number_at(block, size_at, size_length);
    if (!checksum_holds(block) || !size) {
      return damaged("not a header: its checksum or size does not hold");
    }
    const char type = block[type_at];
    if (type == 'L' || type == 'x') {
      FORETRACE_TRY(auto text, read_text(*size));
      long_name = type == 'L' ? std::string(text_at(text, 0, text.size())) : pax_path(text);
      continue;
    }
    std::string name(text_at(block, 0, name_length));
    const std::string_view prefix = text_at(block, prefix_at, prefix_length);
    if (!prefix.empty() && block.substr(magic_at, 6) == std::string_view("ustar\0", 6)) {
      name.insert(0, "/").insert(0, prefix);
    }
    name = long_name.empty() ? name : std::exchange(long_name, {});
    const std::uint64_t padded = *size + (block_size - *size % block_size) % block_size;
    const bool regular = type == '0' || type == '\0';
    if (!regular || *size == 0 || file_name_of(name).substr(0, 2) == "._") {
      const bool has_no_bytes = type >= '1' && type <= '6';  // links, devices, folders
      FORETRACE_TRY(skip(has_no_bytes ? 0 : padded));
      long_name.clear();
      continue;
    }
    member_end_ = position_ + padded;
    const std::string path = fmt::format("{}:{}", archive_.path(), name);
    return std::optional(
        TarMember{std::move(name), *size, std::make_unique<Member>(*this, path, *size)});
  }
}

}  // namespace foretrace::trace
