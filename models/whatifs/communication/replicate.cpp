// Replicate: the job on more (or fewer) ranks that do what the recorded ranks do.
//
//   before   4 recorded ranks meet in [all-reduce 1.0 ms]
//   after    64 ranks of the same roles meet in [all-reduce 1.3 ms]     ranks=64
//   A rank that does exactly what a recorded one does arrives when that one arrives, so it need not
//   be simulated again: only the transfers depend on how many take part.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/transfers/transfers.h"
#include "models/whatifs/what_if.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"
#include "sim/edit/editor.h"
#include "sim/edit/text_pattern.h"

namespace foretrace::replicate_parts {
namespace {

constexpr ParamInfo ranks_param = {.name = "ranks",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .doc = "Ranks of the whole job afterwards.",
                                   .minimum = 2,
                                   .maximum = 1e7};
constexpr ParamInfo step_latency_param = {
    .name = "step_latency",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "3 us",
    .doc = "Latency of one step of a collective between two ranks.",
    .minimum = 0,
    .maximum = 1e9,
    .optimistic = "1 us",
    .pessimistic = "10 us"};
constexpr ParamInfo bandwidth_factor_param = {
    .name = "bandwidth_factor",
    .unit = "x",
    .default_text = "1",
    .doc = "Bandwidth per rank at the new size / recorded.",
    .minimum = 1e-4,
    .maximum = 1e4};

constexpr ParamInfo communicators_param = {.name = "communicators",
                                           .type = ParamType::text,
                                           .default_text = "auto",
                                           .doc =
                                               "Communicators that grow, an expression on their "
                                               "names; auto: all that do not split layers."};

/// How a collective's time depends on the number of ranks: a share of bytes / bandwidth, and steps
/// that each cost a latency. Rings for gathers and scatters, trees for reductions to all.
struct Dependence {
  double share = 1;
  double steps = 0;
};

Dependence dependence(CollectiveKind kind, double ranks) {
  const double ring = (ranks - 1) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce: return {2 * ring, 2 * std::ceil(std::log2(ranks))};
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all: return {ring, ranks - 1};
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::barrier: return {1, std::ceil(std::log2(ranks))};
    default: return {1, 0};  // between two ranks, however many there are
  }
}

class Replicator {
 public:
  Replicator(const TaskGraph& graph, const ParamValues& params)
      : graph_(graph),
        step_latency_ns_(static_cast<double>(params.integer(step_latency_param))),
        bandwidth_factor_(params.number(bandwidth_factor_param)) {
    for (const RankClass& ranks : graph.context().rank_classes) {
      recorded_ += ranks.multiplicity;
    }
    growth_ = static_cast<double>(params.integer(ranks_param)) / static_cast<double>(job_size());
  }

  /// Decides which communicators grow; an error if those would split layers anew.
  Status choose(std::string_view names, const std::vector<editing::Transfer>& transfers) {
    const std::set<std::uint32_t> splitting = editing::layer_splitting(graph_, transfers);
    const bool is_auto = names == communicators_param.default_text;
    std::optional<selecting::TextPattern> pattern;
    if (!is_auto) {
      FORETRACE_TRY(pattern, selecting::TextPattern::compile(names).with_context(
                                 "parameter 'communicators'"));
    }
    for (const editing::Transfer& transfer : transfers) {
      const std::uint32_t at = graph_.work(transfer.task).communicator;
      if (at >= graph_.context().communicators.size()) continue;
      const bool splits = splitting.contains(at);
      const bool named = pattern && pattern->found_in(graph_.context().communicators[at].name);
      if (named && splits) {
        return Error{
            ErrorCode::no_match,
            fmt::format("the communicator {} reduces activations in the forward pass: its ranks "
                        "share layers, and more of them would do other work than recorded",
                        graph_.context().communicators[at].name)};
      }
      if (is_auto ? !splits : named) growing_.insert(at);
    }
    if (growing_.empty() && !splitting.empty()) {
      return editing::cannot_grow(graph_, splitting);
    }
    if (growing_.empty() && !is_auto) {
      return Error{ErrorCode::no_match, fmt::format("unknown communicator {}", in_quotes(names))};
    }
    kept_ = editing::names_of(graph_, splitting);
    return ok_status();
  }

