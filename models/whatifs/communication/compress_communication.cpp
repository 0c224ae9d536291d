// Compress communication: collectives move fewer bytes; kernels encode before and decode after.
//
//   before   compute  [produce]                            [use]
//            network           [all-to-all 12 ms          ]
//   after    compute  [produce][encode]                 [decode][use]
//            network                   [all-to-all 6 ms]               ratio=0.5
//   The codec runs on the stream that produces and uses the data, so it takes time from
//   computation.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/transfers/transfers.h"
#include "models/whatifs/communication/codec_kernels.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::compress_communication_parts {
namespace {

constexpr ParamInfo ratio_param = {
    .name = "ratio",
    .unit = "x",
    .default_text = "0.5",
    .doc = "Bytes moved afterwards / before: 0.5 for fp16 instead of fp32.",
    .minimum = 0,
    .maximum = 10};
constexpr ParamInfo select_param = {
    .name = "select",
    .type = ParamType::selection,
    .default_text = "kind=collective",
    .doc = "Which collectives, e.g. 'kind=collective&phase=forward'."};
constexpr ParamInfo at_least_param = {.name = "at_least",
                                      .type = ParamType::time,
                                      .unit = "us",
                                      .default_text = "100 us",
                                      .doc = "Shorter transfers stay as they are.",
                                      .minimum = 0,
                                      .maximum = 1e12};
constexpr ParamInfo encode_cost_param = {
    .name = "encode_cost",
    .unit = "1",
    .default_text = "3.5",
    .doc = "Bytes of device memory that encoding moves per byte of the collective.",
    .minimum = 0,
    .maximum = 1000,
    .optimistic = "1.5"};
constexpr ParamInfo decode_cost_param = {
    .name = "decode_cost",
    .unit = "1",
    .default_text = "1.5",
    .doc = "Bytes of device memory that decoding moves per byte of the collective.",
    .minimum = 0,
    .maximum = 1000};
using editing::latency_param;
using editing::link_bandwidth_param;

struct Settings {
  double ratio = 1;
  double encode_cost = 0;
  double decode_cost = 0;
  double link_bandwidth = 0;  // 0: sizes come from the trace only
  std::int64_t latency_ns = 0;
  std::int64_t at_least_ns = 0;
};

class Compressor {
 public:
  Compressor(const WhatIfInput& scenario, const std::vector<editing::Transfer>& transfers,
             const Settings& settings)
      : editor_(scenario),
        graph_(scenario.graph),
        transfers_(transfers),
        settings_(settings),
        codec_(editor_, transfers) {}

  Result<Change> run() {
    const editing::MovingTimes moving(graph_, transfers_);
    for (const editing::Transfer& transfer : transfers_) {
      if (graph_.duration_ns(transfer.task) < settings_.at_least_ns) continue;
      FORETRACE_TRY(compress(transfer, moving.of(transfer)));
    }
    if (compressed_ == 0) {
      return Error{ErrorCode::no_match,
                   fmt::format("no selected collective transfers for {:.0f} us or longer "
                               "(parameter at_least)",
                               static_cast<double>(settings_.at_least_ns) * 1e-3)};
    }
    return editor_.finish(fmt::format(
        "{} transfers, {:.2f} ms -> {:.2f} ms; {} encoding and {} decoding kernels, {:.2f} ms{}",
        compressed_, editing::to_ms(before_), editing::to_ms(after_), codec_.encoders(),
        codec_.decoders(), editing::to_ms(codec_.ns()), waiting_note(waited_)));
  }

 private:
  Status compress(const editing::Transfer& transfer, std::int64_t moving) {
    const std::int64_t old = graph_.duration_ns(transfer.task);
    const std::int64_t latency = std::min(moving, settings_.latency_ns);
    const std::int64_t now =
        old - moving + latency + to_whole(static_cast<double>(moving - latency) * settings_.ratio);
    waited_ += old - moving;
    if (settings_.ratio != 1) {
      editor_.edit().set_duration(transfer.task, now, {Provenance::scaled, 0.9F, 1.2F});
    }
    before_ += old;
    after_ += now;
    ++compressed_;
    if (settings_.encode_cost + settings_.decode_cost <= 0) return ok_status();
    const double bytes = transferred_bytes(graph_, transfer.task, moving, settings_.link_bandwidth);
    if (bytes <= 0 && graph_.work(transfer.task).bytes != 0) {
      return Error{ErrorCode::missing_cost,
                   "the trace does not contain the bytes of collectives, expected link_bandwidth "
                   "(bytes then follow from the transfer's time), or encode_cost=0 and "
                   "decode_cost=0 for a codec that costs nothing"};
    }
    if (settings_.encode_cost > 0) {
      FORETRACE_TRY(codec_.encode(transfer, bytes * settings_.encode_cost, "encode for transfer"));
    }
    if (!(settings_.decode_cost > 0)) return ok_status();
    return codec_.decode(transfer, bytes * settings_.decode_cost, "decode after transfer");
  }

  editing::KernelEditor editor_;
  const TaskGraph& graph_;
  const std::vector<editing::Transfer>& transfers_;
  const Settings& settings_;
  CodecKernels codec_;
  std::int64_t before_ = 0;
  std::int64_t after_ = 0;
  std::int64_t waited_ = 0;
  std::size_t compressed_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto transfers, editing::find_transfers(scenario.graph, params.text(select_param)));
  const Settings settings{.ratio = params.number(ratio_param),
                          .encode_cost = params.number(encode_cost_param),
                          .decode_cost = params.number(decode_cost_param),
                          .link_bandwidth = params.number(link_bandwidth_param),
                          .latency_ns = params.integer(latency_param),
                          .at_least_ns = params.integer(at_least_param)};
  return Compressor(scenario, transfers, settings).run();
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Transfer time is a latency that stays and a part that follows the bytes.",
    "Encoding (clamp and cast: 14 bytes per fp32 number) and decoding (6 bytes) are kernels bound "
    "by memory bandwidth.",
    "The kernel that a collective waits for makes its data; the first kernel that waits for the "
    "collective uses it. Where neither is recorded no codec kernel is added (see the note).",
    "Where the other ranks are not recorded, a collective moves bytes for as long as the shortest "
    "of the same kind, communicator and bytes; the rest waits for them and stays."};
constexpr std::array<std::string_view, 3> ignores = {
    "accuracy, and buffers of error feedback",
    "transfers that get slower while memory-bound codec kernels run beside them",
    "indices of sparse codes: put them into ratio"};
constexpr std::array params = {ratio_param,         select_param,      at_least_param,
                               encode_cost_param,   decode_cost_param, latency_param,
                               link_bandwidth_param};

constexpr std::array trends = {Trend{&ratio_param, Larger::is_slower},
                               Trend{&encode_cost_param, Larger::is_slower},
                               Trend{&decode_cost_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "compress_communication",
    .summary = "Collectives move fewer bytes; kernels encode before and decode after.",
    .paper =
        "Y. Lin, S. Han, H. Mao, Y. Wang, W. Dally, Deep Gradient Compression, ICLR 2018; "
        "quantized collectives of TorchRec, D. Ivchenko et al., RecSys 2022",
    .recipe =
        "The transfer of every selected collective keeps its latency and takes ratio x the "
        "rest. An encoding kernel follows the kernel that the collective waits for, a "
        "decoding kernel precedes the first kernel that waits for the collective.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "encode_cost, decode_cost: the codec's kernels at one size; ratio: its format.",
    .identity = {.setting = "ratio=1,encode_cost=0,decode_cost=0"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::network};

}  // namespace foretrace::compress_communication_parts
