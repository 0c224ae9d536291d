#include "models/hardware/collectives/calibration/collective_log.h"

#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using foretrace::CollectiveKind;
using foretrace::is_collective_log;
using foretrace::parse_collective_logs;

namespace {

constexpr std::string_view head =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time"
    "   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)"
    "  (GB/s)  (GB/s)       \n";

/// Of nccl-tests 2.13: four ranks on two hosts.
std::string all_reduce(const std::string& tag = "") {
  std::string text =
      tag + "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor)\n";
  text += tag + "#\n" + tag + "# Using devices\n";
  for (int rank = 0; rank < 4; ++rank) {
    text += tag + "#  Rank  " + std::to_string(rank) + " Group  0 Pid  51 on node-" +
            (rank < 2 ? "a" : "b") + " device  0 [0x1b] NVIDIA H100 80GB HBM3\n";
  }
  text += tag + "NCCL version 2.21.5+cuda12.4\n";
  text += tag + std::string(head);
  text += tag +
          "     1048576        262144     float     sum      -1    52.43   20.00   30.00      0"
          "    50.00   20.97   31.46      0\n";
  text += tag + "node-a:51:60 [0] NCCL INFO comm 0x1 rank 0 nranks 4\n";
  text += tag +
          "     2097152        524288     float     sum      -1    104.9   19.99   29.99      0"
          "    100.0   20.97   31.46      0\n";
  return text + tag + "# Out of bounds values : 0 OK\n" + tag + "# Avg bus bandwidth    : 30.4\n";
}

std::string error_of(const std::string& text) {
  const auto read = parse_collective_logs(text, "a.log");
  return read.ok() ? "" : read.error().message;
}

}  // namespace

TEST_CASE("collective log: rows whose size cannot be read are counted, other lines are not") {
  std::string text = "build/all_reduce_perf\n" + all_reduce();
  CHECK(parse_collective_logs(text, "a.log")->front().damaged == 0);
  const auto at = text.find("2097152");
  REQUIRE(at != std::string::npos);
  text.replace(at, 7, "20x7152");
  text += "node-a: 3 of 4 done in 12.5 s\n";
  const auto runs = parse_collective_logs(text, "a.log");
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  CHECK(runs->front().damaged == 1);
  CHECK(runs->front().bytes == std::vector<double>{1048576});
}

TEST_CASE("collective log: the mark of UTF-8 is no part of it, and names are no tags elsewhere") {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(is_collective_log(mark + all_reduce()));
  CHECK(parse_collective_logs(mark + all_reduce(), "a.log")->front().ranks == 4);
  for (const std::string no_tag : {"node-a ", "node a: ", ": ", "node-a::", "| "}) {
    CAPTURE(no_tag);
    CHECK_FALSE(is_collective_log(no_tag + std::string(head)));
  }
  // Of several hosts, between the rows of one of them.
  std::string text = all_reduce("node-a: ");
  text += "node-b: all of them are done\n";
  CHECK(parse_collective_logs(text, "a.log")->front().bytes.size() == 2);
}

TEST_CASE("collective log: a run has its collective, ranks, nodes, sizes and times out of place") {
  for (const std::string tag : {"",
                                "[1,0]<stdout>:",
                                "[0] ",
                                "    ",
                                "  [1,0]<stdout>:",
                                "3: ",
                                " 0:",
                                "2025-05-22T07:36:17.123Z ",
                                "2025-05-22T07:36:17.123Z\t",
                                "07:36:17 ",
                                "07:36:17.25 ",
                                "2025-05-22 07:36:17 ",
                                "2025-05-22 07:36:17,123 ",
                                "[rank0]: ",
                                "(pid=1) ",
                                "(Worker pid=12, ip=10.0.0.1) ",
                                "node-a: ",
                                "worker-0 | ",
                                "worker-0   | ",
                                "10.0.0.1: ",
                                "[0] node-a: ",
                                "2025-05-22 07:36:17 worker-0 | ",
                                "\x1b[32m",
                                "\x1b[0;1mnode-a:\x1b[0m "}) {
    CAPTURE(tag);
    const std::string text = "mpirun -np 4 build/all_reduce_perf -b 1M\n" + all_reduce(tag);
    CHECK(is_collective_log(text));
    const auto runs = parse_collective_logs(text, "a.log");
    REQUIRE_MESSAGE(runs.ok(), runs.error().message);
    REQUIRE(runs->size() == 1);
    const auto& run = runs->front();
    CHECK(run.kind == CollectiveKind::all_reduce);
    CHECK(run.ranks == 4);
    CHECK(run.nodes == 2);
    CHECK(run.library == "NCCL 2.21.5+cuda12.4");
    REQUIRE(run.bytes.size() == 2);
    CHECK(run.bytes[1] == 2097152);
    CHECK(run.ns[0] == doctest::Approx(52430));
    CHECK(run.ns[1] == doctest::Approx(104900));
  }
}

