#include "trace/io/archive.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#ifdef FORETRACE_HAS_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif
#include <fmt/format.h>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

enum class Packing : std::uint8_t { none, zstd, xz, bzip2 };

Packing packing_of(std::string_view start) {
  if (start.starts_with("\x28\xB5\x2F\xFD")) return Packing::zstd;
  if (start.starts_with("\xFD"
                        "7zXZ")) {
    return Packing::xz;
  }
  // Behind the level comes a block or the end: pi, or the root of it.
  const bool bzip2 = start.size() >= packed_prefix && start.starts_with("BZh") &&
                     is_digit(start[3]) && (start[4] == '1' || start[4] == '\x17');
  return bzip2 ? Packing::bzip2 : Packing::none;
}

}  // namespace

bool is_archive(std::string_view prefix) {
  constexpr std::size_t magic_at = 257;  // of the ustar header (POSIX.1-1988)
  return prefix.starts_with("PK\x03\x04") ||
         (prefix.size() >= archive_prefix && prefix.substr(magic_at, 5) == "ustar");
}

bool is_packed(std::string_view prefix) { return packing_of(prefix) != Packing::none; }

#ifdef FORETRACE_HAS_LIBARCHIVE
namespace {

constexpr std::size_t archive_piece = std::size_t{1} << 17U;

/// libarchive over a source: one entry after the other, and the bytes of the current one.
class Unpacker {
 public:
  Unpacker(ByteSource& source, const UnpackLimits& limits)
      : source_(source), limits_(limits), input_(archive_piece), archive_(archive_read_new()) {
    if (archive_ == nullptr) throw std::bad_alloc();
    archive_read_set_callback_data(archive_.get(), this);
    archive_read_set_read_callback(archive_.get(), [](archive*, void* self, const void** bytes) {
      return static_cast<Unpacker*>(self)->feed(bytes);
    });
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() = default;

  [[nodiscard]] archive* handle() { return archive_.get(); }
  [[nodiscard]] std::string_view trouble() const { return trouble_; }

  /// libarchive's code for the next entry; an error only where the source or a limit has one.
  Result<int> next(archive_entry** entry) {
    if (error_) return *error_;
    int code = ARCHIVE_OK;
    if (!is_open_) {
      is_open_ = true;
      code = archive_read_open1(archive_.get());
      // A packed file that is cut before its first byte comes out is an empty one to libarchive.
      if (archive_errno(archive_.get()) != 0) code = ARCHIVE_FATAL;
    }
    if (code == ARCHIVE_OK) code = archive_read_next_header(archive_.get(), entry);
    if (error_) return *error_;
    if (code == ARCHIVE_RETRY) code = ARCHIVE_FATAL;  // a header that is none
    block_ = {};
    zeros_ = 0;
    position_ = 0;
    ended_ = code < ARCHIVE_WARN || code == ARCHIVE_EOF;
    trouble_ = code < ARCHIVE_WARN ? place_of(reason()) : std::string();
    return code;
  }

  Result<std::size_t> read(std::span<char> buffer) {
    std::size_t made = 0;
    while (made < buffer.size()) {
      const std::uint64_t ready = zeros_ > 0 ? zeros_ : block_.size();
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(ready, buffer.size() - made));
      if (zeros_ > 0) {
        std::fill_n(buffer.data() + made, count, '\0');
        zeros_ -= count;
      } else if (count > 0) {
        std::memcpy(buffer.data() + made, block_.data(), count);
        block_.remove_prefix(count);
      } else if (ended_) {
        break;
      } else {
        FORETRACE_TRY(next_block());
      }
      made += count;
    }
    return made;
  }

  /// What libarchive says, as the end of a line of ours.
  [[nodiscard]] std::string reason() const {
    const char* const text = archive_error_string(archive_.get());
    std::string reason = text == nullptr ? "damaged" : text;
    const bool is_word = reason.size() > 1 && to_lower(reason[1]) == reason[1];
    if (is_word) reason[0] = to_lower(reason[0]);
    return reason;
  }

 private:
  struct Free {
    void operator()(archive* it) const { archive_read_free(it); }
  };

  la_ssize_t feed(const void** bytes) {
    auto got = source_.read(input_);
    if (!got) {
      error_ = std::move(got).error();
      archive_set_error(archive_.get(), EIO, "cannot be read");
      return -1;
    }
    *bytes = input_.data();
    return static_cast<la_ssize_t>(*got);
  }

  [[nodiscard]] std::string place_of(const std::string& what) const {
    const bool is_all = source_.consumed() == source_.file_size();
    return fmt::format("{}, before byte {} of the file{}", what, source_.consumed(),
                       is_all ? ", which ends there" : "");
  }

  // Holes of sparse files are zeros that no byte of the archive stands for: they count as well.
  Status next_block() {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int code = archive_read_data_block(archive_.get(), &bytes, &size, &offset);
    if (error_) return *error_;
    const bool back = offset < 0 || static_cast<std::uint64_t>(offset) < position_;
    ended_ = code == ARCHIVE_EOF || code == ARCHIVE_RETRY || code < ARCHIVE_WARN || back;
    if (code != ARCHIVE_EOF && (code != ARCHIVE_OK || back)) {
      trouble_ = place_of(reason());
    }
    if (ended_) return ok_status();
    block_ = {static_cast<const char*>(bytes), size};
    zeros_ = static_cast<std::uint64_t>(offset) - position_;
    position_ = static_cast<std::uint64_t>(offset) + size;
    made_ += zeros_ + size;
    Status status = check_unpacked(source_, made_, limits_.always, limits_.per_byte);
    if (!status) error_ = status.error();
    return status;
  }

