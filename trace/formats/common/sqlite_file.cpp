#include "trace/formats/common/sqlite_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "trace/formats/common/read_all.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::size_t header_bytes = 100;
constexpr std::size_t write_version_at = 18;
constexpr char no_write_ahead_log = 1;
constexpr std::size_t page_count_at = 28;
// A file that lost more than this is not worth the memory for what is not there.
constexpr std::uint64_t most_blank_share = 16;
// What a database may unpack to in memory; larger ones are read in place when they are plain.
constexpr std::uint64_t most_bytes_in_memory = std::uint64_t{4} << 30;
// Steps of SQLite's machine: real exports need less than one per byte, whatever the table.
constexpr std::uint64_t steps_per_byte = 8;
constexpr std::uint64_t free_steps = 10'000'000;
constexpr int steps_per_call = 10'000;
// Texts are read once each; pages that point at each other would give them again and again.
constexpr std::uint64_t text_per_byte = 4;
constexpr std::uint64_t free_text = std::uint64_t{16} << 20;
constexpr std::size_t most_tables = 10'000;

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c;
    if (c == '"') {
      out += c;
    }
  }
  return out + "\"";
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) {
    value = value << 8U | static_cast<unsigned char>(c);
  }
  return value;
}

/// The size of the database as its header has it; SQLite takes 1 for 65536.
std::uint64_t declared_size(std::string_view header) {
  const std::uint64_t page = big_endian(header.substr(16, 2));
  return (page == 1 ? 65536 : page) * big_endian(header.substr(page_count_at, 4));
}

/// As a file name that SQLite takes from the URI it is in.
std::string as_uri(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    out += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return out + "?mode=ro&immutable=1";
}

Error bad_database(std::string_view path, std::string_view what) {
  return Error{ErrorCode::bad_format,
               fmt::format("{}: no readable SQLite database: {}", path, shortened(what))};
}

}  // namespace

Result<std::unique_ptr<SqliteFile>> SqliteFile::open(ByteSource& source) {
  std::string start(header_bytes, '\0');
  FORETRACE_TRY(auto got, source.read(start));
  start.resize(got);
  if (start.size() < header_bytes) {
    return bad_database(source.path(), fmt::format("it has {} bytes, expected {} and more",
                                                   start.size(), header_bytes));
  }
  std::unique_ptr<SqliteFile> file(new SqliteFile);
  const std::string path(source.path());
  Status opened = ok_status();
  const bool is_whole = declared_size(start) <= source.file_size();
  if (!source.plain_file().empty() && is_whole) {  // then it needs no copy
    opened = file->open_path(std::string(source.plain_file()), source.file_size());
  } else {
    FORETRACE_TRY(auto bytes, read_all(source, std::move(start), most_bytes_in_memory));
    opened = file->open_bytes(std::move(bytes), path);
  }
  if (opened) {
    opened = file->read_schema(path);
  }
  FORETRACE_TRY(opened);
  return file;
}

SqliteFile::~SqliteFile() { sqlite3_close(db_); }

Status SqliteFile::open_path(const std::string& path, std::uint64_t size) {
  size_ = size;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(as_uri(path).c_str(), &db_, flags, nullptr) != SQLITE_OK) {
    return bad_database(path, db_ == nullptr ? "out of memory" : sqlite3_errmsg(db_));
  }
  set_limits();
  return ok_status();
}

Status SqliteFile::open_bytes(std::string bytes, std::string_view path) {
  bytes_ = std::move(bytes);
  size_ = bytes_.size();
  // A file in memory has no write-ahead log beside it.
  bytes_[write_version_at] = no_write_ahead_log;
  bytes_[write_version_at + 1] = no_write_ahead_log;
  // Of a file that was cut off, the pages that are there can be read if the others are blank.
  const std::uint64_t whole = declared_size(bytes_);
  if (whole > size_ && whole <= size_ * most_blank_share) {
    bytes_.resize(static_cast<std::size_t>(whole));
  } else if (whole > size_) {
    std::fill_n(bytes_.begin() + page_count_at, 4, '\0');  // then the pages that are there count
  }
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &db_, flags, nullptr) != SQLITE_OK) {
    return bad_database(path, db_ == nullptr ? "out of memory" : sqlite3_errmsg(db_));
  }
  const auto count = static_cast<sqlite3_int64>(bytes_.size());
  auto* data = reinterpret_cast<unsigned char*>(bytes_.data());
  if (sqlite3_deserialize(db_, "main", data, count, count, SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    return bad_database(path, sqlite3_errmsg(db_));
  }
  set_limits();
  return ok_status();
}

