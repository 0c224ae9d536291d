// What holds for every reader of tables of users: whatever stands there is used, or is a mistake.
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/extras/storage/storage.h"
#include "apps/scheduling/schedule.h"
#include "apps/scheduling/sources/job_table.h"
#include "apps/serving/serving.h"
#include "tests/configs.h"

namespace foretrace::scheduling {
namespace {

/// A row by columns.
using Row = std::map<std::string, std::string>;

/// One kind of table: its columns, rows that are fine, and what is read of a document, as text.
struct TableReader {
  std::string_view name;
  KnownColumns columns;
  Row first;              ///< stands above each of the rows
  std::vector<Row> rows;  ///< those that are changed
  std::string before;     ///< the document around the members of the table
  std::string after;
  std::function<Result<std::string>(const std::string& document)> read;
};

std::string dump(const Workload& workload) {
  std::string text;
  for (const Job& job : workload.jobs.values()) {
    std::vector<std::size_t> kinds;
    for (const KindId kind : job.request.kinds) kinds.push_back(index(kind));
    text += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", job.name,
                        workload.types[job.type].name, fmt::join(job.phases, "/"), job.arrival_ns,
                        job.request.gpus, job.request.milli, job.request.cpu_milli,
                        job.request.memory_mib, fmt::join(kinds, "|"), job.least_gpus,
                        job.most_gpus, job.weight, workload.tenants[job.tenant], job.deadline_ns,
                        job.isolated_ns, job.group, job.after);
    if (job.group >= 0) text += workload.groups[static_cast<std::size_t>(job.group)];
  }
  return text;
}

std::string dump(const Schedule& schedule) {
  std::string text;
  const Workload& workload = schedule.workload;
  for (std::size_t type = 0; type < workload.types.size(); ++type) {
    const auto id = make_id<TypeId>(type);
    text += workload.types[id].name + ":";
    for (std::size_t kind = 0; kind < schedule.cluster.kinds.size(); ++kind) {
      for (const char* const placement : {"", "3", "21"}) {
        for (const int gpus : {1, 2, 3, 7}) {
          const Where where{make_id<KindId>(kind), gpus, placement};
          text += fmt::format(" {}", schedule.throughput->rate(id, where));
          for (std::size_t other = 0; other < workload.types.size(); ++other) {
            const auto both = schedule.throughput->together(id, make_id<TypeId>(other), where);
            if (both) text += fmt::format("({} {})", both->first, both->second);
          }
        }
      }
    }
  }
  return text;
}

const std::string cluster =
    R"({"schema": "foretrace.schedule/1", "policy": "fifo", "cluster": {"nodes":
        [{"kind": "a", "gpus": 8}, {"kind": "b", "gpus": 8}]})";

std::vector<TableReader> table_readers() {
  const auto schedule = [](const std::string& text) { return parse_schedule(text, "run.json"); };
  return {
      {"jobs",
       job_columns,
       {{"duration_s", "9"}, {"group", "x"}},
       {{{"duration_s", "60"}},
        {{"steps", "5"}, {"type", "t"}},
        {{"steps", "5"}, {"model", "m"}, {"gpus", "2"}, {"most_gpus", "4"}}},
       cluster + R"(, "jobs": {)",
       "}}",
       [=](const std::string& text) -> Result<std::string> {
         const auto read = schedule(text);
         if (!read.ok()) return read.error();
         return dump(read->workload);
       }},
      {"rates",
       rate_columns,
       {{"type", "t"}, {"kind", "a"}, {"gpus", "3"}, {"steps_per_s", "2"}},
       {{{"type", "t"}, {"kind", "a"}, {"steps_per_s", "5"}},
        {{"model", "t"}, {"kind", "a"}, {"steps_per_s", "5"}, {"placement", "21"}, {"gpus", "3"}},
        {{"type", "t"},
         {"kind", "a"},
         {"steps_per_s", "2"},
         {"other_type", "u"},
         {"other_steps_per_s", "1"}}},
       cluster + R"(, "jobs": {"columns": ["duration_s"], "rows": [[1]]}, "throughput": {)",
       "}}",
       [=](const std::string& text) -> Result<std::string> {
         const auto read = schedule(text);
         if (!read.ok()) return read.error();
         return dump(*read);
       }},
      {"reads",
       stored_read_columns,
       {{"item", "i"}, {"bytes", "5"}},
       {{{"item", "j"}, {"bytes", "5"}}},
       R"({"schema": "foretrace.storage/1", "step": "5 ms", "loader": {"batch": 1},
           "cache": {"bandwidth": "1 GB/s"}, "remote": {"bandwidth": "1 GB/s"},
           "caches": [{"name": "c", "size": "1 GB"}], "data": {)",
       "}}",
       [](const std::string& text) -> Result<std::string> {
         const auto read = parse_stored_input(text, "run.json");
         if (!read.ok()) return read.error();
         std::string dumped;
         for (const auto& access : read->order.accesses) {
           dumped += fmt::format("{} {}\n", access.item, access.bytes);
         }
         return dumped;
       }},
      {"requests",
       request_columns,
       {{"arrival_s", "1"}, {"input_tokens", "20"}, {"output_tokens", "4"}},
       {{{"arrival_s", "1"}, {"input_tokens", "20"}, {"output_tokens", "4"}},
        {{"arrival_s", "1"},
         {"input_tokens", "20"},
         {"output_tokens", "4"},
         {"prefix", "2"},
         {"prefix_tokens", "5"}}},
       R"({"schema": "foretrace.serving/1", "model": "llama3_8b", "engine": "vllm",
           "accelerator": "h100_sxm", "requests": {)",
       "}}",
       [](const std::string& text) -> Result<std::string> {
         const auto read = parse_serving(*test::shipped(), text, "run.json");
         if (!read.ok()) return read.error();
         std::string dumped;
         for (const auto& one : read->requests) {
           dumped += fmt::format("{} {} {} {} {}\n", one.arrival_ns, one.input_tokens,
                                 one.output_tokens, one.prefix_group, one.prefix_tokens);
         }
         return dumped;
       }}};
}

