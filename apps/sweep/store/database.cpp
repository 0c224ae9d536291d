#include "apps/sweep/store/database.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

namespace foretrace::sweeping {
namespace {

Error failed(const std::string& path, sqlite3* handle, int code) {
  const std::string why = handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  if ((code & 0xFF) == SQLITE_NOTADB) {
    return {ErrorCode::bad_format,
            fmt::format("{}: is not an SQLite file, expected the results of a sweep", path)};
  }
  if ((code & 0xFF) == SQLITE_CORRUPT) {
    return {ErrorCode::bad_format, fmt::format("{}: is damaged ({})", path, why)};
  }
  const bool is_full = (code & 0xFF) == SQLITE_FULL;
  return {ErrorCode::io, fmt::format("{}: {}", path, is_full ? "no space left on the disk" : why)};
}

/// The name of a file that nobody changes, as SQLite takes it.
std::string unchanging_name(const std::string& path) {
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool is_special = c == '%' || c == '?' || c == '#';
    name += is_special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return name + "?immutable=1";
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), path_(other.path_) {}
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  path_ = other.path_;
  return *this;
}
Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::bind(int place, std::int64_t value) {
  sqlite3_bind_int64(statement_, place, value);
}
void Statement::bind(int place, double value) { sqlite3_bind_double(statement_, place, value); }
void Statement::bind(int place, std::string_view text) {
  sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
void Statement::bind_null(int place) { sqlite3_bind_null(statement_, place); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);
  if (code == SQLITE_DONE) return false;
  return failed(*path_, sqlite3_db_handle(statement_), code);
}

std::int64_t Statement::whole(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::number(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_, column);
}
std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}
bool Statement::is_figure(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Database::~Database() {
  close();
  if (lock_ >= 0) ::close(lock_);
}

Status Database::open_for_writing(const std::string& path) {
  path_ = path;
  std::error_code failed;  // a folder in which others write, too, may hold a link to anywhere
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, failed))) {
    return Error{ErrorCode::io,
                 fmt::format("cannot write '{}': it is a link, expected a file or none", path)};
  }
  return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Status Database::open_for_reading(const std::string& path) {
  path_ = path;
  // A reader makes the files beside it that all who read and write it share, if it may.
  FORETRACE_TRY(open(path, SQLITE_OPEN_READWRITE));
  const int code =
      sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  const int kind = code & 0xFF;
  if (kind != SQLITE_CANTOPEN && kind != SQLITE_READONLY) return ok_status();
  std::error_code missing;
  const std::uintmax_t log = std::filesystem::file_size(path + "-wal", missing);
  if (!missing && log > 0) {
    return Error{ErrorCode::io, fmt::format("{}: a sweep was interrupted here and its folder is "
                                            "read-only: copy it to a writable folder",
                                            path)};
  }
  // Nobody is writing: the file is all there is, and stays as it is.
  close();
  return open(unchanging_name(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

Status Database::open(const std::string& name, int flags) {
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return failed(path_, handle_, code);
  sqlite3_extended_result_codes(handle_, 1);
  // A store may come from anywhere: its views and triggers are not run.
  for (const auto& [setting, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                       {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}}) {
    sqlite3_db_config(handle_, setting, value, nullptr);
  }
  // A reader may wait for a moment while the writer moves its log into the file.
  sqlite3_busy_timeout(handle_, 10000);
  return ok_status();
}

void Database::close() { sqlite3_close(std::exchange(handle_, nullptr)); }

bool Database::is_sound() const {
  auto check = prepare("PRAGMA quick_check(1)");
  if (!check.ok()) return false;
  const auto row = check->step();
  return row.ok() && *row && check->text(0) == "ok";
}

Status Database::lock(const std::string& path) {
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (lock_ < 0) {
    const std::error_code why(errno, std::generic_category());
    return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", path, why.message())};
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> who{};
    const auto length = ::pread(lock_, who.data(), who.size() - 1, 0);
    const std::string_view text(who.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return Error{ErrorCode::io, fmt::format("{}: another sweep is writing here{}{}", path,
                                            text.empty() ? "" : ", process ", text)};
  }
  std::array<char, 32> before{};
  const auto length = ::pread(lock_, before.data(), before.size(), 0);
  if (!std::all_of(before.begin(), before.begin() + std::max<std::ptrdiff_t>(0, length),
                   [](char c) { return c >= '0' && c <= '9'; })) {
    return Error{ErrorCode::io,
                 fmt::format("{}: is not the lock of a sweep and is left alone", path)};
  }
  std::array<char, 32> own{};
  const auto [end, error] = std::to_chars(own.data(), own.data() + own.size(), ::getpid());
  const bool is_kept =
      ::ftruncate(lock_, 0) == 0 &&
      ::pwrite(lock_, own.data(), static_cast<std::size_t>(end - own.data()), 0) >= 0;
  static_cast<void>(is_kept);  // the number is only for the message of others
  return ok_status();
}

Status Database::run(std::string_view sql) const {
  const int code = sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(path_, handle_, code);
  return ok_status();
}

Result<Statement> Database::prepare(std::string_view sql) const {
  Statement statement;
  statement.path_ = &path_;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()),
                                      &statement.statement_, nullptr);
  if (code != SQLITE_OK) return failed(path_, handle_, code);
  return statement;
}

}  // namespace foretrace::sweeping
