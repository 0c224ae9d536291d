#include "trace/ftr/rows.h"

#include "trace/ftr/bytes.h"

namespace foretrace::trace::ftr {
namespace {

constexpr std::uint64_t most_columns = 256;

}  // namespace

std::string_view StoredRows::column(std::uint64_t id) const {
  for (const StoredColumn& one : columns) {
    if (one.id == id) return one.bytes;
  }
  return {};
}

std::optional<StoredRows> take_rows(std::string_view payload) {
  ByteReader reader(payload);
  StoredRows rows;
  rows.first = reader.number();
  rows.count = reader.number();
  const std::uint64_t columns = reader.number();
  if (!reader.ok() || rows.count > most_rows || rows.count > payload.size() * most_rows_per_byte ||
      columns > most_columns) {
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < columns; ++i) {
    const std::uint64_t id = reader.number();
    rows.columns.push_back({id, reader.text()});
  }
  return reader.ok() ? std::optional(std::move(rows)) : std::nullopt;
}

std::string start_rows(std::uint64_t first, std::uint64_t count, std::size_t columns) {
  std::string payload;
  put_number(payload, first);
  put_number(payload, count);
  put_number(payload, columns);
  return payload;
}

void put_stored_column(std::string& payload, std::uint64_t id,
                       std::span<const std::int64_t> values) {
  std::string bytes;
  put_column(bytes, values);
  put_number(payload, id);
  put_text(payload, bytes);
}

void finish_rows(std::string& payload, std::uint64_t count) {
  const auto least =
      static_cast<std::size_t>((count + most_rows_per_byte - 1) / most_rows_per_byte);
  if (payload.size() < least) {
    payload.resize(least, '\0');
  }
}

}  // namespace foretrace::trace::ftr
