// What one rank's recording tells about the whole job, on jobs of which every rank was recorded.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/session.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

struct RecordedRanks {
  std::string name;
  std::string cluster;  ///< whose machine they ran on
  std::vector<std::string> files{};
};

/// Steps in ns: of all ranks together, and of each rank alone.
struct Steps {
  std::int64_t measured = 0;
  std::int64_t nobody_waits = 0;  ///< if no rank waited for a later one
  std::vector<std::int64_t> as_recorded{};
  std::vector<std::int64_t> on_machine{};  ///< parallel:recorded
};

std::vector<std::string> numbered(const std::string& begin, int count) {
  std::vector<std::string> files;
  for (int rank = 0; rank < count; ++rank)
    files.push_back(fmt::format("{}{}.json.gz", begin, rank));
  return files;
}

/// Those of the archive, unpacked.
std::vector<std::string> unpacked(const std::string& archive) {
  const fs::path folder = fs::temp_directory_path() / "foretrace_one_rank";
  fs::create_directories(folder);
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): a test, one thread
  REQUIRE(std::system(fmt::format("tar xzf '{}' -C '{}'", archive, folder.string()).c_str()) == 0);
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<RecordedRanks> jobs() {
  const std::string traces = FORETRACE_SHARED_DIR "/traces/";
  if (!fs::exists(traces + "torchrec_dlrm_v100x4")) return {};
  std::vector<RecordedRanks> jobs;
  for (const std::string run : {"nostraggler", "straggler", "fp32_a2a", "qcomm_a2a"}) {
    jobs.push_back({"torchrec_dlrm_v100x4/" + run, "dgx1_v100",
                    numbered(traces + "torchrec_dlrm_v100x4/" + run + "_rank", 4)});
  }
  jobs.push_back(
      {"megatron_tp8_a100", "dgx_a100", numbered(traces + "megatron_tp8_a100/kineto_", 8)});
  jobs.push_back(
      {"dlrm_8rank", "dgx1_v100", unpacked(traces + "param_et/dlrm_8rank_v100_kineto.tar.gz")});
  return jobs;
}

Session opened(const std::vector<std::string>& files) {
  auto session = open(files, {.configs = FORETRACE_SOURCE_DIR "/configs"});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  return *std::move(session);
}

Steps steps_of(const RecordedRanks& job) {
  Steps steps;
  const Session all = opened(job.files);
  steps.measured = all.replay().measured_answer.step_ns;
  steps.nobody_waits = all.step_ns() - all.analysis().free_waiting_ns.value_or(0);
  const WhatIfSpec groups{"parallel",
                          {{"recorded", "true"},
                           {"ranks", std::to_string(job.files.size())},
                           {"cluster", job.cluster}}};
  for (const std::string& file : job.files) {
    const Session rank = opened({file});
    steps.as_recorded.push_back(rank.step_ns());
    const auto answer = rank.ask({groups});
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    steps.on_machine.push_back(answer->step_ns());
  }
  return steps;
}

std::string span_text(const std::vector<std::int64_t>& steps) {
  const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
  return fmt::format("{:.1f} .. {:.1f} ms", static_cast<double>(*least) * 1e-6,
                     static_cast<double>(*most) * 1e-6);
}

std::string row_of(const RecordedRanks& job, const Steps& steps) {
  return fmt::format("| {} | {} | {:.1f} ms | {:.1f} ms | {} | {} |\n", job.name, job.files.size(),
                     static_cast<double>(steps.measured) * 1e-6,
                     static_cast<double>(steps.nobody_waits) * 1e-6, span_text(steps.as_recorded),
                     span_text(steps.on_machine));
}

/// The page shows the rows; FORETRACE_UPDATE_GOLDEN writes them into it.
void check_page(const std::string& rows) {
  const std::string path = FORETRACE_SOURCE_DIR "/tests/validation/ONE_RANK.md";
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string head = "|---|---|---|---|---|---|\n";
  const std::size_t begin = text.find(head) + head.size();
  const std::size_t end = text.find("\n\n", begin) + 1;
  REQUIRE(begin > head.size());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
  if (std::getenv("FORETRACE_UPDATE_GOLDEN") != nullptr) {
    text.replace(begin, end - begin, rows);
    std::ofstream(path) << text;
    return;
  }
  CHECK(text.substr(begin, end - begin) == rows);
}

TEST_CASE("one rank: its machine's groups give the step of the job, but for who waits for whom") {
  std::string rows;
  for (const RecordedRanks& job : jobs()) {
    CAPTURE(job.name);
    const Steps steps = steps_of(job);
    rows += row_of(job, steps);
    // How late the others are is in no rank's recording: the job is not faster than without any
    // waiting, and not slower than as measured.
    for (const std::int64_t step : steps.on_machine) {
      CHECK(static_cast<double>(step) > 0.9 * static_cast<double>(steps.nobody_waits));
      CHECK(static_cast<double>(step) < 1.1 * static_cast<double>(steps.measured));
    }
  }
  if (rows.empty()) {
    MESSAGE("skipped: no recorded jobs");
    return;
  }
  check_page(rows);
}

}  // namespace
}  // namespace foretrace
