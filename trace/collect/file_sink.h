// A file that is only ever appended to, for recordings.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::trace::collector {

class FileSink {
 public:
  /// Makes the file, or empties one that is there. Check `error`.
  explicit FileSink(const std::string& path) noexcept;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink();
  /// All of it, or false.
  [[nodiscard]] bool write(std::string_view bytes) noexcept;
  /// Of the last failure; 0: none.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int descriptor_;
  int error_ = 0;
};

}  // namespace foretrace::trace::collector
