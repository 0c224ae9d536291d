#include "trace/io/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/io/archive.h"
#include "trace/io/gzip.h"

namespace foretrace::trace {
namespace {

// What messages call it.
constexpr std::string_view standard_input = "standard input";

std::string reason_of(int error_number) { return std::generic_category().message(error_number); }

// A regular file, or a pipe: nothing here seeks.
class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, const struct stat& status, std::string path)
      : descriptor_(descriptor),
        is_regular_(S_ISREG(status.st_mode)),
        size_(is_regular_ ? static_cast<std::uint64_t>(status.st_size) : 0),
        path_(std::move(path)) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    std::size_t made = 0;
    while (made < buffer.size()) {
      const ssize_t got = ::read(descriptor_, buffer.data() + made, buffer.size() - made);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return Error{ErrorCode::io, fmt::format("{}: cannot read at byte {}: {}", path_, taken_,
                                                reason_of(errno))};
      }
      if (got == 0) break;
      made += static_cast<std::size_t>(got);
      taken_ += static_cast<std::uint64_t>(got);
    }
    return made;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return taken_; }
  [[nodiscard]] std::uint64_t file_size() const override { return size_; }
  [[nodiscard]] std::string_view trouble() const override { return {}; }
  [[nodiscard]] std::string_view path() const override { return path_; }
  [[nodiscard]] std::string_view plain_file() const override {
    return is_regular_ && path_ != standard_input ? std::string_view(path_) : std::string_view();
  }

 private:
  int descriptor_;
  bool is_regular_;
  std::uint64_t size_;
  std::uint64_t taken_ = 0;
  std::string path_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - taken_);
    if (count > 0) {
      std::memcpy(buffer.data(), bytes_.data() + taken_, count);
    }
    taken_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return taken_; }
  [[nodiscard]] std::uint64_t file_size() const override { return bytes_.size(); }
  [[nodiscard]] std::string_view trouble() const override { return {}; }
  [[nodiscard]] std::string_view path() const override { return path_; }

 private:
  std::string_view bytes_;
  std::size_t taken_ = 0;
  std::string path_;
};

class PrefixedSource final : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), prefix_.size() - given_);
    if (count > 0) {
      std::memcpy(buffer.data(), prefix_.data() + given_, count);
      given_ += count;
      if (given_ == prefix_.size()) {
        prefix_ = std::string();
        given_ = 0;
      }
    }
    if (count == buffer.size()) return count;
    FORETRACE_TRY(auto more, rest_->read(buffer.subspan(count)));
    return count + more;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return rest_->consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return rest_->file_size(); }
  [[nodiscard]] std::string_view trouble() const override { return rest_->trouble(); }
  [[nodiscard]] std::string_view path() const override { return rest_->path(); }
  [[nodiscard]] std::string_view plain_file() const override { return rest_->plain_file(); }

 private:
  std::string prefix_;
  std::size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// Closes the descriptor on every way out of open_file that does not keep it.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& given) {
  const bool is_input = given == "-";
  const std::string path = is_input ? std::string(standard_input) : given;
  FileDescriptor file(is_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) {
    const int problem = errno;
    const ErrorCode code = problem == ENOENT ? ErrorCode::not_found : ErrorCode::io;
    const std::string reason = problem == ENOENT   ? "no such file"
                               : problem == EACCES ? "permission denied"
                                                   : reason_of(problem);
    return Error{code, fmt::format("{}: cannot open: {}", path, reason)};
  }
  if (is_input && ::isatty(file.number()) == 1) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("{}: is a terminal, expected a trace from a file or a pipe", path)};
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    return Error{ErrorCode::io, fmt::format("{}: cannot open: {}", path, reason_of(errno))};
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: is a directory, expected a trace file", path)};
  }
  std::unique_ptr<ByteSource> raw = std::make_unique<FileSource>(file.release(), status, path);
  return plain(std::move(raw));
}

std::unique_ptr<ByteSource> open_memory(std::string_view bytes, std::string path) {
  return plain(std::make_unique<MemorySource>(bytes, std::move(path))).value();
}

Result<std::unique_ptr<ByteSource>> plain(std::unique_ptr<ByteSource> source) {
  std::string first(packed_prefix, '\0');
  FORETRACE_TRY(auto got, source->read(first));
  first.resize(got);
  std::unique_ptr<ByteSource> whole = with_prefix(first, std::move(source));
  if (looks_like_gzip(first)) return inflate(std::move(whole));
  return is_packed(first) ? unpack(std::move(whole), first) : std::move(whole);
}

std::unique_ptr<ByteSource> with_prefix(std::string prefix, std::unique_ptr<ByteSource> rest) {
  return std::make_unique<PrefixedSource>(std::move(prefix), std::move(rest));
}

}  // namespace foretrace::trace
