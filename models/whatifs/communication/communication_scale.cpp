// Communication scale: the transfers of collectives take another time, waiting is simulated anew.
//
//   before   [arrive]--wait for the last rank--[transfer 10 ms]
//   after    [arrive]--wait for the last rank--[transfer  5 ms]      factor=0.5
//   Of a collective whose ranks are all in the graph only the transfer scales. A kernel that meets
//   nobody in the graph holds an unknown share of waiting, which never scales.
#include <array>

#include <fmt/format.h>

#include "models/editing/transfers/transfers.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"

namespace foretrace::communication_scale_parts {
namespace {

constexpr ParamInfo factor_param = {
    .name = "factor",
    .unit = "x",
    .doc = "New transfer time / old: 0.5 is twice the bandwidth, 0 is free.",
    .minimum = 0,
    .maximum = 1e4};
constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=collective",
    .doc = "Which collectives, e.g. 'kind=collective&name~AllReduce'."};
constexpr ParamInfo waiting_param = {
    .name = "waiting",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of waiting in kernels whose other ranks are not recorded.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "1"};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  FORETRACE_TRY(auto transfers, editing::find_transfers(graph, params.text(select_param)));
  const double factor = params.number(factor_param);
  const double waiting = params.number(waiting_param);
  Editor editor(graph);
  std::int64_t met = 0;
  std::int64_t alone = 0;
  for (const editing::Transfer& transfer : transfers) {
    const auto duration = static_cast<double>(graph.duration_ns(transfer.task));
    const double kept = transfer.met ? 0 : waiting;
    (transfer.met ? met : alone) += graph.duration_ns(transfer.task);
    editor.set_duration(transfer.task, to_whole(duration * (kept + (1 - kept) * factor)));
  }
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  editor.note(fmt::format(
      "{} transfers: {:.2f} ms after the last rank arrived{}", transfers.size(), ms(met),
      alone == 0 ? std::string()
                 : fmt::format(", and {:.2f} ms of kernels whose other ranks are not "
                               "recorded, of which {:.0f} % counts as waiting",
                               ms(alone), waiting * 100)));
  return editor.finish();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The factor applies to every selected transfer, whatever its size.",
    "Transfers of different collectives share links as they did.",
    "Without the other ranks' traces `waiting` of a kernel's time is waiting for them and stays."};
constexpr std::array<std::string_view, 2> ignores = {
    "latencies of small messages, which more bandwidth does not shorten",
    "kernels beside the transfer that get slower or faster with it"};
constexpr std::array params = {factor_param, select_param, waiting_param};

constexpr std::array trends = {Trend{&factor_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "communication_scale",
    .summary = "Multiply the transfer time of collectives by a factor; waiting follows.",
    .paper =
        "none; the shrink primitive of H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream, USENIX "
        "ATC 2020",
    .recipe =
        "The transfer of every selected collective takes factor x its time. Waiting for the "
        "last rank is simulated, never scaled.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "factor: a bus bandwidth benchmark of both networks at the sizes of the run.",
    .identity = {.setting = "factor=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::network,
    .alters_network = true};

}  // namespace foretrace::communication_scale_parts
