// A new file that is only ever appended to, inside a program that knows nothing of it: the program
// may close any descriptor and open files of its own under the same number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace foretrace::trace::collector {

class FileSink {
 public:
  /// Makes the file, readable by its owner only. Check `error`: EEXIST where the name is taken,
  /// also by a link.
  explicit FileSink(std::string path) noexcept;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink();
  /// 0, or why the bytes are not in the file; then none of them is. EBADF: the program closed the
  /// file and it cannot be found again. Behind them so many bytes are kept free for later writes,
  /// where the file system can promise that; to write nothing gives back what is kept. One thread
  /// at a time.
  [[nodiscard]] int write(std::string_view bytes, std::size_t free_behind = 0) noexcept;
  /// Takes the file away, for nothing was recorded.
  void remove() noexcept;
  /// Why it could not be made; 0: it was.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  [[nodiscard]] bool is_ours(int descriptor) const noexcept;
  [[nodiscard]] bool open_again() noexcept;
  [[nodiscard]] int keep_free(std::size_t bytes) noexcept;
  void give_back() noexcept;

  std::string path_;
  int descriptor_ = -1;
  int error_ = 0;
  ::dev_t device_ = 0;
  ::ino_t inode_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t kept_ = 0;  // bytes behind which nothing is promised to us
};

}  // namespace foretrace::trace::collector
