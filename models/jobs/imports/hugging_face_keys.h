// Reads members of a config.json and remembers which: what tells of layers and nobody reads is no
// model that we know.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// One object of a config.json. Of several names for one thing the first that is there counts.
class HubKeys {
 public:
  HubKeys(const ConfigValue& root, std::string where) : root_(&root), where_(std::move(where)) {}

  using Names = std::initializer_list<std::string_view>;
  /// A size from 0 to 1e9. What is there and none is the mistake of finish().
  [[nodiscard]] std::optional<double> size(Names names);
  [[nodiscard]] double size(Names names, double standard) { return size(names).value_or(standard); }
  [[nodiscard]] bool flag(std::string_view name, bool standard);
  /// Empty where it is missing or no text.
  [[nodiscard]] std::string text(Names names);
  /// Null where it is missing or of another kind.
  [[nodiscard]] const ConfigValue* list(std::string_view name);
  [[nodiscard]] const ConfigValue* object(std::string_view name);
  [[nodiscard]] const ConfigValue& root() const { return *root_; }
  [[nodiscard]] const std::string& where() const { return where_; }

  [[nodiscard]] Error wrong(std::string_view key, std::string_view what) const;
  /// The first mistake; else the first member that is not known and, by its name, says what layers
  /// consist of.
  [[nodiscard]] Status finish() const;

 private:
  const ConfigValue* find(std::string_view name);

  const ConfigValue* root_;
  std::string where_;
  std::vector<std::string_view> known_;
  std::optional<Error> mistake_;
};

}  // namespace foretrace