void SqliteFile::set_limits() {
  steps_left_ = free_steps + steps_per_byte * size_;
  text_left_ = free_text + text_per_byte * size_;
  constexpr std::uint64_t longest = 1'000'000'000;
  const auto length = static_cast<int>(std::clamp<std::uint64_t>(size_, 1'000'000, longest));
  const std::array<std::pair<int, int>, 10> limits = {{{SQLITE_LIMIT_LENGTH, length},
                                                       {SQLITE_LIMIT_SQL_LENGTH, 1'000'000},
                                                       {SQLITE_LIMIT_COLUMN, 1000},
                                                       {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                                       {SQLITE_LIMIT_COMPOUND_SELECT, 2},
                                                       {SQLITE_LIMIT_VDBE_OP, 50'000},
                                                       {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                                       {SQLITE_LIMIT_ATTACHED, 0},
                                                       {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                       {SQLITE_LIMIT_WORKER_THREADS, 0}}};
  for (const auto& [limit, value] : limits) {
    sqlite3_limit(db_, limit, value);
  }
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  // A quoted name that is no column is an error, not a text.
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_progress_handler(db_, steps_per_call, on_progress, this);
  for (const char* setting : {"PRAGMA query_only=1", "PRAGMA cell_size_check=1",
                              "PRAGMA mmap_size=0", "PRAGMA temp_store=2"}) {
    sqlite3_exec(db_, setting, nullptr, nullptr, nullptr);
  }
}

int SqliteFile::on_progress(void* self) {
  auto& left = static_cast<SqliteFile*>(self)->steps_left_;
  if (left < steps_per_call) return 1;
  left -= steps_per_call;
  return 0;
}

Status SqliteFile::read_schema(std::string_view path) {
  sqlite3_stmt* statement = nullptr;
  const char* const text =
      "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
      "WHERE m.type = 'table' AND m.rootpage > 1 ORDER BY m.name, c.cid";
  if (sqlite3_prepare_v2(db_, text, -1, &statement, nullptr) != SQLITE_OK) {
    return bad_database(path, sqlite3_errmsg(db_));
  }
  int state = SQLITE_ROW;
  while ((state = sqlite3_step(statement)) == SQLITE_ROW && tables_.size() < most_tables) {
    const auto name = [&](int column) {
      const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const int count = sqlite3_column_bytes(statement, column);
      return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(count));
    };
    tables_[name(0)].push_back(name(1));
  }
  const std::string message = sqlite3_errmsg(db_);
  sqlite3_finalize(statement);
  if (state != SQLITE_DONE && state != SQLITE_ROW) return bad_database(path, message);
  return ok_status();
}

bool SqliteFile::has_table(std::string_view table) const { return tables_.contains(table); }

bool SqliteFile::has_column(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() &&
         std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

TableScan::TableScan(SqliteFile& file, std::string_view table,
                     std::initializer_list<std::string_view> columns)
    : file_(file) {
  std::string list;
  int count = 0;
  for (const std::string_view column : columns) {
    const bool there = file.has_column(table, column);
    places_.push_back(there ? count++ : -1);
    if (there) {
      list += (list.empty() ? "" : ", ") + quoted(column);
    }
  }
  if (count == 0) return;
  const std::string text = fmt::format("SELECT {} FROM {} NOT INDEXED", list, quoted(table));
  if (sqlite3_prepare_v2(file.db_, text.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
    trouble_ = sqlite3_errmsg(file.db_);
  }
}

TableScan::~TableScan() { sqlite3_finalize(statement_); }

bool TableScan::next() {
  if (statement_ == nullptr || !trouble_.empty()) return false;
  const int state = sqlite3_step(statement_);
  if (state == SQLITE_ROW && file_.text_left_ > 0) {
    ++row_;
    return true;
  }
  if (state == SQLITE_INTERRUPT || state == SQLITE_ROW) {
    trouble_ = "more rows than a file of its size can contain";
  } else if (state != SQLITE_DONE) {
    trouble_ = sqlite3_errmsg(file_.db_);
  }
  return false;
}

bool TableScan::has(std::size_t column) const { return places_[column] >= 0; }

std::optional<std::int64_t> TableScan::integer(std::size_t column) {
  const int place = places_[column];
  if (place < 0) return std::nullopt;
  const int type = sqlite3_column_type(statement_, place);
  if (type == SQLITE_INTEGER) return sqlite3_column_int64(statement_, place);
  if (type == SQLITE_FLOAT) {
    const double value = sqlite3_column_double(statement_, place);
    constexpr double bound = 9.0e18;
    if (value > -bound && value < bound) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

std::string_view TableScan::text(std::size_t column) {
  const int place = places_[column];
  if (place < 0 || sqlite3_column_type(statement_, place) != SQLITE_TEXT) {
    return {};
  }
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, place));
  const int count = sqlite3_column_bytes(statement_, place);
  if (bytes == nullptr || count <= 0) {
    return {};
  }
  file_.text_left_ -= std::min(file_.text_left_, static_cast<std::uint64_t>(count));
  return {bytes, static_cast<std::size_t>(count)};
}

}  // namespace foretrace::trace::formats
