// Packed files and archives made in tests; only where the build has libarchive.
#pragma once

#ifdef FORETRACE_HAS_LIBARCHIVE
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

namespace foretrace::test {

struct PackedFile {
  std::string name;
  std::string bytes;
};

/// What libarchive writes of these files once `prepare` has chosen format and filters.
inline std::string packed_by(const std::function<void(archive*)>& prepare,
                             const std::vector<PackedFile>& files) {
  std::string packed;
  archive* const out = archive_write_new();
  prepare(out);
  archive_write_set_bytes_in_last_block(out, 1);
  const auto append = [](archive*, void* self, const void* bytes, std::size_t size) {
    static_cast<std::string*>(self)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  };
  REQUIRE(archive_write_open(out, &packed, nullptr, append, nullptr) == ARCHIVE_OK);
  for (const PackedFile& file : files) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, file.name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(file.bytes.size()));
    archive_entry_set_perm(entry, 0644);
    REQUIRE(archive_write_header(out, entry) == ARCHIVE_OK);
    REQUIRE(archive_write_data(out, file.bytes.data(), file.bytes.size()) ==
            static_cast<la_ssize_t>(file.bytes.size()));
    archive_entry_free(entry);
  }
  REQUIRE(archive_write_close(out) == ARCHIVE_OK);
  archive_write_free(out);
  return packed;
}

inline constexpr std::string_view packings[] = {"zstd", "xz", "bzip2", "gzip"};

/// The bytes packed by one of them.
inline std::string packed_as(std::string_view packing, const std::string& bytes) {
  const auto prepare = [&](archive* out) {
    REQUIRE(archive_write_add_filter_by_name(out, std::string(packing).c_str()) == ARCHIVE_OK);
    archive_write_set_format_raw(out);
  };
  return packed_by(prepare, {{"one", bytes}});
}

inline std::string zip_of(const std::vector<PackedFile>& files) {
  return packed_by([](archive* out) { archive_write_set_format_zip(out); }, files);
}

inline std::string tar_of(const std::vector<PackedFile>& files) {
  return packed_by([](archive* out) { archive_write_set_format_pax_restricted(out); }, files);
}

}  // namespace foretrace::test
#endif
