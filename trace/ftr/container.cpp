#include "trace/ftr/container.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/parallel.h"
#include "trace/ftr/bytes.h"
#include "trace/ftr/deflate.h"

namespace foretrace::trace::ftr {
namespace {

constexpr std::size_t checked_bytes = chunk_head_bytes - 4;
// Below this, starting a thread costs more than it saves.
constexpr std::size_t bytes_worth_threads = std::size_t{1} << 19;

// True if a whole, undamaged head of a chunk starts here.
bool is_chunk_head(std::string_view at) {
  return at.size() >= chunk_head_bytes && at.starts_with(chunk_magic) &&
         fixed_at(at.data() + checked_bytes, 4) == checksum(at.substr(0, checked_bytes)) &&
         fixed_at(at.data() + 8, 4) <= largest_payload;
}

// Where the next undamaged head starts, or the end of the file.
std::size_t next_head(std::string_view file, std::size_t from) {
  std::size_t at = file.find(chunk_magic, from);
  while (at != std::string_view::npos && !is_chunk_head(file.substr(at))) {
    at = file.find(chunk_magic, at + 1);
  }
  return std::min(at, file.size());
}

}  // namespace

std::vector<Chunk> find_chunks(std::string_view file, ImportReport& report) {
  std::vector<Chunk> chunks;
  std::size_t at = head_bytes;
  while (at < file.size()) {
    const std::string_view rest = file.substr(at);
    if (!is_chunk_head(rest)) {
      const std::size_t next = next_head(file, at + 1);
      if (next == file.size() && rest.size() < chunk_head_bytes) {
        report.warnings.push_back(fmt::format(
            "the file ends inside a chunk at byte {}: {} bytes are left out", at, rest.size()));
      } else {
        report.count(DamageKind::dropped, "bytes outside of chunks", at,
                     fmt::format("{} bytes", next - at));
      }
      at = next;
      continue;
    }
    const std::size_t size = fixed_at(rest.data() + 8, 4);
    if (size > rest.size() - chunk_head_bytes) {
      report.warnings.push_back(
          fmt::format("the file ends inside a chunk at byte {}: its {} of {} bytes are left out",
                      at, rest.size() - chunk_head_bytes, size));
      break;
    }
    chunks.push_back(Chunk{static_cast<ChunkKind>(fixed_at(rest.data() + 4, 2)),
                           static_cast<std::uint16_t>(fixed_at(rest.data() + 6, 2)),
                           static_cast<std::uint32_t>(fixed_at(rest.data() + 12, 4)),
                           static_cast<std::uint32_t>(fixed_at(rest.data() + 16, 4)), at,
                           rest.substr(chunk_head_bytes, size), false});
    at += chunk_head_bytes + size;
  }
  return chunks;
}

void check_chunks(std::vector<Chunk>& chunks, ImportReport& report) {
  std::size_t bytes = 0;
  for (const Chunk& one : chunks) {
    bytes += one.payload.size();
  }
  for_each_index(
      chunks.size(),
      [&chunks](std::size_t i) {
        chunks[i].damaged = checksum(chunks[i].payload) != chunks[i].sum;
      },
      bytes < bytes_worth_threads ? 1 : 0);
  for (const Chunk& one : chunks) {
    if (one.damaged) {
      report.count(DamageKind::dropped, "chunk with a wrong checksum", one.offset,
                   fmt::format("chunk {}, {} bytes", one.ordinal, one.payload.size()));
    }
  }
}

}  // namespace foretrace::trace::ftr
