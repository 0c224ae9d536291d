// Memory that runs out, on whatever thread, is an error that names the file: never the program's
// end.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "tests/trace/support/failing_new.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

RankTrace rank_with_launches(std::int32_t rank, int launches) {
  TableBuilder t;
  for (int i = 0; i < launches; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 10.0 * i, 5);
    t.work(call, t.stream(7), 10.0 * i + 7, 2);
  }
  RankTrace trace;
  trace.path = "rank" + std::to_string(rank) + ".json";
  trace.rank = rank;
  trace.trace.events = std::move(t.table());
  return trace;
}

}  // namespace

TEST_CASE("out of memory: of several ranks the first that does not fit is the error") {
  std::vector<RankTrace> ranks;
  ranks.push_back(rank_with_launches(0, 3));
  ranks.push_back(rank_with_launches(1, 20'000));
  ranks.push_back(rank_with_launches(2, 20'000));
  const auto built = [&] {
    const test::FailingNew failing(std::size_t{1} << 18U);
    return build_job(ranks);
  }();
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().code == ErrorCode::io);
  CHECK(built.error().message == "rank1.json: out of memory");
  CHECK(build_job(ranks).ok());
}

TEST_CASE("out of memory: while files are read, the error names the file") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "foretrace_out_of_memory";
  fs::create_directories(folder);
  std::vector<std::string> files;
  for (int rank = 0; rank < 3; ++rank) {
    files.push_back((folder / ("rank" + std::to_string(rank) + ".json")).string());
    std::ofstream(files.back()) << R"({"schemaVersion":1,"traceEvents":[)"
                                << std::string(std::size_t{2} << 20U, ' ')
                                << R"({"ph":"X","cat":"cpu_op","name":"aten::add",)"
                                << R"("pid":1,"tid":1,"ts":1,"dur":2}]})";
  }
  const auto job = [&] {
    const test::FailingNew failing(std::size_t{1} << 19U);  // less than a reader looks at first
    return read_job(files, {});
  }();
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().message.ends_with(".json: out of memory"));
  CHECK(job.error().message.starts_with(folder.string()));
  CHECK(read_job(files, {}).ok());
  fs::remove_all(folder);
}

}  // namespace foretrace::trace
