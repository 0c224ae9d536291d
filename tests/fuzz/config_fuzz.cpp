// Bytes to configs, parameters, selections, kernel names and shapes: the first byte chooses which.
// What parses is used: every what-if with accepted parameters runs on a small graph.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/catalogue/cost_file.h"
#include "models/hardware/collectives/calibration/collective_log.h"
#include "models/hardware/costs/calibration/operator_table.h"
#include "models/hardware/costs/kernel_cost.h"
#include "models/hardware/kernels/kernel_rules.h"
#include "models/whatifs/what_if.h"
#include "sim/core/params.h"
#include "sim/edit/selection.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/graph_builder.h"
#include "tests/configs.h"

namespace {

using namespace foretrace;

/// Launches, kernels, a copy, a synchronization and an update on one thread and one stream.
TaskGraph small_graph(std::string_view name, std::string_view shapes) {
  GraphBuilder builder;
  const LaneId host = builder.add_lane({.kind = LaneKind::host_thread, .name = "main"});
  const LaneId stream =
      builder.add_lane({.kind = LaneKind::stream, .device = 0, .queue_depth = 4, .name = {}});
  const auto add = [&](LaneId lane, TaskKind kind, std::string_view text, TaskPart part) {
    Work work;
    work.name = builder.add_name(text);
    work.operator_name = builder.add_name("aten::mm");
    work.shapes = builder.add_name(shapes);
    work.kind = kind;
    work.part = part;
    work.grid = {8, 8, 1};
    TaskSpec task;
    task.lane = lane;
    task.work = builder.add_work(work);
    task.kind = kind;
    task.duration_ns = 5000;
    task.segment_ns = 1000;
    task.phase = static_cast<Phase>(1 + builder.size() % 3);
    return builder.add_task(task);
  };
  for (int i = 0; i < 12; ++i) {
    const TaskId call = add(host, TaskKind::launch, "cudaLaunchKernel", TaskPart::whole);
    const TaskId kernel = add(stream, TaskKind::kernel,
                              i % 3 == 0 ? name : "elementwise_kernel<float>", TaskPart::whole);
    builder.add_dependency(
        {.source = end_of(call), .task = kernel, .kind = DependencyKind::launch, .lag_ns = 2000});
    if (i == 0) builder.add_segment_part({call, builder.add_name("data_loading"), {}, 500});
  }
  const TaskId begin =
      add(host, TaskKind::synchronization, "cudaStreamSynchronize", TaskPart::begin);
  const TaskId finish =
      add(host, TaskKind::synchronization, "cudaStreamSynchronize", TaskPart::finish);
  builder.add_wait({.task = finish, .at = begin, .lane = stream, .late_after = start_of(begin)});
  auto graph = std::move(builder).build();
  if (!graph.ok()) std::abort();
  return *std::move(graph);
}

/// One line, as every message of ours.
void check_message(const std::string& message) {
  if (message.empty() || message.find('\n') != std::string::npos) std::abort();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < 32) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

void try_accelerator(std::string_view text) {
  const auto accelerator = parse_accelerator(text, "fuzz.json");
  if (!accelerator.ok()) return check_message(accelerator.error().message);
  if (accelerator->memory_bandwidth <= 0 || accelerator->memory_bytes < 0) std::abort();
  const TaskGraph graph = small_graph("ampere_sgemm_128x64_tn", "[[512, 512], [512, 512]]");
  for (const KernelDescription& kernel : describe_works(graph, &*accelerator)) {
    const Setting setting{&*accelerator, Precision::fp32, 1};
    const Cost cost = scaled_cost(1000, kernel, setting, {&*accelerator, Precision::fp16, 1});
    if (cost.duration_ns < 0 || !(cost.low <= cost.high)) std::abort();
  }
}

/// Products of our own, read once.
const Accelerator& own_accelerator(std::string_view name) {
  const auto read = [](std::string_view file) {
    auto found = foretrace::test::find_accelerator(file);
    if (!found.ok()) std::abort();
    return *std::move(found);
  };
  static const Accelerator a100 = read("a100_sxm_40gb");
  static const Accelerator h100 = read("h100_sxm");
  return name == "h100_sxm" ? h100 : a100;
}

/// First line: name of the what-if; then key=value.
void try_what_if(std::string_view text) {
  const auto lines = lines_of(text);
  if (lines.empty()) return;
  std::vector<std::pair<std::string, std::string>> given;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto equals = lines[i].find('=');
    if (equals == std::string_view::npos) continue;
    given.emplace_back(lines[i].substr(0, equals), lines[i].substr(equals + 1));
  }
  for (const WhatIfInfo* info : what_ifs::all()) {
    if (info->name != lines[0]) continue;
    const auto values = ParamValues::parse(info->name, info->params, given);
    if (!values.ok()) return check_message(values.error().message);
    const TaskGraph graph = small_graph("ampere_sgemm_128x64_tn", "[[512, 512], [512, 512]]");
    for (const Bound bound : {Bound::point, Bound::optimistic, Bound::pessimistic}) {
      const WhatIfInput scenario{graph, &own_accelerator("a100_sxm_40gb"),
                                 *foretrace::test::shipped()};
      const auto change = info->apply(scenario, values->at_bound(bound));
      if (!change.ok()) return check_message(change.error().message);
      const auto committed = commit(graph, *change);
      if (!committed.ok()) std::abort();  // a what-if of ours builds valid changes
      if (simulate(committed->graph).span_ns < 0) std::abort();
    }
  }
}

