// What-ifs from JSON files.
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/whatifs/what_if_spec.h"

namespace foretrace {
namespace {

using nlohmann::json;

// A what-if file is written by hand; more than this is a mistake of the path.
constexpr std::size_t largest_file = 1024UL * 1024;

constexpr const char* what_if_schema = "foretrace.what_if/1";

Error wrong(const std::string& where, const std::string& pointer, const std::string& what) {
  return {ErrorCode::bad_config,
          fmt::format("{}: {}: {}", where, pointer.empty() ? "/" : pointer, what)};
}

Result<std::string> text_of(const json& value, const std::string& where,
                            const std::string& pointer) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_boolean() || value.is_number()) {
    return value.dump();
  }
  return wrong(where, pointer,
               fmt::format("got {}, expected text, a number or true/false", value.type_name()));
}

Result<WhatIfSpec> one_what_if(const json& object, const std::string& where,
                               const std::string& pointer) {
  if (object.is_string()) {
    Result<WhatIfSpec> spec = parse_what_if(object.get<std::string>());
    return spec.ok() ? spec : wrong(where, pointer, spec.error().message);
  }
  if (!object.is_object()) {
    return wrong(where, pointer,
                 fmt::format("got {}, expected an object with \"optimization\" and \"parameters\"",
                             object.type_name()));
  }
  WhatIfSpec spec;
  for (const auto& [key, value] : object.items()) {
    const std::string here = fmt::format("{}/{}", pointer, key);
    if (key == "optimization") {
      if (!value.is_string()) {
        return wrong(where, here, fmt::format("got {}, expected a name", value.type_name()));
      }
      spec.name = value.get<std::string>();
    } else if (key == "parameters") {
      if (!value.is_object()) {
        return wrong(where, here, fmt::format("got {}, expected an object", value.type_name()));
      }
      for (const auto& [name, given] : value.items()) {
        FORETRACE_TRY(std::string text, text_of(given, where, fmt::format("{}/{}", here, name)));
        spec.parameters.emplace_back(name, std::move(text));
      }
    } else if (key == "schema") {
      if (value != what_if_schema) {
        return wrong(
            where, here,
            fmt::format("got {}, expected \"{}\"",
                        value.is_primitive() ? value.dump() : value.type_name(), what_if_schema));
      }
    } else if (key != "how_to") {  // of the examples that ship: how_to.h reads it
      constexpr std::string_view known[] = {"optimization", "parameters", "schema"};
      return wrong(where, here,
                   fmt::format("unknown key, expected optimization, parameters or schema{}",
                               did_you_mean(key, known)));
    }
  }
  if (spec.name.empty()) {
    return wrong(where, pointer + "/optimization", "is missing");
  }
  return spec;
}

}  // namespace

Result<std::vector<WhatIfSpec>> parse_what_ifs_json(std::string_view text,
                                                    const std::string& where) {
  json document;
  try {
    document = json::parse(text, nullptr, true, true);
  } catch (const json::exception& error) {
    std::string what = error.what();
    what.erase(0, what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2);
    return Error{ErrorCode::bad_config, fmt::format("{}: not JSON: {}", where, what)};
  }
  const bool is_list = document.is_array() || (document.is_object() && document.contains("apply"));
  if (!is_list) {
    FORETRACE_TRY(WhatIfSpec spec, one_what_if(document, where, ""));
    return std::vector<WhatIfSpec>{std::move(spec)};
  }
  const std::string pointer = document.is_array() ? "" : "/apply";
  const json& list = document.is_array() ? document : document["apply"];
  if (!list.is_array()) {
    return wrong(where, pointer, fmt::format("got {}, expected an array", list.type_name()));
  }
  std::vector<WhatIfSpec> stack;
  for (std::size_t i = 0; i < list.size(); ++i) {
    FORETRACE_TRY(WhatIfSpec spec, one_what_if(list[i], where, fmt::format("{}/{}", pointer, i)));
    stack.push_back(std::move(spec));
  }
  return stack;
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
