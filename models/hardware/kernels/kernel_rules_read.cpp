// Reads the rules from their JSON texts.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hardware/kernels/kernel_rules.h"
#include "sim/core/config.h"

namespace foretrace {
namespace {

constexpr std::string_view kernels_schema = "foretrace.kernels/1";

int read_integer(ConfigFields& fields, std::string_view key) {
  double value = 0;
  fields.quantity(key, ParamType::integer, value);
  if (value >= 0 && value <= 1000) return static_cast<int>(value);
  fields.mistake(key, fmt::format("got {:g}, expected a whole number from 0 to 1000", value));
  return 0;
}

std::vector<std::string> optional_texts(ConfigFields& fields, std::string_view key) {
  std::vector<std::string> list;
  if (fields.has(key)) {
    fields.texts(key, list);
  } else {
    std::string none;
    fields.optional_text(key, none);
  }
  return list;
}

}  // namespace

// One text while it is read.
struct KernelRules::Reader {
  KernelRules& rules;
  ConfigFields& fields;

  // Every object of a list, each with its own fields.
  template <typename Take>
  void each(std::string_view key, Take take) {
    if (!fields.has(key)) {
      (void)fields.optional_object(key);
      return;
    }
    const ConfigValue* list = fields.objects(key);
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      ConfigFields inner(list->items[i], fields.file(),
                         fmt::format("{}/{}", fields.pointer_of(key), i));
      take(inner);
      fields.take(inner.finish());
    }
  }

  void patterns(std::string_view key, std::vector<Pattern>& out) {
    each(key, [&](ConfigFields& group) {
      Pattern pattern;
      pattern.stage = read_integer(group, "stage");
      group.word<KernelClass, kernel_class_count>("class", pattern.traits.kernel_class);
      group.optional_boolean("compute_bound", pattern.traits.compute_bound);
      group.optional_boolean("keeps_fp32", pattern.traits.keeps_fp32);
      std::vector<std::string> parts;
      group.texts("parts", parts);
      for (std::string& part : parts) {
        pattern.part = std::move(part);
        out.push_back(pattern);
      }
    });
  }

  void spellings(std::string_view key, std::vector<Spelling>& out) {
    each(key, [&](ConfigFields& group) {
      Spelling spelling;
      group.word<Precision, precision_count>("precision", spelling.precision);
      spelling.with = optional_texts(group, "with");
      std::vector<std::string> parts;
      group.texts("parts", parts);
      for (std::string& part : parts) {
        spelling.part = std::move(part);
        out.push_back(spelling);
      }
    });
  }

  void letters() {
    each("letters", [&](ConfigFields& group) {
      Letters rule;
      group.text("mark", rule.mark);
      rule.offset = static_cast<std::size_t>(read_integer(group, "offset"));
      const ConfigValue* letters = group.object("letters");
      if (letters == nullptr) return;
      ConfigFields inner(*letters, group.file(), group.pointer_of("letters"));
      for (const std::string& key : letters->keys) {
        Precision precision = Precision::unknown;
        inner.word<Precision, precision_count>(key, precision);
        if (key.size() != 1) inner.mistake(key, "expected a single letter");
        rule.letters.emplace_back(key.empty() ? ' ' : key.front(), precision);
      }
      group.take(inner.finish());
      rules.letters_.push_back(std::move(rule));
    });
  }

  void tiles() {
    each("tiles", [&](ConfigFields& group) {
      TileRule rule;
      group.texts("marks", rule.marks);
      group.optional_text("needs", rule.needs);
      rule.without = optional_texts(group, "without");
      group.text("prefix", rule.prefix);
      group.optional_boolean("one_block_per_tile", rule.one_block_per_tile);
      if (rule.prefix.empty()) group.mistake("prefix", "is empty");
      rules.tiles_.push_back(std::move(rule));
    });
  }

  // `library` must live as long as the rules: a part of the text that was built in.
  void all(std::string_view library) {
    const int order = read_integer(fields, "order");
    for (std::string& mark : optional_texts(fields, "marks")) {
      rules.marks_.push_back({order, std::move(mark), library});
    }
    patterns("groups", rules.names_);
    patterns("operators", rules.operators_);
    spellings("precisions", rules.precisions_);
    spellings("words", rules.words_);
    spellings("last", rules.last_);
    spellings("types", rules.types_);
    letters();
    tiles();
    for (std::string& part : optional_texts(fields, "keeps_fp32_names")) {
      rules.fp32_names_.push_back(std::move(part));
    }
    for (std::string& part : optional_texts(fields, "keeps_fp32_operators")) {
      rules.fp32_operators_.push_back(std::move(part));
    }
  }
};

Result<KernelRules> KernelRules::parse(std::span<const RuleText> texts) {
  KernelRules rules;
  for (const RuleText& text : texts) {
    const std::string where(text.name);
    FORETRACE_TRY(auto root, parse_config_document(text.text, where, kernels_schema));
    ConfigFields fields(root, where);
    std::string word;
    fields.text("schema", word);
    fields.text("source", word);
    fields.text("library", word);
    const std::size_t at = text.text.find('"' + word + '"');
    const std::string_view library =
        at == std::string_view::npos ? "" : text.text.substr(at + 1, word.size());
    Reader{rules, fields}.all(library);
    FORETRACE_TRY(fields.finish());
  }
  const auto by_stage = [](const Pattern& a, const Pattern& b) { return a.stage < b.stage; };
  std::stable_sort(rules.names_.begin(), rules.names_.end(), by_stage);
  std::stable_sort(rules.operators_.begin(), rules.operators_.end(), by_stage);
  std::stable_sort(rules.marks_.begin(), rules.marks_.end(),
                   [](const Mark& a, const Mark& b) { return a.order < b.order; });
  return rules;
}

}  // namespace foretrace
