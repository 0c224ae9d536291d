#include "apps/sweep/store/store.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/sweep/space/document.h"
#include "apps/sweep/store/database.h"

namespace foretrace::sweeping {
namespace {

constexpr std::string_view store_schema = "foretrace.sweep_store/2";
/// Of programs that took the columns for those that they would have made: theirs are read, and they
/// refuse ours.
constexpr std::string_view older_store_schema = "foretrace.sweep_store/1";

/// Pages of 4 KiB; a commit is safe from the end of the process at once, from a loss of power
/// once the log is moved into the file.
constexpr std::string_view settings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=4000; "
    "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;";

constexpr std::string_view tables =
    "DROP VIEW IF EXISTS results; DROP TABLE IF EXISTS points; DROP TABLE IF EXISTS reasons; "
    "DROP TABLE IF EXISTS axis_values; DROP TABLE IF EXISTS axes; DROP TABLE IF EXISTS facts; "
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID; "
    "CREATE TABLE axes(axis INTEGER PRIMARY KEY, name TEXT NOT NULL, pointer TEXT NOT NULL); "
    "CREATE TABLE axis_values(axis INTEGER, place INTEGER, value TEXT NOT NULL, "
    "PRIMARY KEY(axis, place)) WITHOUT ROWID; "
    "CREATE TABLE reasons(reason INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE); ";

std::string points_table(const Sweep& sweep) {
  std::string sql = "CREATE TABLE points(id INTEGER PRIMARY KEY, reason INTEGER";
  for (const Axis& axis : sweep.axes()) {
    sql += fmt::format(", at_{} {}", axis.name, axis.is_listed() ? "INTEGER" : "REAL");
  }
  for (const MetricInfo& metric : sweep.metrics) {
    sql += fmt::format(", {} {}", metric.name, metric.is_whole ? "INTEGER" : "REAL");
  }
  return sql + "); ";
}

/// Rows with their reasons, columns as PointResult has them, whatever their order in the file.
std::string rows_query(const Sweep& sweep) {
  std::string sql = "SELECT points.id, points.reason";
  for (const Axis& axis : sweep.axes()) sql += fmt::format(", points.at_{}", axis.name);
  for (const MetricInfo& metric : sweep.metrics) sql += fmt::format(", points.{}", metric.name);
  return sql +
         ", reasons.text FROM points LEFT JOIN reasons ON points.reason = reasons.reason "
         "ORDER BY points.id";
}

/// Every point with the values of its axes and its reason in words. An axis may be called as a word
/// of SQL is.
std::string results_view(const Sweep& sweep) {
  std::string columns = "CREATE VIEW results AS SELECT id";
  std::string from = " FROM points LEFT JOIN reasons ON points.reason = reasons.reason";
  for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
    const Axis& axis = sweep.axes()[i];
    if (!axis.is_listed()) {
      columns += fmt::format(", at_{0} AS \"{0}\"", axis.name);
      continue;
    }
    columns += fmt::format(", a{}.value AS \"{}\"", i, axis.name);
    from += fmt::format(" LEFT JOIN axis_values a{0} ON a{0}.axis = {0} AND a{0}.place = at_{1}", i,
                        axis.name);
  }
  for (const MetricInfo& metric : sweep.metrics) columns += fmt::format(", {}", metric.name);
  return columns + ", reasons.text AS reason" + from + "; ";
}

/// A transaction that is undone unless it was committed.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (is_open_) static_cast<void>(database_.run("ROLLBACK").ok());
  }
  Status begin() {
    Status begun = database_.run("BEGIN IMMEDIATE");
    is_open_ = begun.ok();
    return begun;
  }
  Status commit() {
    Status done = database_.run("COMMIT");
    is_open_ = !done.ok();
    return done;
  }

 private:
  const Database& database_;
  bool is_open_ = false;
};

