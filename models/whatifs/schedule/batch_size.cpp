// Batch size: every kernel works on more or fewer samples, CPU time is unchanged.
//
//   before   launch -> gemm [32 x 128, 768] (100 us)   launch -> add (20 us)
//   after    launch -> gemm [64 x 128, 768] (190 us)   launch -> add (38 us)          factor=2
//   Forward and backward kernels scale by the model of their shapes with the batch dimension
//   changed; kernels on parameters only, the update and their collectives stay; copies of input
//   data and of activations, loading in the process and transfers of activations grow.
//
// memory    activations x factor; parameters, gradients and states stay.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/batches/activation_resize.h"
#include "models/editing/batches/batch_resize.h"
#include "models/editing/batches/copy_resize.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/edit/tensors.h"

namespace foretrace::batch_size_parts {
namespace {

constexpr ParamInfo factor_param = {.name = "factor",
                                    .unit = "x",
                                    .doc = "New batch size / recorded one; 1 changes nothing.",
                                    .minimum = 0.001,
                                    .maximum = 4096};
constexpr ParamInfo batch_param = {
    .name = "batch",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc =
        "Recorded batch size; 0: rows of an embedding's index, else the leading dimension with "
        "most forward time.",
    .minimum = 0,
    .maximum = 1e9};

// In-process loading makes as many samples as the batch has.
std::int64_t resize_loading(const TaskGraph& graph, double factor, Editor& editor) {
  std::map<TaskId, std::int64_t> loading;
  std::int64_t total = 0;
  for (const SegmentPart& part : graph.context().segment_parts) {
    // Regions of PyTorch's loader without workers, and of loops that mark their own.
    if (!contains_any(graph.names()[part.label], {"SingleProcessDataLoaderIter", "data_loading"})) {
      continue;
    }
    loading[part.task] += part.duration_ns;
    total += part.duration_ns;
  }
  for (const auto& [task, ns] : loading) {
    const std::int64_t more = to_whole(static_cast<double>(ns) * (factor - 1));
    editor.set_segment(task, std::max<std::int64_t>(0, graph.segment_ns(task) + more),
                       Provenance::scaled);
  }
  return total;
}

struct Growths {
  editing::GrowthTimes time;
  editing::ResizedCopies copies;
};

std::string note(const editing::KernelEditor& editor, const editing::BatchResizer& resizer,
                 double factor, const Growths& growths) {
  const auto before = static_cast<double>(editor.sums().before_ns);
  const auto after = static_cast<double>(editor.sums().after_ns + growths.copies.more_on_device_ns);
  std::string text = "batch size not known from shapes: ";
  if (resizer.batch() > 0) {
    text = fmt::format("batch {} -> {:g}: ", resizer.batch(),
                       static_cast<double>(resizer.batch()) * factor);
  } else if (resizer.tokens() > 0) {
    text = fmt::format("batch size not known from shapes, which have {} tokens in one dimension: ",
                       resizer.tokens());
  }
  text += fmt::format(
      "{}{}; growth known for {:.0f} % of their time, taken as proportional for {:.0f} %, none for "
      "{:.0f} %",
      editor.sums_text(), growths.copies.text(), 100 * growths.time.share(editing::Growth::grows),
      100 * growths.time.share(editing::Growth::assumed),
      100 * growths.time.share(editing::Growth::fixed));
  if (factor != 1 && resizer.batch() > 0) {
    // Two points of Skyline's line: device time = slope x batch + offset.
    const auto batch = static_cast<double>(resizer.batch());
    const double slope = (after - before) / (batch * (factor - 1));
    text += fmt::format("; device time of all steps = {:.4f} ms x batch + {:.2f} ms", slope * 1e-6,
                        (before - slope * batch) * 1e-6);
  }
  return text;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double factor = params.number(factor_param);
  const editing::BatchResizer resizer(editor, params.integer(batch_param));
  if (resizer.batch() > 0 && static_cast<double>(resizer.batch()) * factor < 1) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("parameter 'factor': got {:g}, which leaves {:g} of a batch of {}, "
                             "expected at least {:g}, one sample",
                             factor, static_cast<double>(resizer.batch()) * factor, resizer.batch(),
                             1 / static_cast<double>(resizer.batch()))};
  }
  Growths growths;
  for (const TaskId kernel : editor.kernels()) {
    const Phase phase = scenario.graph.phase(kernel);
    if (phase == Phase::update || phase == Phase::communication) continue;
    const auto resized = resizer.resized(kernel, factor);
    growths.time.add(resized.growth, scenario.graph.duration_ns(kernel));
    if (resized.growth == editing::Growth::fixed) continue;
    editor.set(kernel, resized.cost);
    if (factor == 1 || !resizer.leaves_whole(factor)) continue;
    editor.describe(kernel, 0, [&] { return resizer.resized_work(kernel, factor); });
  }
  if (editor.untouched()) {
    return Error{ErrorCode::no_match, "no forward or backward kernel works on a batch"};
  }
  growths.copies = editing::resize_copies(
      editor, resizer, [factor](TaskId) { return factor; }, growths.time);
  const std::int64_t loading = resize_loading(scenario.graph, factor, editor.edit());
  const std::size_t transfers = editing::resize_transfers(editor.edit(), factor);
  TensorEditor tensors(editor.edit());
  editing::resize_tensors(tensors, scenario.graph, [factor](std::size_t) { return factor; });
  std::string text = note(editor, resizer, factor, growths);
  if (loading > 0) {
    text += fmt::format("; {:.2f} ms of loading in the process scale with the batch",
                        editing::to_ms(loading));
  }
  if (transfers > 0) text += fmt::format("; {} transfers of activations as well", transfers);
  Change change = editor.finish(text + tensors.note());
  change.samples = factor;
  if (factor != 1) growths.time.say_unknown(change);
  return change;
}

