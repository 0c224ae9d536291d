// Published and measured figures beside predictions.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/text.h"
#include "tests/validation/report/pages.h"
#include "tests/validation/report/ranges.h"

namespace foretrace::report::sections {
namespace {

/// Errors of shares are differences in percentage points, all others are ratios.
Value error_value(double error, bool is_share) {
  return Value::share(error).as(is_share ? fmt::format("{:.2f} pt", error)
                                         : fmt::format("{:.1f} %", 100 * error));
}
Value bias_value(double error, bool is_share) {
  return Value::change(error).as(is_share ? fmt::format("{:+.2f} pt", error)
                                          : fmt::format("{:+.1f} %", 100 * error));
}

using Groups = std::vector<std::pair<std::string, std::vector<TablePoint>>>;

/// Groups in the order in which they come.
Groups groups_of(const TableResult& result) {
  Groups groups;
  for (const TablePoint& point : result.points) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == point.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {point.group, {}});
    found->second.push_back(point);
  }
  return groups;
}

/// Every group counts once, however many rows it has.
double mean_of_groups(const Groups& groups, bool is_share) {
  double sum = 0;
  for (const auto& [name, points] : groups) sum += errors_of(points, is_share).mean;
  return groups.empty() ? 0 : sum / static_cast<double>(groups.size());
}

bool has_groups(const TableResult& result) {
  return std::any_of(result.points.begin(), result.points.end(),
                     [](const TablePoint& point) { return !point.group.empty(); });
}

void add_errors(const TableErrors& errors, Value::Object& members) {
  members.push_back({"mean_abs_error", Value::plain(errors.mean)});
  members.push_back({"median_abs_error", Value::plain(errors.median)});
  members.push_back({"max_abs_error", Value::plain(errors.largest)});
  members.push_back({"bias", Value::plain(errors.bias)});
  members.push_back({"rank_correlation", Value::plain(errors.rank_correlation)});
  members.push_back({"covered", Value::plain(errors.covered)});
}

Value point_value(const TablePoint& point) {
  Value::Object members = {{"row", Value::count(point.row)},
                           {"column", Value::words(point.column)},
                           {"predicted", Value::plain(point.predicted)},
                           {"low", Value::plain(point.low)},
                           {"high", Value::plain(point.high)},
                           {"measured", Value::plain(point.measured)}};
  if (!point.group.empty()) members.push_back({"group", Value::words(point.group)});
  return Value::object(std::move(members));
}

/// As documents have it: groups only where rows have them.
Value table_value(const TableResult& result) {
  Value::Object members = {{"name", Value::words(result.name)},
                           {"rows", Value::count(result.points.size())},
                           {"unit", Value::words(result.unit)},
                           {"error_is", Value::words(result.is_share ? "difference" : "ratio")}};
  add_errors(errors_of(result.points, result.is_share), members);
  Value::List points;
  for (const TablePoint& point : result.points) points.push_back(point_value(point));
  members.push_back({"points", Value::list(std::move(points))});
  if (has_groups(result)) {
    const Groups groups = groups_of(result);
    Value::List list;
    for (const auto& [name, rows] : groups) {
      Value::Object group = {{"group", Value::words(name)}, {"rows", Value::count(rows.size())}};
      add_errors(errors_of(rows, result.is_share), group);
      list.push_back(Value::object(std::move(group)));
    }
    members.push_back(
        {"mean_abs_error_of_groups", Value::plain(mean_of_groups(groups, result.is_share))});
    members.push_back({"groups", Value::list(std::move(list))});
  }
  Value::List skipped;
  for (const SkippedRow& row : result.skipped) {
    skipped.push_back(
        Value::object({{"row", Value::count(row.row)}, {"reason", Value::words(row.reason)}}));
  }
  members.push_back({"skipped", Value::list(std::move(skipped))});
  members.push_back({"notes", Value::texts(result.notes)});
  return Value::object(std::move(members));
}

/// Some predictions are single figures: of schedulers, of pairs on one device.
bool has_range(const TableResult& result) {
  return std::any_of(result.points.begin(), result.points.end(),
                     [](const TablePoint& point) { return point.low < point.high; });
}

