// Members of a tar archive, one after the other, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

namespace foretrace::trace {

/// True for the first 512 bytes of a tar archive.
[[nodiscard]] bool is_tar(std::string_view prefix);

/// A regular file of the archive. Reads from the archive's own source: open one at a time.
struct TarMember {
  std::string name;
  std::uint64_t size = 0;
  std::unique_ptr<ByteSource> bytes;
};

/// Walks an archive (ustar, with GNU and pax long names). Sizes are taken from headers but never
/// allocated.
class TarReader {
 public:
  explicit TarReader(ByteSource& archive) : archive_(archive) {}

  /// The next regular file; nullopt at the end. What was left of the previous one is skipped.
  /// AppleDouble copies of attributes ("._name") are left out. Errors: damage, a cut archive.
  [[nodiscard]] Result<std::optional<TarMember>> next();

 private:
  class Member;

  [[nodiscard]] Result<bool> read_block(std::string& block);
  [[nodiscard]] Status skip(std::uint64_t bytes);
  [[nodiscard]] Result<std::string> read_text(std::uint64_t bytes);
  [[nodiscard]] Error damaged(std::string_view what) const;

  ByteSource& archive_;
  std::uint64_t position_ = 0;
  std::uint64_t member_end_ = 0;  // padded; bytes before it that were not read are skipped
};

}  // namespace foretrace::trace
