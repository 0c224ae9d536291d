// Laws about settings that mean "as it was": nothing changes, and nothing becomes less certain.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "models/whatifs/what_if.h"
#include "sim/graph/change.h"
#include "tests/configs.h"
#include "tests/laws/identity_settings.h"
#include "tests/laws/training_run.h"
#include "tests/models/whatifs/examples.h"

using namespace foretrace;

namespace {

bool may_decline(ErrorCode code) {
  return code == ErrorCode::no_match || code == ErrorCode::unsupported ||
         code == ErrorCode::missing_cost;
}

/// The first thing in which two graphs differ; empty: they are one run.
std::string difference(const TaskGraph& a, const TaskGraph& b) {
  if (a.shared_topology() != b.shared_topology()) return "who waits for whom";
  const Weights& was = a.weights();
  const Weights& is = b.weights();
  if (*was.duration_ns != *is.duration_ns) return "a duration";
  if (*was.segment_ns != *is.segment_ns) return "a segment";
  if (*was.lag_ns != *is.lag_ns || *was.overflow_lag_ns != *is.overflow_lag_ns) return "a lag";
  if (a.columns().provenance != b.columns().provenance) return "a provenance";
  if (a.columns().work != b.columns().work) return "a work";
  const auto& tensors = a.context().tensors;
  const auto& others = b.context().tensors;
  const auto same = [](const Tensor& x, const Tensor& y) {
    return x.bytes == y.bytes && x.provenance == y.provenance && x.allocated_in == y.allocated_in &&
           x.freed_in == y.freed_in;
  };
  if (!std::equal(tensors.begin(), tensors.end(), others.begin(), others.end(), same)) {
    return "a tensor";
  }
  const auto one = [](const TaskPriority& x, const TaskPriority& y) {
    return x.task == y.task && x.priority == y.priority;
  };
  const auto& orders = a.context().priorities;
  const auto& other = b.context().priorities;
  const bool same_order = std::equal(orders.begin(), orders.end(), other.begin(), other.end(), one);
  return same_order ? "" : "a priority";
}

/// How often each what-if was at its identity.
using Times = std::map<std::string_view, std::size_t>;

/// Identities that were never tried: nothing in what was looked at lets them apply.
std::string never_tried(const Times& times) {
  std::string names;
  for (const WhatIfInfo* info : what_ifs::all()) {
    if (info->identity.setting.empty() || times.contains(info->name)) continue;
    names.append(names.empty() ? "" : " ").append(info->name);
  }
  return names;
}

/// The change itself: no time, no tensor, no origin, no range, no doubt.
void check_change(const TaskGraph& graph, const Accelerator* on, Times& times) {
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const auto what_if = test::identity_of(*info, graph, on);
    if (!what_if) continue;
    const auto change = info->apply({graph, on, *test::shipped()}, what_if->parameters);
    if (!change.ok()) {
      CHECK_MESSAGE(may_decline(change.error().code), change.error().message);
      continue;
    }
    ++times[info->name];
    const auto committed = commit(graph, *change, Checks::all);
    REQUIRE_MESSAGE(committed.ok(), committed.error().message);
    CHECK(difference(graph, committed->graph) == "");
    CHECK(committed->low.empty());
    CHECK(committed->high.empty());
    CHECK(change->doubts.empty());
    CHECK(change->tasks_changed(graph) == 0);
    CHECK(change->samples.value_or(1) == 1);
    CHECK_FALSE(change->notes.empty());
  }
}

std::array<double, 9> parts_of(const RangeSide& side) {
  return {side.recipe, side.host, side.communication, side.change,  side.scatter,
          side.device, side.rest, side.doubt,         side.profiler};
}

