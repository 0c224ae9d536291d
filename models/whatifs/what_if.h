// What a file in models/whatifs/<family>/ exports: a what-if with its paper, parameters and recipe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/editing/what_if_input.h"
#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/graph/change.h"

namespace foretrace {

/// What a what-if is about; of several together, those of an earlier stage are applied first, those
/// of one stage by name.
enum class ApplyStage : std::uint8_t {
  workload,   ///< what a step has to do: batch, trained layers
  device,     ///< what it runs on, and tasks that are chosen as they were recorded
  precision,  ///< the types of numbers; kernels keep their operators and shapes
  kernels,    ///< which kernels do it, and how fast
  fusion,     ///< which of these become one, whatever they do
  storage,    ///< where tensors are between their uses
  schedule,   ///< when and how often: repetition, launches, waits, loading
  spread,     ///< over how many devices
  network,    ///< what these then send each other
  capture     ///< launches of all that is left become one
};

/// What an answer rests on.
enum class Basis : std::uint8_t {
  mechanism,  ///< the graph, costs from shapes and memory change as the paper's method changes them
  formula     ///< selected kernels take a share of their time that the paper or the user states
};
[[nodiscard]] constexpr std::string_view to_string(Basis basis) {
  return basis == Basis::formula ? "formula" : "mechanism";
}

/// What leaves a run as it was recorded. A what-if has either of the two.
struct Identity {
  /// "key=value,...": every time, tensor and range stays. {accelerator}, {ranks} and {copies} stand
  /// for those of the recording. Where the what-if finds nothing that it could change, it declines
  /// as ever.
  std::string_view setting = {};
  std::string_view none_because = {};  ///< why no setting does
};

/// What a larger value of a parameter does to the step, all else being equal.
enum class Larger : std::uint8_t { is_faster, is_slower };
/// Of a parameter without a declared range, whose ends tell. Laws hold it to its word.
struct Trend {
  const ParamInfo* parameter = nullptr;
  Larger larger = Larger::is_slower;
};

struct Scenario;

struct WhatIfInfo {
  std::string_view name;
  std::string_view summary;                       ///< one line
  std::string_view paper;                         ///< authors, title, venue, year
  std::string_view recipe;                        ///< what changes in the graph, a few lines
  std::span<const std::string_view> assumptions;  ///< each a thing that could be false
  std::span<const std::string_view> ignores;      ///< what is left out
  std::string_view calibrate;                     ///< which parameter, from which measurement
  Identity identity = {};
  std::span<const ParamInfo> params;
  std::span<const Trend> trends = {};
  /// ErrorCode::no_match if it finds nothing to change.
  Result<Change> (*apply)(const WhatIfInput& scenario, const ParamValues& params);
  /// Of a job that was modelled: what its scenario becomes, before anything acts on its graph. Gives
  /// a note; nothing where these parameters edit the graph. Null: all of them do.
  Result<std::optional<std::string>> (*change_job)(const WhatIfInput& input,
                                                   const ParamValues& params,
                                                   Scenario& scenario) = nullptr;
  ApplyStage stage = ApplyStage::kernels;
  /// What-ifs that act on the same thing in another way: combinations of the two are not tried.
  std::span<const std::string_view> conflicts = {};
  /// Settings, "key=value,...", that a search for what fits into memory tries besides the defaults.
  /// What follows a ';' is a what-if of its own that goes with the setting.
  std::span<const std::string_view> memory_settings = {};
  /// The parameter, if any, that names the accelerator the run moves to.
  const ParamInfo* accelerator_param = nullptr;
  /// The run stays on its accelerator, which is no longer as its file says: another clock, a part.
  bool alters_device = false;
  bool alters_network = false;  ///< collectives take another time on another network
  /// The parameter, if any, by which the batch of every pass grows.
  const ParamInfo* batch_param = nullptr;
  /// A formula is marked wherever it answers, and is in no ranking.
  Basis basis = Basis::mechanism;
};

namespace what_ifs {
/// Every what-if, sorted by name (generated from the files of models/whatifs).
[[nodiscard]] std::span<const WhatIfInfo* const> all();
}  // namespace what_ifs

}  // namespace foretrace
