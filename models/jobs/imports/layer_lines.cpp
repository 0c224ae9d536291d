// Workload files of ASTRA-sim 1, which SimAI runs and AICB writes: a line per layer with its times
// and collectives.
//
//   HYBRID_TRANSFORMER model_parallel_NPU_group: 8        what is parallel, and over how many
//   2                                                     layers
//   name -1  1000 ALLGATHER 4096  900 REDUCESCATTER 4096  800 ALLREDUCE 8192  100
//            forward              gradient of the input   of the weights      update
//
// Read there by Workload::initialize_workload() and run by its iterate_...()
// (github.com/aliyun/SimAI: astra-sim-alibabacloud/astra-sim/workload/Workload.cc, Layer.cc; the
// same in the first version of github.com/astra-sim/astra-sim: astra-sim/workload/Workload.cc);
// written by workload_generator/SimAI_training_workload_generator.py (github.com/aliyun/aicb).
// Times are in ns, sizes in bytes; the update time is a delay behind each collective of the layer.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"
#include "sim/core/params.h"

namespace foretrace::model_imports::layer_lines_parts {
namespace {

constexpr double longest_ns = 1e15;
constexpr double most_bytes = 1e15;
constexpr double most_ranks = 1e6;
constexpr std::size_t most_lines = 1000000;
constexpr std::size_t columns = 12;

/// What a kind of parallelism sends, and when it waits.
struct Policy {
  std::string_view word;
  bool sends_forward;    ///< forward and for gradients of inputs, in the group of the model
  bool sends_gradients;  ///< of weights, in the group of the data
  /// The gradient of the weights is computed after the collective of the input's, not beside it.
  bool waits_at_once;
};
constexpr std::array<Policy, 7> policies = {{{"DATA", false, true, false},
                                             {"MODEL", true, false, false},
                                             {"HYBRID_DATA_MODEL", true, true, false},
                                             {"HYBRID_MODEL_DATA", true, true, false},
                                             {"HYBRID_TRANSFORMER", true, true, true},
                                             {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", true, true, true},
                                             {"HYBRID_CUSTOMIZED", true, true, false}}};

struct Kind {
  std::string_view word;
  CollectiveKind kind;
};
constexpr std::array<Kind, 5> kinds = {{{"ALLREDUCE", CollectiveKind::all_reduce},
                                        {"ALLGATHER", CollectiveKind::all_gather},
                                        {"REDUCESCATTER", CollectiveKind::reduce_scatter},
                                        {"ALLTOALL", CollectiveKind::all_to_all},
                                        {"NONE", CollectiveKind::none}}};

const Policy* policy_called(std::string_view word) {
  const auto* const found = std::find_if(policies.begin(), policies.end(),
                                         [word](const Policy& one) { return one.word == word; });
  return found == policies.end() ? nullptr : found;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

bool begins_so(std::string_view word) {
  return policy_called(word) != nullptr || word == "HYBRID_DLRM" ||
         word == "HYBRID_DLRM_ENHANCED" || word == "MICRO" || word == "DISTRIBUTED_INFERENCE";
}

bool recognizes(const ImportedFile& file) {
  const auto words = words_of(first_line(file.text));
  return !words.empty() && begins_so(words.front());
}

/// What the first line says.
struct Header {
  const Policy* policy = nullptr;
  RecordedGroups plan;
  bool is_aicb = false;  ///< written by AICB: with the size of every group
  std::uint32_t pipeline = 1;
  std::uint32_t checkpoints = 0;
};

class Reader {
 public:
  explicit Reader(const ImportedFile& file) : lines_(file) {}
  Result<ModelSpec> read();

 private:
  std::vector<std::string_view> next_line() { return words_of(lines_.next().value_or("")); }
  double whole(std::string_view word, std::string_view what, double most);
  void read_header();
  void read_layer(const std::vector<std::string_view>& words);
  Exchange exchange(std::string_view word, std::string_view size, Axis axis, bool sends);
  [[nodiscard]] const Policy* policy_of(const std::vector<std::string_view>& words);

  ImportedLines lines_;
  Header header_;
  LayeredSpec spec_;
  std::map<std::string, std::uint32_t, std::less<>> known_;  // group of a line that stood before
  bool has_broadcasts_ = false;
  bool has_dropped_sends_ = false;
};

double Reader::whole(std::string_view word, std::string_view what, double most) {
  const double value = lines_.number(what, word, most);
  if (value == std::floor(value)) return value;
  lines_.mistake(fmt::format("{}: got {}, expected a whole number", what, in_quotes(word)));
  return 0;
}

void Reader::read_header() {
  const auto words = next_line();
  header_.policy = policy_called(words.front());
  if (header_.policy == nullptr) {
    std::vector<std::string_view> known;
    known.reserve(std::size(policies));
    for (const Policy& policy : policies) known.push_back(policy.word);
    return lines_.mistake(fmt::format("parallelism: got {}{}, expected one of {}",
                                      in_quotes(words.front()), did_you_mean(words.front(), known),
                                      fmt::join(known, ", ")));
  }
  std::uint32_t all = 0;
  struct Size {
    std::string_view key;
    std::uint32_t* out;
  };
  std::uint32_t expert = 0;
  std::uint32_t unused = 0;
  const std::array sizes = {Size{"model_parallel_NPU_group:", &header_.plan.tensor},
                            Size{"ep:", &expert},
                            Size{"pp:", &header_.pipeline},
                            Size{"vpp:", &unused},
                            Size{"ga:", &unused},
                            Size{"all_gpus:", &all},
                            Size{"checkpoints:", &header_.checkpoints}};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    for (const Size& size : sizes) {
      if (words[i] != size.key) continue;
      *size.out = static_cast<std::uint32_t>(whole(words[i + 1], size.key, most_ranks));
      header_.is_aicb = header_.is_aicb || size.out == &expert || size.out == &all;
    }
  }
  header_.plan.expert = expert;
  const std::uint64_t part =
      std::uint64_t{std::max(1U, header_.plan.tensor)} * std::max(1U, header_.pipeline);
  if (all % part != 0) {
    return lines_.mistake(
        fmt::format("all_gpus: got {}, expected a multiple of the {} of "
                    "model_parallel_NPU_group x pp",
                    all, part));
  }
  header_.plan.data = static_cast<std::uint32_t>(all / part);
  if (header_.pipeline > 1) {
    lines_.mistake(
        fmt::format("pp: got {}, expected 1: the lines describe one stage for all micro-batches, "
                    "and not the others",
                    header_.pipeline));
  }
}

Exchange Reader::exchange(std::string_view word, std::string_view size, Axis axis, bool sends) {
  Exchange made;
  made.axis = axis;
  const double bytes = lines_.number("size of a collective", size, most_bytes);
  std::string_view name = word;
  if (name.ends_with("_DP_EP")) {
    name.remove_suffix(6);
    if (axis != Axis::data) {
      lines_.mistake(
          fmt::format("collective: got {} of activations, expected copies of experts to "
                      "exchange gradients alone",
                      in_quotes(word)));
    }
  } else if (name.ends_with("_EP")) {
    name.remove_suffix(3);
    made.axis = Axis::expert;
  }
  if (name == "BROADCAST") {  // the readers know no such word and send nothing
    has_broadcasts_ = true;
    return {};
  }
  const auto* const kind = std::find_if(kinds.begin(), kinds.end(),
                                        [name](const Kind& one) { return one.word == name; });
  if (kind == kinds.end()) {
    std::vector<std::string_view> known;
    known.reserve(std::size(kinds));
    for (const Kind& one : kinds) known.push_back(one.word);
    lines_.mistake(
        fmt::format("collective: got {}{}, expected one of {}, with _EP or _DP_EP behind it",
                    in_quotes(word), did_you_mean(name, known), fmt::join(known, ", ")));
    return {};
  }
  if (kind->kind == CollectiveKind::none || !(bytes > 0)) return {};
  if (!sends) {
    has_dropped_sends_ = true;
    return {};
  }
  made.kind = kind->kind;
  made.bytes = bytes;
  // A ring of ASTRA-sim gathers what each rank gives; SimAI's NCCL has the whole in mind.
  made.is_part = made.kind == CollectiveKind::all_gather && !header_.is_aicb;
  return made;
}

const Policy* Reader::policy_of(const std::vector<std::string_view>& words) {
  if (header_.policy->word != "HYBRID_CUSTOMIZED") return header_.policy;
  const Policy* const own = words.size() > columns ? policy_called(words[columns]) : nullptr;
  if (own != nullptr && own->word != "HYBRID_CUSTOMIZED") return own;
  lines_.mistake(
      fmt::format("parallelism of the layer: got {}, expected one of DATA, MODEL, "
                  "HYBRID_DATA_MODEL, HYBRID_MODEL_DATA",
                  words.size() > columns ? in_quotes(words[columns]) : "none"));
  return header_.policy;
}

void Reader::read_layer(const std::vector<std::string_view>& words) {
  if (words.size() < columns) {
    return lines_.mistake(
        fmt::format("got {} words, expected the {} of a layer", words.size(), columns));
  }
  const Policy* const policy = policy_of(words);
  std::string key;
  for (const std::string_view word : words) key.append(word).append(" ");
  // Of the first layer nobody waits for the gradient of its input.
  const bool sends_input = policy->sends_forward && (policy->waits_at_once || !spec_.order.empty());
  if (!sends_input) key += "first";
  const auto [known, is_new] = known_.emplace(key, static_cast<std::uint32_t>(spec_.groups.size()));
  if (!spec_.order.empty() && spec_.order.back().block == known->second) {
    ++spec_.order.back().count;
  } else {
    spec_.order.push_back({known->second, 1});
  }
  if (!is_new) return;
  LayerOperator layer;
  layer.kind = LayerKind::recorded;
  layer.name = words[0];
  layer.recorded = {lines_.number("forward time", words[2], longest_ns),
                    lines_.number("time of the input's gradient", words[5], longest_ns),
                    lines_.number("time of the weights' gradient", words[8], longest_ns)};
  RecordedExchanges& sent = layer.exchanges;
  sent.forward = exchange(words[3], words[4], Axis::tensor, policy->sends_forward);
  sent.input_gradient = exchange(words[6], words[7], Axis::tensor, sends_input);
  sent.gradients = exchange(words[9], words[10], Axis::data, policy->sends_gradients);
  sent.gradients.among_expert_copies = words[9].ends_with("_DP_EP");
  if (!policy->waits_at_once) sent.input_gradient.overlap = Overlap::weights;
  const double update = lines_.number("update time", words[11], longest_ns);
  for (Exchange* one : {&sent.forward, &sent.input_gradient, &sent.gradients}) {
    one->delay_ns = update;
  }
  spec_.groups.push_back({layer.name, 1, {layer}});
}

Result<ModelSpec> Reader::read() {
  read_header();
  if (lines_.ok()) {
    const auto words = next_line();
    const double count = words.size() == 1 ? whole(words[0], "number of layers", most_lines) : 0;
    if (count < 1) {
      lines_.mistake("number of layers: got none, expected a line with a whole number from 1 on");
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) && lines_.ok(); ++i) {
      const auto line = next_line();
      if (line.empty()) {
        lines_.mistake(fmt::format("got the end after {} layers, expected {}", i, words[0]));
      } else {
        read_layer(line);
      }
    }
  }
  if (!lines_.ok()) return lines_.error();
  ModelSpec model;
  model.source = "workload file of ASTRA-sim 1, SimAI or AICB";
  if (header_.checkpoints > 0) {
    model.notes.emplace_back(
        "checkpoints of the first line are ignored: no forward pass is repeated");
  }
  if (header_.policy->word == "HYBRID_MODEL_DATA") {
    model.notes.emplace_back(
        "HYBRID_MODEL_DATA has the ranks of the data next to each other; here "
        "those of the model are, as everywhere");
  }
  if (has_broadcasts_) {
    model.notes.emplace_back("BROADCAST sends nothing, as in SimAI, whose reader has no such word");
  }
  if (has_dropped_sends_) {
    model.notes.emplace_back(
        fmt::format("collectives that {} does not involve are left out, as in "
                    "ASTRA-sim",
                    header_.policy->word));
  }
  if (!header_.is_aicb) {
    model.notes.emplace_back(
        "the size of an all-gather is what one rank contributes, as in ASTRA-sim");
  }
  spec_.recorded = header_.plan;
  model.transformer = layered_model(std::move(spec_), 0);
  return model;
}

Result<ModelSpec> read(const ImportedFile& file) { return Reader(file).read(); }

}  // namespace

extern constexpr ModelImport info = {
    "layer_lines", "workload files of ASTRA-sim 1, SimAI and AICB",
    "github.com/aliyun/SimAI: astra-sim-alibabacloud/astra-sim/workload/Workload.cc", recognizes,
    read};

}  // namespace foretrace::model_imports::layer_lines_parts
