#include "apps/questions/compare/compare.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

Session side_of(std::string_view text) {
  Recording recording;
  recording.built.graph = test::graph(text);
  return *Session::of(std::move(recording));
}

Session load_side(const std::vector<std::string>& paths) {
  auto session = open(paths, {.load = {.memory_graph = true}});
  REQUIRE(session.ok());
  return *std::move(session);
}

Comparison compare_sides(const Session& before, const Session& after) {
  return compare_runs(compared_run(before), compared_run(after)).value();
}

std::int64_t change_of(const std::vector<Compared>& rows) {
  std::int64_t sum = 0;
  for (const Compared& row : rows) sum += row.change_ns();
  return sum;
}

void check_sums(const Comparison& comparison) {
  CHECK(change_of(comparison.uses) == comparison.change_ns());
  CHECK(change_of(comparison.reasons) == comparison.change_ns());
  CHECK(change_of(comparison.phases) == comparison.change_ns());
  if (!comparison.layers.empty()) CHECK(change_of(comparison.layers) == comparison.change_ns());
  for (const Compared& reason : comparison.reasons) {
    if (!reason.parts.empty()) CHECK(change_of(reason.parts) == reason.change_ns());
  }
}

/// "use: name" of the largest changes.
std::vector<std::string> top_of(const Comparison& comparison) {
  std::vector<std::string> top;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, comparison.reasons.size()); ++i) {
    const Compared& reason = comparison.reasons[i];
    top.push_back(std::string(to_string(reason.use)) + ": " + reason.names.front());
  }
  return top;
}

constexpr std::string_view traces = FORETRACE_SHARED_DIR "/traces/";

bool is_here(const std::string& path) {
  if (std::filesystem::exists(path)) return true;
  MESSAGE("skipped, not present: ", path);
  return false;
}

std::string trace(std::string_view name) {
  return std::string(traces) + std::string(name) + ".json.gz";
}

TEST_CASE("compare: a run has no difference to itself") {
  const Session side = side_of("h:a(10) s:k(30)<a h:b(5) s2:m(100)<k c:d(15)<m");
  const Comparison comparison = compare_sides(side, side);
  CHECK(comparison.change_ns() == 0);
  for (const Compared& row : comparison.reasons) CHECK(row.change_ns() == 0);
}

TEST_CASE("compare: a longer kernel beneath another one is no reason, the other one is") {
  // k 10..40 covers m 15..25; then m takes 20 and still ends at 35; k takes 50 instead of 30.
  const Session before = side_of("h:a(10) h:b(5) s:k1(30)<a s2:m1(10)<b");
  const Session after = side_of("h:a(10) h:b(5) s:k1(50)<a s2:m1(20)<b");
  const Comparison comparison = compare_sides(before, after);
  CHECK(comparison.change_ns() == 20);
  check_sums(comparison);
  REQUIRE(comparison.kernels.size() == 2);
  CHECK(comparison.kernels[0].names[2] == "k1");
  CHECK(comparison.kernels[0].change_ns() == 20);
  CHECK(comparison.kernels[1].change_ns() == 0);
  CHECK(comparison.kernels[1].after_busy_ns == 20);
}

TEST_CASE("compare: a kernel that only one run has is matched with nothing") {
  const Session before = side_of("h:a(10) s:k1(30)<a");
  const Session after = side_of("h:a(10) s:k2(20)<a");
  const Comparison comparison = compare_sides(before, after);
  check_sums(comparison);
  REQUIRE(comparison.kernels.size() == 2);
  CHECK(comparison.kernels[0].names[2] == "k1");
  CHECK(comparison.kernels[0].before_calls == 1);
  CHECK(comparison.kernels[0].after_calls == 0);
  CHECK(comparison.kernels[1].change_ns() == 20);
}

struct Pair {
  const char* before;
  const char* after;
  std::vector<std::string> top;
};

// What the notes beside the traces say: K1 changed the data loader alone; S1 halves the precision
// of the model and fuses its decoder, not the host's share; S3 is no gain, its encoder's products
// are fewer; on another vendor's device the host answers for small models, kernels for a large one.
TEST_CASE("compare: the top reasons of real pairs are those that their notes name") {
  const std::vector<Pair> pairs = {
      {"kineto_resnet50/workers0_v100",
       "kineto_resnet50/workers4_v100",
       {"device waits for the host: data_loading"}},
      {"saf_amg/n28_baseline_a100",
       "saf_amg/n28_bf16_compiled_decoder_a100",
       {"device computes: matrix products", "device computes: fused attention",
        "device computes: copies by kernels"}},
      {"saf_amg/n29_cleanup2_a100",
       "saf_amg/n29_cleanup3_a100",
       {"device waits for the host: forward", "device computes: matrix products"}},
      {"tracelens/bert_small_h100",
       "tracelens/bert_small_mi300x",
       {"device waits for the host: forward", "device computes: fused attention",
        "device computes: matrix products"}},
      {"tracelens/vit_nsfw_h100",
       "tracelens/vit_nsfw_mi300x",
       {"device waits for the host: forward", "device computes: fused attention",
        "device computes: matrix products"}},
      {"tracelens/qwen15_05b_h100",
       "tracelens/qwen15_05b_mi300x",
       {"device computes: elementwise kernels", "device computes: matrix products",
        "device computes: copies by kernels"}}};
  for (const Pair& pair : pairs) {
    if (!is_here(trace(pair.before))) continue;
    INFO(pair.before);
    const Comparison comparison =
        compare_sides(load_side({trace(pair.before)}), load_side({trace(pair.after)}));
    check_sums(comparison);
    const std::vector<std::string> top = top_of(comparison);
    REQUIRE(top.size() >= pair.top.size());
    for (std::size_t i = 0; i < pair.top.size(); ++i) CHECK(top[i] == pair.top[i]);
  }
}

