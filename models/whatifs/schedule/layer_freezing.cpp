// Layer freezing: the first layers are not trained, so that nothing of their backward runs.
//
//   before   forward [1][2][3][4]   backward [4][3][2][1]   update [1][2][3][4]
//   after    forward [1][2][3][4]   backward [4][3]         update [3][4]            share=0.5
//   Backward kernels of the frozen part go with their launches and the host time before them, and
//   with them the update of the parameters that their layers read.
//
//   Ranks that pass activations on hold layers one after the other: those of the first ranks freeze.
//
// memory    activations of the frozen layers are not kept; no gradients and no optimizer states for
//           their parameters.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/tensors/stash.h"
#include "models/editing/tensors/training_pass.h"
#include "models/editing/transfers/gradient_transfers.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/tensors.h"

namespace foretrace::layer_freezing_parts {
namespace {

constexpr ParamInfo share_param = {
    .name = "share",
    .unit = "1",
    .doc = "Part of the forward pass, by device time from its start, that is frozen.",
    .minimum = 0,
    .maximum = 1};
constexpr ParamInfo parameters_param = {
    .name = "parameters",
    .unit = "1",
    .default_text = "0",
    .doc =
        "Share of parameters in the frozen layers; if not given, those that their kernels read by "
        "recorded shapes, and of others the same share.",
    .minimum = 0,
    .maximum = 1};

/// A figure of each rank.
using ByRank = std::map<std::int32_t, double>;

std::int32_t rank_of(const TaskGraph& graph, const editing::TrainingPass& pass) {
  return graph.lane(pass.forward.front()).rank;
}

/// Ranks in the order in which activations pass through them.
class Stages {
 public:
  explicit Stages(const TaskGraph& graph) {
    for (std::size_t t = 0; t < graph.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (graph.work(task).collective != CollectiveKind::receive ||
          graph.phase(task) != Phase::forward) {
        continue;
      }
      for (const Link& link : sources(graph, task)) {
        const TaskId from = task_of(link.source);
        const bool is_message = graph.work(from).collective == CollectiveKind::send &&
                                graph.lane(from).rank != graph.lane(task).rank;
        if (is_message) before_[graph.lane(task).rank].insert(graph.lane(from).rank);
      }
    }
  }

  /// Of each pass's rank, how much of its layers is in the first `share` of all: time by time.
  [[nodiscard]] ByRank shares(const TaskGraph& graph,
                              const std::vector<editing::TrainingPass>& passes,
                              double share) const {
    ByRank times;
    for (const editing::TrainingPass& pass : passes) {
      double& time = times.try_emplace(rank_of(graph, pass), 0).first->second;
      if (time > 0) continue;  // of one pass
      for (const TaskId kernel : pass.forward) {
        time += static_cast<double>(graph.duration_ns(kernel));
      }
    }
    std::map<std::int32_t, std::int32_t> first;  // of its ranks
    ByRank ahead;
    ByRank whole;  // by the first rank
    for (const auto& [rank, own] : times) {
      first[rank] = rank;
      for (const std::int32_t other : ranks_before(rank)) {
        first[rank] = other;
        if (const auto time = times.find(other); time != times.end()) ahead[rank] += time->second;
      }
      whole[first[rank]] += own;
    }
    ByRank shares;
    for (const auto& [rank, own] : times) {
      const double frozen = share * whole[first[rank]] - ahead[rank];
      shares[rank] = own > 0 ? std::clamp(frozen / own, 0.0, 1.0) : share;
    }
    return shares;
  }

  /// Some rank takes activations of another one.
  [[nodiscard]] bool any() const { return !before_.empty(); }
  /// The one rank whose activations this one takes.
  [[nodiscard]] std::optional<std::int32_t> before(std::int32_t rank) const {
    const auto found = before_.find(rank);
    if (found == before_.end() || found->second.size() != 1) return std::nullopt;
    return *found->second.begin();
  }

 private:
  /// From the one next to it on; none where messages go round, as between chunks of an interleaved
  /// schedule.
  [[nodiscard]] std::vector<std::int32_t> ranks_before(std::int32_t rank) const {
    std::vector<std::int32_t> ranks;
    for (auto at = before(rank); at; at = before(*at)) {
      if (ranks.size() > before_.size()) return {};
      ranks.push_back(*at);
    }
    return ranks;
  }

