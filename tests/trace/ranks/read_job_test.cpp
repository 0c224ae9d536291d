#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/trace/packed_text.h"
#include "tests/trace/same_table.h"
#include "tests/trace/tar_text.h"
#include "trace/inputs/list_files.h"
#include "trace/inputs/read_input.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with the test.
struct Folder {
  fs::path path;
  explicit Folder(const std::string& name)
      : path(fs::temp_directory_path() / ("foretrace_" + name)) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // NOLINTNEXTLINE(modernize-use-nodiscard): it is called for what it writes, too
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).generic_string();
  }
};

std::string trace(int rank) {
  const std::string info =
      rank < 0 ? ""
               : R"("distributedInfo":{"rank":)" + std::to_string(rank) + R"(,"world_size":2},)";
  return R"({"schemaVersion":1,)" + info +
         R"("traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":2}]})";
}

std::vector<std::int32_t> ranks_of(const Result<std::vector<RankTrace>>& job) {
  std::vector<std::int32_t> ranks;
  REQUIRE_MESSAGE(job.ok(), (job.ok() ? std::string() : job.error().message));
  for (const RankTrace& rank : *job) {
    ranks.push_back(rank.rank);
  }
  return ranks;
}

}  // namespace

TEST_CASE("job inputs: ranks come from the traces, else from the names, else from the order") {
  const Folder folder("job_inputs");
  const std::string a = folder.write("a_rank0.json", trace(1));
  const std::string b = folder.write("a_rank1.json", trace(0));
  const auto recorded = read_job(std::vector<std::string>{a, b}, {});
  CHECK(ranks_of(recorded) == std::vector<std::int32_t>{0, 1});
  CHECK((*recorded)[0].path == b);
  const std::string c = folder.write("b_rank5.json", trace(-1));
  const std::string d = folder.write("b_rank3.json", trace(-1));
  CHECK(ranks_of(read_job(std::vector<std::string>{c, d}, {})) == std::vector<std::int32_t>{3, 5});
  const std::string e = folder.write("left.json", trace(-1));
  const std::string f = folder.write("right.json", trace(-1));
  CHECK(ranks_of(read_job(std::vector<std::string>{f, e}, {})) == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("job inputs: two traces of one rank are an error that names both") {
  const Folder folder("job_twice");
  const std::string a = folder.write("a.json", trace(1));
  const std::string b = folder.write("b.json", trace(1));
  const auto job = read_job(std::vector<std::string>{a, b}, {});
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().message.find("b.json: is rank 1, as ") != std::string::npos);
  CHECK(job.error().message.find("a.json is") != std::string::npos);
}

TEST_CASE("job inputs: a folder is the job in it, and says so if it holds none or several") {
  const Folder folder("job_folder");
  const std::vector<std::string> input = {folder.path.generic_string()};
  CHECK(list_files(input).error().message.ends_with("no files in this folder"));
  std::filesystem::create_symlink(folder.path / "gone.json", folder.path / "a.json");
  CHECK(list_files(input).error().message.ends_with("; its link a.json leads nowhere"));
  folder.write("notes.txt", "not a trace");
  CHECK(list_files(input).error().message.find("this folder contains no profiler trace") !=
        std::string::npos);
  folder.write("x_rank0.json", trace(0));
  folder.write("x_rank1.json", trace(1));
  folder.write("notes.txt", "not a trace");
  CHECK(ranks_of(read_job(input, {})) == std::vector<std::int32_t>{0, 1});
  folder.write("y_rank0.json", trace(0));
  const auto several = list_files(input);
  REQUIRE_FALSE(several.ok());
  CHECK(several.error().message.find("several jobs (x_rank#.json, y_rank#.json)") !=
        std::string::npos);
}

#ifdef FORETRACE_HAS_LIBARCHIVE
TEST_CASE("job inputs: files of an archive that are no traces are left out and told") {
  const Folder folder("job_archive");
  const std::string notes = test::tar_file("notes.py", "import torch\n");
  const std::string end(1024, '\0');
  const std::string mixed =
      folder.write("a.tar", notes + test::tar_file("rank3.json", trace(3)) + notes + end);
  const auto job = read_job(std::vector<std::string>{mixed}, {});
  CHECK(ranks_of(job) == std::vector<std::int32_t>{3});
  REQUIRE(job->front().trace.report.warnings.size() == 1);
  CHECK(job->front().trace.report.warnings[0] ==
        "2 other files of the archive are no traces and were left out; the first: " + mixed +
            ":notes.py: looks like text that starts with 'import torch'");
  JobReadOptions strict;
  strict.strict = true;
  CHECK_FALSE(read_job(std::vector<std::string>{mixed}, strict).ok());
  const std::string none = folder.write("b.tar", notes + end);
  const auto nothing = read_job(std::vector<std::string>{none}, {});
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().message.find("notes.py") != std::string::npos);
}

