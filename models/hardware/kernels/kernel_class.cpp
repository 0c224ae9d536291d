// Classes of kernels by the rules of configs/kernels.
#include "models/hardware/kernels/kernel_class.h"

#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>

#include "models/hardware/kernels/context_memo.h"
#include "models/hardware/kernels/kernel_rules.h"

namespace foretrace {
std::string_view to_string(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm: return "gemm";
    case KernelClass::convolution: return "convolution";
    case KernelClass::attention: return "attention";
    case KernelClass::normalization: return "normalization";
    case KernelClass::softmax: return "softmax";
    case KernelClass::elementwise: return "elementwise";
    case KernelClass::reduction: return "reduction";
    case KernelClass::gather: return "gather";
    case KernelClass::copy: return "copy";
    case KernelClass::optimizer: return "optimizer";
    case KernelClass::collective: return "collective";
    case KernelClass::other: return "other";
  }
  return "other";
}

namespace {

/// What the rules say of names, kept for all graphs: changed ones have the names of the recording.
/// Names beyond `most_bytes` in all are matched anew each time.
class KnownNames {
 public:
  [[nodiscard]] NameFacts facts(std::string_view name) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = facts_.find(name);
      if (found != facts_.end()) return found->second;
    }
    const NameFacts facts = kernel_rules().facts(name);
    const std::unique_lock lock(mutex_);
    if (bytes_ + name.size() <= most_bytes && facts_.emplace(name, facts).second) {
      bytes_ += name.size();
    }
    return facts;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{8} << 20U;

  std::shared_mutex mutex_;
  std::map<std::string, NameFacts, std::less<>> facts_;
  std::size_t bytes_ = 0;
};

NameFacts facts_of(std::string_view name) {
  static KnownNames known;
  return known.facts(name);
}

// Collectives and copies are known by what they are, whatever their names.
std::optional<KernelTraits> by_kind(TaskKind kind) {
  KernelTraits traits;
  if (kind == TaskKind::collective) {
    traits.kernel_class = KernelClass::collective;
    return traits;
  }
  if (kind != TaskKind::copy && kind != TaskKind::set) return std::nullopt;
  traits.kernel_class = KernelClass::copy;
  return traits;
}

}  // namespace

KernelTraits classify(const KernelText& text) {
  if (const auto traits = by_kind(text.kind)) return *traits;
  const KernelRules& rules = kernel_rules();
  return rules.complete(facts_of(text.name), text);
}

namespace {

std::vector<KernelTraits> classify_anew(const TaskGraph& graph) {
  const NameTable& names = graph.names();
  std::vector<KernelTraits> traits;
  traits.reserve(graph.context().works.size());
  // Works differ by shape and grid, but their names are few and long: each is matched once.
  const KernelRules& rules = kernel_rules();
  std::map<NameId, NameFacts> known_names;
  std::map<std::tuple<NameId, NameId, NameId, TaskKind>, KernelTraits> known;
  for (const Work& work : graph.context().works) {
    if (!is_device(work.kind)) {
      traits.emplace_back();
      continue;
    }
    const auto [at, is_new] =
        known.try_emplace({work.name, work.operator_name, work.types, work.kind});
    if (is_new) {
      const KernelText text{names[work.name], names[work.operator_name], names[work.types],
                            work.kind};
      const auto [facts, new_name] = known_names.try_emplace(work.name);
      if (new_name) facts->second = facts_of(text.name);
      at->second = by_kind(work.kind).value_or(rules.complete(facts->second, text));
    }
    traits.push_back(at->second);
    if (work.precision != Precision::unknown) traits.back().precision = work.precision;
  }
  return traits;
}

}  // namespace

std::vector<KernelTraits> classify_works(const TaskGraph& graph) {
  static ContextMemo<std::vector<KernelTraits>> memo;
  return *memo.get(graph.shared_context(), [&] { return classify_anew(graph); });
}

int bytes_per_number(Precision precision) {
  switch (precision) {
    case Precision::unknown: return 0;
    case Precision::fp64: return 8;
    case Precision::fp32:
    case Precision::tf32: return 4;
    case Precision::fp16:
    case Precision::bf16: return 2;
    case Precision::fp8:
    case Precision::int8: return 1;
  }
  return 0;
}

}  // namespace foretrace
