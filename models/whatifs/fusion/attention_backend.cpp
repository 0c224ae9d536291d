// Attention backend: attention runs in another fused kernel, by a table of measured rates.
//
//   before   [q k v][flash2 1.0 ms][out]           or  [q k v][scores][softmax][values][out]
//   after    [q k v][flash3 0.6 ms][out]               [q k v][flash3             ][out]
//   A recorded fused kernel takes its time x the rate of its own backend / that of the wanted one,
//   for its head size and positions; one whose backend the table does not have, and attention of
//   single operators, FLOPs / (rate share x the device's 16-bit peak). Unless told, all backends of
//   the device's table are tried, and the one that gains most is taken.
//
// memory    where single operators fuse, scores and probabilities are not kept.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/editing/kernels/attention_core.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/costs/attention_shape.h"
#include "models/whatifs/fusion/attention_table.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/tensors.h"

namespace foretrace::attention_backend_parts {
namespace {

constexpr ParamInfo backend_param = {.name = "backend",
                                     .type = ParamType::text,
                                     .default_text = "fastest",
                                     .doc =
                                         "The kernel that attention is to run in; fastest: the one "
                                         "of the table in which the recorded attention gains most.",
                                     .choices = "fastest|flash1|flash2|flash3|efficient|cudnn"};
constexpr ParamInfo mask_param = {
    .name = "mask",
    .type = ParamType::text,
    .default_text = "full",
    .doc = "full: all pairs of positions; causal: a trace does not tell.",
    .choices = "full|causal"};
constexpr ParamInfo type_param = {
    .name = "type",
    .type = ParamType::text,
    .default_text = "recorded",
    .doc = "recorded: as the kernels have it; half: 16 bit, together with mixed_precision alone.",
    .choices = "recorded|half"};
constexpr ParamInfo table_param = {
    .name = "table",
    .type = ParamType::text,
    .default_text = "recording",
    .doc =
        "A JSON file, or a name in configs/attention, with the schema foretrace.attention/1; "
        "recording: the one of the generation of its device.",
    .config = "attention"};

using editing::AttentionCase;
using editing::AttentionTable;

/// The backend whose names these are; nothing for others.
std::string_view backend_of(std::string_view kernel) {
  if (contains_any(kernel, {"cudnn"})) return "cudnn";
  if (contains_any(kernel, {"FlashAttnFwdSm90", "FlashAttnBwdSm90", "sm90"})) return "flash3";
  if (contains_any(kernel, {"flash_fwd", "flash_bwd"})) return "flash2";
  if (contains_any(kernel, {"fmha_cutlass"})) return "efficient";
  return {};
}

Result<AttentionTable> find_table(const WhatIfInput& scenario, const ParamValues& params) {
  const std::string& given = params.text(table_param);
  if (given != "recording") {
    FORETRACE_TRY(auto document,
                  scenario.catalogue.document({"table of attention", "attention"}, given)
                      .with_context("parameter 'table'"));
    return AttentionTable::from(*document, given);
  }
  for (const std::string& name : scenario.catalogue.document_names("attention")) {
    FORETRACE_TRY(auto document,
                  scenario.catalogue.document({"table of attention", "attention"}, name));
    auto table = AttentionTable::from(*document, name);
    if (!table || (scenario.accelerator->has_cuda_capability() &&
                   table->compute() == scenario.accelerator->compute_major)) {
      return table;
    }
  }
  return Error{ErrorCode::no_match,
               fmt::format("no table of attention for {} (compute capability {}.{}), expected "
                           "table=FILE with rates measured on it",
                           scenario.accelerator->product, scenario.accelerator->compute_major,
                           scenario.accelerator->compute_minor)};
}

class Switch {
 public:
  Switch(const WhatIfInput& scenario, const AttentionTable& table, const ParamValues& params,
         std::string backend)
      : editor_(scenario),
        table_(table),
        backend_(std::move(backend)),
        causal_(params.text(mask_param) == "causal"),
        half_(params.text(type_param) == "half") {}

  Result<Change> run() {
    for (const editing::AttentionCore& core : editing::find_attention_cores(editor_)) fuse(core);
    for (const TaskId kernel : editor_.kernels()) {
      if (editor_.class_of(kernel) == KernelClass::attention) exchange(kernel);
    }
    if (editor_.untouched()) return nothing();
    std::string note = fmt::format(
        "attention in {}, {}: {}; {} kernels by the ratio of two rates, {} "
        "by FLOPs, {} of single operators",
        backend_,
        causal_ ? "each position attends to earlier ones (mask=causal)"
                : "all pairs of positions (mask=full; a decoder has mask=causal)",
        editor_.sums_text(), by_ratio_, by_flops_, fused_.count());
    if (other_type_ > 0) {
      note += fmt::format("; {} have a type without rates of it and stay", other_type_);
    }
    if (measured_fp32_ > 0) {
      note += fmt::format(
          "; left in fp32, as measured (mixed_precision beside it changes them): {} attentions",
          measured_fp32_);
    }
    TensorEditor tensors(editor_.edit());
    fused_.drop_scores(editor_, tensors);
    return editor_.finish(note + tensors.note());
  }

