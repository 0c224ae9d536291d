#include "models/jobs/times/evidence.h"

#include <algorithm>

namespace foretrace {

MeasuredKind measured_kind(const TransformerSpec& model, Pass pass) {
  switch (pass) {
    case Pass::prefill: return MeasuredKind::prompts;
    case Pass::decode: return MeasuredKind::decoding;
    case Pass::training: break;
  }
  return model.experts.count > 0 ? MeasuredKind::expert_training : MeasuredKind::training;
}

std::optional<EvidenceRange> evidence_range(const Framework& framework, MeasuredKind kind,
                                            std::string_view accelerator, std::uint32_t ranks) {
  const double stated =
      kind == MeasuredKind::expert_training ? framework.expert_step_error : framework.step_error;
  if (stated >= 0 && kind != MeasuredKind::memory) {
    return EvidenceRange{{1, 1 / (1 + stated), 1 + stated}, "step_error of the framework's file"};
  }
  if (framework.evidence == nullptr) return std::nullopt;
  return evidence_range(framework.evidence->of(kind), {framework.name, accelerator, ranks});
}

std::vector<std::string> measured_on(const Framework& framework, MeasuredKind kind,
                                     std::string_view accelerator) {
  std::vector<const EvidenceFamily*> measured;
  if (framework.evidence == nullptr) return {};
  for (const EvidenceFamily& family : framework.evidence->of(kind).families) {
    if (family.second == accelerator) measured.push_back(&family);
  }
  std::stable_sort(measured.begin(), measured.end(),
                   [](const EvidenceFamily* a, const EvidenceFamily* b) {
                     return a->factor.high / a->factor.low < b->factor.high / b->factor.low;
                   });
  std::vector<std::string> names;
  for (const EvidenceFamily* family : measured) names.push_back(family->first);
  return names;
}

}  // namespace foretrace