TEST_CASE("collective log: several runs in one text keep to themselves") {
  std::string text = "# Collective test starting: all_reduce_perf\n" + all_reduce();
  text += "# Collective test concluded: all_reduce_perf\n";
  text += "# Collective test starting: all_gather_perf\n" + all_reduce();
  // rccl-tests of old: errors in place of wrong results, and no in-place times here.
  text +=
      "# Collective test starting: alltoall_perf\n"
      "#   Rank  0 Pid 17 on node-c device 0 [0000:c1:00.0] AMD Instinct MI300X\n"
      "#   Rank  1 Pid 18 on node-c device 1 [0000:c2:00.0] AMD Instinct MI300X\n"
      "#    size    count   type   time  algbw  busbw  error\n"
      "  1000000  250000  float  100.0  10.00   5.00   0e+00\n"
      "  2000000  500000  float  150.0  13.33   6.67   0e+00\n";
  const auto runs = parse_collective_logs(text, "a.log");
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  REQUIRE(runs->size() == 3);
  CHECK((*runs)[0].kind == CollectiveKind::all_reduce);
  CHECK((*runs)[1].kind == CollectiveKind::all_gather);
  CHECK((*runs)[1].ranks == 4);
  CHECK((*runs)[2].kind == CollectiveKind::all_to_all);
  CHECK((*runs)[2].ranks == 2);
  CHECK((*runs)[2].nodes == 1);
  CHECK((*runs)[2].ns[1] == doctest::Approx(150000));
}

TEST_CASE("collective log: the library's own lines say how many ranks there were") {
  const std::string text = std::string(head) + " 1000000 250000 float sum -1 100.0 10.0 15.0 0\n" +
                           "a:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 16 cudaDev 0\n";
  const auto runs = parse_collective_logs(text, "a.log");
  REQUIRE(runs.ok());
  CHECK(runs->front().ranks == 16);
  CHECK(runs->front().nodes == 0);
}

TEST_CASE("collective log: in-place times stand in where the others are missing") {
  const std::string text =
      std::string(head) + " 1000000 250000 float sum -1 N/A N/A N/A N/A 100.0 10.00 15.00 0\n";
  CHECK(parse_collective_logs(text, "a.log")->front().ns[0] == doctest::Approx(1e5));
}

TEST_CASE("collective log: what is no log, and what contradicts itself, is one line") {
  CHECK_FALSE(is_collective_log("size count type time busbw"));
  CHECK(error_of("") == "a.log: no row of a test, expected a size, a time and bandwidths");
  const std::string start(head);
  CHECK(error_of(start + " 1000000 250000 float sum -1 100.0 99.00 15.00 0 100 99 15 0\n") ==
        "a.log:3: 1000000 B: got no time that matches its bandwidth, expected us, GB/s, GB/s and "
        "wrong results");
  CHECK(
      error_of(start + " 1000000 250000 float sum -1 100.0 10.00 15.00 77 100.0 10.00 15.00 0\n") ==
      "a.log:3: 1000000 B: got 77 wrong results, expected none");
  CHECK(error_of(start + " 1000000 250000 float sum -1 100.0 10.00 15.00 2e-07\n").empty());
  CHECK(error_of(start + " 1000000 250000\n") ==
        "a.log:3: got 2 words, expected a size, its count and type, a time and bandwidths");
  CHECK(error_of(start + " 2000 500 float sum -1 100.0 0.02 0.03 0\n 1000 250 float sum -1 100.0 "
                         "0.01 0.02 0\n") == "a.log:4: 1000 B after 2000 B, expected rising sizes");
  CHECK(error_of(start + " 99999999999999999999 1 float sum -1 1 1 1 0\n").find("size: got") !=
        std::string::npos);
}

TEST_CASE("collective log: no damage crashes it, and what is read is ordered and positive") {
  std::mt19937_64 random(11);
  const std::string whole = "all_reduce_perf\n" + all_reduce() + all_reduce("[1,2]<stdout>:");
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int edits = 0; edits < 4; ++edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 40); break;
        default: text.insert(at, whole, random() % whole.size(), random() % 40);
      }
    }
    const auto runs = parse_collective_logs(text, "a.log");
    if (!runs.ok()) {
      CHECK(runs.error().message.find('\n') == std::string::npos);
      continue;
    }
    for (const auto& run : *runs) {
      REQUIRE(run.bytes.size() == run.ns.size());
      for (std::size_t j = 0; j < run.bytes.size(); ++j) {
        CHECK(run.ns[j] > 0);
        if (j > 0) CHECK(run.bytes[j] > run.bytes[j - 1]);
      }
    }
  }
}