constexpr std::array<std::string_view, 5> assumptions = {
    "The batch is the leading dimension of activations, alone or times positions; it is that of "
    "the tokens that an embedding looks up, else the most common one of the forward pass, unless "
    "batch says otherwise.",
    "Kernels without recorded shapes (replayed from a CUDA graph, compiled by XLA) grow in "
    "proportion, but for their ramp-up; in the range they may also stay, as one that reads weights "
    "does. Above a third of the time the answer is low-confidence. So do copies and sets whose "
    "bytes are those of no recorded input; copies from the host before the first forward kernel "
    "are input, and scalars stay.",
    "CPU time stays as recorded, except labelled data loading in the process, which scales with "
    "the batch: a run bound by other CPU work processes more samples in the same time.",
    "All-to-alls, transfers between stages and reductions inside a forward pass move activations, "
    "and grow beyond 20 us of latency; other collectives move parameters and stay.",
    "Times of products follow tiles in waves over the multiprocessors; others follow bytes."};
constexpr std::array<std::string_view, 4> ignores = {
    "host work per sample in regions that no label marks: collating, copying into pinned memory",
    "sequence lengths and padding that change with the batch",
    "other kernels that libraries pick for other sizes, beyond the model of tiles",
    "whether the larger batch fits into memory, and steps to converge"};
constexpr std::array params = {factor_param, batch_param};

constexpr std::array trends = {Trend{&factor_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "batch_size",
    .summary = "Change the batch size; kernels scale by their shapes, CPU time stays.",
    .paper =
        "G. Yu, T. Grossman, G. Pekhimenko, Skyline: Interactive In-Editor Computational "
        "Performance Profiling for Deep Neural Network Training, UIST 2020",
    .recipe =
        "Every forward and backward kernel takes its measured time x the model time with the "
        "batch dimension changed / the model time of the recorded shape. Kernels without "
        "activations among their inputs, the update and collectives on parameters stay; copies of "
        "input data and activations, loading in the process and transfers of activations grow in "
        "proportion.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "batch; and recordings at two further batch sizes for the slope of device time.",
    .identity = {.setting = "factor=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::workload,
    .batch_param = &factor_param};

}  // namespace foretrace::batch_size_parts