/// The answer: that of the recorded run, and as wide.
void check_answer(const Prediction& is, const Prediction& was) {
  CHECK(is.run.answer.step_ns == was.run.answer.step_ns);
  CHECK(is.low_ns == was.low_ns);
  CHECK(is.high_ns == was.high_ns);
  CHECK(is.declared_low_ns == was.declared_low_ns);
  CHECK(is.declared_high_ns == was.declared_high_ns);
  CHECK(parts_of(is.faster) == parts_of(was.faster));
  CHECK(parts_of(is.slower) == parts_of(was.slower));
  CHECK(is.profiler_event_ns == was.profiler_event_ns);
  CHECK(is.doubts().empty());
  CHECK(difference(was.graph, is.graph) == "");
  CHECK(is.samples.value_or(1) == 1);
  REQUIRE(is.applied.size() == 1);
  CHECK(is.applied[0].tasks_changed == 0);
  CHECK(is.applied[0].tensors_changed == 0);
  REQUIRE_FALSE(is.applied[0].notes.empty());
  CHECK(is.applied[0].notes[0].starts_with("changes nothing: "));
  CHECK(is.accelerator.has_value() == was.accelerator.has_value());
}

void check_predictions(const Recording& recording, Times& times) {
  const auto baseline = replay(recording);
  REQUIRE_MESSAGE(baseline.ok(), baseline.error().message);
  const auto was = predict(recording, {}, {}, &*baseline);
  REQUIRE_MESSAGE(was.ok(), was.error().message);
  const Accelerator* on = recording.accelerator ? &*recording.accelerator : nullptr;
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const auto what_if = test::identity_of(*info, recording.graph(), on);
    if (!what_if) continue;
    const auto is = predict(recording, {&*what_if, 1}, {}, &*baseline);
    if (!is.ok()) {
      CHECK_MESSAGE(may_decline(is.error().code), is.error().message);
      continue;
    }
    ++times[info->name];
    check_answer(*is, *was);
  }
}

/// Our own recordings, of one device and of a job; in order.
std::vector<std::string> own_recordings() {
  std::vector<std::string> files;
  const std::filesystem::path folder = FORETRACE_SOURCE_DIR "/examples/traces";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string file = entry.path().string();
    if (file.ends_with(".ftr.gz") || file.ends_with(".json.gz")) files.push_back(file);
  }
  files.emplace_back(FORETRACE_SOURCE_DIR "/tests/fixtures/job");
  files.emplace_back(FORETRACE_SOURCE_DIR "/tests/fixtures/ftr/training_2024.ftr");
  std::sort(files.begin(), files.end());
  return files;
}

Accelerator the_a100() {
  auto found = test::find_accelerator("a100_sxm_40gb");
  REQUIRE(found.ok());
  return *found;
}

}  // namespace

TEST_CASE("every what-if says which setting changes nothing, or why none does") {
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const Identity& identity = info->identity;
    CHECK(identity.setting.empty() != identity.none_because.empty());
  }
}

TEST_CASE("law: a what-if at its identity gives the same graph, as certain as before") {
  const Accelerator accelerator = the_a100();
  Times times;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    const auto graph = test::TrainingRun(choices).build();
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    check_change(*graph, seed % 3 == 0 ? nullptr : &accelerator, times);
  }
  // These want several ranks, or layout changes of convolutions that random runs always have.
  CHECK(never_tried(times) == "communication_scale compress_communication replicate");
}

TEST_CASE("law: an answer at an identity is that of the recording, its range included") {
  Times times;
  for (const std::string& file : own_recordings()) {
    CAPTURE(file);
    const auto recording = load(file, {.catalogue = test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    check_predictions(*recording, times);
  }
  CHECK(never_tried(times).empty());
}

TEST_CASE("law: an answer at an identity is that of the recording, of real jobs of several ranks") {
  Times times;
  for (const char* job : {"torchrec_dlrm_v100x4/fp32_a2a_rank", "megatron_tp8_a100/kineto_"}) {
    CAPTURE(std::string(job));
    std::vector<std::string> files;
    for (int rank = 0; rank < 8; ++rank) {
      const std::string file = fmt::format(FORETRACE_SHARED_DIR "/traces/{}{}.json.gz", job, rank);
      if (std::filesystem::exists(file)) files.push_back(file);
    }
    if (files.empty()) {
      MESSAGE("skipped: no real traces of a job");
      return;
    }
    const auto recording = load_inputs(files, {.catalogue = test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    check_predictions(*recording, times);
  }
  for (const char* name : {"communication_scale", "compress_communication", "replicate"}) {
    CAPTURE(std::string(name));
    CHECK(times[name] > 0);
  }
}