TEST_CASE("job inputs: the same traces in any container are the same tables") {
  const Folder folder("job_containers");
  const std::vector<test::PackedFile> files = {{"rank0.json", trace(0)},
                                               {"deep/rank1.json", trace(1)}};
  folder.write("rank0.json", trace(0));
  folder.write("rank1.json", trace(1));
  const auto plain = read_job(std::vector<std::string>{folder.path.generic_string()}, {});
  REQUIRE(ranks_of(plain) == std::vector<std::int32_t>{0, 1});
  const auto check_same = [&](const std::string& path) {
    CAPTURE(path);
    const auto packed = read_job(std::vector<std::string>{path}, {});
    REQUIRE(ranks_of(packed) == std::vector<std::int32_t>{0, 1});
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(difference((*packed)[i].trace.events, (*plain)[i].trace.events) == "");
    }
  };
  const std::string zip = test::zip_of(files);
  check_same(folder.write("a.zip", zip));
  const std::string tar = test::tar_of(files);
  check_same(folder.write("a.tar", tar));
  std::vector<test::PackedFile> packed_files;
  for (const std::string_view packing : test::packings) {
    check_same(folder.write("a.tar.packed", test::packed_as(packing, tar)));
    // Members that are packed themselves, and a folder of packed files.
    packed_files = {{"rank0.json.x", test::packed_as(packing, trace(0))},
                    {"rank1.json.x", test::packed_as(packing, trace(1))}};
    check_same(folder.write("b.tar", test::tar_of(packed_files)));
    check_same(folder.write("b.zip", test::zip_of(packed_files)));
    const Folder packed("job_packed");
    packed.write(packed_files[0].name, packed_files[0].bytes);
    packed.write(packed_files[1].name, packed_files[1].bytes);
    check_same(packed.path.generic_string());
  }
}

TEST_CASE("job inputs: an archive in an archive is left out and told") {
  const Folder folder("job_nested");
  const std::string inner = test::zip_of({{"rank0.json", trace(0)}});
  const auto only = read_job(
      std::vector<std::string>{folder.write("a.tar", test::tar_of({{"b.zip", inner}}))}, {});
  REQUIRE_FALSE(only.ok());
  CHECK(only.error().message.find("a.tar:b.zip: looks like a zip archive: unpack it first") !=
        std::string::npos);
}

TEST_CASE("job inputs: a bomb in an archive is one error, whatever lies beside it") {
  const Folder folder("job_bomb");
  const std::string blanks = "{\"traceEvents\": [" + std::string(std::size_t{80} << 20U, ' ');
  const std::vector<test::PackedFile> files = {
      {"a.json", trace(0)}, {"b.json", blanks}, {"c.json", trace(1)}};
  for (const std::string& bomb :
       {test::packed_as("zstd", test::tar_of(files)), test::zip_of(files)}) {
    const auto job = read_job(std::vector<std::string>{folder.write("a.packed", bomb)}, {});
    REQUIRE_FALSE(job.ok());
    CHECK(job.error().message.find("expected at most 1000 for each") != std::string::npos);
  }
}

