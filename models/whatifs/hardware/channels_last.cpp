// Channels last: convolutions that want NHWC get it, and the kernels that convert go.
//
//   before   nchwToNhwc (x) -> nchwToNhwc (w) -> convolution -> nhwcToNchw (y)
//   after                                        convolution
//   Only where the library converts around each convolution; the convolutions keep their time.
//
// memory    the converted copies are no longer made: temporaries of two to three tensors.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/what_if.h"

namespace foretrace::channels_last_parts {
namespace {

constexpr ParamInfo kept_param = {
    .name = "kept",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of the layout changes that stay (operators without an NHWC variant).",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "0.2"};

// cuDNN ("nchwToNhwcKernel"), MIOpen ("batched_transpose_32x32_pack...") and TensorRT-like names.
bool changes_layout(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array parts = {"nchwtonhwc", "nhwctonchw", "nchwtofoldednhwc", "foldednhwctonchw",
                                "batched_transpose"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return lower.find(part) != std::string::npos; });
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double kept = params.number(kept_param);
  std::size_t found = 0;
  double due = 0;
  std::vector<signed char> known(scenario.graph.context().works.size(), -1);
  for (const TaskId kernel : editor.kernels()) {
    signed char& is_change = known[index(scenario.graph.work_id(kernel))];
    if (is_change < 0) is_change = changes_layout(scenario.graph.name(kernel)) ? 1 : 0;
    if (is_change == 0) continue;
    ++found;
    due += 1 - kept;
    if (due < 1 - 1e-9) continue;
    due -= 1;
    editor.remove(kernel, SegmentOf::keep);
  }
  if (found == 0) {
    return Error{ErrorCode::no_match,
                 "no kernel that changes between NCHW and NHWC; convolutions run in the layout of "
                 "their tensors already"};
  }
  return editor.finish(fmt::format("{} of {} layout changes removed: {:.2f} ms of device time",
                                   editor.sums().removed, found,
                                   editing::to_ms(editor.sums().before_ns)));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Every kernel that is named as a change between NCHW and NHWC is there only because tensors "
    "are NCHW.",
    "Everything between the convolutions takes NHWC tensors at the same speed.",
    "Host time before the removed launches stays: it belongs to the convolution's operator."};
constexpr std::array<std::string_view, 3> ignores = {
    "other kernels that the library picks for NHWC, faster or slower",
    "conversions of the model's input, output and weights, once per step",
    "operators without an NHWC variant, which convert back"};
constexpr std::array params = {kept_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "channels_last",
    .summary = "Keep tensors in NHWC, so that no kernel converts layouts for convolutions.",
    .paper =
        "V. Fomin et al., Channels Last Memory Format in PyTorch, 2020; A. Ivanov et al., Data "
        "Movement Is All You Need, MLSys 2021",
    .recipe =
        "Kernels that convert between NCHW and NHWC are removed with their launch calls; the "
        "convolutions and everything else keep their times.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "kept: layout changes left in a trace of the model with channels_last.",
    .identity = {.setting = "kept=1"},
    .params = params,
    .apply = apply,
    .basis = Basis::formula};

}  // namespace foretrace::channels_last_parts