  std::map<std::int32_t, std::set<std::int32_t>> before_;
};

// Number of forward kernels in the first `share` of the pass's time.
std::size_t frozen_kernels(const TaskGraph& graph, const editing::TrainingPass& pass,
                           double share) {
  double whole = 0;
  for (const TaskId kernel : pass.forward) whole += static_cast<double>(graph.duration_ns(kernel));
  double passed = 0;
  std::size_t count = 0;
  for (const TaskId kernel : pass.forward) {
    passed += static_cast<double>(graph.duration_ns(kernel));
    if (passed > share * whole * (1 + 1e-9)) break;
    ++count;
  }
  return count;
}

// A map of the frozen part is free after the kernel that reads it.
void forget(editing::KernelEditor& editor, const editing::TrainingPass& pass, std::size_t frozen,
            TensorEditor& tensors) {
  for (const editing::Stash& stash : editing::find_stashes(editor, pass, 1)) {
    const std::size_t free_at = stash.last_use + 1;
    if (!stash.recorded() || stash.made + 1 >= frozen || free_at >= pass.forward.size()) continue;
    const TaskId call = editor.own_call(pass.forward[free_at]);
    if (call != none<TaskId>) tensors.free_early(stash.tensor, call);
  }
}

// Returns how many forward kernels are frozen.
std::size_t freeze(editing::KernelEditor& editor, const editing::TrainingPass& pass, double share,
                   TensorEditor& tensors) {
  const std::size_t frozen = frozen_kernels(editor.graph(), pass, share);
  if (frozen == 0) return frozen;
  forget(editor, pass, frozen, tensors);
  // Kernels that a graph launches go as well: it is captured without them.
  const TaskId from = editing::mirror_of(editor, pass, frozen - 1, false);
  bool gone = false;
  for (const TaskId kernel : pass.backward) {
    gone = gone || kernel == from;
    if (gone) editor.remove(kernel, SegmentOf::take);
  }
  return frozen;
}

/// What is trained of the table, before and after.
class Frozen {
 public:
  explicit Frozen(editing::KernelEditor& editor) : graph_(editor.graph()), parameters_(editor) {
    reader_.resize(parameters_.table().rows.size());
    for (const ParameterUse& use : parameters_.before().uses) {
      if (use.role != ParameterRole::read) continue;
      reader_[index(use.parameter)] = graph_.lane(use.task).rank;
    }
  }

  void add(const editing::TrainingPass& pass, std::size_t frozen) {
    if (frozen == 0 || frozen <= pass.trains_from) return;
    for (std::size_t i = 0; i < frozen; ++i) {
      for (const ParameterId id : parameters_.read_by(pass.forward[i])) rows_.insert(id);
    }
    if (frozen == pass.forward.size()) return;
    parameters_.table().uses.push_back(
        {pass.forward[frozen], none<ParameterId>, ParameterRole::trains_from});
  }

  /// Returns the share of what was trained that is not any more: `given`, or what the table tells.
  /// `share`: that of the time, for what no kernel is known to read. `of_rank`: that of each rank,
  /// and becomes its share of what was trained.
  double finish(std::optional<double> given, double share, ByRank& of_rank) {
    if (given.value_or(share) == 0) {
      for (auto& [rank, own] : of_rank) own = 0;
      return 0;
    }
    std::vector<Parameter>& rows = parameters_.table().rows;
    const double before = trained();
    ByRank were;
    for (const auto& [rank, own] : of_rank) were[rank] = trained(rank);
    const std::size_t known = rows.size();
    for (std::size_t i = 0; i < known; ++i) {
      if (rows_.contains(make_id<ParameterId>(i))) rows[i].trained = 0;
      if (!reader_[i]) split_off(i, share);
    }
    const double after = trained();
    for (auto& [rank, own] : of_rank) {
      if (given) {
        own = share > 0 ? std::min(1.0, *given * own / share) : *given;
      } else if (were[rank] > 0) {
        own = 1 - trained(rank) / were[rank];
      }
    }
    if (given) fit(before, after, (1 - *given) * before);
    parameters_.finish();
    return given ? *given : before > 0 ? 1 - after / before : share;
  }

