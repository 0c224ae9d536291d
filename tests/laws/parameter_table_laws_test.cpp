// Laws of the table of parameters on recordings: it counts what they tell, and stacks keep it.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"
#include "apps/session/what_if_stack.h"
#include "models/editing/parameters/gradients.h"
#include "models/editing/parameters/model_state.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/configs.h"

using namespace foretrace;
using editing::KernelEditor;

namespace {

const std::filesystem::path traces =
    std::filesystem::path(FORETRACE_SOURCE_DIR) / "examples/traces";

Recording recording_of(const std::filesystem::path& file) {
  auto recording = load(file, {.catalogue = test::shipped()});
  REQUIRE_MESSAGE(recording.ok(), recording.error().message);
  return *std::move(recording);
}

KernelEditor editor_of(const Recording& recording, const TaskGraph& graph) {
  return KernelEditor(
      {graph, recording.accelerator ? &*recording.accelerator : nullptr, *test::shipped()});
}

WhatIf what_if(const std::string& text) {
  const auto parsed = parse_what_if(text);
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().message);
  auto checked = check_what_if(*parsed);
  REQUIRE_MESSAGE(checked.ok(), checked.error().message);
  return *std::move(checked);
}

}  // namespace

TEST_CASE("law: the table of a recording adds up to what the recording tells") {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(traces)) {
    if (!entry.path().string().ends_with(".ftr.gz")) continue;
    CAPTURE(entry.path());
    const Recording recording = recording_of(entry.path());
    const KernelEditor editor = editor_of(recording, recording.graph());
    std::map<editing::DeviceOfRank, double> sums;
    const auto table = editing::parameters_of(editor);
    for (const Parameter& row : table->rows) sums[{row.rank, row.device}] += row.elements;
    const auto counts = editing::recorded_counts(editor);
    CHECK(sums.size() == counts.size());
    for (const auto& [device, count] : counts) {
      CHECK(sums[device] == doctest::Approx(count.numbers).epsilon(1e-9));
    }
    const editing::GradientFinder finder(editor);
    for (const auto& pass : editing::find_passes(editor)) {
      const auto count = counts.find(editing::device_of(editor.graph(), pass.backward.front()));
      if (count == counts.end()) continue;
      CHECK(finder.of(pass).numbers() == doctest::Approx(count->second.numbers).epsilon(1e-9));
      ++found;
    }
  }
  CHECK(found > 50);
}

TEST_CASE("law: a stack leaves what its first what-if left, whatever becomes of the kernels") {
  const Recording recording = recording_of(traces / "h100_host/resnet50.baseline.ftr.gz");
  const auto trained = [&](const std::vector<std::string>& names) {
    WhatIfStack stack(recording);
    for (const std::string& name : names) {
      const Status pushed = stack.push(what_if(name), Neutral::keep);
      REQUIRE_MESSAGE(pushed.ok(), pushed.error().message);
    }
    const KernelEditor editor = editor_of(recording, stack.graph());
    const double count = editing::parameter_count(editor).trained;
    const editing::GradientFinder finder(editor);
    for (const auto& pass : editing::find_passes(editor)) {
      CHECK(finder.of(pass).numbers() == doctest::Approx(count).epsilon(1e-9));
    }
    return count;
  };
  for (const char* first : {"low_rank:ratio=0.25", "layer_freezing:share=0.5"}) {
    CAPTURE(first);
    const double alone = trained({first});
    CHECK(alone < 0.95 * trained({}));
    for (const char* then : {"reconstructed_batch_norm", "kernel_fusion", "fused_optimizer",
                             "whole_program_fusion", "mixed_precision", "cuda_graph"}) {
      CAPTURE(then);
      CHECK(trained({first, then}) == doctest::Approx(alone).epsilon(1e-9));
    }
  }
}

TEST_CASE("law: memory that batch norm gives up stays free when chains are fused") {
  const Recording recording = recording_of(traces / "h100_host/resnet50.baseline.ftr.gz");
  const auto peak_of = [&](const std::vector<std::string>& names) {
    const auto given = stack_of(names);
    REQUIRE_MESSAGE(given.ok(), given.error().message);
    WhatIfStack stack(recording);
    for (const WhatIf& one : in_order(*given)) {
      const Status pushed = stack.push(one, Neutral::keep);
      REQUIRE_MESSAGE(pushed.ok(), pushed.error().message);
    }
    double peak = 0;
    for (const MemoryCurve& curve : track_memory(stack.graph(), simulate(stack.graph()))) {
      peak = std::max(peak, static_cast<double>(curve.peak_bytes));
    }
    return peak;
  };
  const double recorded = peak_of({});
  const double alone = peak_of({"reconstructed_batch_norm"});
  CHECK(alone < 0.95 * recorded);
  for (const char* fusion :
       {"kernel_fusion", "data_movement", "whole_program_fusion", "fusion_aware_checkpointing"}) {
    CAPTURE(fusion);
    CHECK(peak_of({fusion, "reconstructed_batch_norm"}) <= alone * (1 + 1e-9));
  }
}
