// What-ifs from JSON: by name, or as edits of tasks.
//
//   {"optimization": "mixed_precision", "parameters": {"loss_scaling": true}}
//   {"name": "faster attention", "edits": [{"select": "name~softmax", "scale": 0.5}]}
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/whatifs/edit_params.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/config.h"

namespace foretrace {
namespace {

// A what-if file is written by hand; more than this is a mistake of the path.
constexpr std::size_t largest_file = 1024UL * 1024;

constexpr std::string_view what_if_schema = "foretrace.what_if/1";

using Kind = ConfigValue::Kind;

class WhatIfReader {
 public:
  WhatIfReader(const std::string& where, std::vector<WhatIfSpec>& specs)
      : where_(where), specs_(specs) {}

  Status add(const ConfigValue& value, const std::string& pointer) {
    switch (value.kind) {
      case Kind::null: return ok_status();
      case Kind::text: {
        auto spec = parse_what_if(value.text);
        if (!spec.ok()) return wrong(pointer, spec.error().message);
        specs_.push_back(*std::move(spec));
        return ok_status();
      }
      case Kind::list:
        for (std::size_t i = 0; i < value.items.size(); ++i) {
          FORETRACE_TRY(add(value.items[i], fmt::format("{}/{}", pointer, i)));
        }
        return ok_status();
      case Kind::object:
        if (value.find("edits") != nullptr) return add_edits(value, pointer);
        if (value.find(edits::select_param.name) != nullptr) return add_edit(value, pointer, {});
        return add_named(value, pointer);
      case Kind::boolean:
      case Kind::number: break;
    }
    return wrong(pointer, fmt::format("{}, expected a what-if: its text, or an object with "
                                      "\"optimization\" and \"parameters\" or with \"edits\"",
                                      value.described()));
  }

 private:
  [[nodiscard]] Error wrong(const std::string& pointer, std::string_view what) const {
    return {ErrorCode::bad_config,
            fmt::format("{}: {}: {}", where_, pointer.empty() ? "/" : pointer, what)};
  }

  Status add_named(const ConfigValue& object, const std::string& pointer) {
    WhatIfSpec spec;
    ConfigFields fields(object, where_, pointer);
    check_schema(fields);
    fields.text("optimization", spec.name);
    (void)fields.optional_value("how_to");  // of the examples that ship: how_to.h reads it
    (void)fields.optional_value("edits");   // not here, but its name is near to what was meant
    if (const ConfigValue* parameters = fields.optional_object("parameters")) {
      fields.take(add_parameters(*parameters, fields.pointer_of("parameters"), spec));
    }
    specs_.push_back(std::move(spec));
    return fields.finish();
  }

  Status add_edits(const ConfigValue& object, const std::string& pointer) {
    ConfigFields fields(object, where_, pointer);
    check_schema(fields);
    std::string label;
    fields.optional_text("name", label);
    if (const ConfigValue* list = fields.objects("edits")) {
      if (list->items.empty()) fields.mistake("edits", "got an empty list, expected an edit");
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        const std::string here = fmt::format("{}/{}", fields.pointer_of("edits"), i);
        fields.take(add_edit(list->items[i], here, label));
      }
    }
    return fields.finish();
  }

  Status add_edit(const ConfigValue& object, const std::string& pointer, const std::string& label) {
    WhatIfSpec spec{std::string(edits::name), {}};
    std::vector<std::string_view> known;
    known.reserve(std::size(edits::params));
    for (const ParamInfo& row : edits::params) known.push_back(row.name);
    for (const std::string& key : object.keys) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      return wrong(fmt::format("{}/{}", pointer, key),
                   fmt::format("unknown key{}, expected one of {}", did_you_mean(key, known),
                               fmt::join(known, ", ")));
    }
    FORETRACE_TRY(add_parameters(object, pointer, spec));
    if (!label.empty() && object.find(edits::label_param.name) == nullptr) {
      spec.parameters.emplace_back(edits::label_param.name, label);
    }
    if (const auto checked = check_what_if(spec); !checked.ok()) {
      return wrong(pointer, checked.error().message);
    }
    specs_.push_back(std::move(spec));
    return ok_status();
  }

  Status add_parameters(const ConfigValue& object, const std::string& pointer, WhatIfSpec& spec) {
    for (std::size_t i = 0; i < object.items.size(); ++i) {
      const ConfigValue& value = object.items[i];
      const std::string here = fmt::format("{}/{}", pointer, object.keys[i]);
      if (value.kind == Kind::list && object.keys[i] == edits::reorder_param.name) {
        FORETRACE_TRY(add_listed(value, here, spec));
        continue;
      }
      if (value.kind == Kind::null || value.kind == Kind::object || value.kind == Kind::list) {
        return wrong(
            here, fmt::format(
                      "{}, expected text, a number or true/false{}", value.described(),
                      spec.name == edits::name ? "; what it needs to know stands beside it" : ""));
      }
      spec.parameters.emplace_back(object.keys[i], value.text);
    }
    return ok_status();
  }

  /// Selections in the order in which tasks follow each other.
  Status add_listed(const ConfigValue& list, const std::string& pointer, WhatIfSpec& spec) {
    std::string text;
    for (const ConfigValue& one : list.items) {
      if (one.kind != Kind::text) {
        return wrong(pointer, one.described() + " in the list, expected a selection");
      }
      text.append(text.empty() ? "" : "; ").append(one.text);
    }
    spec.parameters.emplace_back(edits::reorder_param.name, std::move(text));
    return ok_status();
  }

  static void check_schema(ConfigFields& fields) {
    std::string schema(what_if_schema);
    fields.optional_text("schema", schema);
    if (schema != what_if_schema) {
      fields.mistake("schema",
                     fmt::format("got {}, expected \"{}\"", in_quotes(schema), what_if_schema));
    }
  }

  const std::string& where_;
  std::vector<WhatIfSpec>& specs_;
};

}  // namespace

Status add_what_ifs(const ConfigValue& value, const std::string& where, const std::string& pointer,
                    std::vector<WhatIfSpec>& specs) {
  return WhatIfReader(where, specs).add(value, pointer);
}

Result<std::vector<WhatIfSpec>> parse_what_ifs_json(std::string_view text,
                                                    const std::string& where) {
  FORETRACE_TRY(const ConfigValue document, parse_config(text).with_context(where));
  const ConfigValue* const apply = document.find("apply");
  std::vector<WhatIfSpec> specs;
  FORETRACE_TRY(add_what_ifs(apply == nullptr ? document : *apply, where,
                             apply == nullptr ? "" : "/apply", specs));
  return specs;
}

std::string what_ifs_json(std::span<const WhatIfSpec> specs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WhatIfSpec& spec : specs) list.push_back(text_of(spec));
  return list.dump();
}

Result<std::vector<WhatIfSpec>> read_what_ifs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::error_code opened(file ? 0 : errno, std::generic_category());
  if (opened) {
    return Error{ErrorCode::io, fmt::format("cannot read '{}': {}", path, opened.message())};
  }
  std::string text(largest_file + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || (text.empty() && !file.eof())) {
    return Error{ErrorCode::io, fmt::format("cannot read '{}': it is no regular file", path)};
  }
  if (text.size() > largest_file) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: over 1 MiB, expected a what-if in JSON", path)};
  }
  return parse_what_ifs_json(text, path);
}

}  // namespace foretrace