Table errors_table(const TablesReport& report) {
  Table table{.name = "tables",
              .columns = {{"table", "table"},
                          {"rows", "rows"},
                          {"mean_abs_error", "mean error"},
                          {"max_abs_error", "largest"},
                          {.key = "bias", .title = "bias", .narrow = Narrow::left_out},
                          {.key = "rank_correlation", .title = "rank", .narrow = Narrow::left_out},
                          {"covered", "in range"}}};
  for (const TableResult& result : report.tables) {
    if (result.points.empty()) continue;
    const bool is_share = result.is_share;
    const TableErrors errors = errors_of(result.points, is_share);
    Row row{.cells = {Value::words(result.name), Value::count(result.points.size()),
                      error_value(errors.mean, is_share), error_value(errors.largest, is_share),
                      bias_value(errors.bias, is_share),
                      Value::plain(errors.rank_correlation)
                          .as(fmt::format("{:.3f}", errors.rank_correlation)),
                      has_range(result) ? Value::share(errors.covered) : Value::none("-")}};
    if (const Groups groups = groups_of(result); groups.size() > 1) {
      row.below.push_back(
          {.cells = {Value::words(fmt::format("by group ({})", groups.size())), Value{},
                     error_value(mean_of_groups(groups, is_share), is_share)},
           .is_for_pages = true});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string tables_headline(const TablesReport& report) {
  std::size_t rows = 0;
  std::size_t tables = 0;
  std::size_t skipped = 0;
  for (const TableResult& result : report.tables) {
    rows += result.points.size();
    tables += result.points.empty() ? 0 : 1;
    skipped += result.skipped.size();
  }
  return fmt::format("{} of {} predicted, {} skipped", plural(rows, "row"), plural(tables, "table"),
                     count_text(skipped));
}

/// Of ranges for families that nobody measured.
Table ranges_table(const std::vector<validation::RangeKind>& kinds) {
  Table table{.name = "ranges",
              .columns = {{"kind", "kind"},
                          {"families", "families"},
                          {"new_family", "new family"},
                          {"half_width", "half-width, left out"},
                          {"covered", "in range, left out"}}};
  const auto times = [](double factor) {
    return Value::plain(factor).as(fmt::format("x{:.2f}", factor));
  };
  for (const validation::RangeKind& kind : kinds) {
    const bool has_others = kind.families.size() > 1;
    table.rows.push_back(
        {.cells = {Value::words(kind.name), Value::count(kind.families.size()),
                   times(kind.new_family), has_others ? times(kind.half_width) : Value::none("-"),
                   has_others ? Value::share(kind.covered) : Value::none("-")}});
  }
  return table;
}

/// Of ranges of training for publishers of whom nobody knows.
Table publishers_table(const std::vector<validation::RangePublisher>& publishers) {
  Table table{.name = "publishers",
              .columns = {{"publisher", "training by"},
                          {"cells", "configurations"},
                          {"half_width", "half-width, left out"},
                          {"covered", "in range, left out"}}};
  for (const validation::RangePublisher& one : publishers) {
    table.rows.push_back(
        {.cells = {Value::words(one.name), Value::count(one.cells),
                   Value::plain(one.half_width).as(fmt::format("x{:.2f}", one.half_width)),
                   Value::share(one.covered)}});
  }
  return table;
}

/// Each family as if it were new: how many of its rows the range of the others holds.
Section measured_ranges(const TablesReport& report) {
  const auto kinds = validation::ranges_of(report.tables);
  Section section{.key = "ranges", .title = "ranges with one family left out"};
  Value::List list;
  for (const validation::RangeKind& kind : kinds) {
    Value::Object members = {{"kind", Value::words(kind.name)},
                             {"families", Value::count(kind.families.size())},
                             {"new_family", Value::plain(kind.new_family)}};
    if (kind.families.size() > 1) {
      members.push_back({"half_width", Value::plain(kind.half_width)});
      members.push_back({"covered", Value::plain(kind.covered)});
    }
    list.push_back(Value::object(std::move(members)));
  }
  section.datum("ranges", Value::list(std::move(list)));
  if (!kinds.empty()) section.tables = {ranges_table(kinds)};
  return section;
}

/// Each publisher of training as if nobody had its runs.
Section measured_publishers(const TablesReport& report) {
  const auto publishers = validation::left_out_publishers(report.tables);
  Section section{.key = "publishers", .title = "training with one publisher left out"};
  Value::List list;
  for (const validation::RangePublisher& one : publishers) {
    list.push_back(Value::object({{"publisher", Value::words(one.name)},
                                  {"cells", Value::count(one.cells)},
                                  {"half_width", Value::plain(one.half_width)},
                                  {"covered", Value::plain(one.covered)}}));
  }
  section.datum("publishers", Value::list(std::move(list)));
  if (!publishers.empty()) section.tables = {publishers_table(publishers)};
  return section;
}

/// What was left out and what was assumed.
Section tables_notes(const TablesReport& report) {
  Section section{.key = "tables_notes", .title = "skipped and assumed"};
  for (const TableResult& result : report.tables) {
    std::map<std::string, std::vector<std::size_t>> reasons;
    for (const SkippedRow& row : result.skipped) reasons[row.reason].push_back(row.row);
    for (const auto& [reason, rows] : reasons) {
      const std::string which =
          rows.size() == 1
              ? fmt::format("row {}", rows.front())
              : fmt::format("{} from row {} on", plural(rows.size(), "row"), rows.front());
      section.notes.push_back({reason, fmt::format("  {}: {} skipped: ", result.name, which)});
    }
    for (const std::string& note : result.notes) {
      section.notes.push_back({note, fmt::format("  {}: ", result.name)});
    }
  }
  if (!report.left_out.empty()) {
    section.notes.push_back({fmt::format("{}", fmt::join(report.left_out, ", ")),
                             "  take minutes, --only reads them: "});
  }
  if (!report.unknown.empty()) {
    section.notes.push_back(
        {fmt::format("{}", fmt::join(report.unknown, ", ")), "  tables without a reader: "});
  }
  for (const std::string& line : report.broken) section.notes.push_back({line, "  not read: "});
  return section;
}

}  // namespace

Sections measured_tables(const TablesReport& report) {
  Value::List list;
  for (const TableResult& result : report.tables) list.push_back(table_value(result));
  Section section{.key = "tables", .headline = tables_headline(report)};
  section.datum("tables", Value::list(std::move(list)));
  section.datum("unknown", Value::texts(report.unknown));
  section.datum("left_out", Value::texts(report.left_out));
  section.datum("broken", Value::texts(report.broken));
  section.tables = {errors_table(report)};
  return {std::move(section), measured_ranges(report), measured_publishers(report),
          tables_notes(report)};
}

}  // namespace foretrace::report::sections
