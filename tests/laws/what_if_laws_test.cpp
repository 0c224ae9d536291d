// Laws that hold for every what-if, on random training runs and on real recordings.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"
#include "models/hardware/costs/kernel_cost.h"
#include "models/whatifs/what_if.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"
#include "tests/configs.h"
#include "tests/laws/training_run.h"
#include "tests/models/whatifs/examples.h"
#include "tests/models/whatifs/replacing.h"
#include "tests/sim/edit/law_oracle.h"

using namespace foretrace;

namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint64_t runs = 60;

ParamValues values_of(const WhatIfInfo& info, const Given& given) {
  auto values = ParamValues::parse(info.name, info.params, given);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  return *values;
}

ParamValues example_of(const WhatIfInfo& info) {
  return values_of(info, test::example_of(info.name));
}

bool may_decline(ErrorCode code) {
  return code == ErrorCode::no_match || code == ErrorCode::unsupported ||
         code == ErrorCode::missing_cost;
}

// Per lane, the time of tasks that the change leaves as they are.
std::int64_t longest_untouched_lane(const TaskGraph& graph, const Change& change) {
  std::vector<bool> touched(graph.size(), false);
  const auto touch = [&](TaskId task) {
    if (index(task) < graph.size()) touched[index(task)] = true;
  };
  for (const DurationEdit& edit : change.durations) touch(edit.task);
  for (const Removal& removal : change.removed) touch(removal.task);
  for (const Move& move : change.moved) touch(move.task);
  std::vector<std::int64_t> busy(graph.context().lanes.size(), 0);
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    // A task that waits takes as long as its waiting.
    if (touched[t] || graph.kind(task) == TaskKind::synchronization) continue;
    busy[index(graph.lane_id(task))] += graph.duration_ns(task);
  }
  return busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end());
}

void check_costs(const Change& change) {
  for (const DurationEdit& edit : change.durations) {
    CHECK(edit.duration_ns >= 0);
    CHECK(edit.low >= 0.0F);
    CHECK(edit.low <= 1.0F);
    CHECK(edit.high >= 1.0F);
  }
  for (const Insertion& insertion : change.inserted) {
    CHECK(insertion.task.duration_ns >= 0);
    CHECK(insertion.task.segment_ns >= 0);
  }
  CHECK_FALSE(change.notes.empty());
}

// No tensor comes after it went, and live bytes are those of the tensors that are there.
void check_memory(const TaskGraph& graph, const Timeline& timeline) {
  for (const MemoryCurve& curve : track_memory(graph, timeline)) {
    std::int64_t least = curve.base_bytes;
    for (const MemoryPoint& point : curve.points) least = std::min(least, point.live_bytes);
    CHECK(least >= 0);
  }
  for (const Tensor& tensor : graph.context().tensors) {
    if (tensor.allocated_in == none<TaskId> || tensor.freed_in == none<TaskId>) continue;
    if (tensor.bytes > 0 && graph.lane_id(tensor.allocated_in) == graph.lane_id(tensor.freed_in)) {
      CHECK(tensor.allocated_in <= tensor.freed_in);
    }
  }
}

std::vector<std::int64_t> sizes_of(const TaskGraph& graph) {
  std::vector<std::int64_t> sizes;
  for (const Tensor& tensor : graph.context().tensors) sizes.push_back(tensor.bytes);
  return sizes;
}

/// What became of the times that a what-if was tried.
struct Tried {
  std::size_t applied = 0;      ///< it changed the graph
  std::size_t put_in = 0;       ///< kernels that no recording shows
  std::size_t kernels_for = 0;  ///< groups of kernels that others stand for
  test::Examined examined = {};
};
using TriedByName = std::map<std::string_view, Tried>;

void count_tried(const TaskGraph& graph, const Change& change, const test::LawOracle& oracle,
                 Tried& tried) {
  tried.applied += change.empty() ? 0 : 1;
  for (const StandIn& group : change.stand_ins) {
    tried.kernels_for += is_device(graph.kind(group.members.front())) ? 1 : 0;
  }
  tried.examined += oracle.examined();
}

