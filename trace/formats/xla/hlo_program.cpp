#include "trace/formats/xla/hlo_program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>

#include "sim/core/text.h"
#include "trace/formats/xla/hlo_work.h"

namespace foretrace::trace::formats {
namespace {

constexpr int deepest_call = 8;
// XLA gives each call a computation of its own (FlattenCallGraph): all of a module runs about once.
constexpr std::size_t most_runs = 4;
// Fusions are small, and their roots come last.
constexpr std::size_t most_scopes = 64;

/// What is no work of the device.
bool is_nothing(std::string_view opcode) {
  constexpr std::array nothing = {"parameter",         "constant",    "tuple",
                                  "get-tuple-element", "bitcast",     "after-all",
                                  "add-dependency",    "opt-barrier", "partition-id",
                                  "replica-id",        "iota-token"};
  return std::find(nothing.begin(), nothing.end(), opcode) != nothing.end();
}

bool contains_steps(std::string_view opcode) {
  return opcode == "call" || opcode == "while" || opcode == "conditional";
}

/// A fusion whose result is a piece or another place of its operand.
bool is_copy(const HloModule& module, const HloInstruction& instruction) {
  const auto copies = [](std::string_view opcode) {
    return opcode == "copy" || opcode == "slice" || opcode == "dynamic-slice" ||
           opcode == "dynamic-update-slice" || opcode == "copy-start";
  };
  if (copies(instruction.opcode)) return true;
  if (instruction.opcode != "fusion" || instruction.called.empty()) return false;
  const HloComputation* const inner = module.find(instruction.called.front());
  const HloInstruction* root = inner == nullptr ? nullptr : inner->find(inner->root);
  for (int i = 0; i < deepest_call && root != nullptr && root->opcode == "bitcast"; ++i) {
    root = root->operands.empty() ? nullptr : inner->find(root->operands.front());
  }
  return root != nullptr && copies(root->opcode);
}

bool is_in(const std::unordered_set<const HloInstruction*>& set, const HloComputation& computation,
           const HloInstruction& instruction) {
  return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                     [&](std::uint64_t id) { return set.contains(computation.find(id)); });
}

/// An entry of a schedule is looked at with what its instruction reads and calls.
std::size_t entry_size(const HloInstruction* instruction) {
  return 1 +
         (instruction == nullptr ? 0 : instruction->operands.size() + instruction->called.size());
}

std::size_t size_of(const HloModule& module) {
  std::size_t size = 0;
  for (const auto& [id, computation] : module.computations) {
    size += computation.schedule.size();
    for (const HloInstruction& one : computation.instructions) size += entry_size(&one);
  }
  return size;
}

}  // namespace

std::string_view to_string(HloPhase phase) {
  switch (phase) {
    case HloPhase::unknown: return "";
    case HloPhase::forward: return "forward";
    case HloPhase::backward: return "backward";
    case HloPhase::update: return "update";
  }
  return "";
}

HloPhase phase_of_scope(std::string_view op_name) {
  if (contains(op_name, "transpose(")) return HloPhase::backward;
  return contains(op_name, "jvp(") ? HloPhase::forward : HloPhase::unknown;
}

std::string kernel_name_of(std::string_view instruction) {
  std::string name(instruction);
  for (char& c : name) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_word) c = '_';
  }
  return name;
}

std::string_view without_number(std::string_view kernel_name) {
  const std::size_t last = kernel_name.find_last_not_of("0123456789");
  const bool has_number = last != std::string_view::npos && last + 1 < kernel_name.size() &&
                          kernel_name[last] == '_' && last > 0;
  return has_number ? kernel_name.substr(0, last) : kernel_name;
}

HloProgram::HloProgram(HloModule module) : module_(std::move(module)) {
  if (const HloComputation* const entry = module_.find(module_.entry)) {
    left_ = most_runs * size_of(module_);
    HloProducts products(module_);
    schedule(*entry, products, deepest_call);
  }
  settle_passes();
}

