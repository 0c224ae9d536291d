#include "models/hardware/catalogue/cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hardware/catalogue/config_files.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

using ConfigKind = ConfigValue::Kind;
constexpr std::size_t most_bytes = std::size_t{64} << 20U;

/// New names of columns: ours -> that of the table.
using ColumnNames = std::map<std::string, std::string>;

std::ptrdiff_t find(const std::vector<std::string>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : at - names.begin();
}

Error wrong(const std::string& where, std::string what) {
  return Error{ErrorCode::bad_format, fmt::format("{}: {}", where, std::move(what))};
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, fmt::format("cannot read {}", in_quotes(path))};
  std::string text;
  text.resize(most_bytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return Error{ErrorCode::io, fmt::format("cannot read {}", in_quotes(path))};
  if (text.size() > most_bytes) return wrong(path, "larger than 64 MiB");
  return text;
}

// Takes the lines of a CSV text apart.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool is_done() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t line() const { return line_; }
  /// Cells of the next row; false: a quote is not closed.
  bool row(std::vector<std::string>& cells) {
    cells.clear();
    std::string cell;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') {
          cell += c;
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          cell += text_[++at_];
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',') {
        cells.emplace_back(trimmed(cell));
        cell.clear();
      } else if (c == '\n') {
        ++at_;
        break;
      } else if (c != '\r') {
        cell += c;
      }
    }
    cells.emplace_back(trimmed(cell));
    return !quoted;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

/// From an object with "columns" and "rows".
Result<Cells> cells_of(ConfigFields& table, const std::string& where) {
  const ConfigValue* columns = table.optional_value("columns");
  const ConfigValue* rows = table.optional_value("rows");
  if (columns == nullptr || columns->kind != ConfigKind::list) {
    return wrong(where, "/columns: expected a list of texts");
  }
  if (rows == nullptr || rows->kind != ConfigKind::list) {
    return wrong(where, "/rows: expected a list");
  }
  Cells cells;
  cells.where = where;
  for (const ConfigValue& column : columns->items) {
    if (column.kind != ConfigKind::text) {
      return wrong(where, fmt::format("/columns/{}: {}, expected a text", cells.columns.size(),
                                      column.described()));
    }
    cells.columns.push_back(column.text);
  }
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    const ConfigValue& row = rows->items[i];
    if (row.kind != ConfigKind::list || row.items.size() != cells.columns.size()) {
      return wrong(where, fmt::format("/rows/{}: got {} cells, expected {}", i, row.items.size(),
                                      cells.columns.size()));
    }
    std::vector<std::string> texts;
    texts.reserve(row.items.size());
    for (const ConfigValue& cell : row.items) {
      if (cell.kind == ConfigKind::list || cell.kind == ConfigKind::object) {
        return wrong(cells.place_of_row(i),
                     fmt::format("{}: {}, expected a number, a text or null",
                                 cells.columns[texts.size()], cell.described()));
      }
      texts.push_back(cell.kind == ConfigKind::null ? std::string() : cell.text);
    }
    cells.rows.push_back(std::move(texts));
  }
  return cells;
}

Result<Cells> read_cells(const std::string& path) {
  FORETRACE_TRY(auto text, read_text(path));
  if (!path.ends_with(".json")) return parse_csv(text, path);
  FORETRACE_TRY(const auto root, parse_config(text).with_context(path));
  ConfigFields fields(root, path);
  FORETRACE_TRY(auto cells, cells_of(fields, path));
  FORETRACE_TRY(fields.finish());
  return cells;
}

Result<std::size_t> place_of(const Cells& cells, std::string_view column) {
  const std::ptrdiff_t at = find(cells.columns, column);
  if (at >= 0) return static_cast<std::size_t>(at);
  const std::vector<std::string_view> known(cells.columns.begin(), cells.columns.end());
  return wrong(cells.place_of_columns(),
               fmt::format("no column {}{}", in_quotes(column), did_you_mean(column, known)));
}

/// Gives columns the names that we know.
Status rename(Cells& cells, const ColumnNames& names) {
  std::vector<std::string> renamed = cells.columns;
  std::vector<bool> is_new(renamed.size());
  for (const auto& [ours, theirs] : names) {
    FORETRACE_TRY(const auto at, place_of(cells, theirs));
    if (is_new[at]) {
      return wrong(cells.place_of_columns(), fmt::format("column {} is assigned to both {} and {}",
                                                         in_quotes(theirs), renamed[at], ours));
    }
    renamed[at] = ours;
    is_new[at] = true;
  }
  cells.columns = std::move(renamed);
  return ok_status();
}

/// Takes columns away that nobody is to read.
Status ignore(Cells& cells, std::span<const std::string> columns) {
  for (const std::string& column : columns) {
    FORETRACE_TRY(const auto at, place_of(cells, column));
    const auto place = static_cast<std::ptrdiff_t>(at);
    cells.columns.erase(cells.columns.begin() + place);
    for (std::vector<std::string>& row : cells.rows) row.erase(row.begin() + place);
  }
  return ok_status();
}

/// What "columns" of a table in a file says.
ColumnNames names_in(ConfigFields& fields, KnownColumns known) {
  ColumnNames names;
  const ConfigValue* columns = fields.optional_object("columns");
  for (std::size_t i = 0; columns != nullptr && i < columns->keys.size(); ++i) {
    const std::string& ours = columns->keys[i];
    if (std::find(known.begin(), known.end(), ours) == known.end()) {
      fields.mistake("columns",
                     fmt::format("got the column {}, expected one of {}{}", in_quotes(ours),
                                 fmt::join(known, ", "), did_you_mean(ours, known)));
    }
    names[ours] = columns->items[i].text;
  }
  return names;
}

}  // namespace

