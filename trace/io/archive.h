// Archives (tar, zip) and files packed by zstd, xz or bzip2: libarchive reads them, where the build
// found it. Nothing is written to disk: names of members are words for messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"
#include "trace/io/unpacked.h"

namespace foretrace::trace {

/// False where the build has no libarchive: archives are refused, packed files are left as they
/// are.
[[nodiscard]] bool reads_archives();

/// How many first bytes of a file tell that it is an archive, or that it is packed.
inline constexpr std::size_t archive_prefix = 512;
inline constexpr std::size_t packed_prefix = 6;
/// True for the first bytes of a tar or zip archive.
[[nodiscard]] bool is_archive(std::string_view prefix);
/// True for the first bytes of a file packed by zstd, xz or bzip2.
[[nodiscard]] bool is_packed(std::string_view prefix);

/// What may come out of a file; more is an error. Whoever keeps all of it allows less, see
/// check_unpacked().
struct UnpackLimits {
  std::uint64_t always = always_unpacked;  ///< bytes, however small the file
  std::uint64_t per_byte = 1000;           ///< for each byte of the file, as gzip makes at most
  std::uint64_t most_members = 100'000;    ///< of an archive, those without bytes too
};

/// A source of what a packed file holds, as its first bytes say; the file as it is where the build
/// has no libarchive. Damage ends the stream and is told by `trouble()`.
[[nodiscard]] std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> packed,
                                                 std::string_view prefix,
                                                 const UnpackLimits& limits = {});

/// A regular file of an archive. Reads from the archive's own source: open one at a time.
struct ArchiveMember {
  std::string name;
  std::unique_ptr<ByteSource> bytes;
};

/// Walks an archive in one pass and bounded memory, so that pipes work and no byte of a zip file is
/// unpacked twice.
class ArchiveReader {
 public:
  explicit ArchiveReader(ByteSource& archive, const UnpackLimits& limits = {});
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// The next regular file that is not empty; nullopt at the end. What was left of the previous one
  /// is skipped. AppleDouble copies of attributes ("._name") are left out. Errors: damage, a cut
  /// archive, more than the limits, no libarchive.
  [[nodiscard]] Result<std::optional<ArchiveMember>> next();

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace foretrace::trace