/// XLA moves small work between the passes: zeros of a gradient ahead of the loss, a transpose of
/// the forward pass to where the backward pass needs it. A pass is where its products are.
void HloProgram::settle_passes() {
  const auto last_forward = std::find_if(steps_.rbegin(), steps_.rend(), [](const Step& step) {
    return step.known->is_product && step.phase == HloPhase::forward;
  });
  const auto first_backward = std::find_if(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.known->is_product && step.phase == HloPhase::backward;
  });
  if (last_forward == steps_.rend() || first_backward == steps_.end()) return;
  // Several losses, or parts of a batch in turn: no one place is between the passes.
  if (first_backward < last_forward.base()) return;
  auto left = std::distance(last_forward, steps_.rend());  // up to the last product of the forward
  bool is_forward = true;
  for (Step& step : steps_) {
    const bool before = left-- > 0;
    if (!before && step.phase == HloPhase::backward) is_forward = false;
    if (step.known->is_product) continue;
    if (before && step.phase == HloPhase::backward) step.phase = HloPhase::forward;
    if (!is_forward && step.phase == HloPhase::forward) step.phase = HloPhase::backward;
  }
}

std::size_t HloProgram::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? npos : found->second;
}

/// Scopes of what was fused stand for those of a fusion that has none, and the product's for all.
std::string_view HloProgram::scope_of(const HloInstruction& instruction) const {
  if (!instruction.op_name.empty() || instruction.called.empty()) return instruction.op_name;
  const HloComputation* const inner = module_.find(instruction.called.front());
  if (inner == nullptr) return {};
  const std::size_t size = inner->instructions.size();
  for (std::size_t i = 0; i < std::min(size, most_scopes); ++i) {
    const HloInstruction& at = inner->instructions[size - 1 - i];
    if (!at.op_name.empty()) return at.op_name;
  }
  return {};
}

/// Called first where the first step of the instruction will be.
const HloProgram::Known& HloProgram::known(HloPlace place, HloProducts& products) {
  const HloInstruction& at = *place.instruction;
  const auto [found, is_new] = known_.try_emplace(&at);
  Known& made = found->second;
  if (!is_new) return made;
  const std::string kernel = kernel_name_of(at.name);
  by_name_.emplace(std::string(at.name), steps_.size());
  by_name_.emplace(kernel, steps_.size());
  const HloPlace product = products.in(place);
  const std::string_view scope = scope_of(at);
  const bool has_own = product.instruction != nullptr && !product.instruction->op_name.empty();
  const HloWork work = work_of(module_, place, product, scope);
  made.kind = text(without_number(kernel));
  made.operator_name = text(work.operator_name);
  made.dims = text(work.dims);
  made.types = text(work.types);
  made.flops = work.flops;
  made.phase = phase_of_scope(has_own ? product.instruction->op_name : scope);
  made.has_scope = !scope.empty();
  made.is_product = product.instruction != nullptr;
  made.is_call = is_library_call(at);
  made.is_copy = is_copy(module_, at);
  return made;
}

/// In the order of execution. What the program does beside both passes, with what the backward pass
/// made, is the update.
void HloProgram::schedule(const HloComputation& computation, HloProducts& products, int depth) {
  std::unordered_set<const HloInstruction*> behind;  // what depends on the backward pass
  for (const std::uint64_t id : computation.schedule) {
    const HloInstruction* const instruction = computation.find(id);
    is_cut_ = is_cut_ || left_ < entry_size(instruction);
    if (is_cut_) return;
    left_ -= entry_size(instruction);
    if (instruction == nullptr) continue;
    const bool is_behind = is_in(behind, computation, *instruction);
    if (is_behind) behind.insert(instruction);
    if (is_nothing(instruction->opcode)) continue;
    if (contains_steps(instruction->opcode)) {
      for (const std::uint64_t called : instruction->called) {
        const HloComputation* const inner = module_.find(called);
        if (inner != nullptr && depth > 0) schedule(*inner, products, depth - 1);
      }
      continue;
    }
    Step step;
    step.known = &known({&computation, instruction}, products);
    step.phase = step.known->phase;
    if (step.phase == HloPhase::unknown && is_behind) {
      step.phase = step.known->has_scope || steps_.empty() ? HloPhase::update : steps_.back().phase;
    }
    if (step.phase == HloPhase::backward) behind.insert(instruction);
    steps_.push_back(step);
  }
}

}  // namespace foretrace::trace::formats