struct OneCause {
  const char* before;
  const char* after;
  double most_beside;  ///< of the first reason: how large the second may be
};

// The notes name one cause: K1 changed the workers of the data loader and nothing else; of S3,
// whose encoder was compiled, they say that it gained nothing.
TEST_CASE("compare: where the notes name one cause, the second and third reasons are small") {
  for (const OneCause& pair :
       {OneCause{"kineto_resnet50/workers0_v100", "kineto_resnet50/workers4_v100", 0.1},
        OneCause{"saf_amg/n29_cleanup2_a100", "saf_amg/n29_cleanup3_a100", 0.2}}) {
    if (!is_here(trace(pair.before))) continue;
    INFO(pair.before);
    const Comparison comparison =
        compare_sides(load_side({trace(pair.before)}), load_side({trace(pair.after)}));
    REQUIRE(comparison.reasons.size() >= 3);
    const auto size_of = [&](std::size_t i) {
      return std::abs(static_cast<double>(comparison.reasons[i].change_ns()));
    };
    CHECK(size_of(1) < pair.most_beside * size_of(0));
    CHECK(size_of(2) <= size_of(1));
  }
}

struct KernelSums {
  const char* before;
  const char* after;
  double change_ms;  ///< of the sum of all kernels, by the notes
};

TEST_CASE("compare: what the device computes changes by as much as the notes sum up") {
  for (const KernelSums& pair :
       {KernelSums{"saf_amg/n28_baseline_a100", "saf_amg/n28_bf16_compiled_decoder_a100",
                   354.954 - 1234.938},
        KernelSums{"tracelens/bert_small_h100", "tracelens/bert_small_mi300x", 0.388 - 0.307},
        KernelSums{"tracelens/vit_nsfw_h100", "tracelens/vit_nsfw_mi300x", 1.716 - 1.221},
        KernelSums{"tracelens/qwen15_05b_h100", "tracelens/qwen15_05b_mi300x", 43.1 - 45.4}}) {
    if (!is_here(trace(pair.before))) continue;
    INFO(pair.before);
    const Comparison comparison =
        compare_sides(load_side({trace(pair.before)}), load_side({trace(pair.after)}));
    double change_ms = 0;
    for (const Compared& use : comparison.uses) {
      if (use.use == Use::compute) change_ms += static_cast<double>(use.change_ns()) / 1e6;
    }
    // kernels at the same time count once here and twice there
    CHECK(change_ms == doctest::Approx(pair.change_ms).epsilon(0.1).scale(0));
  }
}

TEST_CASE("compare: a job that waits for one rank says for which, and what held that rank") {
  if (!is_here(trace("torchrec_dlrm_v100x4/straggler_rank0"))) return;
  const auto ranks = [](const std::string& name) {
    std::vector<std::string> paths;
    for (const char rank : {'0', '1', '2', '3'}) {
      paths.push_back(trace("torchrec_dlrm_v100x4/" + name + "_rank" + rank));
    }
    return paths;
  };
  const Comparison comparison =
      compare_sides(load_side(ranks("straggler")), load_side(ranks("nostraggler")));
  check_sums(comparison);
  REQUIRE_FALSE(comparison.reasons.empty());
  const Compared& first = comparison.reasons.front();
  CHECK(first.use == Use::waiting);
  CHECK(first.names.front() == "rank 2");
  CHECK(static_cast<double>(first.change_ns()) <
        0.95 * static_cast<double>(comparison.change_ns()));
  REQUIRE_FALSE(first.parts.empty());
  CHECK(first.parts.front().names.back() == "host: # running sparse arch");
  // the collective that waits for it; all else is noise
  REQUIRE(comparison.reasons.size() >= 3);
  CHECK(comparison.reasons[1].use == Use::communication);
  CHECK(comparison.reasons[1].names.front() == "all_to_all");
  CHECK(std::abs(comparison.reasons[2].change_ns()) < std::abs(comparison.change_ns()) / 100);
}

TEST_CASE("compare: memory alone has no step, and the optimizer's state explains 8-bit AdamW") {
  if (!is_here(trace("ao/adamw_memory_timeline"))) return;
  const Comparison comparison = compare_sides(load_side({trace("ao/adamw_memory_timeline")}),
                                              load_side({trace("ao/adamw8bit_memory_timeline")}));
  CHECK(comparison.change_ns() == 0);
  CHECK(comparison.reasons.empty());
  REQUIRE(comparison.peak);
  CHECK(comparison.peak->before_bytes > comparison.peak->after_bytes);
  CHECK(comparison.memory.front().name == "optimizer_state");
}

}  // namespace
}  // namespace foretrace
