#include "apps/explorer/served/questions.h"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"
#include "apps/session/what_if_stack.h"
#include "models/whatifs/what_if.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;

constexpr std::size_t most_what_ifs = 12;
constexpr std::size_t most_text = 2000;
constexpr std::size_t most_client = 64;

Error wrong(std::string_view where, std::string_view expected) {
  return {ErrorCode::bad_format, fmt::format("{}: expected {}", where, expected)};
}

Result<WhatIfSpec> parse_spec(const json& entry, const std::string& where) {
  const auto name = entry.is_object() ? entry.find("name") : entry.end();
  if (name == entry.end() || !name->is_string() ||
      name->get_ref<const std::string&>().size() > most_text) {
    return wrong(where, "an object with the name of a what-if");
  }
  WhatIfSpec spec{name->get<std::string>(), {}};
  for (const auto& [key, value] : entry.items()) {
    if (key == "name") continue;
    if (key != "parameters" || !value.is_object()) {
      return wrong(where, "'name' and 'parameters', an object, and nothing else");
    }
    for (const auto& [parameter, text] : value.items()) {
      if (!text.is_string() || text.get_ref<const std::string&>().size() > most_text) {
        return wrong(where + "/parameters", "texts of at most 2,000 bytes");
      }
      spec.parameters.emplace_back(parameter, text.get<std::string>());
    }
  }
  return spec;
}

std::string_view unit_of(const ParamInfo& row) { return row.unit == "1" ? "" : row.unit; }

json parameter_of(const ParamInfo& row) {
  json parameter = {
      {"name", row.name}, {"unit", unit_of(row)}, {"default", row.default_text}, {"doc", row.doc}};
  if (row.type == ParamType::boolean) {
    parameter["choices"] = {"true", "false"};
  } else if (!row.choices.empty()) {
    parameter["choices"] = json::array();
    for (std::string_view rest = row.choices; !rest.empty();) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      parameter["choices"].push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }
  if (!row.config.empty()) parameter["config"] = row.config;
  return parameter;
}

}  // namespace

Result<Question> parse_question(std::string_view body) {
  const json asked = json::parse(body, nullptr, false);
  if (asked.is_discarded() || !asked.is_object()) return wrong("question", "a JSON object");
  for (const auto& [key, value] : asked.items()) {
    if (key != "client" && key != "id" && key != "stack") {
      return wrong("question", "'client', 'id' and 'stack', and nothing else");
    }
  }
  const json client = asked.value("client", json());
  const json id = asked.value("id", json());
  const json stack = asked.value("stack", json());
  if (!client.is_string() || client.get_ref<const std::string&>().size() > most_client) {
    return wrong("client", "a text of at most 64 bytes");
  }
  if (!id.is_number_unsigned()) return wrong("id", "a number that grows");
  if (!stack.is_array() || stack.size() > most_what_ifs) {
    return wrong("stack", "a list of at most 12 what-ifs");
  }
  Question question{client.get<std::string>(), id.get<std::uint64_t>(), {}};
  for (std::size_t i = 0; i < stack.size(); ++i) {
    FORETRACE_TRY(WhatIfSpec spec, parse_spec(stack[i], fmt::format("stack/{}", i)));
    question.specs.push_back(std::move(spec));
  }
  return question;
}

Status parse_opening(std::string_view body) {
  const json asked = json::parse(body, nullptr, false);
  if (asked.is_object() && asked.empty()) return ok_status();
  return wrong("question", "{}, a JSON object without members");
}

Result<std::vector<WhatIf>> checked(const Question& question) {
  FORETRACE_TRY(const std::vector<WhatIf> stack, check_stack(question.specs));
  for (const WhatIf& what_if : stack) {
    const std::vector<NamedFile> files = files_named_by(what_if);
    if (files.empty()) continue;
    return Error{ErrorCode::bad_usage,
                 fmt::format("{}: parameter '{}': a page opens no file, expected one of the names "
                             "that foretrace list prints",
                             what_if.info->name, files.front().parameter)};
  }
  return in_order(stack);
}

json what_there_is(const Catalogue& catalogue) {
  json what_ifs = json::array();
  json names = json::object();
  for (const WhatIfInfo* const info : what_ifs::all()) {
    json parameters = json::array();
    for (const ParamInfo& row : info->params) {
      parameters.push_back(parameter_of(row));
      if (!row.config.empty()) {
        names[std::string(row.config)] = row.config == "accelerators"
                                             ? catalogue.accelerator_names()
                                             : catalogue.document_names(row.config);
      }
    }
    what_ifs.push_back({{"name", info->name},
                        {"title", report::in_words(info->name)},
                        {"summary", info->summary},
                        {"moves", info->accelerator_param != nullptr},
                        {"batch", info->batch_param != nullptr},
                        {"parameters", parameters}});
  }
  return {{"what_ifs", what_ifs}, {"names", names}};
}

}  // namespace foretrace::explorer
