// Gist: feature maps are kept in encoded form between forward and backward.
//
//   before   [relu][pool] ......... [pool'][relu']
//   after    [relu][pool][encode] ...... [decode][pool'][relu']
//   ReLU before pooling: one bit per number. ReLU before a convolution: sparse rows, if zeros are
//   known. All others: fewer bits. Encoding reads the map and writes the code; decoding the
//   reverse.
//
// memory    a kept number takes 1 bit, 5 (1 - sparsity) bytes, or `bits`.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/editing/tensors/stash.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/tensors.h"

namespace foretrace::gist_encoding_parts {
namespace {

constexpr ParamInfo sparsity_param = {
    .name = "sparsity",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of zeros behind ReLUs that feed convolutions; 0: unknown, not used.",
    .minimum = 0,
    .maximum = 0.999};
constexpr ParamInfo bits_param = {
    .name = "bits",
    .unit = "1",
    .default_text = "16",
    .doc = "Bits per number of activations with no better code (the paper: 16, 10 or 8).",
    .minimum = 1,
    .maximum = 32};
constexpr ParamInfo least_param = {.name = "least",
                                   .type = ParamType::bytes,
                                   .unit = "B",
                                   .default_text = "1 MiB",
                                   .doc = "Smaller activations are kept unchanged.",
                                   .minimum = 1,
                                   .maximum = 1e15};

enum class Code : std::uint8_t { one_bit, sparse, fewer_bits, none };

class Encoder {
 public:
  Encoder(const WhatIfInput& scenario, double sparsity, double bits)
      : editor_(scenario), sparsity_(sparsity), bits_(bits) {}

  Result<Change> run(double least_bytes) {
    for (const editing::TrainingPass& pass : editing::find_passes(editor_)) {
      for (const editing::Stash& stash : editing::find_stashes(editor_, pass, least_bytes)) {
        FORETRACE_TRY(encode(pass, stash));
      }
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   "no activation whose code would be smaller is kept from forward to backward, "
                   "expected a training step with recorded memory events or shapes"};
    }
    return editor_.finish(fmt::format(
        "{} activations as one bit, {} sparse, {} in fewer bits: {:.0f} MB kept between forward "
        "and backward become {:.0f} MB ({:.2f}x); {:.2f} ms to encode and decode",
        count_[0], count_[1], count_[2], before_ * 1e-6, after_ * 1e-6, before_ / after_,
        editing::to_ms(editor_.sums().after_ns)));
  }

 private:
  // What the paper's table says for the layers around a map.
  [[nodiscard]] Code code_of(const editing::TrainingPass& pass, const editing::Stash& stash) const {
    bool relu = false;
    std::size_t end = stash.last_use + 2;
    for (std::size_t i = stash.made; i < std::min(end, pass.forward.size()); ++i) {
      const TaskId kernel = pass.forward[i];
      if (editing::moves_nothing(editor_.graph(), kernel)) {
        if (i > stash.last_use) ++end;
        continue;
      }
      if (relu && editing::is_pooling(editor_, kernel)) return Code::one_bit;
      // One byte of index beside four of value: worth it above a fifth of zeros.
      if (relu && editor_.class_of(kernel) == KernelClass::convolution && sparsity_ > 0.2) {
        return Code::sparse;
      }
      relu = relu || editing::is_relu(editor_, kernel);
    }
    return bits_ < 8 * editor_.number_bytes(pass.forward[stash.made]) ? Code::fewer_bits
                                                                      : Code::none;
  }

  Status encode(const editing::TrainingPass& pass, const editing::Stash& stash) {
    const Code code = code_of(pass, stash);
    if (code == Code::none || editor_.own_call(stash.needed_by) == none<TaskId>) {
      return ok_status();
    }
    const double number_bytes = editor_.number_bytes(pass.forward[stash.made]);
    const double numbers = stash.bytes / number_bytes;
    const double bytes = code == Code::one_bit  ? numbers / 8
                         : code == Code::sparse ? numbers * (1 - sparsity_) * (number_bytes + 1)
                                                : numbers * bits_ / 8;
    FORETRACE_TRY(auto cost, editor_.moving_cost(stash.bytes + bytes, KernelClass::elementwise));
    const Precision precision = editor_.about(pass.forward[stash.made]).traits.precision;
    const auto work = editing::moving_work(numbers, bytes / number_bytes, precision);
    const TaskId encode =
        editor_.add(pass.forward[stash.last_use], Place::after, {"encode activation", work, cost});
    const TaskId decode =
        editor_.add(stash.needed_by, Place::before, {"decode activation", work, cost});
    if (stash.recorded()) {
      const TaskId from = editor_.call_of_new(encode);
      const TaskId to = editor_.call_of_new(decode);
      tensors_.leave(stash.tensor, from, to);
      tensors_.add_like(stash.tensor, bytes, from, to);
    }
    before_ += stash.bytes;
    after_ += bytes;
    ++count_[static_cast<std::size_t>(code)];
    return ok_status();
  }

  editing::KernelEditor editor_;
  TensorEditor tensors_{editor_.edit()};
  double sparsity_ = 0;
  double bits_ = 16;
  double before_ = 0;
  double after_ = 0;
  std::array<std::size_t, 3> count_{};
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return Encoder(scenario, params.number(sparsity_param), params.number(bits_param))
      .run(params.number(least_param));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Encoding and decoding are kernels of their own, bound by bytes: the activation and its code.",
    "An activation behind a ReLU that is pooled needs only its sign in the backward.",
    "Behind other ReLUs `sparsity` of the numbers are zero; a kept number takes one byte more for "
    "its place.",
    "Training tolerates `bits` per number in all other activations."};
constexpr std::array<std::string_view, 3> ignores = {
    "the place of the maximum in pooling windows (4 bits per output)",
    "encoding that is fused into the kernel before it", "accuracy with fewer bits"};
constexpr std::array params = {sparsity_param, bits_param, least_param};
constexpr std::array<std::string_view, 1> memory_settings = {"bits=8"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "gist_encoding",
    .summary = "Encode the activations that are kept for the backward pass.",
    .paper =
        "A. Jain, A. Phanishayee, J. Mars, L. Tang, G. Pekhimenko, Gist: Efficient Data "
        "Encoding for Deep Neural Network Training, ISCA 2018",
    .recipe =
        "For every activation that lives from forward to backward, an encoding kernel is inserted "
        "after its use in forward and a decoding kernel before the backward kernel that needs it, "
        "with their launches; each moves the bytes of the activation and of its code.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "sparsity: share of zeros behind the ReLUs of the model in training.",
    .identity = {.none_because = "activations with a shorter code are encoded"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::storage,
    .memory_settings = memory_settings};

}  // namespace foretrace::gist_encoding_parts
