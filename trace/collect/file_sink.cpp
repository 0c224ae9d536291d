#include "trace/collect/file_sink.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace foretrace::trace::collector {
namespace {

/// Programs close and reopen low numbers; near the limit there is nobody. A table of descriptors
/// grows with its highest one, so not beyond some thousands.
int out_of_the_way(int descriptor) noexcept {
  constexpr ::rlim_t most = 8192;
  constexpr ::rlim_t from_the_top = 64;
  struct rlimit limit {};
  if (descriptor < 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptor;
  const ::rlim_t top = std::min(limit.rlim_cur, most);
  const ::rlim_t from = std::max(top / 2, top - std::min(top, from_the_top));
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(from));
  if (moved < 0) return descriptor;
  ::close(descriptor);
  return moved;
}

int open_once(const std::string& path, int flags) noexcept {
  return out_of_the_way(
      ::open(path.c_str(), flags | O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

FileSink::FileSink(std::string path) noexcept
    : path_(std::move(path)), descriptor_(open_once(path_, O_CREAT | O_EXCL)) {
  error_ = descriptor_ < 0 ? errno : 0;
  // From its name: the number may be another file's by now.
  struct stat status {};
  if (error_ == 0 && ::lstat(path_.c_str(), &status) != 0) {
    error_ = errno;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

FileSink::~FileSink() {
  if (descriptor_ >= 0 && is_ours(descriptor_)) {
    ::close(descriptor_);
  }
}

bool FileSink::is_ours(int descriptor) const noexcept {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool FileSink::open_again() noexcept {
  // The old number belongs to the program now: it is not closed.
  descriptor_ = open_once(path_, 0);
  if (descriptor_ >= 0 && !is_ours(descriptor_)) {
    ::close(std::exchange(descriptor_, -1));
  }
  return descriptor_ >= 0;
}

// Blocks behind the end of the file, which keeps its size: a program that is killed leaves it
// whole.
int FileSink::keep_free(std::size_t bytes) noexcept {
  if (error_ != 0 || size_ + bytes <= kept_ || (!is_ours(descriptor_) && !open_again())) {
    return error_;
  }
  int done = -1;
  do {
    done = ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<::off_t>(size_),
                       static_cast<::off_t>(bytes));
  } while (done != 0 && errno == EINTR);
  if (done == 0) {
    kept_ = size_ + bytes;
  }
  // Network disks and others have no such promise: then what is written tells.
  return done != 0 && (errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

void FileSink::give_back() noexcept {
  if (kept_ > size_ && is_ours(descriptor_) &&
      ::ftruncate(descriptor_, static_cast<::off_t>(size_)) == 0) {
    kept_ = size_;
  }
}

int FileSink::write(std::string_view bytes, std::size_t free_behind) noexcept {
  if (free_behind > 0) {
    if (const int problem = keep_free(bytes.size() + free_behind); problem != 0) return problem;
  }
  if (bytes.empty()) {
    give_back();
  }
  const std::uint64_t before = size_;
  while (error_ == 0 && !bytes.empty()) {
    if (!is_ours(descriptor_) && !open_again()) return error_ = EBADF;
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(done));
      size_ += static_cast<std::uint64_t>(done);
    } else if (done == 0 || errno != EINTR) {
      const int problem = done == 0 ? ENOSPC : errno;
      // What came before stays whole, and what is given back may be room for an end.
      if (is_ours(descriptor_) && ::ftruncate(descriptor_, static_cast<::off_t>(before)) == 0) {
        size_ = before;
        kept_ = before;
      } else {
        error_ = problem;
      }
      return problem;
    }
  }
  return error_;
}

void FileSink::remove() noexcept {
  struct stat status {};
  if (error_ == 0 && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

}  // namespace foretrace::trace::collector