 private:
  [[nodiscard]] double trained() const {
    double sum = 0;
    for (const Parameter& row : parameters_.table().rows) sum += row.elements * row.trained;
    return sum;
  }

  /// What kernels of this rank read.
  [[nodiscard]] double trained(std::int32_t rank) const {
    const std::vector<Parameter>& rows = parameters_.table().rows;
    double sum = 0;
    for (std::size_t i = 0; i < reader_.size(); ++i) {
      if (reader_[i] == rank) sum += rows[i].elements * rows[i].trained;
    }
    return sum;
  }

  /// This share of a row is not trained.
  void split_off(std::size_t at, double share) {
    std::vector<Parameter>& rows = parameters_.table().rows;
    Parameter frozen = rows[at];
    rows[at].elements *= 1 - share;
    frozen.elements *= share;
    frozen.trained = 0;
    rows.push_back(frozen);
  }

  /// Who gives a share knows better how many numbers the layers have.
  void fit(double before, double after, double wanted) {
    for (Parameter& row : parameters_.table().rows) {
      if (row.trained > 0) {
        row.elements *= after > 0 ? wanted / after : 1;
      } else if (before > after) {
        row.elements *= (before - wanted) / (before - after);
      }
    }
  }

  const TaskGraph& graph_;
  editing::ParameterEditor parameters_;
  std::vector<std::optional<std::int32_t>> reader_;  // per row: the rank whose kernels read it
  std::set<ParameterId> rows_;
};

// Tensor by tensor: the first ones go. Multi-tensor kernels get shorter.
void shrink_update(editing::KernelEditor& editor, const ByRank& shares) {
  const TaskGraph& graph = editor.graph();
  std::vector<TaskId> single;
  for (const TaskId kernel : editor.kernels()) {
    if (graph.phase(kernel) != Phase::update) continue;
    const auto share = shares.find(graph.lane(kernel).rank);
    if (share == shares.end() || share->second == 0) continue;
    const KernelClass kernel_class = editor.class_of(kernel);
    if (kernel_class == KernelClass::optimizer) {
      editor.set(kernel,
                 editing::moved_share(graph.duration_ns(kernel), kernel_class, 1 - share->second));
    } else if (kernel_class == KernelClass::elementwise) {
      single.push_back(kernel);
    }
  }
  // Spread over the whole list, since it may hold several updates.
  ByRank due;
  for (const TaskId kernel : single) {
    const std::int32_t rank = graph.lane(kernel).rank;
    due[rank] += shares.at(rank);
    if (due[rank] < 1 - 1e-9) continue;
    due[rank] -= 1;
    editor.remove(kernel, SegmentOf::take);
  }
}

// Nothing is kept for parameters that are not trained.
void shrink_tensors(const editing::KernelEditor& editor, const ByRank& shares,
                    TensorEditor& tensors) {
  const TaskGraph& graph = editor.graph();
  const std::vector<Tensor>& all = graph.context().tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tensor& one = all[i];
    if (one.category != TensorCategory::gradient &&
        one.category != TensorCategory::optimizer_state) {
      continue;
    }
    const std::int32_t rank =
        one.allocated_in != none<TaskId> ? graph.lane(one.allocated_in).rank : one.rank;
    const auto found = shares.find(rank);
    const double share = found != shares.end() ? found->second : shares.begin()->second;
    if (share > 0) tensors.resize(i, static_cast<double>(one.bytes) * (1 - share));
  }
}

std::string shrink_exchange(editing::KernelEditor& editor, const ByRank& shares) {
  std::map<double, std::vector<editing::Transfer>> by_share;
  for (const editing::Transfer& one : editing::find_gradient_transfers(editor.graph())) {
    const auto share = shares.find(editor.graph().lane(one.task).rank);
    if (share != shares.end()) by_share[share->second].push_back(one);
  }
  editing::ShrunkTransfers all;
  for (const auto& [share, transfers] : by_share) {
    all.add(editing::shrink(editor.edit(), transfers, 1 - share));
  }
  return all.note("gradients");
}

// Nothing goes back to ranks that train nothing.
void end_messages(editing::KernelEditor& editor, const Stages& stages, const ByRank& shares) {
  const TaskGraph& graph = editor.graph();
  const auto is_frozen = [&](std::int32_t rank) {
    const auto share = shares.find(rank);
    return share != shares.end() && share->second == 1;
  };
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    const CollectiveKind kind = graph.work(task).collective;
    if (graph.phase(task) != Phase::backward || graph.kind(task) != TaskKind::collective) continue;
    if (kind != CollectiveKind::send && kind != CollectiveKind::receive) continue;
    const std::int32_t rank = graph.lane(task).rank;
    const std::optional<std::int32_t> before = stages.before(rank);
    const bool goes_back = kind == CollectiveKind::send && before && is_frozen(*before);
    if (is_frozen(rank) || goes_back) {
      editor.edit().set_duration(task, 0, {Provenance::scaled, 1, 1});
    }
  }
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double share = params.number(share_param);
  const auto passes = editing::find_passes(editor);
  if (passes.empty()) {
    return Error{ErrorCode::no_match,
                 "no forward kernels with a backward pass after them, expected a training step"};
  }
  TensorEditor tensors(editor.edit());
  Frozen table(editor);
  const Stages stages(scenario.graph);
  ByRank shares = stages.shares(scenario.graph, passes, share);
  for (const editing::TrainingPass& pass : passes) {
    table.add(pass, freeze(editor, pass, shares.at(rank_of(scenario.graph, pass)), tensors));
  }
  end_messages(editor, stages, shares);
  const std::size_t backward = editor.sums().removed;
  std::optional<double> given;
  if (params.given(parameters_param)) given = params.number(parameters_param);
  const double parameters = table.finish(given, share, shares);
  if (!stages.any()) {
    for (auto& [rank, own] : shares) own = parameters;
  }
  std::string exchanged;
  if (parameters > 0) {
    shrink_update(editor, shares);
    shrink_tensors(editor, shares, tensors);
    exchanged = shrink_exchange(editor, shares);
  }
  if (share > 0 && editor.untouched()) {
    return Error{ErrorCode::no_match,
                 fmt::format("no forward kernel lies in the first {} of a pass", share)};
  }
  return editor.finish(fmt::format(
      "{} backward kernels of {} passes removed, {:.1f} % of the parameters are not trained; "
      "{}{}{}",
      backward, passes.size(), 100 * parameters, editor.sums_text(), tensors.note(), exchanged));
}

