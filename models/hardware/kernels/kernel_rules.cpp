// Matches names against the rules. Every name is looked at once per run, however often it occurs.
#include "models/hardware/kernels/kernel_rules.h"

#include <algorithm>
#include <bitset>

namespace foretrace {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A text that is searched for many parts: most of them hold a pair of letters that it does not.
class Searched {
 public:
  explicit Searched(std::string_view text) : text_(text) {
    for (std::size_t i = 1; i < text.size(); ++i) pairs_.set(pair_at(text, i));
  }
  [[nodiscard]] bool has(std::string_view part) const {
    for (std::size_t i = 1; i < part.size(); ++i) {
      if (!pairs_.test(pair_at(part, i))) return false;
    }
    return text_.find(part) != std::string_view::npos;
  }

 private:
  // Different pairs may share a number.
  static std::size_t pair_at(std::string_view text, std::size_t i) {
    return (static_cast<std::size_t>(text[i - 1]) & 63U) << 6U |
           (static_cast<std::size_t>(text[i]) & 63U);
  }

  std::string_view text_;
  std::bitset<4096> pairs_;
};

bool has_any(std::string_view text, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return has(text, part); });
}

// The spelling that stands first in the text.
template <typename Spellings>
Precision earliest(const Spellings& spellings, std::string_view text) {
  std::size_t best = std::string_view::npos;
  Precision precision = Precision::unknown;
  for (const auto& spelling : spellings) {
    const std::size_t at = text.find(spelling.part);
    if (at >= best) continue;
    best = at;
    precision = spelling.precision;
  }
  return precision;
}

// At most four digits from `at`; moves past them.
std::optional<int> number_at(std::string_view text, std::size_t& at) {
  int value = 0;
  const std::size_t begin = at;
  while (at < text.size() && at < begin + 4 && text[at] >= '0' && text[at] <= '9') {
    value = value * 10 + (text[at++] - '0');
  }
  return at == begin ? std::nullopt : std::optional(value);
}

// "<number>x<number>" right after the first prefix that it follows.
std::optional<std::pair<int, int>> numbers_after(std::string_view text, std::string_view prefix) {
  for (std::size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    std::size_t next = at + prefix.size();
    const auto first = number_at(text, next);
    if (!first || next >= text.size() || text[next] != 'x') continue;
    const auto second = number_at(text, ++next);
    if (second) return std::pair{*first, *second};
  }
  return std::nullopt;
}

}  // namespace

Precision KernelRules::precision_of(std::string_view lower) const {
  for (const Letters& rule : letters_) {
    const std::size_t at = lower.find(rule.mark);
    if (at == std::string_view::npos || lower.size() <= at + rule.offset) continue;
    for (const auto& [letter, precision] : rule.letters) {
      if (lower[at + rule.offset] == letter) return precision;
    }
  }
  for (const Spelling& spelling : precisions_) {
    if (!has(lower, spelling.part)) continue;
    if (spelling.with.empty() || has_any(lower, spelling.with)) return spelling.precision;
  }
  if (const Precision word = earliest(words_, lower); word != Precision::unknown) return word;
  return earliest(last_, lower);
}

std::optional<KernelTile> KernelRules::tile_of(std::string_view lower) const {
  constexpr int smallest = 16;
  constexpr int largest = 512;
  for (const TileRule& rule : tiles_) {
    if (!has_any(lower, rule.marks) || !has(lower, rule.needs) || has_any(lower, rule.without)) {
      continue;
    }
    const auto sizes = numbers_after(lower, rule.prefix);
    if (!sizes) continue;
    const auto [m, n] = *sizes;
    if (m < smallest || m > largest || n < smallest || n > largest) return std::nullopt;
    return KernelTile{static_cast<double>(m), static_cast<double>(n), rule.one_block_per_tile};
  }
  return std::nullopt;
}

NameFacts KernelRules::facts(std::string_view kernel_name) const {
  const std::string lower = lower_case(kernel_name);
  const Searched name(lower);
  NameFacts facts;
  const auto pattern = std::find_if(names_.begin(), names_.end(), [&](const Pattern& candidate) {
    return name.has(candidate.part);
  });
  if (pattern != names_.end()) {
    facts.known = true;
    facts.traits = pattern->traits;
  }
  facts.traits.precision = precision_of(lower);
  facts.traits.keeps_fp32 =
      facts.traits.keeps_fp32 ||
      (facts.traits.kernel_class != KernelClass::normalization && has_any(lower, fp32_names_));
  const auto mark = std::find_if(marks_.begin(), marks_.end(),
                                 [&](const Mark& candidate) { return name.has(candidate.part); });
  if (mark != marks_.end()) facts.traits.library = mark->library;
  facts.tile = tile_of(lower);
  return facts;
}

KernelTraits KernelRules::complete(const NameFacts& facts, const KernelText& text) const {
  KernelTraits traits = facts.traits;
  if (!facts.known) {
    const auto pattern = std::find_if(
        operators_.begin(), operators_.end(),
        [&](const Pattern& candidate) { return has(text.operator_name, candidate.part); });
    if (pattern != operators_.end()) {
      traits.kernel_class = pattern->traits.kernel_class;
      traits.compute_bound = pattern->traits.compute_bound;
      traits.keeps_fp32 = traits.keeps_fp32 || pattern->traits.keeps_fp32;
    }
  }
  if (traits.kernel_class != KernelClass::normalization) {
    traits.keeps_fp32 = traits.keeps_fp32 || has_any(text.operator_name, fp32_operators_);
  }
  if (traits.precision == Precision::unknown) traits.precision = earliest(types_, text.types);
  return traits;
}

const KernelRules& kernel_rules() {
  static const KernelRules rules = [] {
    auto parsed = KernelRules::parse(built_in_kernel_rules());
    FORETRACE_CHECK(parsed.ok());  // a test reads every file that is built in
    return std::move(*parsed);
  }();
  return rules;
}

}  // namespace foretrace
