// Growing a recorded job by copies, on real jobs of several ranks.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/session.h"

namespace foretrace {
namespace {

struct CopiedJob {
  std::vector<std::string> files;
  int copies = 0;
  std::string cluster;
};

std::vector<CopiedJob> jobs() {
  const std::string own = FORETRACE_SOURCE_DIR "/examples/traces/h100_ranks/";
  std::vector<CopiedJob> jobs;
  for (const std::string job : {"ddp_late", "fsdp"}) {
    jobs.push_back({{own + job + "/rank0.ftr.gz", own + job + "/rank1.ftr.gz"}, 2, "dgx_h100"});
  }
  const std::string shared = FORETRACE_SHARED_DIR "/traces/";
  if (!std::filesystem::exists(shared + "modded_nanogpt")) {
    MESSAGE("skipped: no shared recordings");
    return jobs;
  }
  jobs.push_back(
      {{shared + "modded_nanogpt/rs_at_step_end_rank0_of_8_h100.json.gz"}, 8, "dgx_h100"});
  jobs.push_back({{shared + "hta/nccl_args_2rank_a100_rank0.json.gz"}, 2, "dgx_a100"});
  CopiedJob tables{{}, 4, "dgx1_v100"};
  for (int rank = 0; rank < 4; ++rank) {
    tables.files.push_back(
        fmt::format("{}torchrec_dlrm_v100x4/nostraggler_rank{}.json.gz", shared, rank));
  }
  jobs.push_back(std::move(tables));
  return jobs;
}

WhatIfSpec of_copies(const CopiedJob& job, int copies) {
  return {"parallel", {{"data", std::to_string(copies)}, {"cluster", job.cluster}}};
}

TEST_CASE(
    "growth: faster links and ports slow no job down, on any machine, with more copies or fewer") {
  std::size_t answers = 0;
  for (const CopiedJob& job : jobs()) {
    CAPTURE(job.files.front());
    const auto session = open(job.files, {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    for (const std::string machine : {"dgx_h100", "aws_p3", "aws_g4dn", "dgx1_v100", "selene"}) {
      for (const std::string field : {"link_bandwidth", "nic_bandwidth"}) {
        for (const int copies : {job.copies / 2, job.copies, job.copies * 2, job.copies * 8}) {
          CAPTURE(machine);
          CAPTURE(field);
          CAPTURE(copies);
          std::int64_t before = std::numeric_limits<std::int64_t>::max();
          for (const int rate : {1, 10, 50, 400}) {
            const auto grown =
                session->ask({{"parallel",
                               {{"data", std::to_string(copies)},
                                {"cluster", fmt::format("{}:{}={} GB/s", machine, field, rate)}}}});
            if (!grown.ok()) break;  // no sizes, one rank, or a smaller machine
            ++answers;
            CHECK(grown->step_ns() <= before);
            before = grown->step_ns();
          }
        }
      }
    }
  }
  CHECK(answers > 100);
}

TEST_CASE(
    "growth: a machine too small for the job as it was recorded is refused, with fewer copies, "
    "too") {
  for (const CopiedJob& job : jobs()) {
    if (job.copies != 8) continue;
    const auto eight = open(job.files, {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE(eight.ok());
    const auto fewer = eight->ask({of_copies({{}, 8, "a100_x4"}, 4)});
    REQUIRE_FALSE(fewer.ok());
    CHECK(fewer.error().message.find("8 copies of 1 ranks were recorded, expected at most the 4") !=
          std::string::npos);
  }
}

TEST_CASE("growth: as many copies as recorded change nothing, and a job is not faster with more") {
  std::size_t answers = 0;
  for (const CopiedJob& job : jobs()) {
    CAPTURE(job.files.front());
    const auto session = open(job.files, {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    const auto same = session->ask({of_copies(job, job.copies)});
    REQUIRE_MESSAGE(same.ok(), same.error().message);
    CHECK(same->step_ns() == session->step_ns());
    std::int64_t before = session->step_ns();
    for (const int times : {2, 8}) {
      CAPTURE(times);
      const auto grown = session->ask({of_copies(job, job.copies * times)});
      if (!grown.ok()) {  // the recording tells no size
        CHECK(grown.error().code == ErrorCode::missing_cost);
        continue;
      }
      ++answers;
      CHECK(grown->step_ns() >= before);
      before = grown->step_ns();
    }
  }
  CHECK(answers >= 4);  // two jobs, of two sizes each, are always there
}

TEST_CASE("growth: one copy exchanges nothing with others, and is not slower than two") {
  for (const CopiedJob& job : jobs()) {
    CAPTURE(job.files.front());
    const auto session = open(job.files, {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    const auto one = session->ask({of_copies(job, 1)});
    REQUIRE_MESSAGE(one.ok(), one.error().message);
    CHECK(one->step_ns() <= session->step_ns());
    CHECK(one->analysis().breakdown.communication_waiting_ns == 0);
    if (const auto two = session->ask({of_copies(job, 2)}); two.ok()) {
      CHECK(one->step_ns() <= two->step_ns());
    }
    // Each rank takes the time that it takes alone, where its recording tells the groups.
    std::vector<std::int64_t> alone;
    for (const std::string& file : job.files) {
      const auto rank = open(std::vector{file}, {.configs = FORETRACE_SOURCE_DIR "/configs"});
      REQUIRE(rank.ok());
      const auto one_of_one = rank->ask({of_copies(job, 1)});
      if (one_of_one.ok()) alone.push_back(one_of_one->step_ns());
    }
    if (alone.size() == job.files.size()) {
      const auto [least, most] = std::minmax_element(alone.begin(), alone.end());
      CHECK(static_cast<double>(one->step_ns()) >= 0.98 * static_cast<double>(*least));
      CHECK(static_cast<double>(one->step_ns()) <= 1.02 * static_cast<double>(*most));
    }
    const auto unsaid = session->ask({{"parallel", {{"cluster", job.cluster}}}});
    REQUIRE_FALSE(unsaid.ok());
    CHECK(unsaid.error().message.find("expected data=N copies of the job") != std::string::npos);
  }
}

}  // namespace
}  // namespace foretrace