  /// Device time that goes; below 0: that comes. After run().
  [[nodiscard]] std::int64_t gained_ns() const {
    return editor_.sums().before_ns - editor_.sums().after_ns;
  }
  [[nodiscard]] std::string recorded() const {
    return fmt::format("{}", fmt::join(recorded_, ", "));
  }

 private:
  [[nodiscard]] Error nothing() const {
    if (measured_fp32_ > 0) {
      return {ErrorCode::no_match,
              fmt::format("type=half, but the time of {} attentions is that of fp32, expected "
                          "mixed_precision beside it",
                          measured_fp32_)};
    }
    if (other_type_ > 0) {
      return {ErrorCode::no_match,
              fmt::format("{} attentions are in fp32, for which the table has no rates of {}, "
                          "expected {}mixed_precision beside type=half",
                          other_type_, backend_, fp32_advice())};
    }
    if (same_ > 0) {
      return {ErrorCode::no_match, fmt::format("attention runs in {} already", backend_)};
    }
    return {ErrorCode::no_match,
            "no attention that a table covers: neither fused kernels of known backend or shape, "
            "nor a softmax between batched products of known shape"};
  }

  /// "backend=efficient or ": what the table has for fp32, but for what attention runs in already.
  [[nodiscard]] std::string fp32_advice() const {
    std::string advice;
    for (const std::string& backend : table_.backends()) {
      const bool has_rates = table_.rate({.backend = backend, .fp32 = true}).has_value();
      if (has_rates && !recorded_.contains(backend))
        advice += fmt::format("backend={} or ", backend);
    }
    return advice;
  }

  /// What the kernel or core is; the backend is left open.
  struct What {
    bool backward = false;
    bool fp32 = false;
    std::optional<AttentionShape> shape;
  };

  [[nodiscard]] std::optional<editing::AttentionTableRate> rate_of(std::string_view backend,
                                                                   const What& what) const {
    AttentionCase wanted{
        .backend = backend, .backward = what.backward, .causal = causal_, .fp32 = what.fp32};
    const auto& shape = what.shape;
    if (shape) {
      wanted.head = shape->head_dim;
      wanted.positions = shape->keys;
    }
    return table_.rate(wanted);
  }

  /// FLOPs of this mask at the table's share of the 16-bit peak.
  [[nodiscard]] Cost by_flops(const What& what, const editing::AttentionTableRate& rate) const {
    AttentionShape shape = *what.shape;
    shape.causal = causal_;
    const double flops =
        attention_work(shape, what.backward ? Direction::backward : Direction::forward).flops;
    const double peak = editor_.accelerator()->flops(Precision::fp16);
    const double ns =
        shortest_kernel_ns(KernelClass::attention) + flops / (rate.share * peak) * 1e9;
    return {to_whole(std::min(ns, 1e17)), Provenance::table, static_cast<float>(1 / rate.spread),
            static_cast<float>(rate.spread)};
  }

  [[nodiscard]] bool is_fp32(TaskId kernel) const {
    const Precision precision = editor_.about(kernel).traits.precision;
    return !half_ && precision != Precision::unknown && !is_half(precision);
  }

  /// Half of the time of fp32 is nobody's time: what was measured in fp32 has to be cast before.
  [[nodiscard]] bool is_measured_in_fp32(TaskId kernel) const {
    const Precision precision = editor_.about(kernel).traits.precision;
    return half_ && precision != Precision::unknown && !is_half(precision) &&
           editor_.graph().provenance(kernel) == Provenance::measured;
  }

  void fuse(const editing::AttentionCore& core) {
    if (!core.scores) return;
    if (is_measured_in_fp32(core.kernels.front())) {
      ++measured_fp32_;
      return;
    }
    const GemmShape& s = *core.scores;
    const What what{core.backward, is_fp32(core.kernels.front()),
                    AttentionShape{.batch = s.batch,
                                   .heads = 1,
                                   .key_heads = 1,
                                   .queries = s.m,
                                   .keys = s.n,
                                   .head_dim = s.k}};
    const auto rate = rate_of(backend_, what);
    if (!rate) {
      ++other_type_;
      return;
    }
    const std::string name =
        fmt::format("{} attention{}", backend_, core.backward ? " backward" : "");
    if (editing::replace_core(editor_, core,
                              {name, editing::core_work(editor_, core), by_flops(what, *rate)}) !=
        none<TaskId>) {
      fused_.add(editor_, core);
    }
  }