Status write_facts(const Database& database, const StoreFacts& facts) {
  FORETRACE_TRY(auto insert, database.prepare("INSERT OR REPLACE INTO facts VALUES(?, ?)"));
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"schema", store_schema}, {"sweep", facts.sweep},   {"path", facts.path},
      {"folder", facts.folder}, {"inputs", facts.inputs}, {"version", facts.version}};
  for (const auto& [name, value] : rows) {
    insert.bind(1, name);
    insert.bind(2, value);
    FORETRACE_TRY(insert.step());
  }
  return ok_status();
}

Status write_axes(const Database& database, const Sweep& sweep) {
  auto axes = database.prepare("INSERT INTO axes VALUES(?, ?, ?)");
  auto values = database.prepare("INSERT INTO axis_values VALUES(?, ?, ?)");
  FORETRACE_TRY(axes);
  FORETRACE_TRY(values);
  for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
    const Axis& axis = sweep.axes()[i];
    axes->bind(1, static_cast<std::int64_t>(i));
    axes->bind(2, axis.name);
    axes->bind(3, axis.pointer);
    FORETRACE_TRY(axes->step());
    for (std::size_t place = 0; place < axis.values.size(); ++place) {
      const std::string text = shown_text(axis.values[place]);
      values->bind(1, static_cast<std::int64_t>(i));
      values->bind(2, static_cast<std::int64_t>(place));
      values->bind(3, text);
      FORETRACE_TRY(values->step());
    }
  }
  return ok_status();
}

Result<std::int64_t> number_of_reason(const Database& database, const std::string& reason) {
  auto insert = database.prepare("INSERT OR IGNORE INTO reasons(text) VALUES(?)");
  auto select = database.prepare("SELECT reason FROM reasons WHERE text = ?");
  FORETRACE_TRY(insert);
  FORETRACE_TRY(select);
  insert->bind(1, reason);
  FORETRACE_TRY(insert->step());
  select->bind(1, reason);
  FORETRACE_TRY(select->step());
  return select->whole(0);
}

Status insert_rows(const Database& database, std::span<const PointResult> rows) {
  if (rows.empty()) return ok_status();
  FORETRACE_TRY(auto columns, database.prepare("SELECT count(*) FROM pragma_table_info('points')"));
  FORETRACE_TRY(columns.step());
  const auto count = static_cast<int>(columns.whole(0));
  std::string sql = "INSERT INTO points VALUES(?";
  for (int i = 1; i < count; ++i) sql += ", ?";
  FORETRACE_TRY(auto insert, database.prepare(sql + ")"));
  std::map<std::string, std::int64_t, std::less<>> reasons;
  for (const PointResult& row : rows) {
    int place = 1;
    insert.bind(place++, static_cast<std::int64_t>(row.point));
    if (row.reason.empty()) {
      insert.bind_null(place++);
    } else {
      auto known = reasons.find(row.reason);
      if (known == reasons.end()) {
        FORETRACE_TRY(auto number, number_of_reason(database, row.reason));
        known = reasons.emplace(row.reason, number).first;
      }
      insert.bind(place++, known->second);
    }
    for (const double where : row.where) insert.bind(place++, where);
    for (const double metric : row.metrics) {
      if (std::isnan(metric)) {
        insert.bind_null(place++);
      } else {
        insert.bind(place++, metric);
      }
    }
    while (place <= count) insert.bind_null(place++);
    FORETRACE_TRY(insert.step());
  }
  return ok_status();
}

/// A point of a damaged or foreign file leads nowhere: figures are numbers, `columns` of them with
/// id and reason, and a reason that is named has a text.
Status check_row(const Statement& row, std::size_t columns, const std::string& path) {
  const std::int64_t point = row.whole(0);
  bool figures = point >= 0;
  for (std::size_t column = 0; column < columns; ++column) {
    figures = figures && row.is_figure(static_cast<int>(column));
  }
  const bool lost = !row.is_null(1) && row.is_null(static_cast<int>(columns));
  if (figures && !lost) return ok_status();
  return Error{ErrorCode::bad_format,
               fmt::format("{}: point {}: {}", path, point,
                           lost ? "its reason is missing" : "a figure is not a number")};
}

