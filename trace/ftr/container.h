// The frame of .ftr files: a head, then chunks with checksums, only ever appended.
//
//   head   "\x89FTR\r\n\x1a\n", version (u32), checksum of the 12 bytes before (u32)
//   chunk  "FTRC", kind (u16), flags (u16), payload bytes (u32), ordinal (u32),
//          checksum of the payload (u32), checksum of the 20 bytes before (u32), payload
//
// All numbers are little-endian. A writer that was killed leaves whole chunks and at most one cut
// one; a chunk with a wrong checksum is left out, and reading goes on at the next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/table/import_report.h"

namespace foretrace::trace::ftr {

inline constexpr std::string_view magic =
    "\x89"
    "FTR\r\n\x1a\n";
inline constexpr std::string_view chunk_magic = "FTRC";
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::size_t head_bytes = 16;
inline constexpr std::size_t chunk_head_bytes = 24;
/// Writers stay far below; a size beyond it is damage.
inline constexpr std::uint32_t largest_payload = std::uint32_t{1} << 28U;

/// What a chunk holds. Numbers are part of the format.
enum class ChunkKind : std::uint16_t {
  info = 1,         ///< pairs of texts
  names = 2,        ///< texts, numbered in the order of the file
  tracks = 3,       ///< rows
  descriptors = 4,  ///< rows
  events = 5,       ///< rows
  sequence_numbers = 6,
  syncs = 7,
  flows = 8,
  memory = 9,
  devices = 10,
  report = 11,  ///< what the import of the original said
  end = 12,     ///< the last chunk of a file that was finished
  record_functions = 13,
  first_record = 64,  ///< 64 + kind of record: rows of a collector
};

/// The head of a file.
[[nodiscard]] std::string head();
/// A chunk around a payload. `ordinal` counts the chunks of a file from 0.
[[nodiscard]] std::string chunk(ChunkKind kind, std::uint32_t ordinal, std::string_view payload);

struct Chunk {
  ChunkKind kind{};
  std::uint16_t flags = 0;
  std::uint32_t ordinal = 0;
  std::uint32_t sum = 0;
  std::uint64_t offset = 0;  ///< of the head of the chunk
  std::string_view payload;
  bool damaged = false;
};

/// Finds the chunks of a whole file (its head was checked); cut and broken ones are counted.
[[nodiscard]] std::vector<Chunk> find_chunks(std::string_view file, ImportReport& report);

/// Compares checksums, in parallel where there is much; damaged chunks are marked and counted.
void check_chunks(std::vector<Chunk>& chunks, ImportReport& report);

}  // namespace foretrace::trace::ftr
