#include "tests/laws/support/stacks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/predict.h"
#include "apps/session/throughput.h"
#include "models/whatifs/examples.h"
#include "models/whatifs/what_if.h"
#include "sim/core/broken_law.h"
#include "tests/configs.h"

namespace foretrace::test {
namespace {

/// A refusal is one line of text, for one of these causes.
/// A scenario may have no job on what it names: fp8 on a device without its units.
void check_reason(const Error& error, bool is_modelled) {
  CHECK_MESSAGE((error.code == ErrorCode::no_match || error.code == ErrorCode::unsupported ||
                 error.code == ErrorCode::missing_cost ||
                 (is_modelled && error.code == ErrorCode::bad_config)),
                error.message);
  CHECK(error.message.size() > 10);
  CHECK(error.message.find('\n') == std::string::npos);
}

/// All that tasks of each kind take, and the host time before calls.
using Taken = std::map<TaskKind, double>;
Taken taken_by(const TaskGraph& graph) {
  Taken taken;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    taken[graph.kind(task)] += static_cast<double>(graph.duration_ns(task));
    if (!is_device(graph.kind(task))) {
      taken[TaskKind::host] +=
          static_cast<double>(std::max<std::int64_t>(graph.segment_ns(task), 0));
    }
  }
  return taken;
}

Result<ChangedRun> run_of(const Session& session, std::span<const WhatIf> stack, Neutral neutral) {
  RunOptions options = session.options();
  options.checks = Checks::all;
  options.neutral = neutral;
  return changed_run(session.recording(), stack, options);
}

}  // namespace

StackedRun::StackedRun(Session session) : session_(std::move(session)) {
  if (session_.need()) as_it_is_.live_bytes = session_.need()->live_bytes;
  std::vector<WhatIf> all;
  for (const WhatIfInfo* const info : what_ifs::all()) {
    auto example = example_of(*shipped(), *info);
    REQUIRE_MESSAGE(example.ok(), example.error().message);
    all.push_back(std::move(example->what_if));
  }
  for (WhatIf& what_if : in_order(all)) {
    const auto outcome = outcome_of({&what_if, 1}, Neutral::refuse);
    if (!outcome) continue;
    what_ifs_.push_back(std::move(what_if));
    alone_.push_back(*outcome);
  }
}

std::optional<StackOutcome> StackedRun::outcome_of(std::span<const WhatIf> stack,
                                                   Neutral neutral) const {
  const std::string names = names_of(stack);
  CAPTURE(names);
  try {
    const auto changed = run_of(session_, stack, neutral);
    if (!changed.ok()) {
      check_reason(changed.error(), session_.recording().modelled != nullptr);
      return std::nullopt;
    }
    const double samples = changed->samples.value_or(1);
    const auto share = [samples](std::int64_t is, std::int64_t was) {
      return was > 0 ? static_cast<double>(is) / static_cast<double>(was) / samples : 1;
    };
    const auto need = session_.memory_model().need(changed->graph, changed->run.timeline);
    CHECK(need.has_value() == session_.need().has_value());
    double more_device = 0;
    double more = 0;
    Taken was = taken_by(session_.graph());
    for (const auto& [kind, ns] : taken_by(changed->graph)) {
      const double added = std::max(0.0, ns / samples - was[kind]);
      more += added;
      if (is_device(kind)) more_device += added;
    }
    const Run& base = session_.run();
    const auto steps = static_cast<double>(std::max<std::size_t>(1, base.steps.numbers.size()));
    const auto of = [](double ns, double whole) { return whole > 0 ? ns / whole : 0; };
    return StackOutcome{share(changed->run.answer.step_ns, session_.step_ns()),
                        share(changed->run.steps.span_ns, session_.run().steps.span_ns),
                        share(changed->run.answer.work_ns, session_.run().answer.work_ns),
                        need ? std::optional(need->live_bytes) : std::nullopt,
                        of(more_device, steps * static_cast<double>(base.answer.work_ns)),
                        of(more, static_cast<double>(base.steps.span_ns))};
  } catch (const BrokenLaw& broken) {
    FAIL_CHECK(broken.what());
    return std::nullopt;
  }
}

std::string names_of(std::span<const WhatIf> stack) {
  std::string names;
  for (const WhatIf& one : stack) {
    names.append(names.empty() ? "" : " + ").append(one.info->name);
  }
  return names;
}

namespace {

/// Those that are there.
std::vector<std::vector<std::string>> present(std::vector<std::vector<std::string>> runs) {
  std::erase_if(runs, [](const auto& run) { return !std::filesystem::exists(run.front()); });
  return runs;
}

}  // namespace

std::vector<std::vector<std::string>> stacked_recordings() {
  const std::string own = FORETRACE_SOURCE_DIR "/examples/traces/";
  const std::string others = FORETRACE_SHARED_DIR "/traces/";
  std::vector<std::vector<std::string>> runs;
  for (const char* file :
       {"h100_stacks/decode.eager_4.ftr.gz", "h200/jax_fp32.ftr.gz", "h200/dlrm.baseline.ftr.gz",
        "demo_generated_cnn_memory.json.gz", "h100_host/resnet50.baseline.ftr.gz",
        "h100/vgg19.baseline.ftr.gz", "h100/gnmt.baseline.ftr.gz",
        "h100_stacks/gpt2.foreach_adam.ftr.gz", "h100_ranks/fsdp"}) {
    runs.push_back({own + file});
  }
  runs.push_back({others + "tracelens/vllm_decode_full_graph_exec.json.gz"});
  runs.push_back({others + "megatron_tp2_v100"});
  return present(std::move(runs));
}

std::vector<std::vector<std::string>> stacked_jobs() {
  const std::string root = FORETRACE_SOURCE_DIR "/";
  return {{root + "examples/recipes/one_job/gpt2_h100.json"},
          {root + "configs/scenarios/llama3_8b_fsdp.json"},
          {root + "configs/scenarios/gpt_22b_selene.json"},
          {root + "configs/scenarios/mixtral_8x7b_experts.json"},
          {root + "tests/fixtures/scenarios/resnet50.json"},
          {root + "tests/fixtures/scenarios/neumf.json"}};
}

std::size_t law_stacks(std::size_t usual) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
  const char* const stated = std::getenv("FORETRACE_LAW_STACKS");
  return stated == nullptr ? usual : std::strtoull(stated, nullptr, 10);
}

}  // namespace foretrace::test
