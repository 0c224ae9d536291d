// ByteSource: bytes of a file in order and in bounded memory, unpacked if it is gzip, zstd, xz or
// bzip2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/result.h"

namespace foretrace::trace {

/// A stream of bytes. Damage (a truncated .gz) ends the stream and is told by `trouble()`.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills up to buffer.size() bytes; fewer only at the end. 0 at the end.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<char> buffer) = 0;
  /// Bytes of the file taken so far, and its size (0 if unknown).
  [[nodiscard]] virtual std::uint64_t consumed() const = 0;
  [[nodiscard]] virtual std::uint64_t file_size() const = 0;
  /// Empty, or one line on why the stream ended early.
  [[nodiscard]] virtual std::string_view trouble() const = 0;
  /// Path for messages.
  [[nodiscard]] virtual std::string_view path() const = 0;
  /// The path of the regular file whose bytes these are, unchanged and from the first on; empty for
  /// anything else: what was unpacked, pipes, parts of a file.
  [[nodiscard]] virtual std::string_view plain_file() const { return {}; }
};

/// Opens a file and unpacks it, see plain(). "-" is standard input. Refuses directories,
/// unreadable files, and a terminal as standard input.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& given);
/// A source over bytes in memory (tests, fuzzing), unpacked likewise.
[[nodiscard]] std::unique_ptr<ByteSource> open_memory(std::string_view bytes, std::string path);
/// The unpacked bytes of a source whose first bytes say gzip, zstd, xz or bzip2; any other as it
/// is. Errors: those of reading it.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> plain(std::unique_ptr<ByteSource> source);
/// The same bytes again from the start of a prefix that was already read.
[[nodiscard]] std::unique_ptr<ByteSource> with_prefix(std::string prefix,
                                                      std::unique_ptr<ByteSource> rest);

}  // namespace foretrace::trace
