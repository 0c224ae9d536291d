// Mixed precision: matrix kernels run on 16-bit units, data that follows them is half as large.
//
//   before   launch -> gemm fp32 (100 us) -> relu fp32 (20 us) -> softmax fp32 (10 us)
//   after    launch -> gemm bf16 ( 13 us) -> relu bf16 (11 us) -> softmax fp32 (10 us)
//            (+ launch -> cast of the weight, once per layer and forward pass, under autocast)
//   Host calls, gaps, latencies, copies from and to the host, collectives and the optimizer's
//   update keep their times.
//
// paper     P. Micikevicius et al., Mixed Precision Training, ICLR 2018; the prediction recipe and
//           its constants: H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream, USENIX ATC 2020.
// assumes   - the library has a 16-bit kernel for every fp32 product, as good for its shape
//           - sizes of products are multiples of 8, or are recorded and then cost half the rate
//           - kernels bound by bytes move half of them
//           - a product of unknown shape lies between all arithmetic and all bytes
// ignores   casts of activations, gradient casts back to fp32, loss scaling and its skipped steps,
//           other algorithms or layouts (channels last), changed fusion, accuracy, steps to
//           converge
// calibrate `followers` from the share of elementwise kernels that are 16 bit in any trace under
//           autocast; sustained_flops of the accelerator file from a GEMM benchmark.
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "models/costs/kernel_cost.h"
#include "models/detail/change_builder.h"
#include "models/detail/graph_view.h"
#include "models/detail/half_precision.h"
#include "models/detail/recorded_accelerator.h"
#include "models/optimization.h"

namespace foretrace {
namespace {

class Applier {
 public:
  Applier(const TaskGraph& graph, const detail::HalfChoice& choice, const Accelerator* accelerator)
      : graph_(graph),
        choice_(choice),
        accelerator_(accelerator),
        kernels_(describe_works(graph, accelerator)),
        view_(graph),
        builder_(graph) {}

  Result<Change> run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (graph_.kind(task) == TaskKind::kernel) change_kernel(task);
    }
    if (builder_.change.durations.empty()) {
      return Error{ErrorCode::no_match,
                   fmt::format("no fp32 kernel to change; device time: {}", shares())};
    }
    builder_.change.notes.push_back(fmt::format("device time before: {}", shares()));
    builder_.change.notes.push_back(fmt::format(
        "changed kernels {:.2f} ms -> {:.2f} ms in {}; shapes recorded for {:.0f} %, derived from "
        "tiles for {:.0f} %, unknown for {:.0f} % of the time in products",
        ms(before_), ms(after_), to_string(choice_.half), percent(recorded_, products_),
        percent(derived_, products_), percent(products_ - recorded_ - derived_, products_)));
    if (casts_ > 0)
      builder_.change.notes.push_back(fmt::format("{} weight casts inserted", casts_));
    return std::move(builder_.change);
  }

