// Activation checkpointing: parts of the forward pass run again before their backward.
//
//   before   forward: [block 1][block 2][block 3]   backward:        [3]        [2]        [1]
//   after    forward: [block 1][block 2][block 3]   backward: [3 again][3][2 again][2][1 again][1]
//   Copies of the forward kernels, with their launches and the host time before them, are put on
//   the backward's thread in front of the first backward kernel that needs them.
//
// memory    kept: what enters each segment, and the inside of one segment at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/attention_core.h"
#include "models/editing/kernels/copied_waits.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/stash.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/tensors.h"

namespace foretrace::activation_checkpointing_parts {
namespace {

constexpr ParamInfo mode_param = {
    .name = "mode",
    .type = ParamType::text,
    .default_text = "segments",
    .doc =
        "segments: equal parts of the pass; block: every repeated module (a transformer "
        "layer); selective: the attention core only.",
    .choices = "segments|block|selective"};
constexpr ParamInfo segments_param = {
    .name = "segments",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc =
        "Parts of a forward pass; 0: square root of its number of matrix products and "
        "convolutions; 1 keeps everything.",
    .minimum = 0,
    .maximum = 1e5};

class Checkpointing {
 public:
  explicit Checkpointing(const WhatIfInput& scenario)
      : editor_(scenario), passes_(editing::find_passes(editor_)) {}

  Result<Change> run(const std::string& mode, std::size_t segments) {
    if (passes_.empty()) {
      return Error{ErrorCode::no_match,
                   "no forward kernels with a backward pass after them, expected a training step "
                   "of a recording that separates the two (such as an XPlane with its programs)"};
    }
    if (mode == "segments" && segments == 1) {
      return editor_.finish("one part, which is kept whole: nothing runs again");
    }
    if (mode == "selective") {
      recompute_attention();
    } else {
      for (const editing::TrainingPass& pass : passes_) recompute(pass, mode == "block", segments);
    }
    if (editor_.untouched()) {
      return Error{ErrorCode::no_match,
                   mode == "block"
                       ? "forward kernels are not in two or more recorded modules, expected a "
                         "trace with with_modules or with_stack, or mode=segments"
                   : mode == "selective"
                       ? "no attention that is made of single operators in forward and backward"
                       : "no forward kernel that is launched by a call of its own is needed by a "
                         "later part of the backward pass"};
    }
    return editor_.finish(note());
  }

 private:
  [[nodiscard]] std::string note() const {
    std::string text = fmt::format(
        "{} forward kernels of {} parts in {} passes run again: {:.2f} ms "
        "of device time",
        editor_.sums().added, parts_, passes_.size(), editing::to_ms(editor_.sums().after_ns));
    if (all_bytes_ > 0) {
      text += fmt::format(
          "; by recorded shapes, what the forward pass writes is {:.0f} MB, and "
          "{:.0f} MB of it are not kept until the backward",
          all_bytes_ * 1e-6, freed_bytes_ * 1e-6);
    }
    return text + tensors_.note();
  }

  // Copies by the kernel that they repeat.
  std::map<TaskId, TaskId> again(const std::vector<TaskId>& kernels, TaskId needed_by) {
    std::map<TaskId, TaskId> copies;
    const TaskId call = needed_by == none<TaskId> ? none<TaskId> : editor_.own_call(needed_by);
    if (call == none<TaskId>) return copies;
    ++parts_;
    editing::CopiedWaits waits(editor_.edit());
    waits.begin_before(needed_by);
    for (const TaskId kernel : kernels) {
      const TaskId twin = editor_.copy(kernel, call, Place::before, !first_of_pass(kernel));
      if (twin == none<TaskId>) continue;
      waits.put(kernel, twin);
      copies.emplace(kernel, twin);
    }
    waits.wait(needed_by);
    return copies;
  }

  // The last result of a block enters the next one, whatever ran after it, as a ReLU in place.
  static std::size_t last_result(const std::vector<editing::Stash>& stashes,
                                 const editing::PassSegment& segment) {
    std::size_t last = segment.begin;
    for (const editing::Stash& stash : stashes) {
      if (stash.made < segment.end) last = std::max(last, stash.made);
    }
    return last;
  }

  // What a part leaves for the backward goes when the part is done and comes when it runs again;
  // what the forward kernels from `kept` on make stays.
  void forget(const editing::TrainingPass& pass, const std::vector<editing::Stash>& stashes,
              const editing::PassSegment& segment, const std::map<TaskId, TaskId>& copies,
              std::size_t kept) {
    if (segment.end >= pass.forward.size()) return;
    const TaskId gone = editor_.own_call(pass.forward[segment.end]);
    if (gone == none<TaskId>) return;
    for (const editing::Stash& stash : stashes) {
      const auto twin = copies.find(pass.forward[stash.made]);
      if (!stash.recorded() || twin == copies.end() || stash.made >= kept) continue;
      if (stash.needed_by < segment.needed_by) continue;  // read before the part runs again
      tensors_.leave(stash.tensor, gone, editor_.call_of_new(twin->second));
      freed_bytes_ += stash.bytes;
    }
  }

