// Edits as they are written in JSON, on recordings: each makes a valid graph that runs, or
// declines.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

/// A step of the recording after what-ifs in JSON.
Result<std::int64_t> step_after(const Recording& recording, const Replay& replay,
                                const std::string& json) {
  FORETRACE_TRY(const auto specs, parse_what_ifs_json(json, "law"));
  FORETRACE_TRY(const auto stack, check_stack(specs));
  RunOptions options;
  options.checks = Checks::all;
  options.neutral = Neutral::keep;
  FORETRACE_TRY(const Prediction prediction, predict(recording, stack, options, &replay));
  return prediction.run.answer.step_ns;
}

const std::vector<std::string> primitives = {
    R"("scale": 0.5)",
    R"("insert": "x", "duration": "3 us")",
    R"("insert": "x", "duration": "3 us", "place": "before")",
    R"("remove": true)",
    R"("replace": "x", "duration": "3 us")",
    R"("replace": "x", "duration": "3 us", "group": "neighbours")",
    R"("split": 2)",
    R"("merge": true)",
    R"("move": "new")",
    R"("replicate": 2)",
    R"("reorder": "name~elementwise")",
    R"("reorder": ["name~gemm", "name~elementwise"])",
    R"("prioritize": -1)"};

void check_recording(const std::string& file) {
  CAPTURE(file);
  const auto recording = load(file, {.catalogue = test::shipped()});
  REQUIRE_MESSAGE(recording.ok(), recording.error().message);
  const auto replayed = replay(*recording, {});
  REQUIRE_MESSAGE(replayed.ok(), replayed.error().message);
  const std::int64_t step_ns = replayed->run.answer.step_ns;
  std::size_t applied = 0;
  for (const char* selection : {"kind=kernel&name~gemm", "kind=kernel&name~elementwise"}) {
    for (const std::string& primitive : primitives) {
      const std::string edit = fmt::format(R"({{"select": "{}", {}}})", selection, primitive);
      CAPTURE(edit);
      const auto after = step_after(*recording, *replayed, edit);
      if (!after.ok()) {
        CHECK_MESSAGE(after.error().message.find("edit: ") == 0, after.error().message);
        continue;
      }
      ++applied;
      CHECK(*after > 0);
    }
    const auto as_it_was = step_after(
        *recording, *replayed,
        fmt::format(R"({{"edits": [{{"select": "{0}", "scale": 1}}, {{"select": "{0}", "split": 1}},
                                   {{"select": "{0}", "replicate": 1}}]}})",
                    selection));
    if (as_it_was.ok()) CHECK(*as_it_was == step_ns);
    const auto faster = step_after(*recording, *replayed,
                                   fmt::format(R"({{"select": "{}", "scale": 0}})", selection));
    if (faster.ok()) CHECK(*faster <= step_ns);
  }
  CHECK(applied > primitives.size());
}

}  // namespace

TEST_CASE("law: every primitive on kernels of a recording makes a run, or declines") {
  check_recording(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz");
}

TEST_CASE("law: every primitive on kernels of real recordings makes a run, or declines") {
  std::size_t found = 0;
  for (const char* name :
       {"hta/train_2rank_v100_rank1.json.gz", "saf_amg/n28_baseline_a100.json.gz",
        "modded_nanogpt/rs_at_step_end_rank0_of_8_h100.json.gz"}) {
    const std::string file = std::string(FORETRACE_SHARED_DIR "/traces/") + name;
    if (!std::filesystem::exists(file)) continue;
    ++found;
    check_recording(file);
  }
  if (found == 0) MESSAGE("skipped: no real traces");
}
