// A file that takes its place whole: it is written beside it, synced and renamed. A program that is
// killed, a full disk, an error or a second writer leave the old file or the new one, never half.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/result.h"

namespace foretrace::trace {

/// Who may read a new file.
enum class OutputAccess : std::uint8_t {
  as_usual,   ///< as the file that it replaces, else as the user's umask says
  owner_only  ///< mode 0600: what may hold secrets
};

/// Pipes, terminals and devices are written as they are. What is not committed is removed.
class OutputFile {
 public:
  /// Errors: a folder that is not there or cannot be written, a file that may not be replaced.
  [[nodiscard]] static Result<OutputFile> create(const std::string& path,
                                                 OutputAccess access = OutputAccess::as_usual);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// False once the bytes cannot be kept; `commit` says why.
  [[nodiscard]] bool write(std::string_view bytes);
  /// Puts the file in its place. Call once, last.
  [[nodiscard]] Status commit();

 private:
  OutputFile() = default;
  void open_direct();
  void open_beside(OutputAccess access);
  void flush();
  void name_it();
  [[nodiscard]] Error broken() const;

  std::string path_;       // as it was given, for messages
  std::string place_;      // where it goes: behind links
  std::string temporary_;  // the name it has until then; empty: none yet
  std::string waiting_;    // bytes that are not written yet
  int descriptor_ = -1;
  int error_ = 0;
  bool direct_ = false;
};

/// The same error that `OutputFile::create` would give, and nothing left behind: for commands to
/// ask before long work.
[[nodiscard]] Status check_writable(const std::string& path);

/// As many random bytes as hexadecimal digits.
[[nodiscard]] std::string random_digits(std::size_t bytes);

}  // namespace foretrace::trace