/// What is read of a document whose table has this row below the first one.
Result<std::string> read(const TableReader& reader, const Row& row, const std::string& rest = "") {
  Row columns = reader.first;
  columns.insert(row.begin(), row.end());
  std::vector<std::string> names;
  std::vector<std::string> above;
  std::vector<std::string> below;
  const auto cell_of = [](const Row& cells, const std::string& column) {
    const auto cell = cells.find(column);
    return cell == cells.end() ? std::string("null") : '"' + cell->second + '"';
  };
  for (const auto& [column, cell] : columns) {
    names.push_back('"' + column + '"');
    above.push_back(cell_of(reader.first, column));
    below.push_back(cell_of(row, column));
  }
  return reader.read(fmt::format(R"({}"columns": [{}], "rows": [[{}], [{}]]{}{})", reader.before,
                                 fmt::join(names, ", "), fmt::join(above, ", "),
                                 fmt::join(below, ", "), rest, reader.after));
}

/// Columns of all readers, and words that are like them.
std::vector<std::string> strange_columns(const std::vector<TableReader>& readers) {
  std::mt19937_64 random(14);
  std::vector<std::string> names = {"submit_s", "comment", "", "GPUS"};
  for (const TableReader& reader : readers) {
    for (const std::string_view column : reader.columns) {
      names.emplace_back(column);
      std::string like(column);
      like[random() % like.size()] = static_cast<char>('a' + random() % 26);
      names.push_back(like);
      names.push_back(std::string(column) + static_cast<char>('a' + random() % 26));
    }
  }
  return names;
}

TEST_CASE("law: a column that a reader of tables does not know is a mistake with its place") {
  const auto readers = table_readers();
  std::size_t refused = 0;
  for (const TableReader& reader : readers) {
    CAPTURE(reader.name);
    for (const std::string& column : strange_columns(readers)) {
      const auto known = [&](std::string_view name) { return name == column; };
      if (std::any_of(reader.columns.begin(), reader.columns.end(), known)) continue;
      CAPTURE(column);
      Row row = reader.rows.front();
      row[column] = "1";
      const auto told = read(reader, row);
      REQUIRE_FALSE(told.ok());
      const std::string& message = told.error().message;
      CAPTURE(message);
      CHECK(message.starts_with("run.json: /"));
      CHECK(message.find(fmt::format("column '{}' is unused", column)) != std::string::npos);
      CHECK(message.find(reader.columns.back()) != std::string::npos);  // what it would read
      const auto passed = read(reader, row, fmt::format(R"(, "ignored": ["{}"])", column));
      REQUIRE_MESSAGE(passed.ok(), passed.error().message);
      CHECK(*passed == *read(reader, reader.rows.front()));
      ++refused;
    }
  }
  CHECK(refused > 300);
}

TEST_CASE("law: whatever stands in a cell changes what is read, or is a mistake") {
  std::size_t used = 0;
  for (const TableReader& reader : table_readers()) {
    CAPTURE(reader.name);
    std::vector<bool> is_used(reader.columns.size());
    for (const Row& row : reader.rows) {
      for (std::size_t i = 0; i < reader.columns.size(); ++i) {
        const std::string column(reader.columns[i]);
        CAPTURE(column);
        Row without = row;
        without.erase(column);
        const auto before = read(reader, without);
        for (const char* const cell : {"3", "7", "0.75", "x", "b", "21"}) {
          CAPTURE(std::string(cell));
          Row with = row;
          with[column] = cell;
          const auto after = read(reader, with);
          if (!after.ok()) continue;
          is_used[i] = true;
          if (before.ok()) CHECK(*after != *before);
        }
      }
    }
    for (std::size_t i = 0; i < is_used.size(); ++i) {
      CAPTURE(reader.columns[i]);
      CHECK(is_used[i]);  // somewhere
      used += is_used[i] ? 1 : 0;
    }
  }
  CHECK(used == job_columns.size() + rate_columns.size() + stored_read_columns.size() +
                    request_columns.size());
}

TEST_CASE("tables: work is either a time or steps of something") {
  const TableReader jobs = table_readers().front();
  const auto told = [&](const Row& row) {
    const auto done = read(jobs, row);
    return done.ok() ? std::string() : done.error().message;
  };
  CHECK(told({{"duration_s", "5"}, {"model", "m"}}) ==
        "run.json: /jobs: /rows/1: model: got 'm', expected nothing: the other cells of the row "
        "make it meaningless");
  CHECK(told({{"steps", "5"}, {"type", "t"}, {"model", "m"}}).find("model: got 'm'") !=
        std::string::npos);
  CHECK(told({{"duration_s", "5"}, {"steps", "5"}}).find("either duration_s or steps") !=
        std::string::npos);
  CHECK(told({{"duration_s", "5"}, {"model", ""}}).empty());
}

}  // namespace
}  // namespace foretrace::scheduling
