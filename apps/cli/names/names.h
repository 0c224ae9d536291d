// Words that people use for what-ifs and accelerators, and the names that we have for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// "amp" is mixed_precision: the word itself if it is a name, else the one that it stands for in
/// configs/aliases.json. The error says what is nearest.
[[nodiscard]] Result<std::string> what_if_named(std::string_view word);

/// "NVIDIA H100 80GB HBM3" is h100_sxm, and so is "h100" where it is the only one: the name, what
/// traces call it, or the beginning of one name only. The error lists those that it may be. What is
/// none of this stays as it is: it may be a file.
[[nodiscard]] Result<std::string> accelerator_named(std::string_view word);

/// accelerator_named() of what --accelerator says; nothing stays nothing. Error: neither a name of
/// the catalogue nor a file.
[[nodiscard]] Result<std::string> accelerator_option(const std::string& word);

/// The same what-ifs by our names.
[[nodiscard]] Status resolve_names(std::vector<WhatIfSpec>& what_ifs);

/// Words of configs/aliases.json, for completion and tests.
struct Alias {
  std::string word;
  std::string name;
  std::string difference{};  ///< empty: they mean the same
};
[[nodiscard]] Result<std::vector<Alias>> what_if_aliases();

}  // namespace foretrace::app
