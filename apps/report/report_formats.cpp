#include "apps/report/report_formats.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::FormatRow;

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

std::string error_of(const FormatRow& row) {
  return row.span_error ? fmt::format("{:+.2f} %", 100 * *row.span_error) : "-";
}

std::string speed_of(const FormatRow& row) {
  return row.speed() > 0 ? fmt::format("{:.0f}", row.speed()) : "-";
}

// A bar would end the cell.
std::string plain_cell(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

/// Without the list of readers, which is the same in every refusal.
std::string reason_of(const FormatRow& row) {
  return row.refusal.substr(0, row.refusal.find("; supported: "));
}

}  // namespace

std::string formats_headline(std::span<const FormatRow> rows) {
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
  return fmt::format("{} of {} files read{}{}, {} refused\n", rows.size() - refused, rows.size(),
                     list.empty() ? "" : ": ", list, refused);
}

std::string formats_page(std::span<const FormatRow> rows) {
  using Align = Table::Align;
  Table table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
               Align::right});
  table.row({"file", "format", "events", "kernels", "dropped", "MB/s", "replay"});
  std::string refused;
  for (const FormatRow& row : rows) {
    if (row.format.empty()) {
      refused += "  " + row.file + "\n" + paragraph("    ", reason_of(row));
    } else {
      table.row({row.file, row.format, count_text(row.report.events), count_text(row.kernels),
                 count_text(row.report.dropped()), speed_of(row), error_of(row)});
    }
  }
  return formats_headline(rows) + (table.empty() ? "" : "\n" + table.text(2)) +
         (refused.empty() ? "" : "\nrefused\n" + refused);
}

std::string formats_markdown(std::span<const FormatRow> rows) {
  std::string text = formats_headline(rows) +
                     "\n| file | format | MB | MB/s | events | rows | device operations | kernels "
                     "| ranks | dropped, repaired | warnings | replay error of the span |\n"
                     "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  std::string refused = "\n| refused | why |\n|---|---|\n";
  for (const FormatRow& row : rows) {
    if (row.format.empty()) {
      refused += fmt::format("| {} | {} |\n", row.file, plain_cell(reason_of(row)));
      continue;
    }
    std::string warnings;
    for (const std::string& warning : row.report.warnings) {
      warnings += (warnings.empty() ? "" : "; ") + warning;
    }
    text += fmt::format("| {} | {} | {:.1f} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                        row.file, row.format, static_cast<double>(row.report.bytes) / 1e6,
                        speed_of(row), row.report.events, row.rows, row.operations, row.kernels,
                        row.ranks, plain_cell(damage_of(row)), plain_cell(warnings),
                        row.span_error ? error_of(row) : plain_cell(row.no_replay));
  }
  return text + refused;
}

std::string formats_json(std::span<const FormatRow> rows) {
  using Json = nlohmann::ordered_json;
  Json files = Json::array();
  for (const FormatRow& row : rows) {
    if (row.format.empty()) {
      files.push_back({{"file", row.file}, {"refused", row.refusal}});
      continue;
    }
    Json damage = Json::array();
    for (const trace::Damage& entry : row.report.damage) {
      damage.push_back({{"reason", entry.reason},
                        {"count", entry.count},
                        {"dropped", entry.kind == trace::DamageKind::dropped}});
    }
    Json file = {{"file", row.file},
                 {"format", row.format},
                 {"bytes", row.report.bytes},
                 {"events", row.report.events},
                 {"rows", row.rows},
                 {"operations", row.operations},
                 {"kernels", row.kernels},
                 {"ranks", row.ranks},
                 {"seconds", row.seconds},
                 {"damage", damage},
                 {"warnings", row.report.warnings}};
    if (row.span_error) {
      file["span_error"] = *row.span_error;
    }
    files.push_back(std::move(file));
  }
  const Json document = {{"schema", "foretrace.formats/1"}, {"files", files}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace foretrace::app