 private:
  static double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }
  static double percent(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  }

  [[nodiscard]] std::string shares() const {
    std::int64_t total = 0;
    for (const std::int64_t ns : time_by_fate_) total += ns;
    std::string text;
    for (std::size_t i = 0; i < detail::half_fate_count; ++i) {
      if (time_by_fate_[i] == 0 && i != 0) continue;
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", detail::half_fate_names[i],
                          percent(time_by_fate_[i], total));
    }
    return text;
  }

  void change_kernel(TaskId task) {
    const KernelDescription& kernel = kernels_[index(graph_.work_id(task))];
    const std::int64_t measured = graph_.duration_ns(task);
    const detail::HalfFate fate = detail::half_fate(kernel.traits, graph_.phase(task), choice_);
    time_by_fate_[static_cast<std::size_t>(fate)] += measured;
    if (fate != detail::HalfFate::changed) return;
    const Cost cost = detail::half_cost(measured, kernel, choice_, accelerator_);
    builder_.change.durations.push_back(
        {task, cost.duration_ns, cost.provenance, cost.low, cost.high});
    before_ += measured;
    after_ += cost.duration_ns;
    if (!detail::is_product(kernel.traits.kernel_class)) return;
    products_ += measured;
    if (kernel.shape_from_grid) {
      derived_ += measured;
    } else if (kernel.amount.known()) {
      recorded_ += measured;
    }
    insert_cast(task, kernel);
  }

  void insert_cast(TaskId task, const KernelDescription& kernel) {
    const Phase phase = graph_.phase(task);
    const bool forward = phase == Phase::forward || phase == Phase::unknown;
    const TaskId call = view_.launcher(task);
    if (!choice_.casts || !forward || accelerator_ == nullptr || call == none<TaskId>) return;
    const std::int64_t ns = detail::weight_cast_ns(
        kernel, graph_.names()[graph_.work(task).operator_name], *accelerator_);
    if (ns == 0 || !view_.is_plain_launch(call)) return;
    if (launch_ns_ < 0) {
      launch_ns_ = view_.median_launch_ns();
      lag_ns_ = view_.median_launch_lag_ns();
    }
    builder_.insert_launch(call, Place::before,
                           {"cast launch", launch_ns_, choice_.cast_host_ns, lag_ns_},
                           {.name = "weight cast to 16 bit",
                            .duration_ns = ns,
                            .provenance = Provenance::roofline,
                            .low = 0.9F,
                            .high = 1.1F,
                            .stream = graph_.lane_id(task),
                            .gap_ns = accelerator_->kernel_gap_ns});
    ++casts_;
  }

  const TaskGraph& graph_;
  const detail::HalfChoice& choice_;
  const Accelerator* accelerator_;
  std::vector<KernelDescription> kernels_;
  detail::GraphView view_;
  detail::ChangeBuilder builder_;
  std::array<std::int64_t, detail::half_fate_count> time_by_fate_{};
  std::int64_t before_ = 0;
  std::int64_t after_ = 0;
  std::int64_t products_ = 0;
  std::int64_t recorded_ = 0;
  std::int64_t derived_ = 0;
  std::int64_t launch_ns_ = -1;
  std::int64_t lag_ns_ = 0;
  std::size_t casts_ = 0;
};

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  detail::HalfChoice choice;
  choice.autocast = params.text("mode") == "autocast";
  choice.daydream = params.text("model") == "daydream";
  choice.update = params.boolean("update");
  choice.casts = choice.autocast && !choice.daydream && params.text("casts") == "weights";
  choice.followers = choice.autocast ? params.number("followers") : 1;
  choice.cast_host_ns = params.integer("cast_host");

  std::optional<Accelerator> owned;
  const Accelerator* accelerator = scenario.accelerator;
  if (!choice.daydream) {
    auto found = detail::recorded_accelerator(scenario, params.text("accelerator"), owned);
    if (!found) return std::move(found).error();
    accelerator = *found;
  }
  const std::string& dtype = params.text("dtype");
  const bool has_bf16 = accelerator != nullptr && accelerator->flops(Precision::bf16) > 0;
  choice.half =
      dtype == "bf16" || (dtype == "auto" && has_bf16) ? Precision::bf16 : Precision::fp16;
  if (accelerator != nullptr && accelerator->flops(choice.half) <= 0) {
    return Error{ErrorCode::unsupported, fmt::format("{} has no {} units, expected dtype=fp16",
                                                     accelerator->name, to_string(choice.half))};
  }
  return Applier(scenario.graph, choice, accelerator).run();
}

constexpr std::array<std::string_view, 9> assumptions = {
    "The device is the limit. Where the host is (host_bound in the breakdown), the answer is near "
    "1.0x, and real autocast is often slower than before, because casts of activations cost host "
    "time that is left out here.",
    "Every fp32 or TF32 product (GEMM, convolution, fused attention) gets a 16-bit kernel as good "
    "for its shape as the GEMM model says. A library may lack one or pick a slow one for small, "
    "odd or grouped shapes; the range does not cover that.",
    "Shapes of products are known: from record_shapes=True, else from tile and grid of cuBLAS "
    "kernels of Volta to Ampere. For the rest (the note gives its share) the time is the "
    "geometric mean of 'all arithmetic' and 'all bytes' and the range is both: above a third, "
    "treat the answer as a guess.",
    "Convolutions run in channels-last. In NCHW cuDNN adds layout changes that can eat the gain, "
    "and the output size of forward convolutions is known from the gradients of a backward pass "
    "only: without one their time is such a guess.",
    "Kernels bound by bytes move half of them at the same share of the bandwidth.",
    "Under autocast normalization (but batch norm), softmax, losses, powers and embeddings stay "
    "fp32; `followers` of the other elementwise time has 16-bit inputs (0.5 to 1 in the range).",
    "Kernel names tell the truth about precision: fp32 products on TF32 units are named so. "
    "Custom and Triton kernels without a type in their name stay as measured; see their share in "
    "the note.",
    "The run keeps batch size, algorithms and order of kernels; a compiled model fuses anew and "
    "is a different run.",
    "The range is of whole classes: products of known shape 10 %, derived shape 15 to 18 %, "
    "convolution and attention 25 to 33 %, other kernels 10 to 15 %. Single kernels scatter more."};
