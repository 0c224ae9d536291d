// Reader of our own format: compressed columns in chunks with checksums.
//
//   89 "FTR" 0d 0a 1a 0a   01 00 00 00   d6 1b 29 3b    head: magic, version, checksum
//   "FTRC"   01 00    00 00   c2 00 00 00   00 00 00 00   7b 7e c6 af   6d 7e 65 bd   0a 07 ...
//   |        |        |       |             |             |             |             payload
//   |        |        |       |             |             |             checksum of this head
//   |        |        |       |             |             checksum of the payload
//   |        |        |       |             number of the chunk in the file
//   |        |        |       bytes of the payload
//   |        |        flags
//   a chunk  kind (ftr/container.h): 1 is facts, as here "content" = "table"; 5 is events
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trace/collect/recording.h"
#include "trace/formats/reader.h"
#include "trace/ftr/bytes.h"
#include "trace/ftr/container.h"
#include "trace/ftr/deflate.h"
#include "trace/ftr/read_table.h"
#include "trace/ftr/texts.h"
#include "trace/io/unpacked.h"

namespace foretrace::trace::readers::ftr_parts {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 22U;

Confidence sniff(std::string_view prefix) {
  return prefix.starts_with(ftr::magic) ? Confidence::yes : Confidence::no;
}

// The whole file, with slack behind it that columns may be read beyond.
Result<std::string> whole(ByteSource& source, const ReadOptions& options) {
  std::string bytes;
  std::size_t filled = 0;
  bytes.reserve(static_cast<std::size_t>(source.file_size()) + piece_bytes + ftr::read_slack);
  while (true) {
    // One byte more than the file has, to see its end; of a pipe or what is unpacked the size is
    // not known, and the pieces grow with what is there.
    const bool is_known = source.file_size() > 0;
    const std::size_t rest = is_known && source.file_size() >= filled
                                 ? static_cast<std::size_t>(source.file_size()) - filled + 1
                                 : piece_bytes;
    bytes.resize(filled + std::min(rest, piece_bytes));
    FORETRACE_TRY(auto got, source.read(std::span<char>(bytes).subspan(filled)));
    const bool ended = got < bytes.size() - filled;
    filled += got;
    FORETRACE_TRY(check_unpacked(source, filled));
    if (options.progress) {
      options.progress(source.consumed(), source.file_size());
    }
    if (ended) {
      bytes.resize(filled);
      bytes.append(ftr::read_slack, '\0');
      return bytes;
    }
  }
}

Status check_head(std::string_view file, std::string_view path) {
  const auto refuse = [&](std::string what) {
    return Error{ErrorCode::bad_format, fmt::format("{}: {}", path, what)};
  };
  if (!file.starts_with(ftr::magic)) return refuse("is not an .ftr file: its first bytes differ");
  if (file.size() < ftr::head_bytes) {
    return refuse(fmt::format("ends inside the head of the file, got {} bytes, expected {}",
                              file.size(), ftr::head_bytes));
  }
  const std::uint64_t version = ftr::fixed_at(file.data() + ftr::magic.size(), 4);
  if (ftr::fixed_at(file.data() + 12, 4) != ftr::checksum(file.substr(0, 12))) {
    return refuse("the head of the file is damaged: its checksum differs");
  }
  if (version == 0 || version > ftr::format_version) {
    return refuse(
        fmt::format("written by a later foretrace: got version {} of the format, "
                    "expected at most {}",
                    version, ftr::format_version));
  }
  return ok_status();
}

// What a chunk with flags means is not known here, nor what one of a later kind holds.
void drop_unknown(std::vector<ftr::Chunk>& chunks, ImportReport& report) {
  const auto known = [](const ftr::Chunk& chunk) {
    return chunk.flags == 0 && ((chunk.kind >= ftr::ChunkKind::info &&
                                 chunk.kind <= ftr::ChunkKind::record_functions) ||
                                chunk.kind >= ftr::ChunkKind::first_record);
  };
  for (const ftr::Chunk& chunk : chunks) {
    if (!known(chunk)) {
      report.count(
          DamageKind::dropped, "chunk of an unknown kind", chunk.offset,
          fmt::format("kind {}, flags {}", static_cast<unsigned>(chunk.kind), chunk.flags));
    }
  }
  chunks.erase(std::remove_if(chunks.begin(), chunks.end(),
                              [&](const ftr::Chunk& chunk) { return !known(chunk); }),
               chunks.end());
}

ftr::Pairs info_of(std::span<const ftr::Chunk> chunks) {
  ftr::Pairs pairs;
  for (const ftr::Chunk& chunk : chunks) {
    if (chunk.kind == ftr::ChunkKind::info && !chunk.damaged) {
      static_cast<void>(ftr::take_pairs(chunk.payload, pairs));
    }
  }
  return pairs;
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  FORETRACE_TRY(std::string bytes, whole(source, options));
  const std::string_view file(bytes.data(), bytes.size() - ftr::read_slack);
  FORETRACE_TRY(check_head(file, source.path()));
  LoadedTrace trace;
  trace.report.bytes = file.size();
  std::vector<ftr::Chunk> chunks = ftr::find_chunks(file, trace.report);
  ftr::check_chunks(chunks, trace.report);
  drop_unknown(chunks, trace.report);
  const std::uint64_t damaged_before = trace.report.dropped();
  const ftr::Pairs info = info_of(chunks);
  if (info.empty()) {
    return Error{
        ErrorCode::bad_format,
        fmt::format("{}: contains no complete chunk that describes its contents", source.path())};
  }
  if (ftr::value_of(info, "content") == "records") {
    collector::fill_table(collector::read_recording(chunks, file.size(), info, trace.report),
                          trace);
    ftr::warn_if_unfinished(chunks, trace);
  } else {
    ftr::read_table(chunks, file.size(), info, trace);
  }
  trace.events.info.path = std::string(source.path());
  if (!source.trouble().empty()) {
    trace.report.warnings.emplace_back(source.trouble());
  }
  if (options.strict && (damaged_before > 0 || trace.report.dropped() > 0)) {
    const Damage& first = trace.report.damage.front();
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: {} at byte {}", source.path(), first.reason, first.first_offset)};
  }
  return trace;
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "ftr",
    .summary = "our own: recordings of foretrace collect, and traces written by foretrace convert",
    .suffixes = ".ftr .ftr.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::ftr_parts
