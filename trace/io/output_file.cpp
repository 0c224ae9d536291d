#include "trace/io/output_file.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace foretrace::trace {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18U;
constexpr ::mode_t permissions = 0777;  // of a mode: set-user-id and the like do not carry over

/// With the slash at its end.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

std::string descriptor_path(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// What a path stands for.
struct Place {
  std::string path;  ///< behind links
  bool exists = false;
  bool is_regular = false;  ///< if it exists
  bool is_open = false;     ///< the path names something that this program holds open
  int error = 0;
};

/// Follows the links that the last component may be; a link to what is not there names it.
Place place_of(std::string path) {
  constexpr int most_links = 40;  // as the system has it
  Place place;
  struct stat status {};
  for (int i = 0; i < most_links; ++i) {
    place.is_open = place.is_open || path.starts_with("/proc/") || path.starts_with("/dev/fd/");
    if (::lstat(path.c_str(), &status) != 0) {
      place.error = errno == ENOENT ? 0 : errno;
      place.path = std::move(path);
      return place;
    }
    if (!S_ISLNK(status.st_mode) || place.is_open) {
      place.exists = ::stat(path.c_str(), &status) == 0;
      place.is_regular = place.exists && S_ISREG(status.st_mode);
      place.error = place.exists && S_ISDIR(status.st_mode) ? EISDIR : 0;
      place.path = std::move(path);
      return place;
    }
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) break;
    const std::string_view next(target.data(), static_cast<std::size_t>(length));
    path = (next.front() == '/' ? std::string() : folder_of(path)).append(next);
  }
  place.error = ELOOP;
  place.path = std::move(path);
  return place;
}

int open_again(const std::string& path, int flags, ::mode_t mode) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

std::string name_beside(const std::string& place) {
  return folder_of(place) + ".foretrace-" + random_digits(8) + ".tmp";
}

}  // namespace

std::string random_digits(std::size_t bytes) {
  std::random_device source;
  std::string digits;
  while (digits.size() < 2 * bytes) {
    digits += fmt::format("{:02x}", source() & 0xFFU);
  }
  return digits;
}

Result<OutputFile> OutputFile::create(const std::string& path, OutputAccess access) {
  OutputFile file;
  file.path_ = path;
  Place place = place_of(path);
  file.place_ = std::move(place.path);
  file.error_ = place.error;
  file.direct_ = place.is_open || (place.exists && !place.is_regular);
  if (file.error_ == 0 && place.is_regular && !file.direct_ &&
      ::faccessat(AT_FDCWD, file.place_.c_str(), W_OK, AT_EACCESS) != 0) {
    file.error_ = errno;  // a rename would replace it all the same
  }
  if (file.error_ == 0 && file.direct_) {
    file.open_direct();
  } else if (file.error_ == 0) {
    file.open_beside(access);
  }
  if (file.error_ != 0) return file.broken();
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      place_(std::move(other.place_)),
      temporary_(std::exchange(other.temporary_, {})),
      waiting_(std::move(other.waiting_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      direct_(other.direct_) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void OutputFile::open_direct() {
  descriptor_ = open_again(place_, O_TRUNC, 0);
  error_ = descriptor_ < 0 ? errno : 0;
}

void OutputFile::open_beside(OutputAccess access) {
  struct stat old {};
  const bool replaces = ::stat(place_.c_str(), &old) == 0;
  const bool is_new = !replaces && access == OutputAccess::as_usual;
  const ::mode_t mode = is_new ? 0666 : 0600;
  // Without a name nothing stays if the program is killed. Not every file system can do that, and
  // the name is given through /proc.
  descriptor_ = open_again(folder_of(place_), O_TMPFILE, mode);
  if (descriptor_ >= 0 && ::access(descriptor_path(descriptor_).c_str(), F_OK) != 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
  if (descriptor_ < 0) {
    temporary_ = name_beside(place_);
    descriptor_ = open_again(temporary_, O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    error_ = descriptor_ < 0 ? errno : 0;
  }
  if (error_ != 0) {
    temporary_.clear();
  } else if (replaces && access == OutputAccess::as_usual) {
    // The owner first: a change of owner takes permissions away. Only root may give files away.
    static_cast<void>(::fchown(descriptor_, old.st_uid, old.st_gid) == 0);
    static_cast<void>(::fchmod(descriptor_, old.st_mode & permissions));
  }
}

Error OutputFile::broken() const {
  return {ErrorCode::io,
          fmt::format("cannot write '{}': {}", path_, std::generic_category().message(error_))};
}

void OutputFile::flush() {
  std::string_view rest = waiting_;
  while (error_ == 0 && !rest.empty()) {
    const ssize_t done = ::write(descriptor_, rest.data(), rest.size());
    if (done >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(done));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  waiting_.clear();
}

bool OutputFile::write(std::string_view bytes) {
  waiting_.append(bytes);
  if (waiting_.size() >= buffer_bytes) {
    flush();
  }
  return error_ == 0;
}

void OutputFile::name_it() {
  const std::string open_file = descriptor_path(descriptor_);
  std::string name = name_beside(place_);
  if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    temporary_ = std::move(name);
  } else {
    error_ = errno;
  }
}

Status OutputFile::commit() {
  flush();
  const auto failed = [this](int result) { return error_ == 0 && result != 0; };
  // EINVAL: what cannot be synced, such as a pipe.
  if (failed(::fsync(descriptor_)) && errno != EINVAL && errno != ENOTSUP) {
    error_ = errno;
  }
  if (error_ == 0 && !direct_ && temporary_.empty()) {
    name_it();
  }
  if (failed(::close(std::exchange(descriptor_, -1)))) {
    error_ = errno;
  }
  if (error_ == 0 && !direct_) {
    if (::rename(temporary_.c_str(), place_.c_str()) == 0) {
      temporary_.clear();
      // The new name lasts once its folder is synced; the file itself is whole either way.
      if (const int folder = ::open(folder_of(place_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
          folder >= 0) {
        static_cast<void>(::fsync(folder));
        ::close(folder);
      }
    } else {
      error_ = errno;
    }
  }
  return error_ == 0 ? ok_status() : Status(broken());
}

Status check_writable(const std::string& path) {
  const Place place = place_of(path);
  if (place.error == 0 && place.exists && (place.is_open || !place.is_regular)) {
    return ok_status();  // opening a pipe may wait for its reader
  }
  FORETRACE_TRY(OutputFile::create(path));
  return ok_status();
}

}  // namespace foretrace::trace
