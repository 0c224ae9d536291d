// The table of parameters: what what-ifs leave of it, in either order, and that commits keep it.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/editing/parameters/gradients.h"
#include "models/editing/parameters/model_state.h"
#include "tests/models/layered_run.h"
#include "tests/sim/graph/random_change.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& activation_checkpointing;
extern const WhatIfInfo& async_checkpoint;
extern const WhatIfInfo& code_ensemble;
extern const WhatIfInfo& eight_bit_optimizer;
extern const WhatIfInfo& gradient_accumulation;
extern const WhatIfInfo& kernel_fusion;
extern const WhatIfInfo& layer_freezing;
extern const WhatIfInfo& low_rank;
extern const WhatIfInfo& mixed_precision;
extern const WhatIfInfo& mu_two;
extern const WhatIfInfo& optimizer_offload;
extern const WhatIfInfo& parallel;
}  // namespace foretrace::what_ifs

using namespace foretrace;
using foretrace::editing::find_passes;
using foretrace::editing::GradientFinder;
using foretrace::editing::KernelEditor;
using foretrace::editing::parameters_of;
using foretrace::test::Choices;
using foretrace::test::Given;
using foretrace::test::layered_run;
using foretrace::test::LayeredRun;
using foretrace::test::shipped;
using foretrace::test::toy_accelerator;

namespace {

/// As a stack does it: the table is there before kernels are other ones. Nothing where it declines.
std::optional<TaskGraph> try_stacked(const TaskGraph& graph, const WhatIfInfo& info,
                                     const Given& given) {
  const auto a100 = toy_accelerator();
  auto change = test::apply_to(graph, info, given, &a100);
  if (!change.ok() && change.error().code == ErrorCode::no_match) return std::nullopt;
  REQUIRE_MESSAGE(change.ok(), info.name, ": ", change.error().message);
  if (change->parameters == nullptr) {
    change->parameters = parameters_of(KernelEditor({graph, &a100, *shipped()}));
  }
  auto committed = commit(graph, *change);
  REQUIRE_MESSAGE(committed.ok(), info.name, ": ", committed.error().message);
  return std::move(committed->graph);
}
TaskGraph stacked(const TaskGraph& graph, const WhatIfInfo& info, const Given& given) {
  auto next = try_stacked(graph, info, given);
  REQUIRE_MESSAGE(next.has_value(), info.name);
  return *std::move(next);
}

struct Sums {
  double numbers = 0;
  double trained = 0;
  double gradient_bytes = 0;
  double weight_bytes = 0;
  double state_bytes = 0;
};
Sums sums_of(const TaskGraph& graph) {
  const auto a100 = toy_accelerator();
  Sums sums;
  for (const Parameter& row : parameters_of(KernelEditor({graph, &a100, *shipped()}))->rows) {
    const double trained = row.elements * row.trained;
    sums.numbers += row.elements;
    sums.trained += trained;
    sums.gradient_bytes += trained * static_cast<double>(row.gradient_bytes);
    sums.weight_bytes += row.elements * static_cast<double>(row.weight_bytes);
    sums.state_bytes += trained * static_cast<double>(row.state_bytes);
  }
  return sums;
}

/// Bytes of all-reduces of a step, on eight ranks.
double exchanged(const TaskGraph& graph, int steps) {
  const TaskGraph spread =
      stacked(graph, what_ifs::parallel, {{"data", "8"}, {"cluster", "dgx_h100"}});
  double bytes = 0;
  for (std::size_t t = 0; t < spread.size(); ++t) {
    const Work& work = spread.work(make_id<TaskId>(t));
    if (work.collective == CollectiveKind::all_reduce && work.part != TaskPart::begin) {
      bytes += static_cast<double>(work.bytes);
    }
  }
  return bytes / steps;
}

struct Edit {
  const WhatIfInfo* info;
  Given given;
};
/// The border of what is frozen lies within a layer, so that the border stays under other times.
std::vector<Edit> edits(int layers) {
  const std::string share = fmt::format("{:.4f}", 1.3 / layers);
  return {{&what_ifs::low_rank, {{"ratio", "0.25"}}},
          {&what_ifs::layer_freezing, {{"share", share}}},
          {&what_ifs::code_ensemble, {{"kept", "0.5"}}},
          {&what_ifs::mixed_precision, {{"mode", "full"}, {"dtype", "bf16"}}},
          {&what_ifs::eight_bit_optimizer, {}},
          {&what_ifs::kernel_fusion, {}},
          {&what_ifs::mu_two, {{"models", "2"}}},
          {&what_ifs::activation_checkpointing, {{"segments", "2"}}}};
}

void check_same(const Sums& a, const Sums& b) {
  CHECK(a.numbers == doctest::Approx(b.numbers).epsilon(1e-6));
  CHECK(a.trained == doctest::Approx(b.trained).epsilon(1e-6));
  CHECK(a.gradient_bytes == doctest::Approx(b.gradient_bytes).epsilon(1e-6));
  CHECK(a.weight_bytes == doctest::Approx(b.weight_bytes).epsilon(1e-6));
  CHECK(a.state_bytes == doctest::Approx(b.state_bytes).epsilon(1e-6));
}

}  // namespace