/// The damaged file gets another name, and a new one takes its place.
Status put_aside(const std::string& path, Database& database) {
  database.close();
  std::error_code failed;
  std::filesystem::rename(path, path + ".damaged", failed);
  if (failed) {
    return Error{ErrorCode::io,
                 fmt::format("cannot rename the damaged '{}': {}", path, failed.message())};
  }
  for (const std::string_view beside : {"-wal", "-shm"}) {
    std::filesystem::remove(path + std::string(beside), failed);
  }
  return database.open_for_writing(path);
}

}  // namespace

Result<Sweep> stored_sweep(const Store& store) {
  FORETRACE_TRY(const auto facts, store.facts());
  FORETRACE_TRY(const auto metrics, store.metrics());
  return parse_stored_sweep(facts.sweep, facts.path, facts.folder, metrics);
}

std::string store_file(const std::string& folder) {
  return (std::filesystem::path(folder) / "sweep.db").string();
}

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& folder, WhenDamaged damaged) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{ErrorCode::io,
                 fmt::format("cannot create the folder '{}': {}", folder, failed.message())};
  }
  auto database = std::make_unique<Database>();
  const std::string lock = (std::filesystem::path(folder) / "sweep.lock").string();
  FORETRACE_TRY(database->lock(lock));
  FORETRACE_TRY(database->open_for_writing(store_file(folder)));
  if (damaged == WhenDamaged::replace && !database->is_sound()) {
    FORETRACE_TRY(put_aside(store_file(folder), *database));
  }
  FORETRACE_TRY(database->run(settings));
  Store store(std::move(database));
  if (!store.is_empty()) {
    FORETRACE_TRY(store.facts());
  }
  return store;
}

Result<Store> Store::read(const std::string& folder) {
  std::error_code failed;
  if (!std::filesystem::exists(store_file(folder), failed)) {
    return Error{
        ErrorCode::not_found,
        fmt::format("{}: contains no sweep, expected a folder that `sweep -o` wrote", folder)};
  }
  auto database = std::make_unique<Database>();
  FORETRACE_TRY(database->open_for_reading(store_file(folder)));
  Store store(std::move(database));
  FORETRACE_TRY(store.facts());
  return store;
}

bool Store::is_empty() const {
  auto count = database_->prepare("SELECT count(*) FROM sqlite_master");
  if (!count.ok()) return false;
  const auto row = count->step();
  return row.ok() && *row && count->whole(0) == 0;
}

Result<StoreFacts> Store::facts() const {
  const auto something_else = [&] {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: contains something other than the results of a sweep ({})",
                             database_->path(), store_schema)};
  };
  FORETRACE_TRY(auto table,
                database_->prepare("SELECT count(*) FROM sqlite_master WHERE name = 'facts'"));
  if (auto row = table.step(); !row.ok() || table.whole(0) == 0) {
    return row.ok() ? something_else() : row.error();
  }
  auto select = database_->prepare("SELECT name, value FROM facts");
  if (!select.ok()) return something_else();
  StoreFacts facts;
  bool is_ours = false;
  while (true) {
    FORETRACE_TRY(const auto row, select->step());
    if (!row) break;
    const std::string name = select->text(0);
    std::string value = select->text(1);
    if (name == "schema") is_ours = value == store_schema || value == older_store_schema;
    const std::pair<std::string_view, std::string*> members[] = {{"sweep", &facts.sweep},
                                                                 {"path", &facts.path},
                                                                 {"folder", &facts.folder},
                                                                 {"inputs", &facts.inputs},
                                                                 {"version", &facts.version}};
    for (const auto& [member, text] : members) {
      if (name == member) *text = value;
    }
  }
  if (!is_ours) return something_else();
  return facts;
}