/// Whoever replaces kernels has to be shown with three streams, too.
void check_replacing_are_listed(const TriedByName& tried) {
  for (const auto& [key, of] : tried) {
    const std::string name(key);
    CAPTURE(name);
    const auto& listed = test::replacing_what_ifs;
    CHECK((of.kernels_for == 0 || std::find(listed.begin(), listed.end(), name) != listed.end()));
  }
}

/// What-ifs that changed nothing in all that they were tried on.
std::string never_applied(const TriedByName& tried) {
  std::string names;
  for (const WhatIfInfo* info : what_ifs::all()) {
    const auto found = tried.find(info->name);
    if (found != tried.end() && found->second.applied > 0) continue;
    names.append(names.empty() ? "" : " ").append(info->name);
  }
  return names;
}

/// The group that an inserted task stands for; null if it stands for none.
const StandIn* group_of(const Change& change, TaskId inserted) {
  for (const StandIn& group : change.stand_ins) {
    if (group.entry <= inserted && inserted <= group.exit) return &group;
  }
  return nullptr;
}

/// Whoever comes later finds what an inserted kernel is and does, as far as it was known of the
/// kernels that it stands for.
std::size_t check_known_works(const TaskGraph& graph, const Change& change,
                              const Committed& committed, const Accelerator* on) {
  const auto before = describe_works(graph, on);
  const auto after = describe_works(committed.graph, on);
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < change.inserted.size(); ++i) {
    const auto inserted = make_id<TaskId>(graph.size() + i);
    const TaskId task = committed.new_id.at(index(inserted));
    if (task == none<TaskId> || committed.graph.kind(task) != TaskKind::kernel) continue;
    // A copy of a recorded kernel is known as that one is.
    if (index(committed.graph.work_id(task)) < before.size()) continue;
    bool is_class_known = true;
    bool is_amount_known = true;
    const StandIn* group = group_of(change, inserted);
    for (const TaskId member : group == nullptr ? std::vector<TaskId>{} : group->members) {
      if (graph.kind(member) != TaskKind::kernel) continue;
      const KernelDescription& known = before[index(graph.work_id(member))];
      is_class_known = is_class_known && known.traits.kernel_class != KernelClass::other;
      is_amount_known = is_amount_known && known.amount.known();
    }
    const KernelDescription& known = after[index(committed.graph.work_id(task))];
    CAPTURE(std::string(committed.graph.name(task)));
    if (is_class_known) CHECK(known.traits.kernel_class != KernelClass::other);
    if (is_class_known && is_amount_known) CHECK(known.amount.known());
    ++kernels;
  }
  return kernels;
}

// Applies, checks, and gives the new graph; the old one if the what-if declines.
TaskGraph check_one(const TaskGraph& graph, const WhatIfInfo& info, const Accelerator* on,
                    const ParamValues& values, TriedByName* tried = nullptr) {
  auto change = info.apply({graph, on, *foretrace::test::shipped()}, values);
  if (!change) {
    CHECK_MESSAGE(may_decline(change.error().code), change.error().message);
    CHECK_FALSE(change.error().message.empty());
    return graph;
  }
  check_costs(*change);
  auto committed = commit(graph, *change, Checks::none);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  const Status valid = validate(committed->graph);
  REQUIRE_MESSAGE(valid.ok(), valid.error().message);
  const Status laws = check_laws(graph, *change, *committed);
  REQUIRE_MESSAGE(laws.ok(), laws.error().message);
  // What a user puts in is known by the name that the user gives it, and what another device does
  // is no kernel of this one.
  const std::size_t put_in = info.name == "edit" || info.name == "offload_pattern"
                                 ? 0
                                 : check_known_works(graph, *change, *committed, on);
  if (tried != nullptr) (*tried)[info.name].put_in += put_in;
  const test::LawOracle oracle(graph, *change, *committed);
  const std::string broken = oracle.broken_time();
  REQUIRE_MESSAGE(broken.empty(), broken);
  if (tried != nullptr) count_tried(graph, *change, oracle, (*tried)[info.name]);
  const Timeline timeline = simulate(committed->graph);
  CHECK(timeline.span_ns >= longest_untouched_lane(graph, *change));
  check_memory(committed->graph, timeline);

  const auto again = info.apply({graph, on, *foretrace::test::shipped()}, values);
  REQUIRE(again.ok());
  CHECK(again->notes == change->notes);
  CHECK(again->inserted.size() == change->inserted.size());
  CHECK(again->removed.size() == change->removed.size());
  return std::move(committed->graph);
}