TEST_CASE("parameter table: two what-ifs leave the same parameters in either order") {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Choices choices(seed);
    const LayeredRun like{.layers = static_cast<int>(3 + choices.below(4)),
                          .steps = static_cast<int>(1 + choices.below(2)),
                          .width = 512 * (1 + choices.below(3)),
                          .tensors = choices.one_in(2)};
    const TaskGraph graph = layered_run(like);
    const std::vector<Edit> all = edits(like.layers);
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = a + 1; b < all.size(); ++b) {
        CAPTURE(seed);
        CAPTURE(all[a].info->name);
        CAPTURE(all[b].info->name);
        // Freezing goes by the time of kernels, among which the other half's lie: it comes first.
        if (all[a].info == &what_ifs::layer_freezing && all[b].info == &what_ifs::mu_two) continue;
        const TaskGraph first = stacked(graph, *all[a].info, all[a].given);
        const TaskGraph second = stacked(graph, *all[b].info, all[b].given);
        const auto there = try_stacked(first, *all[b].info, all[b].given);
        const auto back = try_stacked(second, *all[a].info, all[a].given);
        // Fused kernels are no update that eight bits would change, for one.
        if (!there || !back) continue;
        ++tried;
        check_same(sums_of(*there), sums_of(*back));
      }
    }
  }
  CHECK(tried > 90);
}

TEST_CASE("parameter table: what ranks exchange is what what-ifs before left to train") {
  const LayeredRun like{.layers = 5, .steps = 2};
  const TaskGraph graph = layered_run(like);
  const double whole = 4 * test::numbers_of(like);
  CHECK(exchanged(graph, like.steps) == doctest::Approx(whole));
  const auto left = [&](const WhatIfInfo& info, const Given& given) {
    return exchanged(stacked(graph, info, given), like.steps) / whole;
  };
  // 1024 x 256 twice of 1024 x 1024; biases of 1024 stay.
  const double matrix = 1024.0 / 1025;
  CHECK(left(what_ifs::low_rank, {{"ratio", "0.25"}}) ==
        doctest::Approx(0.5 * matrix + 1 - matrix).epsilon(1e-6));
  // Two of the five layers lie in the first 0.4 of the time.
  CHECK(left(what_ifs::layer_freezing, {{"share", "0.4"}}) == doctest::Approx(0.6));
  CHECK(left(what_ifs::layer_freezing, {{"share", "0.4"}, {"parameters", "0.1"}}) ==
        doctest::Approx(0.9));
  CHECK(left(what_ifs::code_ensemble, {{"kept", "0.5"}}) ==
        doctest::Approx(0.25 * matrix + 0.5 * (1 - matrix)).epsilon(1e-6));
  CHECK(left(what_ifs::mixed_precision, {{"mode", "full"}, {"dtype", "bf16"}}) ==
        doctest::Approx(0.5));
  CHECK(left(what_ifs::mixed_precision, {{"dtype", "bf16"}}) == doctest::Approx(1));
  CHECK(left(what_ifs::kernel_fusion, {}) == doctest::Approx(1));
  // Two updates: passes between them exchange nothing, wherever their kernels come from.
  CHECK(left(what_ifs::gradient_accumulation, {{"steps", "3"}}) == doctest::Approx(1));
}