TEST_CASE("job inputs: execution traces in an archive keep their nodes, and are joined with none") {
  const Folder folder("job_nodes");
  const std::string end(1024, '\0');
  const std::string nodes = R"({"schema": "1.0.1", "nodes": [
      {"id": 2, "name": "aten::mm", "rf_id": 1, "tid": 1}]})";
  const std::string one = folder.write("one.tar", test::tar_file("et_0.json", nodes) + end);
  const auto single = read_job(std::vector<std::string>{one}, {});
  REQUIRE(ranks_of(single).size() == 1);
  REQUIRE(single->front().trace.nodes() != nullptr);
  CHECK(single->front().trace.nodes()->size() == 1);
  auto alone = read_job(std::vector<std::string>{one}, {});
  const auto refused = build_job(*alone);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("pytorch_et has no times to separate waiting from transfer") !=
        std::string::npos);
  const std::string two = folder.write(
      "two.tar", test::tar_file("et_1.json", nodes) + test::tar_file("et_0.json", nodes) + end);
  auto both = read_job(std::vector<std::string>{two}, {});
  REQUIRE(ranks_of(both) == std::vector<std::int32_t>{0, 1});
  const auto built = build_job(*both);
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().message.find("two.tar:et_0.json: pytorch_et has no times to align ranks") !=
        std::string::npos);
  CHECK(built.error().message.find("and 2 such traces were named") != std::string::npos);
}
#endif

TEST_CASE("job inputs: a file that cannot be read fails the job with its name") {
  const Folder folder("job_bad");
  const std::string good = folder.write("rank0.json", trace(0));
  const std::string bad = folder.write("rank1.json", "nonsense");
  const auto job = read_job(std::vector<std::string>{good, bad}, {});
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().message.find("rank1.json") != std::string::npos);
}

TEST_CASE("job inputs: beside timed traces an execution trace is left out with a warning") {
  const Folder folder("job_mixed");
  const std::string timed = folder.write("kineto_0.json", trace(0));
  const std::string nodes = folder.write(
      "et_0.json",
      R"({"schema": "1.0.1", "nodes": [{"id": 2, "name": "aten::mm", "rf_id": 1, "tid": 1}]})");
  const auto job = read_job(std::vector<std::string>{nodes, timed}, {});
  CHECK(ranks_of(job) == std::vector<std::int32_t>{0});
  CHECK(job->front().path == timed);
  REQUIRE(job->front().trace.report.warnings.size() == 1);
  CHECK(job->front().trace.report.warnings[0] ==
        nodes + ": pytorch_et has no times of a device and is left out of the job");
}

TEST_CASE("job inputs: a pipe is opened once, whatever is in it") {
  const Folder folder("job_pipe");
  const std::string end(1024, '\0');
  const std::string listed = folder.write("rank4.json", trace(-1));
  for (const std::string& content :
       {trace(3),
#ifdef FORETRACE_HAS_LIBARCHIVE
        test::tar_file("rank3.json", trace(3)) + end,
#endif
        std::string(R"({"foretrace": "collect", "files": [{"path": "rank4.json", "rank": 3}]})")}) {
    const std::string pipe = (folder.path / "pipe").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    // Opening a pipe blocks until the other side opens it too: a second open would never return.
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << content; });
    const auto job = read_job(std::vector<std::string>{pipe}, {});
    writer.join();
    CHECK(ranks_of(job) == std::vector<std::int32_t>{3});
    fs::remove(pipe);
  }
}

TEST_CASE("job inputs: standard input is given once") {
  const std::vector<std::string> twice = {"-", "-"};
  const auto files = list_files(twice);
  REQUIRE_FALSE(files.ok());
  CHECK(files.error().message == "standard input ('-') is named more than once");
}

}  // namespace foretrace::trace