  Result<Change> run(std::int64_t ranks, const std::vector<editing::Transfer>& transfers) {
    Editor editor(graph_);
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::size_t unknown = 0;
    for (const editing::Transfer& transfer : transfers) {
      const std::int64_t old = graph_.duration_ns(transfer.task);
      const std::int64_t now = time_of(transfer.task, unknown);
      before += old;
      after += now;
      if (now != old) editor.set_duration(transfer.task, now, {Provenance::scaled, 0.8F, 1.2F});
    }
    editor.note(fmt::format(
        "{} ranks ({} recorded) become {} of the same roles: {} transfers, {:.2f} ms -> {:.2f} ms; "
        "ranks that do the same are simulated once",
        job_size(), recorded_, ranks, transfers.size(), static_cast<double>(before) * 1e-6,
        static_cast<double>(after) * 1e-6));
    if (!kept_.empty()) {
      editor.note(fmt::format("communicators that split layers keep their ranks: {}", kept_));
    }
    editor.set_samples(growth_);
    if (unknown > 0) {
      editor.note(
          fmt::format("{} transfers of a communicator of unknown size stay as measured", unknown));
    }
    return editor.finish();
  }

 private:
  /// Ranks of the whole recorded job: the largest communicator knows, if more than are here.
  [[nodiscard]] std::size_t job_size() const {
    std::size_t size = recorded_;
    for (const Communicator& communicator : graph_.context().communicators) {
      size = std::max<std::size_t>(size, communicator.size);
    }
    return std::max<std::size_t>(1, size);
  }

  [[nodiscard]] std::int64_t time_of(TaskId task, std::size_t& unknown) const {
    const Work& work = graph_.work(task);
    const std::int64_t old = graph_.duration_ns(task);
    const auto& communicators = graph_.context().communicators;
    const std::size_t size =
        work.communicator < communicators.size() ? communicators[work.communicator].size : 0;
    if (size < 2) {
      ++unknown;
      return old;
    }
    if (!growing_.contains(work.communicator)) return old;
    const Dependence then = dependence(work.collective, static_cast<double>(size));
    const double ranks = std::max(2.0, std::round(static_cast<double>(size) * growth_));
    const Dependence now = dependence(work.collective, ranks);
    // The recorded latency part cannot be told from the bytes; it is at most the whole.
    const double latency = std::min(static_cast<double>(old), then.steps * step_latency_ns_);
    const double bytes = (static_cast<double>(old) - latency) * now.share / then.share;
    return to_whole(bytes / bandwidth_factor_ +
                    (then.steps > 0 ? latency * now.steps / then.steps : latency));
  }

  const TaskGraph& graph_;
  double step_latency_ns_ = 0;
  double bandwidth_factor_ = 1;
  double growth_ = 1;
  std::size_t recorded_ = 0;
  std::set<std::uint32_t> growing_;
  std::string kept_;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto transfers, editing::find_transfers(scenario.graph, "kind=collective"));
  Replicator replicator(scenario.graph, params);
  FORETRACE_TRY(replicator.choose(params.text(communicators_param), transfers));
  return replicator.run(params.integer(ranks_param), transfers);
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Weak scaling: every rank keeps its work, and every collective its bytes per rank.",
    "Communicators grow by the factor by which the job grows, but for those that reduce 64 KiB or "
    "more twice in a forward pass: their ranks share layers and their number stays.",
    "Reductions to all run as rings for their bytes and double trees for their latency; gathers, "
    "scatters and all-to-alls take a step per peer.",
    "The links per rank are as fast as recorded times bandwidth_factor."};
constexpr std::array<std::string_view, 3> ignores = {
    "the last of more ranks arrives later: host noise of ranks that were not recorded",
    "the boundary between nodes: set its bandwidth with bandwidth_factor",
    "waiting inside kernels whose other ranks are not recorded: it stays as measured"};
constexpr std::array params = {ranks_param, step_latency_param, bandwidth_factor_param,
                               communicators_param};

constexpr std::array trends = {Trend{&bandwidth_factor_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "replicate",
    .summary = "The job on more ranks, each with the work of a recorded one.",
    .paper =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations "
        "in MPICH, IJHPCA 2005",
    .recipe =
        "Transfers take the share of bytes and the steps of the new number of ranks. Copies "
        "of a recorded rank arrive when it arrives, so they are not simulated again.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "step_latency, bandwidth_factor: a collective benchmark at the new size.",
    .identity = {.setting = "ranks={ranks}"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::spread};

}  // namespace foretrace::replicate_parts
