#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "trace/collect/record_fields.h"
#include "trace/collect/recording.h"
#include "trace/ftr/bytes.h"
#include "trace/io/text.h"

namespace foretrace::trace::collector {
namespace {

void read_texts(const ftr::Chunk& chunk, std::uint64_t limit, Recording& recording,
                ImportReport& report) {
  const bool taken =
      ftr::take_names(chunk.payload, limit, [&](std::uint64_t number, std::string_view text) {
        const auto at = static_cast<std::size_t>(number);
        recording.texts.resize(std::max(recording.texts.size(), at + 1));
        recording.texts[at] =
            trace::is_valid_utf8(text) ? std::string(text) : with_valid_utf8(text);
      });
  if (!taken) {
    report.count(DamageKind::dropped, "damaged chunk of names", chunk.offset,
                 fmt::format("chunk {}", chunk.ordinal));
  }
}

template <typename Record>
bool append_if(std::uint16_t kind, const ftr::StoredRows& rows, std::vector<Record>& list,
               bool& whole) {
  if (kind != static_cast<std::uint16_t>(RecordTraits<Record>::kind)) return false;
  whole = ftr::append_rows(rows, RecordTraits<Record>::fields, list);
  return true;
}

void read_records(const ftr::Chunk& chunk, Recording& recording, ImportReport& report) {
  const auto kind =
      static_cast<std::uint16_t>(static_cast<std::uint16_t>(chunk.kind) -
                                 static_cast<std::uint16_t>(ftr::ChunkKind::first_record));
  const std::optional<ftr::StoredRows> rows = ftr::take_rows(chunk.payload);
  bool whole = false;
  const bool known =
      rows &&
      std::apply([&](auto&... list) { return (append_if(kind, *rows, list, whole) || ...); },
                 lists_of(recording));
  if (rows && !known) {
    report.count(DamageKind::dropped, "records of an unknown kind", chunk.offset,
                 fmt::format("kind {}", kind));
  } else if (!whole) {
    report.count(DamageKind::dropped, "damaged chunk of records", chunk.offset,
                 fmt::format("chunk {}, kind {}", chunk.ordinal, kind));
  }
}

}  // namespace

Recording read_recording(std::span<const ftr::Chunk> chunks, std::uint64_t file_bytes,
                         ftr::Pairs facts, ImportReport& report) {
  Recording recording;
  recording.facts = std::move(facts);
  for (const ftr::Chunk& chunk : chunks) {
    if (chunk.damaged) continue;
    if (chunk.kind == ftr::ChunkKind::names) {
      read_texts(chunk, file_bytes, recording, report);
    } else if (chunk.kind >= ftr::ChunkKind::first_record) {
      read_records(chunk, recording, report);
    }
  }
  return recording;
}

ftr::Pairs facts_of_file(const std::string& path) {
  constexpr std::uint64_t longest_facts = std::uint64_t{1} << 20U;
  std::error_code failed;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, failed)) {
    file.open(path, std::ios::binary);
  }
  std::string start(ftr::head_bytes, '\0');
  if (!file.read(start.data(), ftr::head_bytes) || !start.starts_with(ftr::magic)) {
    return {};
  }
  // From head to head; only chunks of facts are read.
  std::string head(ftr::chunk_head_bytes, '\0');
  while (file.read(head.data(), ftr::chunk_head_bytes) && head.starts_with(ftr::chunk_magic)) {
    const auto kind = static_cast<ftr::ChunkKind>(ftr::fixed_at(head.data() + 4, 2));
    const std::uint64_t size = ftr::fixed_at(head.data() + 8, 4);
    if (kind != ftr::ChunkKind::info || start.size() + size > longest_facts) {
      file.seekg(static_cast<std::streamoff>(size), std::ios::cur);
      continue;
    }
    std::string payload(size, '\0');
    if (!file.read(payload.data(), static_cast<std::streamsize>(size))) break;
    start += head + payload;
  }
  ImportReport ignored;
  std::vector<ftr::Chunk> chunks = ftr::find_chunks(start, ignored);
  ftr::check_chunks(chunks, ignored);
  ftr::Pairs facts;
  for (const ftr::Chunk& chunk : chunks) {
    if (!chunk.damaged) {
      static_cast<void>(ftr::take_pairs(chunk.payload, facts));
    }
  }
  return facts;
}

}  // namespace foretrace::trace::collector