  ByteSource& source_;
  UnpackLimits limits_;
  std::vector<char> input_;
  std::unique_ptr<archive, Free> archive_;
  std::optional<Error> error_;  // of the source, or a limit: nothing is read behind it
  std::string trouble_;
  std::string_view block_;      // of libarchive, not given on yet
  std::uint64_t zeros_ = 0;     // before it
  std::uint64_t position_ = 0;  // in the entry, behind the block
  std::uint64_t made_ = 0;      // of all entries
  bool is_open_ = false;
  bool ended_ = true;
};

class PackedSource final : public ByteSource {
 public:
  PackedSource(std::unique_ptr<ByteSource> packed, Packing packing, const UnpackLimits& limits)
      : packed_(std::move(packed)), unpacker_(*packed_, limits) {
    const int filter = packing == Packing::zstd ? ARCHIVE_FILTER_ZSTD
                       : packing == Packing::xz ? ARCHIVE_FILTER_XZ
                                                : ARCHIVE_FILTER_BZIP2;
    // This one and no other: libarchive itself would unpack what is packed 25 times.
    archive_read_append_filter(unpacker_.handle(), filter);
    archive_read_support_format_raw(unpacker_.handle());
    archive_read_support_format_empty(unpacker_.handle());
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!is_started_) {
      is_started_ = true;
      archive_entry* entry = nullptr;
      FORETRACE_TRY(unpacker_.next(&entry));
    }
    return unpacker_.read(buffer);
  }
  [[nodiscard]] std::uint64_t consumed() const override { return packed_->consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return packed_->file_size(); }
  [[nodiscard]] std::string_view trouble() const override { return unpacker_.trouble(); }
  [[nodiscard]] std::string_view path() const override { return packed_->path(); }

 private:
  std::unique_ptr<ByteSource> packed_;
  Unpacker unpacker_;
  bool is_started_ = false;
};

}  // namespace

bool reads_archives() { return true; }

std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> packed, std::string_view prefix,
                                   const UnpackLimits& limits) {
  return std::make_unique<PackedSource>(std::move(packed), packing_of(prefix), limits);
}

class ArchiveReader::Walk {
 public:
  Walk(ByteSource& archive, const UnpackLimits& limits)
      : archive_(archive), limits_(limits), unpacker_(archive, limits) {
    archive_read_support_format_tar(unpacker_.handle());
    archive_read_support_format_zip_streamable(unpacker_.handle());
  }

  Result<std::optional<ArchiveMember>> next() {
    while (true) {
      archive_entry* entry = nullptr;
      FORETRACE_TRY(const int code, unpacker_.next(&entry));
      if (code == ARCHIVE_EOF) return std::optional<ArchiveMember>{};
      if (code < ARCHIVE_WARN) return damaged(unpacker_.reason());
      if (++members_ > limits_.most_members) {
        return damaged(fmt::format("more than {} files", limits_.most_members));
      }
      std::string name = name_of(*entry);
      const bool is_empty = archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) == 0;
      if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr ||
          is_empty || file_name_of(name).starts_with("._")) {
        continue;
      }
      auto bytes = std::make_unique<Member>(*this, fmt::format("{}:{}", archive_.path(), name));
      return std::optional(ArchiveMember{std::move(name), std::move(bytes)});
    }
  }

 private:
  /// Bytes of one member; ends with it.
  class Member final : public ByteSource {
   public:
    Member(Walk& walk, std::string path) : walk_(walk), path_(std::move(path)) {}
    Result<std::size_t> read(std::span<char> buffer) override {
      return walk_.unpacker_.read(buffer);
    }
    [[nodiscard]] std::uint64_t consumed() const override { return walk_.archive_.consumed(); }
    [[nodiscard]] std::uint64_t file_size() const override { return walk_.archive_.file_size(); }
    [[nodiscard]] std::string_view trouble() const override { return walk_.unpacker_.trouble(); }
    [[nodiscard]] std::string_view path() const override { return path_; }

   private:
    Walk& walk_;
    std::string path_;
  };

  /// As it is written where the locale has it; names of pax and zip may be UTF-8 that it has not.
  std::string name_of(archive_entry& entry) const {
    const char* name = archive_entry_pathname(&entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(&entry);
    return name == nullptr ? fmt::format("file {}", members_) : name;
  }

  [[nodiscard]] Error damaged(std::string_view what) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: archive, at byte {}: {}", archive_.path(),
                             archive_filter_bytes(unpacker_.handle(), 0), what)};
  }

  ByteSource& archive_;
  UnpackLimits limits_;
  Unpacker unpacker_;
  std::uint64_t members_ = 0;
};

#else
bool reads_archives() { return false; }

std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> packed, std::string_view /*prefix*/,
                                   const UnpackLimits& /*limits*/) {
  return packed;
}

class ArchiveReader::Walk {
 public:
  Walk(ByteSource& archive, const UnpackLimits& /*limits*/) : archive_(archive) {}
  [[nodiscard]] Result<std::optional<ArchiveMember>> next() const {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: is an archive, which this build cannot read (it has no "
                             "libarchive); unpack it and use its files",
                             archive_.path())};
  }

 private:
  ByteSource& archive_;
};
#endif

ArchiveReader::ArchiveReader(ByteSource& archive, const UnpackLimits& limits)
    : walk_(std::make_unique<Walk>(archive, limits)) {}
ArchiveReader::~ArchiveReader() = default;

Result<std::optional<ArchiveMember>> ArchiveReader::next() { return walk_->next(); }

}  // namespace foretrace::trace
