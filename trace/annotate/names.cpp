#include "trace/annotate/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

std::string_view without_digits_at_end(std::string_view name) {
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name;
}

/// "ConvolutionBackward0", "autograd::engine::evaluate_function: X", "torch::autograd::CopySlices".
/// 2020-21 traces have the bare node, newer ones the node inside evaluate_function.
bool is_autograd_node(std::string_view name) {
  if (name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") ||
      name.starts_with("struct torch::autograd::")) {
    return true;
  }
  const std::string_view stem = without_digits_at_end(name);
  return !contains(stem, " ") && (stem.ends_with("Backward") || stem.ends_with("Backwards"));
}

/// Names of communication around the kernels: c10d operators, ProcessGroup ranges.
bool is_collective_call(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("rccl:") || name.starts_with("gloo:") ||
         name.starts_with("c10d::") || name.starts_with("_c10d_functional::") ||
         name.starts_with("c10d_functional::") || name == "record_param_comms";
}

/// torch.optim, torch.amp and Apex are the only callers of these.
bool is_update_operator(std::string_view name) {
  return name.starts_with("aten::_fused_ad") || name.starts_with("aten::_fused_sgd") ||
         name.starts_with("aten::_amp_") || contains(name, "fused_adam") ||
         contains(name, "fused_sgd") || contains(name, "multi_tensor");
}

bool updates_in_place(std::string_view name) {
  constexpr std::array<std::string_view, 8> operators = {
      "aten::add_",     "aten::sub_",     "aten::mul_",  "aten::div_",
      "aten::addcmul_", "aten::addcdiv_", "aten::lerp_", "aten::sqrt_"};
  return std::find(operators.begin(), operators.end(), name) != operators.end();
}

bool reads_back(std::string_view name) {
  return name == "aten::item" || name == "aten::_local_scalar_dense" || name == "aten::is_nonzero";
}

NameMeaning say(Phase phase, PhaseEvidence evidence) {
  return {.phase = phase, .evidence = evidence};
}

/// What record_function ranges of PyTorch itself say, in whatever category they were recorded.
NameMeaning meaning_of_known_range(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return {.is_step = true};
  if (is_collective_call(name)) return say(Phase::communication, PhaseEvidence::collective);
  if (name.starts_with("enumerate(DataLoader)#") || contains(name, "DataLoaderIter") ||
      name.ends_with(".__next__")) {
    return say(Phase::data_loading, PhaseEvidence::loader);
  }
  if (name.starts_with("Optimizer.") && contains(name, "#")) {
    return say(Phase::update, PhaseEvidence::optimizer);
  }
  return {};
}

