#include "apps/report/report_tables.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::errors_of;
using driver::TableErrors;
using driver::TablePoint;
using driver::TableResult;
using driver::TablesReport;
using Json = nlohmann::ordered_json;

std::string error_text(double error, bool is_share) {
  return is_share ? fmt::format("{:.2f} pt", error) : fmt::format("{:.1f} %", 100 * error);
}
std::string signed_error_text(double error, bool is_share) {
  return is_share ? fmt::format("{:+.2f} pt", error) : fmt::format("{:+.1f} %", 100 * error);
}

// Groups in the order in which they come.
std::vector<std::pair<std::string, std::vector<TablePoint>>> groups_of(const TableResult& result) {
  std::vector<std::pair<std::string, std::vector<TablePoint>>> groups;
  for (const TablePoint& point : result.points) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == point.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {point.group, {}});
    found->second.push_back(point);
  }
  return groups;
}

// Every group counts once, however many rows it has.
double mean_of_groups(const TableResult& result) {
  double sum = 0;
  const auto groups = groups_of(result);
  for (const auto& [name, points] : groups) sum += errors_of(points, result.is_share).mean;
  return groups.empty() ? 0 : sum / static_cast<double>(groups.size());
}

bool has_groups(const TableResult& result) {
  return std::any_of(result.points.begin(), result.points.end(),
                     [](const TablePoint& point) { return !point.group.empty(); });
}

Json errors_json(const TableErrors& errors) {
  return {{"mean_abs_error", errors.mean},
          {"median_abs_error", errors.median},
          {"max_abs_error", errors.largest},
          {"bias", errors.bias},
          {"rank_correlation", errors.rank_correlation},
          {"covered", errors.covered}};
}

Json table_json(const TableResult& result) {
  Json json = {{"name", result.name},
               {"rows", result.points.size()},
               {"unit", result.unit},
               {"error_is", result.is_share ? "difference" : "ratio"}};
  json.update(errors_json(errors_of(result.points, result.is_share)));
  Json points = Json::array();
  for (const TablePoint& point : result.points) {
    Json one = {{"row", point.row}, {"column", point.column}, {"predicted", point.predicted},
                {"low", point.low}, {"high", point.high},     {"measured", point.measured}};
    if (!point.group.empty()) one["group"] = point.group;
    points.push_back(std::move(one));
  }
  json["points"] = std::move(points);
  if (has_groups(result)) {
    Json groups = Json::array();
    for (const auto& [name, rows] : groups_of(result)) {
      Json group = {{"group", name}, {"rows", rows.size()}};
      group.update(errors_json(errors_of(rows, result.is_share)));
      groups.push_back(std::move(group));
    }
    json["mean_abs_error_of_groups"] = mean_of_groups(result);
    json["groups"] = std::move(groups);
  }
  Json skipped = Json::array();
  for (const driver::SkippedRow& row : result.skipped) {
    skipped.push_back({{"row", row.row}, {"reason", row.reason}});
  }
  json["skipped"] = std::move(skipped);
  json["notes"] = result.notes;
  return json;
}

std::string tail(const TablesReport& report) {
  std::string text;
  for (const TableResult& result : report.tables) {
    std::map<std::string, std::size_t> reasons;
    for (const driver::SkippedRow& row : result.skipped) ++reasons[row.reason];
    for (const auto& [reason, count] : reasons) {
      text += paragraph(fmt::format("{}: {} skipped: ", result.name, plural(count, "row")), reason);
    }
    for (const std::string& note : result.notes) {
      text += paragraph(fmt::format("{}: ", result.name), note);
    }
  }
  if (!report.unknown.empty()) {
    text +=
        paragraph("tables without a reader: ", fmt::format("{}", fmt::join(report.unknown, ", ")));
  }
  for (const std::string& line : report.broken) text += paragraph("not read: ", line);
  return text;
}

}  // namespace

std::string tables_page(const TablesReport& report) {
  using Align = Table::Align;
  Table table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
               Align::right});
  table.row({"table", "rows", "mean error", "largest", "bias", "rank", "in range"});
  for (const TableResult& result : report.tables) {
    if (result.points.empty()) continue;
    const TableErrors errors = errors_of(result.points, result.is_share);
    table.row({result.name, count_text(result.points.size()),
               error_text(errors.mean, result.is_share),
               error_text(errors.largest, result.is_share),
               signed_error_text(errors.bias, result.is_share),
               fmt::format("{:.3f}", errors.rank_correlation), percent_text(errors.covered)});
    const auto groups = groups_of(result);
    if (groups.size() > 1) {
      table.row({fmt::format("  by group ({})", groups.size()), "",
                 error_text(mean_of_groups(result), result.is_share), "", "", "", ""});
    }
  }
  return table.text(0) + "\n" + tail(report);
}

std::string tables_markdown(const TablesReport& report) {
  std::string text =
      "| table | rows | mean error | largest | bias | rank correlation | in range |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  for (const TableResult& result : report.tables) {
    if (result.points.empty()) continue;
    const TableErrors errors = errors_of(result.points, result.is_share);
    text += fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {} |\n", result.name,
                        result.points.size(), error_text(errors.mean, result.is_share),
                        error_text(errors.largest, result.is_share),
                        signed_error_text(errors.bias, result.is_share), errors.rank_correlation,
                        percent_text(errors.covered));
  }
  return text + "\n" + tail(report);
}

Json tables_json(const TablesReport& report) {
  Json tables = Json::array();
  for (const TableResult& result : report.tables) tables.push_back(table_json(result));
  return {{"schema", "foretrace.tables/1"},
          {"tables", std::move(tables)},
          {"unknown", report.unknown},
          {"broken", report.broken}};
}

}  // namespace foretrace::app