Result<std::vector<std::string>> Store::metrics() const {
  FORETRACE_TRY(auto select,
                database_->prepare("SELECT name FROM pragma_table_info('points') ORDER BY cid"));
  std::vector<std::string> names;
  while (true) {
    FORETRACE_TRY(const auto row, select.step());
    if (!row) return names;
    std::string name = select.text(0);
    const bool is_axis = name.starts_with("at_");
    if (!is_axis && name != "id" && name != "reason") names.push_back(std::move(name));
  }
}

Status Store::reset(const Sweep& sweep, const StoreFacts& facts,
                    std::span<const PointResult> rows) {
  Transaction transaction(*database_);
  FORETRACE_TRY(transaction.begin());
  const std::string sql = std::string(tables) + points_table(sweep) + results_view(sweep);
  FORETRACE_TRY(database_->run(sql));
  FORETRACE_TRY(write_facts(*database_, facts));
  FORETRACE_TRY(write_axes(*database_, sweep));
  FORETRACE_TRY(insert_rows(*database_, rows));
  return transaction.commit();
}

Status Store::update(const StoreFacts& facts) {
  Transaction transaction(*database_);
  FORETRACE_TRY(transaction.begin());
  FORETRACE_TRY(write_facts(*database_, facts));
  return transaction.commit();
}

Status Store::add(std::span<const PointResult> rows) {
  Transaction transaction(*database_);
  FORETRACE_TRY(transaction.begin());
  FORETRACE_TRY(insert_rows(*database_, rows));
  return transaction.commit();
}

Status Store::for_each(const Sweep& sweep,
                       const std::function<Status(const PointResult&)>& visit) const {
  FORETRACE_TRY(auto select, database_->prepare(rows_query(sweep)));
  const std::size_t axes = sweep.axes().size();
  const std::size_t metrics = sweep.metrics.size();
  PointResult point;
  while (true) {
    FORETRACE_TRY(const auto row, select.step());
    if (!row) return ok_status();
    FORETRACE_TRY(check_row(select, 2 + axes + metrics, database_->path()));
    point.point = static_cast<std::uint64_t>(select.whole(0));
    point.where.resize(axes);
    for (std::size_t i = 0; i < axes; ++i) {
      point.where[i] = select.number(static_cast<int>(2 + i));
      // A damaged file leads nowhere else.
      const auto count = static_cast<double>(sweep.axes()[i].values.size());
      if (sweep.axes()[i].is_listed() && !(point.where[i] >= 0 && point.where[i] < count)) {
        return Error{ErrorCode::bad_format,
                     fmt::format("{}: point {}: '{}' is at {}, expected 0 to {}", database_->path(),
                                 point.point, sweep.axes()[i].name, point.where[i], count - 1)};
      }
    }
    point.reason = select.text(static_cast<int>(2 + axes + metrics));
    point.metrics.clear();
    for (std::size_t i = 0; point.reason.empty() && i < metrics; ++i) {
      point.metrics.push_back(select.number(static_cast<int>(2 + axes + i)));
    }
    FORETRACE_TRY(visit(point));
  }
}

Status Store::for_each_number(const std::function<void(std::uint64_t)>& visit) const {
  FORETRACE_TRY(auto select, database_->prepare("SELECT id FROM points ORDER BY id"));
  while (true) {
    FORETRACE_TRY(const auto row, select.step());
    if (!row) return ok_status();
    visit(static_cast<std::uint64_t>(select.whole(0)));
  }
}

Result<std::vector<FailureCount>> Store::reasons(std::size_t most) const {
  FORETRACE_TRY(
      auto select,
      database_->prepare(
          "SELECT text, count(*) AS points FROM points JOIN reasons USING(reason) GROUP BY reason "
          "ORDER BY points DESC, text LIMIT ?"));
  select.bind(1, static_cast<std::int64_t>(most));
  std::vector<FailureCount> reasons;
  while (true) {
    FORETRACE_TRY(const auto row, select.step());
    if (!row) return reasons;
    reasons.push_back({select.text(0), static_cast<std::uint64_t>(select.whole(1))});
  }
}

Status Store::finish() { return database_->run("PRAGMA wal_checkpoint(TRUNCATE)"); }

}  // namespace foretrace::sweeping
