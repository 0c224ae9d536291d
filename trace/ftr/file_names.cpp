#include <algorithm>

#include <fmt/format.h>

#include "trace/ftr/read_table.h"
#include "trace/ftr/rows.h"
#include "trace/io/text.h"

namespace foretrace::trace::ftr {

void FileNames::read(std::span<const Chunk> chunks, std::uint64_t file_bytes, NameTable& names,
                     ImportReport& report) {
  const std::uint64_t limit =
      std::min<std::uint64_t>(file_bytes * most_rows_per_byte, index(none<NameId>) - 1);
  for (const Chunk& chunk : chunks) {
    if (chunk.kind != ChunkKind::names || chunk.damaged) continue;
    const bool taken =
        take_names(chunk.payload, limit, [&](std::uint64_t number, std::string_view text) {
          const auto at = static_cast<std::size_t>(number);
          if (at >= ids_.size()) {
            ids_.resize(at + 1, none<NameId>);
          }
          ids_[at] =
              trace::is_valid_utf8(text) ? names.intern(text) : names.intern(with_valid_utf8(text));
          identity_ = identity_ && index(ids_[at]) == at;
        });
    if (!taken) {
      report.count(DamageKind::dropped, "damaged chunk of names", chunk.offset,
                   fmt::format("chunk {}", chunk.ordinal));
    }
  }
  identity_ = identity_ && std::find(ids_.begin(), ids_.end(), none<NameId>) == ids_.end();
}

}  // namespace foretrace::trace::ftr