Accelerator a100() {
  auto found = foretrace::test::find_accelerator("a100_sxm_40gb");
  REQUIRE(found.ok());
  return *found;
}

// Streams (of any rank) that do something.
std::size_t busy_streams(const TaskGraph& graph) {
  std::set<LaneId> streams;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (graph.lane(task).kind == LaneKind::stream) streams.insert(graph.lane_id(task));
  }
  return streams.size();
}

void check_all(const Recording& recording, TriedByName& tried) {
  const Accelerator* on = recording.accelerator ? &*recording.accelerator : nullptr;
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    check_one(recording.graph(), *info, on, example_of(*info), &tried);
  }
}

}  // namespace

TEST_CASE("law: every what-if makes a valid graph or declines, once and on top of itself") {
  const Accelerator accelerator = a100();
  TriedByName tried;
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const ParamValues values = example_of(*info);
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      CAPTURE(seed);
      test::Choices choices(seed);
      const auto graph = test::TrainingRun(choices).build();
      REQUIRE_MESSAGE(graph.ok(), graph.error().message);
      const Accelerator* on = seed % 3 == 0 ? nullptr : &accelerator;
      const TaskGraph once = check_one(*graph, *info, on, values, &tried);
      check_one(once, *info, on, values);
    }
  }
  check_replacing_are_listed(tried);
  // These want collectives, a loader, recorded copies, exact repeats, or kernels of special models:
  // real recordings have them, or runs made for them (replaced_kernels_test.cpp).
  CHECK(never_applied(tried) ==
        "communication_scale compress_communication cortex data_loader_workers dynamic_batching "
        "gradient_buckets horizontal_fusion hypergraph_fusion input_storage kernel_table "
        "pinned_copies remove_input_stalls remove_straggler remove_synchronization "
        "renee_classifier replicate sparse_aggregation weight_only_quantization");
}

TEST_CASE("law: the ends of declared ranges are accepted, too") {
  const Accelerator accelerator = a100();
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const ParamValues values = example_of(*info);
    for (const Bound bound : {Bound::optimistic, Bound::pessimistic}) {
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        test::Choices choices(seed);
        const auto graph = test::TrainingRun(choices).build();
        REQUIRE(graph.ok());
        check_one(*graph, *info, &accelerator, values.at_bound(bound));
      }
    }
  }
}