bool Cells::has(std::string_view column) const { return find(columns, column) >= 0; }

std::string Cells::place_of_columns() const { return where + (is_csv ? ": line 1" : ": /columns"); }

std::string Cells::place_of_row(std::size_t row) const {
  return is_csv ? fmt::format("{}: line {}", where, lines[row])
                : fmt::format("{}: /rows/{}", where, row);
}

const std::string& CellFields::taken(std::string_view column) {
  static const std::string nothing;
  const std::ptrdiff_t at = find(cells_->columns, column);
  if (at < 0) return nothing;
  taken_[static_cast<std::size_t>(at)] = true;
  return cells_->rows[row_][static_cast<std::size_t>(at)];
}

bool CellFields::given(std::string_view column) { return !taken(column).empty(); }

std::string CellFields::text(std::string_view column) { return taken(column); }

void CellFields::mistake(std::string_view column, std::string_view what) {
  if (mistake_.empty()) {
    mistake_ = fmt::format("{}: {}: {}", cells_->place_of_row(row_), column, what);
  }
}

double CellFields::number(std::string_view column, double otherwise, double least, double most) {
  const std::string& text = taken(column);
  if (text.empty()) return otherwise;
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  if (!is_number || !(number >= least) || !(number <= most)) {
    mistake(column,
            fmt::format("got {}, expected a number from {} to {}", in_quotes(text), least, most));
    return otherwise;
  }
  return number;
}

std::int64_t CellFields::whole_number(std::string_view column, std::int64_t otherwise,
                                      std::int64_t least, std::int64_t most) {
  const double read = number(column, static_cast<double>(otherwise), static_cast<double>(least),
                             static_cast<double>(most));
  if (read != std::floor(read)) {
    mistake(column, fmt::format("got {}, expected a whole number", read));
  }
  return static_cast<std::int64_t>(read);
}

std::int64_t CellFields::time(std::string_view column, std::int64_t otherwise) {
  if (!given(column)) return otherwise;
  constexpr double century_s = 3.2e9;
  return to_whole(number(column, 0, 0, century_s) * 1e9);
}

Status CellFields::finish() const {
  if (!mistake_.empty()) return Error{ErrorCode::bad_format, mistake_};
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const std::string& text = cells_->rows[row_][i];
    if (taken_[i] || text.empty()) continue;
    return wrong(
        cells_->place_of_row(row_),
        fmt::format("{}: got {}, expected nothing: the other cells of the row make it meaningless",
                    cells_->columns[i], in_quotes(text)));
  }
  return ok_status();
}

Status check_columns(const Cells& cells, KnownColumns known) {
  std::vector<std::string_view> missing;
  for (const std::string_view name : known) {
    const auto count = std::count(cells.columns.begin(), cells.columns.end(), name);
    if (count == 0) missing.push_back(name);
    if (count > 1) {
      return wrong(cells.place_of_columns(),
                   fmt::format("column {} stands {} times", in_quotes(name), count));
    }
  }
  for (const std::string& column : cells.columns) {
    if (std::find(known.begin(), known.end(), column) != known.end()) continue;
    return wrong(
        cells.place_of_columns(),
        fmt::format("column {} is unused, expected one of {}{}; \"ignored\" lists columns to skip",
                    in_quotes(column), fmt::join(known, ", "), did_you_mean(column, missing)));
  }
  return ok_status();
}

Result<Cells> parse_csv(std::string_view text, const std::string& where) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // spreadsheets write it
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Cells cells;
  cells.where = where;
  cells.is_csv = true;
  CsvReader reader(text);
  if (text.empty()) return wrong(where, "empty, expected names of columns in the first line");
  if (!reader.row(cells.columns)) return wrong(where, "line 1: a quote is not closed");
  std::vector<std::string> row;
  while (!reader.is_done()) {
    const std::size_t line = reader.line();
    if (!reader.row(row)) return wrong(where, fmt::format("line {}: a quote is not closed", line));
    if (row.size() == 1 && row.front().empty()) continue;
    if (row.size() != cells.columns.size()) {
      return wrong(where, fmt::format("line {}: got {} cells, expected {}", line, row.size(),
                                      cells.columns.size()));
    }
    cells.rows.push_back(row);
    cells.lines.push_back(line);
  }
  return cells;
}

Result<Cells> table_of(ConfigFields& fields, KnownColumns known, std::vector<std::string>& files) {
  std::string file;
  std::vector<std::string> ignored;
  fields.optional_text("file", file);
  fields.optional_texts("ignored", ignored);
  const bool is_here = !fields.has("file");
  const ColumnNames names = is_here ? ColumnNames{} : names_in(fields, known);
  if (!is_here) files.push_back(file_named_in(fields.file(), file));
  std::string pointer = fields.pointer_of("");
  pointer.pop_back();  // its slash
  FORETRACE_TRY(auto cells, is_here
                                ? cells_of(fields, fmt::format("{}: {}", fields.file(), pointer))
                                : read_cells(files.back()));
  for (const auto& done : {ignore(cells, ignored), rename(cells, names)}) {
    FORETRACE_TRY(done);
  }
  FORETRACE_TRY(check_columns(cells, known));
  return cells;
}

}  // namespace foretrace::scheduling