  void exchange(TaskId kernel) {
    const std::string_view name = editor_.graph().name(kernel);
    const std::string_view own = backend_of(name);
    if (!own.empty()) recorded_.emplace(own);
    if (is_measured_in_fp32(kernel)) {
      ++measured_fp32_;
      return;
    }
    if (own == backend_) {
      ++same_;
      return;
    }
    const What what{editor_.graph().phase(kernel) == Phase::backward ||
                        contains_any(name, {"bwd", "Bwd", "backward"}),
                    is_fp32(kernel),
                    attention_shape_of(editor_.operator_of(kernel), editor_.inputs_of(kernel))};
    const auto from = rate_of(own, what);
    const auto to = rate_of(backend_, what);
    if (!to) {
      ++other_type_;
    } else if (from) {
      Cost cost = moved_time(kernel, from->share / to->share);
      cost.low = static_cast<float>(1 / to->spread);
      cost.high = static_cast<float>(to->spread);
      editor_.set(kernel, cost);
      ++by_ratio_;
    } else if (what.shape) {
      editor_.set(kernel, by_flops(what, *to));
      ++by_flops_;
    }
  }

  [[nodiscard]] Cost moved_time(TaskId kernel, double factor) const {
    return editing::moved_share(editor_.graph().duration_ns(kernel), KernelClass::attention,
                                factor);
  }

  editing::KernelEditor editor_;
  const AttentionTable& table_;
  std::string backend_;
  bool causal_ = false;
  bool half_ = false;
  editing::FusedCores fused_;
  std::size_t by_ratio_ = 0;
  std::size_t by_flops_ = 0;
  std::size_t same_ = 0;
  std::size_t other_type_ = 0;
  std::size_t measured_fp32_ = 0;
  std::set<std::string, std::less<>> recorded_;  // backends of fused kernels
};

/// In the backend that gains most. Error: why none does, of the last one that cannot be had.
Result<Change> in_fastest(const WhatIfInput& scenario, const AttentionTable& table,
                          const ParamValues& params) {
  std::optional<Change> best;
  std::int64_t most_ns = 0;
  Error why{ErrorCode::no_match, "the table of attention has no rates"};
  std::string slower;
  for (const std::string& backend : table.backends()) {
    Switch one(scenario, table, params, backend);
    Result<Change> change = one.run();
    if (!change.ok()) {
      why = std::move(change).error();
      continue;
    }
    if (one.gained_ns() > most_ns) {
      most_ns = one.gained_ns();
      best = *std::move(change);
    } else {
      const std::string own = one.recorded();
      slower = fmt::format("attention runs in {}: no {}kernel of the table ({}) is faster",
                           own.empty() ? "single operators" : own, own.empty() ? "" : "other ",
                           fmt::join(table.backends(), ", "));
    }
  }
  if (best) return *std::move(best);
  if (!slower.empty()) return Error{ErrorCode::no_match, std::move(slower)};
  return why;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  if (scenario.accelerator == nullptr) return missing_cost("attention in another kernel");
  FORETRACE_TRY(auto table, find_table(scenario, params));
  if (params.text(backend_param) == "fastest") return in_fastest(scenario, table, params);
  const std::vector<std::string> known = table.backends();
  if (std::find(known.begin(), known.end(), params.text(backend_param)) == known.end()) {
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    return Error{ErrorCode::no_match,
                 fmt::format("the table of attention has no rates of {}, expected one of {}",
                             params.text(backend_param), names)};
  }
  return Switch(scenario, table, params, params.text(backend_param)).run();
}

constexpr std::array<std::string_view, 5> assumptions = {
    "Rates of a device of one generation are shares of its 16-bit peak; other products of the "
    "generation reach the same shares.",
    "Rates apply to sequences of one length and to the head sizes of the table; others take those "
    "of the nearest size, with a wider range, and lengths between two rows what lies between.",
    "Kernels tell their backend by name; mask=causal applies to all of them, or to none.",
    "A kernel whose backend is in the table keeps what its own shape costs beyond the table.",
    "Helpers of the backward (sums of products, casts) and transposes beside it stay."};
constexpr std::array<std::string_view, 4> ignores = {
    "dropout, biases and windows, which not every backend has",
    "caches with pages, and decoding one position at a time",
    "fp8, and heads of keys that several queries share",
    "launches that a backend has more or fewer of"};
constexpr std::array params = {backend_param, mask_param, type_param, table_param};
// The others change what attention works on, and shapes stay as they were recorded.
constexpr std::array<std::string_view, 4> conflicts = {"flash_attention", "batch_size",
                                                       "sequence_length", "sequence_packing"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "attention_backend",
    .summary = "Run attention in another fused kernel, by a table of rates per head size.",
    .paper =
        "J. Shah et al., FlashAttention-3: Fast and Accurate Attention with Asynchrony and "
        "Low-precision, NeurIPS 2024; T. Dao, FlashAttention-2, ICLR 2024",
    .recipe =
        "Fused attention kernels take measured time x rate of their backend / rate of the wanted "
        "one, from a table by head size, mask and positions; kernels of unknown backend and known "
        "shape, and cores of single operators (replaced by one launch and one kernel), take FLOPs "
        "/ (share of the table x 16-bit peak).",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "table: times of the backend at the shapes of the model.",
    .identity = {.none_because = "attention that already runs in the chosen kernel is left; where "
                                 "all does, it declines"},
    .params = params,
    .apply = apply,
    .conflicts = conflicts};

}  // namespace foretrace::attention_backend_parts