struct Words {
  std::string_view first;
  std::string_view second;  ///< the word after it; empty: any
  Phase phase;
  bool is_weak = false;  ///< gives way to any other
};
constexpr std::array phase_words = {
    Words{"forward", "", Phase::forward},
    Words{"fwd", "", Phase::forward},
    Words{"loss", "", Phase::forward, true},
    Words{"inference", "", Phase::forward},
    Words{"backward", "", Phase::backward},
    Words{"bwd", "", Phase::backward},
    Words{"optimizer", "", Phase::update},
    Words{"optim", "", Phase::update},
    Words{"optimize", "", Phase::update},
    Words{"zero", "grad", Phase::update},
    Words{"clip", "grad", Phase::update},
    Words{"dataloader", "", Phase::data_loading},
    Words{"data", "load", Phase::data_loading},
    Words{"data", "loading", Phase::data_loading},
    Words{"data", "loader", Phase::data_loading},
    Words{"load", "data", Phase::data_loading},
    Words{"load", "batch", Phase::data_loading},
    Words{"get", "batch", Phase::data_loading},
    Words{"next", "batch", Phase::data_loading},
    Words{"fetch", "batch", Phase::data_loading},
    Words{"for", "batch", Phase::data_loading},  // TorchRec: wait_for_batch
    Words{"copy", "batch", Phase::data_loading},
    Words{"data", "dist", Phase::data_loading},  // TorchRec: input all-to-all of the next batch
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) {
      words.back().push_back(static_cast<char>(std::tolower(byte)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool is_identifier_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// "encoder.layers.0.attention": names a module if it is nothing but identifiers and dots.
bool is_dotted_path(std::string_view name) {
  if (name.empty() || is_digit(name.front()) || !contains(name, ".")) return false;
  char before = '.';
  for (const char c : name) {
    if (c == '.' && before == '.') return false;
    if (c != '.' && !is_identifier_character(c)) return false;
    before = c;
  }
  return before != '.';
}

std::string path_of_dots(std::string_view name) {
  for (const std::string_view call : {".forward", ".__call__"}) {
    if (name.ends_with(call)) name.remove_suffix(call.size());
  }
  std::string path(name);
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

/// "## forward:over_arch ##" -> "over_arch"; "<class 'a.b.Tower'>" -> "Tower";
/// "FSDP::all_gather (layers.3)" -> "layers/3".
std::string module_of_range(std::string_view name) {
  constexpr std::string_view forward_range = "## forward:";
  if (name.starts_with(forward_range) && name.ends_with(" ##")) {
    name.remove_prefix(forward_range.size());
    return std::string(name.substr(0, name.size() - 3));
  }
  if (name.starts_with("<class '") && name.ends_with("'>")) {
    name = name.substr(8, name.size() - 10);
    const std::size_t dot = name.rfind('.');
    return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
  }
  if ((name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel")) &&
      name.ends_with(")") && contains(name, "(")) {
    const std::size_t open = name.rfind('(');
    return path_of_dots(name.substr(open + 1, name.size() - open - 2));
  }
  return is_dotted_path(name) ? path_of_dots(name) : std::string{};
}

}  // namespace

Phase phase_of_words(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  Phase found = Phase::unknown;
  Phase weak = Phase::unknown;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const Words& pattern : phase_words) {
      if (words[i] != pattern.first) continue;
      if (!pattern.second.empty() && (i + 1 == words.size() || words[i + 1] != pattern.second)) {
        continue;
      }
      if (pattern.is_weak) {
        weak = pattern.phase;
        continue;
      }
      if (found != Phase::unknown && found != pattern.phase) return Phase::unknown;
      found = pattern.phase;
    }
  }
  return found != Phase::unknown ? found : weak;
}

NameMeaning meaning_of_operator(std::string_view name) {
  const NameMeaning known = meaning_of_known_range(name);
  if (known.is_step || known.phase != Phase::unknown) return known;
  if (is_autograd_node(name)) {
    NameMeaning meaning = say(Phase::backward, PhaseEvidence::autograd);
    meaning.is_autograd_node = true;
    meaning.accumulates = contains(name, "AccumulateGrad");
    return meaning;
  }
  if (contains(name, "_backward")) return say(Phase::backward, PhaseEvidence::autograd);
  if (is_update_operator(name)) return say(Phase::update, PhaseEvidence::operator_name);
  if (name.starts_with("aten::_foreach_")) return {.is_on_list = true, .is_composite = true};
  if (name == "aten::zero_" || name == "aten::record_stream") {
    return {.is_no_forward = true, .is_composite = true};
  }
  // 2020-21 traces record annotations among the operators; those have no namespace.
  if (contains(name, "::") || name.starts_with("Torch-Compiled Region")) {
    return {.updates_in_place = updates_in_place(name),
            .reads_back = reads_back(name),
            .is_composite = true};
  }
  const bool is_range =
      contains(name, " ") || contains(name, "#") || words_of(name).front() == name;
  const Phase phase = is_range ? phase_of_words(name) : Phase::unknown;
  return phase == Phase::unknown ? NameMeaning{} : say(phase, PhaseEvidence::annotation);
}

NameMeaning meaning_of_annotation(std::string_view name) {
  const NameMeaning known = meaning_of_known_range(name);
  if (known.is_step || known.phase != Phase::unknown) return known;
  const Phase phase = phase_of_words(name);
  return phase == Phase::unknown ? NameMeaning{} : say(phase, PhaseEvidence::annotation);
}

NameMeaning meaning_of_frame(std::string_view name) {
  if (name.starts_with("nn.Module: ")) return say(Phase::forward, PhaseEvidence::module);
  // "torch/optim/adam.py(130): step", with or without the folder of the installation before it.
  const std::size_t colon = name.rfind("): ");
  const std::string_view function =
      colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 3);
  if (contains(name, "torch/optim/") || contains(name, "torch/nn/utils/clip_grad.py")) {
    return say(Phase::update, PhaseEvidence::python_frame);
  }
  // Not scale(): that multiplies the loss, before the backward.
  if (contains(name, "amp/grad_scaler.py") &&
      (function == "step" || function == "update" || contains(function, "unscale"))) {
    return say(Phase::update, PhaseEvidence::python_frame);
  }
  if (contains(name, "torch/utils/data/")) {
    return say(Phase::data_loading, PhaseEvidence::python_frame);
  }
  const bool calls_engine = (contains(name, "torch/_tensor.py") && function == "backward") ||
                            (contains(name, "torch/autograd/__init__.py") &&
                             (function == "backward" || function == "grad")) ||
                            function == "_engine_run_backward";
  return calls_engine ? say(Phase::backward, PhaseEvidence::python_frame) : NameMeaning{};
}

/// Kernels that communicate by themselves, without a library's collective around them.
bool is_device_initiated(std::string_view name) {
  if (name.starts_with("triton_")) {
    return false;  // compiled kernels are named after all operators around them
  }
  // DeepEP (its layout kernels count tokens and send nothing), pplx-kernels, NVSHMEM, MSCCL++.
  if (contains(name, "deep_ep::")) {
    return contains_any(name, {"dispatch", "combine", "notify"}) && !contains(name, "layout");
  }
  // Symmetric memory of PyTorch, and the all-reduce that vLLM, SGLang and TensorRT-LLM share.
  return contains_any(name, {"nvshmem", "mscclpp", "pplx::", "AllToAllDispatch", "AllToAllCombine",
                             "symmetric_memory::", "symm_mem", "one_shot_all_reduce",
                             "two_shot_all_reduce", "multimem_all_reduce", "multimem_one_shot",
                             "multimem_all_gather", "cross_device_reduce_"});
}

bool is_collective_kernel(std::string_view name) {
  return starts_with_any(name, {"nccl", "rccl", "void nccl"}) ||
         contains_any(name, {"ncclKernel", "ncclDevKernel"}) || is_device_initiated(name);
}

std::string module_of(EventKind kind, std::string_view name) {
  constexpr std::string_view module_frame = "nn.Module: ";
  if (kind == EventKind::python_function) {
    return name.starts_with(module_frame) ? std::string(name.substr(module_frame.size()))
                                          : std::string{};
  }
  if (kind != EventKind::user_annotation && kind != EventKind::cpu_op) return {};
  return contains(name, "::") && kind == EventKind::cpu_op ? std::string{} : module_of_range(name);
}

std::int64_t step_number(std::string_view name) {
  const std::size_t mark = name.rfind('#');
  std::int64_t number = -1;
  if (mark == std::string_view::npos) return number;
  std::from_chars(name.data() + mark + 1, name.data() + name.size(), number);
  return number;
}

NameMeanings::NameMeanings(const EventTable& events)
    : events_(&events),
      meanings_(1),
      operators_(events.names.size(), 0),
      annotations_(events.names.size(), 0),
      frames_(events.names.size(), 0) {}

NameMeaning NameMeanings::operator()(EventId event) {
  const EventKind kind = events_->kind[index(event)];
  const std::size_t name = index(events_->name[index(event)]);
  const bool is_annotation =
      kind == EventKind::user_annotation || kind == EventKind::gpu_annotation;
  if (!is_annotation && kind != EventKind::cpu_op && kind != EventKind::python_function) {
    return meanings_.front();
  }
  std::uint32_t& known = is_annotation               ? annotations_[name]
                         : kind == EventKind::cpu_op ? operators_[name]
                                                     : frames_[name];
  if (known == 0) {
    const std::string_view text = events_->name_of(event);
    known = static_cast<std::uint32_t>(meanings_.size());
    meanings_.push_back(is_annotation               ? meaning_of_annotation(text)
                        : kind == EventKind::cpu_op ? meaning_of_operator(text)
                                                    : meaning_of_frame(text));
  }
  return meanings_[known];
}

}  // namespace foretrace::trace