  [[nodiscard]] bool first_of_pass(TaskId kernel) const {
    return std::any_of(passes_.begin(), passes_.end(), [&](const editing::TrainingPass& pass) {
      return pass.forward.front() == kernel;
    });
  }

  // Of sequential segments the last one is still there when its backward begins.
  void recompute(const editing::TrainingPass& pass, bool blocks, std::size_t count) {
    if (count == 0) {
      const std::vector<TaskId> trained(
          pass.forward.begin() + static_cast<std::ptrdiff_t>(pass.trains_from), pass.forward.end());
      const auto depth = static_cast<double>(editing::count_products(editor_, trained));
      count = static_cast<std::size_t>(std::max(1.0, std::round(std::sqrt(depth))));
    }
    auto segments = blocks ? editing::block_segments(editor_, pass)
                           : editing::equal_segments(editor_, pass, count);
    if (!blocks && !segments.empty()) segments.pop_back();
    const auto stashes = editing::find_stashes(editor_, pass, 1);
    for (const editing::PassSegment& segment : segments) {
      const auto begin = pass.forward.begin();
      const auto copies = again({begin + static_cast<std::ptrdiff_t>(segment.begin),
                                 begin + static_cast<std::ptrdiff_t>(segment.end)},
                                segment.needed_by);
      forget(pass, stashes, segment, copies,
             blocks ? last_result(stashes, segment) : segment.end - 1);
    }
    all_bytes_ += std::max(0.0, editing::stashed_bytes(editor_, pass, 0, pass.forward.size()));
  }

  // The k-th attention of the backward undoes the k-th last of the forward.
  void recompute_attention() {
    std::vector<editing::AttentionCore> open;
    for (const editing::AttentionCore& core : editing::find_attention_cores(editor_)) {
      if (!core.backward) {
        open.push_back(core);
      } else if (!open.empty()) {
        const auto& kernels = open.back().kernels;
        // The last product's result is the input of the next layer; it is not needed again.
        const auto copies = again({kernels.begin(), kernels.end() - 1}, core.kernels.front());
        forget_attention(kernels, core.kernels.front(), copies);
        open.pop_back();
      }
    }
  }

  // Scores and weights of the attention go when its last product is done.
  void forget_attention(const std::vector<TaskId>& kernels, TaskId needed_by,
                        const std::map<TaskId, TaskId>& copies) {
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const std::vector<TaskId>& forward = passes_[i].forward;
      const auto first = std::lower_bound(forward.begin(), forward.end(), kernels.front());
      const auto last = std::lower_bound(forward.begin(), forward.end(), kernels.back());
      if (first == forward.end() || *first != kernels.front() || last == forward.end()) continue;
      if (!stashes_.contains(i)) {
        stashes_.emplace(i, editing::find_stashes(editor_, passes_[i], 1));
      }
      forget(passes_[i], stashes_.at(i),
             {static_cast<std::size_t>(first - forward.begin()),
              static_cast<std::size_t>(last - forward.begin()) + 1, needed_by},
             copies, static_cast<std::size_t>(last - forward.begin()));
    }
  }

  editing::KernelEditor editor_;
  std::vector<editing::TrainingPass> passes_;
  std::map<std::size_t, std::vector<editing::Stash>> stashes_;  // by pass, where attention is
  TensorEditor tensors_{editor_.edit()};
  std::size_t parts_ = 0;
  double all_bytes_ = 0;
  double freed_bytes_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  return Checkpointing(scenario).run(params.text(mode_param),
                                     static_cast<std::size_t>(params.integer(segments_param)));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "The second forward of a part takes as long as the first, on the device and on the host, but "
    "for code that was loaded or compiled when a kernel ran for the first time.",
    "The backward pass undoes the forward pass in reverse order; without recorded modules it is at "
    "the same share of its time.",
    "In segments mode the last segment is not run again; in block mode every block is.",
    "In selective mode everything between the scores and the product with the values runs again, "
    "the scores included."};
constexpr std::array<std::string_view, 4> ignores = {
    "stopping a segment early once everything needed is there",
    "saving and restoring the state of random number generators",
    "collectives and copies inside a block: they are not repeated",
    "a host that waits for memory less often"};
constexpr std::array params = {mode_param, segments_param};
constexpr std::array<std::string_view, 5> memory_settings = {
    "mode=block", "mode=selective", "segments=2", "segments=4", "segments=8"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "activation_checkpointing",
    .summary = "Run parts of the forward pass again instead of keeping their results.",
    .paper =
        "T. Chen, B. Xu, C. Zhang, C. Guestrin, Training Deep Nets with Sublinear Memory Cost, "
        "2016; V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer "
        "Models, MLSys 2023",
    .recipe =
        "Copies of the forward kernels of every part, with their launch calls and the host "
        "time before these, are inserted on the thread of the backward pass in front of the "
        "first backward kernel that needs the part.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "segments: from the model's own use of torch.utils.checkpoint; the host time of a "
        "recomputed block from any trace with it.",
    .identity = {.setting = "segments=1"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::storage,
    .memory_settings = memory_settings};

}  // namespace foretrace::activation_checkpointing_parts
