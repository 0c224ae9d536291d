#include "trace/collect/file_sink.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace foretrace::trace::collector {

FileSink::FileSink(const std::string& path) noexcept
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)),
      error_(descriptor_ < 0 ? errno : 0) {}

FileSink::~FileSink() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

bool FileSink::write(std::string_view bytes) noexcept {
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(done));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  return error_ == 0;
}

}  // namespace foretrace::trace::collector
