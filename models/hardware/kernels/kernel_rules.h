// How kernel names are read: patterns -> class, precision, library and tile, from configs/kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/kernels/kernel_class.h"
#include "sim/core/result.h"

namespace foretrace {

/// The tile of a product that one block works on.
struct KernelTile {
  double m = 0;
  double n = 0;
  bool one_block_per_tile = false;  ///< the grid has exactly one block for each
};

/// What a kernel's name alone tells.
struct NameFacts {
  bool known = false;  ///< some pattern fits; otherwise the operator's name decides
  KernelTraits traits;
  std::optional<KernelTile> tile;
};

/// One text of a config: its name for messages and its content.
struct RuleText {
  std::string_view name;
  std::string_view text;
};

/// Patterns of every library in the order in which they are tried.
class KernelRules {
 public:
  /// Errors name the text, the JSON pointer and the nearest valid word.
  [[nodiscard]] static Result<KernelRules> parse(std::span<const RuleText> texts);

  [[nodiscard]] NameFacts facts(std::string_view kernel_name) const;
  /// Facts of the name, completed by the operator that launched it and the types of its inputs.
  [[nodiscard]] KernelTraits complete(const NameFacts& facts, const KernelText& text) const;

 private:
  struct Pattern {
    int stage = 0;
    std::string part;
    KernelTraits traits;
  };
  struct Spelling {
    std::string part;
    std::vector<std::string> with;  ///< one of these must be there too; empty: nothing more
    Precision precision = Precision::unknown;
  };
  struct Letters {
    std::string mark;
    std::size_t offset = 0;
    std::vector<std::pair<char, Precision>> letters;
  };
  struct TileRule {
    std::vector<std::string> marks;
    std::string needs;
    std::vector<std::string> without;
    std::string prefix;
    bool one_block_per_tile = false;
  };
  struct Mark {
    int order = 0;
    std::string part;
    std::string_view library;
  };
  struct Reader;

  [[nodiscard]] Precision precision_of(std::string_view lower) const;
  [[nodiscard]] std::optional<KernelTile> tile_of(std::string_view lower) const;

  std::vector<Pattern> names_;
  std::vector<Pattern> operators_;
  std::vector<Letters> letters_;
  std::vector<Spelling> precisions_;
  std::vector<Spelling> words_;
  std::vector<Spelling> last_;
  std::vector<Spelling> types_;
  std::vector<TileRule> tiles_;
  std::vector<Mark> marks_;
  std::vector<std::string> fp32_names_;
  std::vector<std::string> fp32_operators_;
};

/// The rules of configs/kernels as they were when the library was built.
[[nodiscard]] const KernelRules& kernel_rules();
/// Texts of the files that the library was built with.
[[nodiscard]] std::span<const RuleText> built_in_kernel_rules();

}  // namespace foretrace