void try_selection(std::string_view text) {
  const auto selected = select(small_graph("volta_sgemm_64x64_nn", ""), text);
  if (!selected.ok()) check_message(selected.error().message);
}

/// A kernel name and the text of its shapes.
void try_texts(std::string_view text) {
  const auto split = text.find('\n');
  const std::string_view name = text.substr(0, split);
  const std::string_view rest =
      split == std::string_view::npos ? std::string_view{} : text.substr(split + 1);
  (void)classify({name, rest, rest, TaskKind::kernel});
  const TaskGraph graph = small_graph(name, rest);
  (void)describe_works(graph, &own_accelerator("h100_sxm"));
  for (const ParamType type : {ParamType::number, ParamType::integer, ParamType::time,
                               ParamType::bytes, ParamType::bandwidth, ParamType::flops}) {
    const auto quantity = parse_quantity(name, type);
    if (!quantity.ok()) check_message(quantity.error().message);
  }
}

/// Fitted constants, operator tables, logs of collectives and rules of kernel names.
void try_cost_texts(std::string_view text) {
  const auto costs = parse_cost_file(text, "fuzz.json");
  if (!costs.ok()) check_message(costs.error().message);
  if (costs.ok()) {
    for (const CalibratedOperator& fitted : costs->operators) {
      const double ns = fitted_ns(fitted.chosen.fit, {1000, 100, 108, 2}, {1, 512, 512, 512});
      if (!(ns >= 0)) std::abort();
    }
    if (!parse_cost_file(cost_file_text(*costs), "again").ok()) std::abort();
  }
  const auto table = parse_operator_table(text, "fuzz.json");
  if (!table.ok()) check_message(table.error().message);
  const auto logs = parse_collective_logs(text, "fuzz.log");
  if (!logs.ok()) check_message(logs.error().message);
  for (std::size_t i = 0; logs.ok() && i < logs->size(); ++i) {
    for (const double ns : (*logs)[i].ns) {
      if (!(ns > 0)) std::abort();
    }
  }
  const std::array<RuleText, 1> texts = {RuleText{"fuzz.json", text}};
  const auto rules = KernelRules::parse(texts);
  if (!rules.ok()) return check_message(rules.error().message);
  (void)rules->facts("ampere_sgemm_128x64_tn_bf16");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are text here
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: try_accelerator(text); break;
    case 1: try_what_if(text); break;
    case 2: try_selection(text); break;
    case 3: try_texts(text); break;
    default: try_cost_texts(text); break;
  }
  return 0;
}