TEST_CASE("parameter table: uses stay with the kernels that read, whatever is committed") {
  const LayeredRun like{.layers = 4, .steps = 2};
  const TaskGraph graph = layered_run(like);
  for (const Edit& edit : edits(like.layers)) {
    CAPTURE(edit.info->name);
    const TaskGraph next = stacked(graph, *edit.info, edit.given);
    REQUIRE(next.context().parameters != nullptr);
    const auto a100 = toy_accelerator();
    const KernelEditor editor({next, &a100, *shipped()});
    std::size_t reads = 0;
    for (const ParameterUse& use : next.context().parameters->uses) {
      if (use.role != ParameterRole::read || next.phase(use.task) != Phase::forward) continue;
      CHECK(next.name(use.task).find("ampere_sgemm_128x64_tn layer") == 0);
      ++reads;
    }
    // A weight and a bias of four layers, in two steps, and in each of two sub-arrays.
    CHECK(reads == (edit.info == &what_ifs::mu_two ? 32 : 16));
    const GradientFinder finder(editor);
    for (const auto& pass : find_passes(editor)) {
      CHECK(finder.of(pass).numbers() == doctest::Approx(sums_of(next).trained));
    }
  }
}

TEST_CASE("parameter table: layers that are not trained have nothing to recompute") {
  const LayeredRun like{.layers = 8, .steps = 1};
  const TaskGraph frozen = stacked(layered_run(like), what_ifs::layer_freezing, {{"share", "0.5"}});
  const auto again = [&](const TaskGraph& graph) {
    const TaskGraph next = stacked(graph, what_ifs::activation_checkpointing, {{"segments", "2"}});
    std::size_t copies = 0;
    for (std::size_t t = 0; t < next.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      const bool is_forward = next.name(task).find("ampere_sgemm_128x64_tn layer") == 0;
      if (!is_forward || next.phase(task) != Phase::backward) continue;
      CHECK(next.name(task).back() >= '4');
      ++copies;
    }
    return copies;
  };
  CHECK(again(frozen) == 2);  // the first half of the four that are trained
}

TEST_CASE("parameter table: an update is moved to the host whole, fused or not") {
  const LayeredRun like{.layers = 4, .steps = 2};
  const TaskGraph graph = layered_run(like);
  const TaskGraph fused = stacked(graph, what_ifs::kernel_fusion, {});
  CHECK(fused.size() < graph.size());
  const auto updated = [](const TaskGraph& run) {
    const TaskGraph next = stacked(run, what_ifs::optimizer_offload, {});
    std::size_t left = 0;
    for (std::size_t t = 0; t < next.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      left += next.phase(task) == Phase::update && next.kind(task) == TaskKind::kernel ? 1 : 0;
    }
    return std::pair(left, test::count_of(next, "optimizer update on the CPU"));
  };
  CHECK(updated(graph).first == 0);
  CHECK(updated(graph).second == 32);  // 16 chunks of two updates
  CHECK(updated(fused).first == 0);
  CHECK(updated(fused).second == 32);
}

TEST_CASE("parameter table: a checkpoint holds what the what-ifs before it left") {
  const LayeredRun like{.layers = 5, .steps = 2};
  const TaskGraph graph = layered_run(like);
  const auto saved = [](const TaskGraph& run) {
    const auto change = test::apply_to(run, what_ifs::async_checkpoint, {{"storage", "10 GB/s"}});
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    return change->notes.front();
  };
  const auto states = [&](const TaskGraph& run, double numbers, const std::string& bytes) {
    const std::string note = saved(run);
    CAPTURE(note);
    CHECK(note.find(fmt::format("{:.1f} M parameters", numbers * 1e-6)) != std::string::npos);
    CHECK(note.find(fmt::format("of {} bytes", bytes)) != std::string::npos);
  };
  const double all = test::numbers_of(like);
  states(graph, all, "12");  // Adam
  // Three of five layers have states: 4 + 0.6 x 8.
  states(stacked(graph, what_ifs::layer_freezing, {{"share", "0.4"}}), all, "8.8");
  // States stay as they are: 2 + 8.
  states(stacked(graph, what_ifs::mixed_precision, {{"mode", "full"}, {"dtype", "bf16"}}), all,
         "10");
  states(stacked(graph, what_ifs::low_rank, {{"ratio", "0.25"}}), all / 2, "12");
}
