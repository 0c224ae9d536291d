// The text of a what-if, "NAME[:key=value,...]" or a JSON file, and what it means.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/whatifs/what_if.h"
#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/core/settings_text.h"

namespace foretrace {

struct ConfigValue;

/// A what-if as it was written.
using WhatIfSpec = NamedSettings;

/// parse_named_settings() of a what-if.
[[nodiscard]] Result<WhatIfSpec> parse_what_if(std::string_view text);

/// A file with {"optimization": NAME, "parameters": {key: value, ...}}, or {"edits": [...]} of
/// {"select": ..., PRIMITIVE: ...}, each a what-if `edit`; or an array of them, or {"apply":
/// [...]}. Errors give the file and the JSON pointer.
[[nodiscard]] Result<std::vector<WhatIfSpec>> read_what_ifs(const std::string& path);
/// The same from text; `where` is put before messages.
[[nodiscard]] Result<std::vector<WhatIfSpec>> parse_what_ifs_json(std::string_view text,
                                                                  const std::string& where);
/// The same from a value that stands at `pointer` of a document: also a what-if as text, and null,
/// which is none. What it holds is added to `specs`.
[[nodiscard]] Status add_what_ifs(const ConfigValue& value, const std::string& where,
                                  const std::string& pointer, std::vector<WhatIfSpec>& specs);

/// A list that parse_what_ifs_json() reads to the same what-ifs.
[[nodiscard]] std::string what_ifs_json(std::span<const WhatIfSpec> specs);

/// Every what-if of a list in order: as text, as JSON, or "@FILE".
[[nodiscard]] Result<std::vector<WhatIfSpec>> parse_stack(
    const std::vector<std::string>& arguments);

/// What --accelerator NAME means: the what-if that moves the run to that product.
[[nodiscard]] WhatIfSpec swap_to(const std::string& accelerator);
/// What --parallel TEXT --cluster NAME means: "data=64,zero=1", or "recorded" for the groups that
/// the trace has. Without a cluster it is the usual machine of the recorded accelerator.
[[nodiscard]] Result<WhatIfSpec> spread_over(const std::string& parallel,
                                             const std::string& cluster);
/// The what-if that makes the batch of every pass `factor` times as large.
[[nodiscard]] WhatIfSpec resize_batch(double factor);

/// The what-if of this name; an error names the nearest one.
[[nodiscard]] Result<const WhatIfInfo*> find_what_if(std::string_view name);

/// A what-if with checked parameters.
struct WhatIf {
  const WhatIfInfo* info = nullptr;
  ParamValues parameters;
};
[[nodiscard]] Result<WhatIf> check_what_if(const WhatIfSpec& spec);
/// True if one of the two declares that it acts on the same thing as the other.
[[nodiscard]] bool in_conflict(const WhatIfInfo& a, const WhatIfInfo& b);
/// Errors: also a what-if that is applied twice to the same tasks, and two in conflict: the second
/// would take what the first did for recorded.
[[nodiscard]] Result<std::vector<WhatIf>> check_stack(std::span<const WhatIfSpec> specs);
/// In the order in which they are applied, whatever order they were given in: by stage, then by
/// name; several of one name stay in the order given.
[[nodiscard]] std::vector<WhatIf> in_order(std::span<const WhatIf> stack);
/// Whether `a` is applied before `b`.
[[nodiscard]] bool comes_before(const WhatIfInfo& a, const WhatIfInfo& b);

/// parse_stack(), checked.
[[nodiscard]] Result<std::vector<WhatIf>> stack_of(const std::vector<std::string>& arguments);

}  // namespace foretrace
