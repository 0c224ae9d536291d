#include "apps/driver/scheduler/sources/cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "models/catalogue/config_files.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

using ConfigKind = ConfigValue::Kind;
constexpr std::size_t most_bytes = std::size_t{64} << 20U;

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

}  // namespace

bool Cells::has(std::string_view column) const { return find(columns, column) >= 0; }

const std::string& Cells::text(std::size_t row, std::string_view column) const {
  static const std::string nothing;
  const std::ptrdiff_t at = find(columns, column);
  return at < 0 ? nothing : rows[row][static_cast<std::size_t>(at)];
}

bool CellFields::given(std::string_view column) const {
  return !cells_->text(row_, column).empty();
}

std::string CellFields::text(std::string_view column) const { return cells_->text(row_, column); }

void CellFields::mistake(std::string_view column, std::string_view what) {
  if (mistake_.empty()) {
    mistake_ = fmt::format("{}: row {}: {}: {}", cells_->where, row_ + 1, column, what);
  }
}

double CellFields::number(std::string_view column, double otherwise, double least, double most) {
  const std::string& text = cells_->text(row_, column);
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
  if (mistake_.empty()) return ok_status();
  return Error{ErrorCode::bad_format, mistake_};
}

Status check_columns(const Cells& cells, std::span<const std::string_view> known) {
  std::vector<std::string_view> missing;
  for (const std::string_view name : known) {
    const auto count = std::count(cells.columns.begin(), cells.columns.end(), name);
    if (count == 0) missing.push_back(name);
    if (count > 1) {
      return wrong(cells.where, fmt::format("column {} stands {} times", in_quotes(name), count));
    }
  }
  for (const std::string& column : cells.columns) {
    if (std::find(known.begin(), known.end(), column) != known.end()) continue;
    const std::string meant = did_you_mean(column, missing);
    if (!meant.empty()) return wrong(cells.where, "column " + in_quotes(column) + meant);
  }
  return ok_status();
}

Result<Cells> parse_csv(std::string_view text, const std::string& where) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // spreadsheets write it
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Cells cells;
  cells.where = where;
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
  }
  return cells;
}

Result<Cells> cells_of(const ConfigValue& table, const std::string& where) {
  const ConfigValue* columns = table.find("columns");
  const ConfigValue* rows = table.find("rows");
  if (columns == nullptr || columns->kind != ConfigKind::list) {
    return wrong(where, "/columns: expected a list of texts");
  }
  if (rows == nullptr || rows->kind != ConfigKind::list)
    return wrong(where, "/rows: expected a list");
  Cells cells;
  cells.where = where;
  for (const ConfigValue& column : columns->items) cells.columns.push_back(column.text);
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    const ConfigValue& row = rows->items[i];
    if (row.kind != ConfigKind::list || row.items.size() != cells.columns.size()) {
      return wrong(where, fmt::format("/rows/{}: got {} cells, expected {}", i, row.items.size(),
                                      cells.columns.size()));
    }
    std::vector<std::string> texts;
    texts.reserve(row.items.size());
    for (const ConfigValue& cell : row.items) {
      texts.push_back(cell.kind == ConfigKind::null ? std::string() : cell.text);
    }
    cells.rows.push_back(std::move(texts));
  }
  return cells;
}

Status rename(Cells& cells, const ColumnNames& names) {
  for (const auto& [ours, theirs] : names) {
    const std::ptrdiff_t at = find(cells.columns, theirs);
    if (at < 0) {
      const std::vector<std::string_view> known(cells.columns.begin(), cells.columns.end());
      return wrong(cells.where,
                   fmt::format("no column {}{}", in_quotes(theirs), did_you_mean(theirs, known)));
    }
    cells.columns[static_cast<std::size_t>(at)] = ours;
  }
  return ok_status();
}

Result<Cells> read_cells(const std::string& path, const ColumnNames& names) {
  auto text = read_text(path);
  if (!text) return std::move(text).error();
  Result<Cells> cells = Cells{};
  if (path.ends_with(".json")) {
    auto root = parse_config(*text);
    if (!root) return std::move(root).error().with_context(path);
    cells = cells_of(*root, path);
  } else {
    cells = parse_csv(*text, path);
  }
  if (!cells) return cells;
  if (const Status renamed = rename(*cells, names); !renamed) return renamed.error();
  return cells;
}

Result<Cells> table_of(const ConfigValue& object, ConfigFields& fields,
                       std::vector<std::string>& files) {
  std::string file;
  fields.optional_text("file", file);
  if (file.empty()) {
    static_cast<void>(fields.optional_value("columns"));
    static_cast<void>(fields.optional_value("rows"));
    std::string pointer = fields.pointer_of("");
    pointer.pop_back();  // its slash
    return cells_of(object, fmt::format("{}: {}", fields.file(), pointer));
  }
  ColumnNames names;
  if (const ConfigValue* columns = fields.optional_object("columns"); columns != nullptr) {
    for (std::size_t i = 0; i < columns->keys.size(); ++i) {
      names[columns->keys[i]] = columns->items[i].text;
    }
  }
  files.push_back(file_named_in(fields.file(), file));
  return read_cells(files.back(), names);
}

}  // namespace foretrace::scheduling
