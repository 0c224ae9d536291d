#include "trace/formats/xla/hlo_match.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/core/text.h"

namespace foretrace::trace::formats {
namespace {

// Instructions between two kernels of one graph that ran as nothing, or elsewhere.
constexpr std::size_t window = 64;

/// The program of each kernel that a graph launched; null for others.
using GraphPrograms = std::vector<const HloProgram*>;

/// One launch of a graph, along the steps of its program.
class Walk {
 public:
  Walk(const GraphPrograms& programs, const std::vector<HloKernel>& kernels, std::size_t first)
      : program_(*programs[first]), steps_(program_.steps()) {
    start(programs, kernels, first);
  }

  const HloProgram::Step* next(const HloKernel& kernel) {
    const std::size_t known = program_.find(kernel.name);
    if (known != HloProgram::npos) return generated(known);
    if (!placed_) return nullptr;
    const bool is_rest = contains_any(kernel.name, {"splitK", "split_k", "splitk"});
    if (at_ < steps_.size() && !is_rest) {
      const HloProgram::Step& step = steps_[at_];
      const bool copies = contains_any(kernel.name, {"memcpy", "Memcpy", "copyBuffer"});
      if (copies ? step.known->is_copy : step.known->is_call) return &steps_[at_++];
    }
    // Some calls of libraries launch several kernels.
    return at_ > 0 && steps_[at_ - 1].known->is_call ? &steps_[at_ - 1] : nullptr;
  }

 private:
  // The first generated kernel tells where the graph begins; calls before it are those right
  // before. Looks no further than the next walk begins, so that all walks look at a kernel once.
  void start(const GraphPrograms& programs, const std::vector<HloKernel>& kernels,
             std::size_t first) {
    std::size_t before = 0;
    for (std::size_t i = first; i < kernels.size(); ++i) {
      if (programs[i] == nullptr) continue;
      if (programs[i] != &program_ || kernels[i].launch != kernels[first].launch) return;
      const std::size_t known = program_.find(kernels[i].name);
      if (known == HloProgram::npos) {
        ++before;
        continue;
      }
      at_ = known;
      placed_ = true;
      while (before > 0 && at_ > 0 &&
             (steps_[at_ - 1].known->is_call || steps_[at_ - 1].known->is_copy)) {
        --before;
        --at_;
      }
      return;
    }
  }

  const HloProgram::Step* generated(std::size_t known) {
    const HloProgram::Step& named = steps_[known];
    const std::size_t end = std::min(steps_.size(), at_ + window);
    for (std::size_t i = at_; i < end; ++i) {
      if (!steps_[i].known->is_alike(*named.known)) continue;
      at_ = i + 1;
      return &steps_[i];
    }
    return &named;
  }

  const HloProgram& program_;
  const std::vector<HloProgram::Step>& steps_;
  std::size_t at_ = 0;
  bool placed_ = false;
};

}  // namespace

void HloPrograms::add(std::string_view name, std::int64_t number, HloProgram program) {
  if (number < 0) number = -1 - static_cast<std::int64_t>(by_number_.size());
  const auto [at, is_new] = by_number_.emplace(number, std::move(program));
  if (!is_new) return;
  const std::string plain(name.substr(0, name.rfind('(')));
  const auto [named, first] = by_name_.emplace(plain, Named{&at->second, at->first >= 0});
  if (!first) named->second.program = nullptr;
}

const HloProgram* HloPrograms::find(std::int64_t number, std::string_view name) const {
  if (number >= 0) {
    const auto found = by_number_.find(number);
    if (found != by_number_.end()) return &found->second;
  }
  const auto found = by_name_.find(name);
  // Another number is another compilation, with other shapes.
  const bool is_other = found != by_name_.end() && number >= 0 && found->second.has_number;
  return found == by_name_.end() || is_other ? nullptr : found->second.program;
}

std::vector<const HloProgram::Step*> match_kernels(const HloPrograms& programs,
                                                   const std::vector<HloKernel>& kernels) {
  std::vector<const HloProgram::Step*> steps(kernels.size(), nullptr);
  GraphPrograms of_graph(kernels.size(), nullptr);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const HloKernel& kernel = kernels[i];
    if (kernel.is_set) continue;
    const HloProgram* const program = programs.find(kernel.program, kernel.module);
    if (program == nullptr) continue;
    const std::size_t named = program->find(kernel.operation);
    if (named != HloProgram::npos) {
      steps[i] = &program->steps()[named];
    } else {
      of_graph[i] = program;
    }
  }
  std::optional<Walk> walk;
  std::pair<const HloProgram*, std::int64_t> walked{nullptr, 0};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (of_graph[i] == nullptr) continue;
    if (!walk || walked != std::pair(of_graph[i], kernels[i].launch)) {
      walk.emplace(of_graph, kernels, i);
      walked = {of_graph[i], kernels[i].launch};
    }
    steps[i] = walk->next(kernels[i]);
  }
  return steps;
}

}  // namespace foretrace::trace::formats
