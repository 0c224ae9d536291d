// The accuracy ladders on the shared recordings: what the tables of the README promise.
#include "apps/questions/validate/validation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/questions/validate/validate_jobs.h"
#include "apps/session/recording/load.h"
#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "tests/configs.h"
#include "tests/sim/graph/scaled.h"

namespace foretrace {
namespace {

const std::string traces = std::string(FORETRACE_SHARED_DIR) + "/traces";

bool have_traces() {
  if (std::filesystem::exists(traces)) {
    return true;
  }
  MESSAGE("SKIPPED: no shared recordings at " << traces);
  return false;
}

const ReplayTable& table() {
  static const ReplayTable replays = [] { return replay_table(test::shipped(), traces).value(); }();
  return replays;
}

template <typename Value>
std::vector<double> sizes(Value value) {
  std::vector<double> list;
  for (const ReplayRow& row : table().rows) {
    if (!row.flagged()) {
      list.push_back(std::abs(value(row)));
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

TEST_CASE("validation: an H100's own pairs, measured without a profiler, by time and by memory") {
  const std::string folder = std::string(FORETRACE_SOURCE_DIR) + "/examples/traces/h100";
  const auto pairs = pair_table(test::shipped(), folder);
  REQUIRE_MESSAGE(pairs.ok(), (pairs.ok() ? std::string() : pairs.error().message));
  CHECK(pairs->size() == 27);
  CHECK(coverage_of(*pairs).covered >= 23);
  double sum = 0;
  int device_limited = 0;
  for (const PairRow& row : *pairs) {
    CAPTURE(row.id);
    CHECK(row.failure.empty());
    // The host of the ResNet's recording was twice as slow as in the runs beside it.
    const bool ends_at_host = row.id.starts_with("resnet50-amp") || row.id == "resnet50-batch_half";
    if (!ends_at_host) {
      CHECK(std::abs(row.error()) < 0.12);
      sum += std::abs(row.error());
      ++device_limited;
    }
    if (row.id.starts_with("gpt2") && row.measured_peak_bytes > 0) {
      CHECK(static_cast<double>(row.predicted_peak_bytes) ==
            doctest::Approx(static_cast<double>(row.measured_peak_bytes)).epsilon(0.055));
    }
  }
  CHECK(sum / device_limited < 0.035);
}

// What the page examples/studies/h200 says of each row: it is not about what the host did at its other
// speed, and not about graphs whose kernels have no shapes.
TEST_CASE("validation: an H200's pairs, where the device limits and without the profiler's work") {
  const std::string folder = std::string(FORETRACE_SOURCE_DIR) + "/examples/traces/h200";
  const auto pairs = pair_table(test::shipped(), folder);
  REQUIRE_MESSAGE(pairs.ok(), (pairs.ok() ? std::string() : pairs.error().message));
  CHECK(pairs->size() == 27);
  CHECK(coverage_of(*pairs).covered >= 20);
  for (const PairRow& row : *pairs) {
    CAPTURE(row.id);
    CHECK(row.failure.empty());
    // Without the profiler's work the base takes what was measured without it.
    if (row.id.starts_with("dlrm")) CHECK(row.base_ns == 15'927'000);
    if (row.id == "decode-cuda_graph") CHECK(row.base_ns == 6'090'000);
    const bool is_graph = row.id.starts_with("decode-graph");
    // jax-bf16 is predicted 35 % too slow, and its range ends above what was measured.
    const bool is_jax = row.id.starts_with("jax") && row.id != "jax-bf16";
    if (is_graph || row.id.starts_with("loader") || is_jax || row.id.starts_with("gpt2-seq") ||
        row.id.starts_with("gnmt") || row.id == "decode-cuda_graph") {
      CHECK(row.covered());
    }
    if (row.id == "jax-batch_half" || row.id == "gpt2-seq_x2") {
      CHECK(std::abs(row.error()) < 0.05);
    }
  }
}

// What the page examples/studies/h100_host says of each row.
TEST_CASE("validation: an H100's pairs whose predictions the host limits") {
  const std::string folder = std::string(FORETRACE_SOURCE_DIR) + "/examples/traces/h100_host";
  const auto pairs = pair_table(test::shipped(), folder);
  REQUIRE_MESSAGE(pairs.ok(), (pairs.ok() ? std::string() : pairs.error().message));
  CHECK(pairs->size() == 16);
  CHECK(coverage_of(*pairs).covered >= 10);
  for (const PairRow& row : *pairs) {
    CAPTURE(row.id);
    CHECK(row.failure.empty());
    if (row.id.starts_with("resnet50")) CHECK(row.base_ns == 43'038'000);
    // Below the point by more than any part but the profiler's makes it.
    if (row.id == "bert-large-tf32") {
      CHECK(row.error() > 0.2);
      CHECK(row.covered());
    }
  }
}

// What the page examples/studies/h100_stacks says of each row: time where the device limits, memory
// where a change takes whole tensors away.
TEST_CASE("validation: an H100's stacks of what-ifs, where the device limits, by time and memory") {
  const std::string folder = std::string(FORETRACE_SOURCE_DIR) + "/examples/traces/h100_stacks";
  const auto pairs = pair_table(test::shipped(), folder);
  REQUIRE_MESSAGE(pairs.ok(), (pairs.ok() ? std::string() : pairs.error().message));
  CHECK(pairs->size() == 84);
  CHECK(coverage_of(*pairs).covered >= 35);
  std::map<std::string, const PairRow*> by_id;
  for (const PairRow& row : *pairs) {
    CAPTURE(row.id);
    CHECK(row.failure.empty());
    by_id[row.id] = &row;
  }
  for (const char* const change :
       {"sdpa", "checkpoint", "sdpa+checkpoint", "cuda_graph", "checkpoint+cuda_graph", "tf32",
        "checkpoint_attention", "freeze_half", "batch_half", "fused_adam"}) {
    CAPTURE(change);
    REQUIRE(by_id.count(std::string("stack-medium-") + change) == 1);
    CHECK(std::abs(by_id[std::string("stack-medium-") + change]->error()) < 0.03);
  }
  for (const char* const id :
       {"gpt2-medium-fused", "gpt2-medium-frozen_embeddings", "gpt2-medium-optimizer_offload",
        "llama-1b-fused", "llama-1b-frozen_embeddings", "llama-1b-optimizer_offload",
        "stack-medium-sdpa+checkpoint"}) {
    CAPTURE(id);
    REQUIRE(by_id.count(id) == 1);
    CHECK(static_cast<double>(by_id[id]->predicted_peak_bytes) ==
          doctest::Approx(static_cast<double>(by_id[id]->measured_peak_bytes)).epsilon(0.005));
  }
}

TEST_CASE("validation: measured times that are none are refused with the pair's name") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "foretrace_measured_pairs";
  std::filesystem::create_directories(folder);
  for (const char* const measured :
       {R"({"base_step_ms": 0, "step_ms": 3})", R"({"step_ms": 3})",
        R"({"base_step_ms": 4, "step_ms": 1e300})", R"({"base_step_ms": "4 ms", "step_ms": 3})"}) {
    std::ofstream(folder / "pairs.json")
        << R"({"pairs": [{"id": "mine", "base": "x.json", "measured": )" << measured << "}]}";
    const auto pairs = pair_table(test::shipped(), folder.string());
    REQUIRE_FALSE(pairs.ok());
    CHECK(pairs.error().message.find("pair 'mine': measured: expected base_step_ms") !=
          std::string::npos);
  }
  const std::string deep =
      R"({"pairs": [], "schema": )" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  for (const auto& [document, where] :
       {std::pair{R"({"pairs": [{"id": "mine", "apply": 3}]})", "/pairs/0: expected an object"},
        std::pair{R"({"pairs": ["mine"]})", "/pairs/0: expected an object"},
        std::pair{R"({"schema": "foretrace.pairs/9", "pairs": []})", "/schema: got"},
        std::pair{deep.c_str(), "/schema: got array"}}) {
    std::ofstream(folder / "pairs.json") << document;
    const auto pairs = pair_table(test::shipped(), folder.string());
    REQUIRE_FALSE(pairs.ok());
    CHECK(pairs.error().message.find(where) != std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE(
    "validation: replays of all recordings keep the span within 0.1 % (median), 1 % (worst)") {
  if (!have_traces()) return;
  CHECK(table().rows.size() >= 40);
  const std::vector<double> spans = sizes([](const ReplayRow& row) { return row.span_error; });
  REQUIRE(!spans.empty());
  CHECK(spans[spans.size() / 2] <= 0.001);
  CHECK(spans.back() <= 0.01);
}

TEST_CASE("validation: with constant latencies and gaps only, spans stay within 0.2 % and 1 %") {
  if (!have_traces()) return;
  const std::vector<double> spans =
      sizes([](const ReplayRow& row) { return row.constant_span_error; });
  REQUIRE(!spans.empty());
  CHECK(spans[spans.size() / 2] <= 0.002);
  CHECK(spans.back() <= 0.01);
  for (const ReplayRow& row : table().rows) {
    if (!row.flagged()) {
      CAPTURE(row.trace);
      // Known miss, in the README's table: one step of this recording (whole microseconds, graph
      // launches) is off by 2.4 %, because its device-to-device copies have two kinds of gap.
      const bool known = row.trace == "hta/train_2rank_v100_rank1.json.gz";
      CHECK(std::abs(row.constant_worst_step_error) <= (known ? 0.026 : 0.02));
    }
  }
}

TEST_CASE("validation: reactions agree within 3 % with an independent prototype") {
  if (!have_traces()) return;
  std::ifstream file(std::string(FORETRACE_SOURCE_DIR) +
                     "/tests/validation/reference_reactions.json");
  const nlohmann::json reference = nlohmann::json::parse(file);
  std::map<std::string, const ReplayRow*> by_name;
  for (const ReplayRow& row : table().rows) {
    by_name[row.trace] = &row;
  }
  for (const nlohmann::json& expected : reference["rows"]) {
    const std::string name = expected["trace"];
    CAPTURE(name);
    REQUIRE(by_name.count(name) == 1);
    const Reactions& got = by_name[name]->reactions;
    const auto near = [](std::int64_t ns, double ms) {
      // The reference is rounded to 0.1 ms and its span begins up to 0.05 ms earlier.
      return std::abs(static_cast<double>(ns) / 1e6 - ms) <= 0.03 * ms + 0.1;
    };
    CHECK(near(got.device_x0_ns, expected["device_x0_ms"]));
    CHECK(near(got.device_half_ns, expected["device_half_ms"]));
    CHECK(near(got.device_double_ns, expected["device_double_ms"]));
    CHECK(near(got.host_x0_ns, expected["host_x0_ms"]));
  }
}

TEST_CASE("validation: without kernels a run takes what the host's own events say") {
  if (!have_traces()) return;
  for (const ReplayRow& row : table().rows) {
    if (row.flagged() || row.unexplained_share() > 0.01 || row.honesty.initial_backlog_ns > 0) {
      continue;  // the table gives the reason
    }
    if (row.trace.starts_with("megatron_tp2_v100/")) {
      continue;  // its device worked for another process (rank 0 is flagged for it), its threads at
                 // once
    }
    CAPTURE(row.trace);
    const auto simulated = static_cast<double>(row.reactions.device_x0_ns);
    const auto host_only = static_cast<double>(row.honesty.host_only_ns);
    CHECK(std::abs(simulated - host_only) <=
          0.03 * host_only + 0.01 * static_cast<double>(row.measured_span_ns));
  }
}

TEST_CASE("validation: everything three times as long makes a real run three times as long") {
  if (!have_traces()) return;
  for (const char* name :
       {"hta/train_2rank_v100_rank1.json.gz", "saf_amg/n28_baseline_a100.json.gz",
        "modded_nanogpt/rs_at_step_end_rank0_of_8_h100.json.gz"}) {
    CAPTURE(name);
    const Result<Recording> recording = load(traces + "/" + name);
    REQUIRE(recording.ok());
    const TaskGraph& graph = recording->graph();
    const Timeline once = simulate(graph);
    const Timeline thrice = simulate(graph.with_weights(test::scale_everything(graph, 3.0)));
    // Capacity edges round fraction x duration once instead of three times: 1 ns each at most.
    CHECK(std::abs(thrice.span_ns - 3 * once.span_ns) <= 1000);
  }
}

TEST_CASE("validation: pairs are predicted from their first side with a declared range") {
  if (!have_traces()) return;
  const Result<std::vector<PairRow>> pairs = pair_table(test::shipped(), traces);
  REQUIRE_MESSAGE(pairs.ok(), pairs.error().message);
  std::map<std::string, PairRow> by_id;
  for (const PairRow& row : *pairs) {
    CAPTURE(row.id);
    CHECK_MESSAGE(row.failure.empty(), row.failure);
    by_id[row.id] = row;
    CHECK(row.low_ns <= row.predicted_ns);
    CHECK(row.predicted_ns <= row.high_ns);
    CHECK(row.half_width() > 0);
    CHECK(row.half_width() < 0.3);
  }
  const Coverage coverage = coverage_of(*pairs);
  CHECK(10 * coverage.covered >= 8 * coverage.predicted);
  CHECK(coverage.mean_half_width <= 0.15);
  CHECK(std::abs(by_id["K1"].error()) <= 0.07);
  CHECK(std::abs(by_id["K2"].error()) <= 0.07);
  CHECK(std::abs(by_id["K1"].error()) + std::abs(by_id["K2"].error()) <= 2 * 0.04);
  CHECK(std::abs(by_id["S1"].error()) <= 0.12);
  CHECK(std::abs(by_id["R1"].error()) <= 0.12);
  CHECK(std::abs(by_id["R1b"].error()) <= 0.05);
  // Its steps scatter by a fifth: only that exchanging half the bytes takes no longer is checked.
  CHECK(by_id["R2"].predicted_ns < by_id["R2"].base_ns);
  CHECK(by_id["R2"].measured_ns < by_id["R2"].base_ns);
}

TEST_CASE("validation: jobs are matched and replay, and a device that others used is flagged") {
  if (!have_traces()) return;
  const Result<std::vector<JobRow>> jobs = job_table(test::shipped(), traces);
  REQUIRE_MESSAGE(jobs.ok(), jobs.error().message);
  const std::map<std::string, std::uint64_t> matched = {
      {"megatron_tp8", 84},         {"dlrm_8rank", 8},     {"torchrec_straggler", 31},
      {"torchrec_nostraggler", 31}, {"torchrec_fp32", 30}, {"torchrec_qcomm", 27},
      {"megatron_tp2", 13}};
  CHECK(jobs->size() == matched.size());
  for (const JobRow& row : *jobs) {
    CAPTURE(row.id);
    CHECK_MESSAGE(row.failure.empty(), row.failure);
    CHECK(row.matched == matched.at(row.id));
    CHECK(row.errors.mean <= 0.002);
    CHECK(row.errors.worst <= 0.01);
    CHECK(row.constant.worst <= 0.02);
    CHECK(row.flags.empty() == (row.id != "megatron_tp2"));
  }
}

}  // namespace foretrace
