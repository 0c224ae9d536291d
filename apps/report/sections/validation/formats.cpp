// What becomes of every file of a folder: read, with what left out, how fast; or refused, and why.
#include "apps/questions/validate/formats.h"

#include <map>

#include <fmt/format.h>

#include "apps/report/section.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

/// "12 dropped: no time; 3 repaired: ..."
std::string damage_of(const FormatRow& row) {
  std::string text;
  for (const trace::Damage& damage : row.report.damage) {
    text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", count_text(damage.count),
                        damage.kind == trace::DamageKind::dropped ? "dropped" : "repaired",
                        damage.reason);
  }
  return text;
}

/// Without the list of readers, which is the same in every refusal.
std::string reason_of(const FormatRow& row) {
  return row.refusal.substr(0, row.refusal.find("; supported: "));
}

std::string formats_headline(const std::vector<FormatRow>& rows) {
  std::map<std::string, std::uint64_t> by_format;
  std::uint64_t refused = 0;
  for (const FormatRow& row : rows) {
    if (row.format.empty()) {
      ++refused;
    } else {
      ++by_format[row.format];
    }
  }
  std::string list;
  for (const auto& [format, count] : by_format) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, format);
  }
  return fmt::format("{} of {} files read{}{}, {} refused", rows.size() - refused, rows.size(),
                     list.empty() ? "" : ": ", list, refused);
}

/// As documents have it: a refused file has its reason alone.
Value file_value(const FormatRow& row) {
  if (row.format.empty()) {
    return Value::object(
        {{"file", Value::words(row.file)}, {"refused", Value::words(row.refusal)}});
  }
  Value::List damage;
  for (const trace::Damage& entry : row.report.damage) {
    damage.push_back(
        Value::object({{"reason", Value::words(entry.reason)},
                       {"count", Value::count(entry.count)},
                       {"dropped", Value::flag(entry.kind == trace::DamageKind::dropped)}}));
  }
  Value::Object members = {{"file", Value::words(row.file)},
                           {"format", Value::words(row.format)},
                           {"bytes", Value::count(row.report.bytes)},
                           {"events", Value::count(row.report.events)},
                           {"rows", Value::count(row.rows)},
                           {"operations", Value::count(row.operations)},
                           {"kernels", Value::count(row.kernels)},
                           {"ranks", Value::count(row.ranks)},
                           {"seconds", Value::plain(row.seconds)},
                           {"damage", Value::list(std::move(damage))},
                           {"warnings", Value::texts(row.report.warnings)}};
  if (row.span_error) members.push_back({"span_error", Value::change(*row.span_error)});
  return Value::object(std::move(members));
}

Table files_table(const std::vector<FormatRow>& rows) {
  Table table{.name = "files",
              .title = "file",
              .columns = {{"file"},
                          {"format", "format"},
                          {"bytes", "size", Show::details},
                          {"events", "events"},
                          {"rows", "rows", Show::details},
                          {"operations", "device operations", Show::details},
                          {"kernels", "kernels"},
                          {"ranks", "ranks", Show::details},
                          {"dropped", "dropped"},
                          {"megabytes_per_second", "MB/s"},
                          {"damage", "dropped, repaired", Show::details},
                          {"warnings", "warnings", Show::details},
                          {"span_error", "replay"},
                          {"no_replay", "why no replay", Show::details}}};
  for (const FormatRow& row : rows) {
    if (row.format.empty()) continue;
    table.add(
        {Value::words(row.file), Value::words(row.format),
         Value::count(row.report.bytes)
             .as(fmt::format("{:.1f} MB", static_cast<double>(row.report.bytes) / 1e6)),
         Value::count(row.report.events), Value::count(row.rows), Value::count(row.operations),
         Value::count(row.kernels), Value::count(row.ranks), Value::count(row.report.dropped()),
         row.speed() > 0 ? Value::plain(row.speed()).as(fmt::format("{:.0f}", row.speed()))
                         : Value::none(),
         Value::words(damage_of(row)), Value::texts(row.report.warnings),
         row.span_error
             ? Value::change(*row.span_error).as(fmt::format("{:+.2f} %", 100 * *row.span_error))
             : Value::none(),
         Value::words(row.no_replay)});
  }
  return table;
}

Table refused_table(const std::vector<FormatRow>& rows) {
  Table table{.name = "refused",
              .title = "refused",
              .columns = {{"file"}, {.key = "why", .title = "why", .is_prose = true}}};
  for (const FormatRow& row : rows) {
    if (row.format.empty()) table.add({Value::words(row.file), Value::words(reason_of(row))});
  }
  return table;
}

}  // namespace

Sections read_files(const std::vector<FormatRow>& rows) {
  Value::List list;
  for (const FormatRow& row : rows) list.push_back(file_value(row));
  Section section{.key = "files", .headline = formats_headline(rows)};
  section.datum("files", Value::list(std::move(list)));
  section.tables = {files_table(rows)};
  Section refused{.key = "refused"};
  refused.tables = {refused_table(rows)};
  return {std::move(section), std::move(refused)};
}

}  // namespace foretrace::report::sections