constexpr std::array<std::string_view, 6> ignores = {
    "casts of activations between fp32 and 16-bit operators, and of gradients back to fp32",
    "loss scaling: its unscale and check kernels, and skipped steps",
    "cuDNN and MIOpen switching to channels-last or inserting layout changes",
    "fewer bytes in collectives and copies (gradients stay fp32 under autocast)",
    "memory saved, and the larger batch it allows",
    "accuracy and the number of steps to reach it"};

constexpr std::array params = {
    ParamInfo{.name = "dtype",
              .type = ParamType::text,
              .default_text = "auto",
              .doc = "16-bit type; auto: bf16 where the accelerator has it, else fp16.",
              .choices = "auto|bf16|fp16"},
    ParamInfo{
        .name = "mode",
        .type = ParamType::text,
        .default_text = "autocast",
        .doc = "autocast: parameters and its fp32 list stay fp32; full: the whole model is cast, "
               "norms and softmax too.",
        .choices = "autocast|full"},
    ParamInfo{.name = "model",
              .type = ParamType::text,
              .default_text = "roofline",
              .doc =
                  "roofline: per kernel from shapes and the accelerator file; daydream: x 1/3 for "
                  "products and x 1/2 for the rest.",
              .choices = "roofline|daydream"},
    ParamInfo{.name = "followers",
              .unit = "1",
              .default_text = "0.75",
              .doc =
                  "Share of elementwise, copy and batch-norm time that runs on 16-bit data under "
                  "autocast.",
              .minimum = 0,
              .maximum = 1,
              .optimistic = "1",
              .pessimistic = "0.5"},
    ParamInfo{
        .name = "casts",
        .type = ParamType::text,
        .default_text = "weights",
        .doc = "weights: insert one cast per product with a recorded weight in forward; none.",
        .choices = "weights|none"},
    ParamInfo{.name = "cast_host",
              .type = ParamType::time,
              .unit = "us",
              .default_text = "10 us",
              .doc = "Host time of one cast before its launch call (framework dispatch).",
              .minimum = 0,
              .maximum = 1e9,
              .optimistic = "5 us",
              .pessimistic = "20 us"},
    ParamInfo{.name = "update",
              .type = ParamType::boolean,
              .default_text = "false",
              .doc = "Also change the optimizer's kernels (16-bit states and gradients)."},
    ParamInfo{.name = "accelerator",
              .type = ParamType::text,
              .default_text = "recording",
              .doc = "Accelerator of the recording, if its device name is not known."}};

}  // namespace

namespace optimizations {

extern const OptimizationInfo mixed_precision;
constinit const OptimizationInfo mixed_precision = {
    .name = "mixed_precision",
    .summary = "Run products and what follows them in 16 bit (autocast or full cast).",
    .paper =
        "P. Micikevicius et al., Mixed Precision Training, ICLR 2018; H. Zhu, A. Phanishayee, G. "
        "Pekhimenko, Daydream: Accurately Estimating the Efficacy of Optimizations for DNN "
        "Training, USENIX ATC 2020.",
    .recipe =
        "Every fp32 or TF32 kernel of forward and backward gets a new time: products by the ratio "
        "of model times (tiles in waves at the sustained rate, or bytes) in both precisions, half "
        "the rate if a size is no multiple of 8; other kernels keep their first 1.8 us and move "
        "half the bytes. Kernels that are 16 bit, fp64, integer, on autocast's fp32 list, part of "
        "the update or unknown stay as measured. Host calls, gaps, copies and collectives stay. "
        "Under autocast one cast kernel and its launch are inserted per weight with a recorded "
        "shape.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "followers: share of 16-bit elementwise kernels in any autocast trace of a like model. "
        "sustained_flops in the accelerator file: a GEMM benchmark in both precisions. cast_host: "
        "host time between two aten::to calls in such a trace.",
    .params = params,
    .apply = apply};

}  // namespace optimizations
}  // namespace foretrace
