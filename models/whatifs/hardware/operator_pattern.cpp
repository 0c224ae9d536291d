#include "models/whatifs/hardware/operator_pattern.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr std::string_view schema = "foretrace.offload_patterns/1";
constexpr std::size_t most_patterns = 256;

OperatorPattern read_pattern(ConfigFields& fields) {
  OperatorPattern pattern;
  fields.text("name", pattern.name);
  std::vector<std::string> chain;
  fields.texts("chain", chain);
  if (fields.has("chain") && (chain.empty() || chain.size() > longest_chain)) {
    fields.mistake(
        "chain", fmt::format("got {} expressions, expected 1 to {}", chain.size(), longest_chain));
    chain.clear();
  }
  for (const std::string& expression : chain) {
    auto compiled = selecting::TextPattern::compile(expression);
    if (compiled.ok()) {
      pattern.chain.push_back(*std::move(compiled));
    } else {
      fields.mistake("chain", compiled.error().message);
    }
  }
  return pattern;
}

}  // namespace

Result<OperatorPatterns> OperatorPatterns::from(const ConfigValue& document,
                                                const std::string& where) {
  ConfigFields fields(document, where);
  std::string source;
  fields.text("source", source);
  OperatorPatterns found;
  const ConfigValue* list = fields.objects("patterns");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields inner(list->items[i], where,
                       fmt::format("{}/{}", fields.pointer_of("patterns"), i));
    found.patterns_.push_back(read_pattern(inner));
    fields.take(inner.finish());
  }
  if (list != nullptr && (list->items.empty() || list->items.size() > most_patterns)) {
    fields.mistake("patterns",
                   fmt::format("got {}, expected 1 to {}", list->items.size(), most_patterns));
  }
  FORETRACE_TRY(fields.finish());
  std::stable_sort(found.patterns_.begin(), found.patterns_.end(),
                   [](const OperatorPattern& a, const OperatorPattern& b) {
                     return a.chain.size() > b.chain.size();
                   });
  return found;
}

Result<OperatorPatterns> OperatorPatterns::find(const Catalogue& catalogue,
                                                const std::string& text) {
  if (text.starts_with('{')) {
    FORETRACE_TRY(auto document, parse_config_document(text, "the document", schema));
    return from(document, "the document");
  }
  FORETRACE_TRY(const auto document,
                catalogue.document({"list of patterns", "offload_patterns"}, text));
  return from(*document, text);
}

const OperatorPattern* OperatorPatterns::match(std::span<const std::string_view> names,
                                               const OperatorPattern* behind) const {
  const auto first =
      behind == nullptr ? 0 : static_cast<std::size_t>(behind + 1 - patterns_.data());
  for (const OperatorPattern& pattern : std::span(patterns_).subspan(first)) {
    if (pattern.chain.size() > names.size()) continue;
    const bool fits = std::equal(pattern.chain.begin(), pattern.chain.end(), names.begin(),
                                 [](const selecting::TextPattern& expression,
                                    std::string_view name) { return expression.found_in(name); });
    if (fits) return &pattern;
  }
  return nullptr;
}

}  // namespace foretrace