constexpr std::array<std::string_view, 5> assumptions = {
    "The frozen layers are the first ones of the model, so that no gradient has to pass through "
    "them.",
    "Ranks that pass activations on to each other have the layers in that order; of a rank whose "
    "messages go round, as with several chunks, its own first layers are frozen.",
    "The backward pass undoes the forward pass in reverse order and spends on each layer the share "
    "of its time that the forward pass does.",
    "Frozen parameters are those that the kernels of the frozen part read, and the part's share of "
    "time of those that no kernel is known to read.",
    "They are a share of the tensors that the update walks through, of the recorded gradients and "
    "optimizer states, and of the bytes of gradients in collectives."};
constexpr std::array<std::string_view, 3> ignores = {
    "keeping the results of frozen layers from one epoch to the next",
    "normalization layers that still update their statistics",
    "accuracy, and when freezing may begin"};
constexpr std::array params = {share_param, parameters_param};

constexpr std::array trends = {Trend{&share_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "layer_freezing",
    .summary = "Do not train the first layers: no backward pass and no update for them.",
    .paper =
        "A. Brock et al., FreezeOut: Accelerate Training by Progressively Freezing Layers, "
        "2017; Y. Wang et al., Egeria: Efficient DNN Training with Knowledge-Guided Layer "
        "Freezing, EuroSys 2023",
    .recipe =
        "The last kernels of every backward pass, from the one that undoes the last frozen "
        "forward kernel on, are removed with their launches and the host time before them. "
        "The frozen share of the update's tensors is removed, or its multi-tensor kernels get "
        "shorter.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "parameters: the share of parameters in the frozen layers, from the model.",
    .identity = {.setting = "share=0"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::workload};

}  // namespace foretrace::layer_freezing_parts