TEST_CASE("law: parameters that mean 'as it was' change no time and no tensor") {
  struct Identity {
    std::string_view name;
    Given given;
  };
  const std::vector<Identity> identities = {
      {"scale", {{"factor", "1"}}},
      {"batch_size", {{"factor", "1"}}},
      {"channels_last", {{"kept", "1"}}},
      {"gradient_accumulation", {{"steps", "1"}}},
      {"mu_two", {{"models", "1"}}},
      {"layer_freezing", {{"share", "0"}}},
      {"activation_checkpointing", {{"segments", "1"}}},
      {"low_rank", {{"ratio", "1"}}},
      {"nm_sparsity", {{"pattern", "4:4"}, {"efficiency", "1"}}},
      {"reconstructed_batch_norm", {{"factor", "1"}, {"relu", "none"}}},
      {"code_ensemble", {{"kept", "1"}}},
  };
  const Accelerator accelerator = a100();
  for (const Identity& identity : identities) {
    CAPTURE(std::string(identity.name));
    const auto all = what_ifs::all();
    const auto found = std::find_if(all.begin(), all.end(), [&](const WhatIfInfo* info) {
      return info->name == identity.name;
    });
    REQUIRE(found != all.end());
    const ParamValues values = values_of(**found, identity.given);
    for (std::uint64_t seed = 0; seed < runs / 3; ++seed) {
      CAPTURE(seed);
      test::Choices choices(seed);
      const auto graph = test::TrainingRun(choices).build();
      REQUIRE(graph.ok());
      const TaskGraph same = check_one(*graph, **found, &accelerator, values);
      CHECK(simulate(same).span_ns == simulate(*graph).span_ns);
      CHECK(sizes_of(same) == sizes_of(*graph));
    }
  }
}

TEST_CASE("law: every what-if holds on every real recording with several streams") {
  const std::filesystem::path folder = FORETRACE_SHARED_DIR "/traces";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no real traces");
    return;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  TriedByName tried;
  std::size_t looked_at = 0;
  for (const std::string& file : files) {
    CAPTURE(file);
    const auto recording = load(file, {.catalogue = foretrace::test::shipped()});
    if (!recording || busy_streams(recording->graph()) < 2) continue;
    ++looked_at;
    check_all(*recording, tried);
  }
  for (const auto& [name, of] : tried) {
    MESSAGE(std::string(name), ": ", of.applied, " of ", looked_at, " recordings, ", of.kernels_for,
            " groups, ", of.examined.into_groups, " waits into and ", of.examined.out_of_groups,
            " out of them, ", of.examined.through_removed, " through what is gone");
  }
  CHECK(looked_at > 45);
  check_replacing_are_listed(tried);
  // One wants the ranks of a job (below). The others want what no recording here has: chains whose
  // Jacobians fit (random runs, above), independent neighbours, a hypergraph's products, single
  // lookups of large tables (tests of their own).
  CHECK(never_applied(tried) == "bppsa horizontal_fusion hypergraph_fusion remove_straggler");
  test::Examined examined;
  for (const auto& [name, of] : tried) examined += of.examined;
  CHECK(examined.into_groups > 3000);
  CHECK(examined.out_of_groups > 3000);
  CHECK(examined.through_removed > 1000);
  CHECK(examined.recorded_waits > 100);
  CHECK(examined.inferred_waits > 1000);
}

TEST_CASE("law: every what-if holds on real jobs of several ranks") {
  const std::string folder = FORETRACE_SHARED_DIR "/traces/";
  TriedByName tried;
  std::size_t jobs = 0;
  for (const char* job : {"torchrec_dlrm_v100x4/fp32_a2a_rank",
                          "torchrec_dlrm_v100x4/straggler_rank", "megatron_tp8_a100/kineto_"}) {
    CAPTURE(std::string(job));
    std::vector<std::string> files;
    for (int rank = 0; rank < 8; ++rank) {
      const std::string file = folder + job + std::to_string(rank) + ".json.gz";
      if (std::filesystem::exists(file)) files.push_back(file);
    }
    if (files.empty()) {
      MESSAGE("skipped: no real traces of a job");
      continue;
    }
    const auto recording = load_inputs(files, {.catalogue = foretrace::test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    REQUIRE(busy_streams(recording->graph()) > files.size());
    check_all(*recording, tried);
    check_replacing_are_listed(tried);
    ++jobs;
  }
  if (jobs < 3) return;
  for (const char* name : {"communication_scale", "remove_straggler", "replicate"}) {
    CAPTURE(std::string(name));
    CHECK(tried[name].applied > 0);
  }
  test::Examined examined;
  for (const auto& [name, of] : tried) examined += of.examined;
  CHECK(examined.into_groups > 150);
  CHECK(examined.out_of_groups > 400);
}
