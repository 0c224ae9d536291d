#include "tests/apps/support/json_schema.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>

namespace foretrace::test {
namespace {

using nlohmann::json;

/// The JSON pointer of a member.
std::string below(const std::string& at, std::string_view name) {
  return std::string(at).append("/").append(name);
}

class Checker {
 public:
  explicit Checker(const json& root) : root_(root) {}

  void check(const json& schema, const json& value, const std::string& at) {
    for (const auto& [keyword, rule] : schema.items()) {
      apply(keyword, rule, schema, value, at);
    }
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  void complain(const std::string& at, const std::string& what) {
    found_.push_back((at.empty() ? "/" : at) + ": " + what);
  }

  void apply(const std::string& keyword, const json& rule, const json& schema, const json& value,
             const std::string& at) {
    static const std::set<std::string> remarks = {"$schema", "$id", "$defs", "title",
                                                  "description"};
    if (remarks.contains(keyword)) {
      return;
    }
    if (keyword == "$ref") {
      check(root_.at(json::json_pointer(rule.get<std::string>().substr(1))), value, at);
    } else if (keyword == "type") {
      check_type(rule, value, at);
    } else if (keyword == "const") {
      complain_unless(value == rule, at, "is not " + rule.dump());
    } else if (keyword == "enum") {
      complain_unless(std::find(rule.begin(), rule.end(), value) != rule.end(), at,
                      value.dump() + " is none of " + rule.dump());
    } else if (keyword == "minimum") {
      complain_unless(!value.is_number() || value >= rule, at, "is below " + rule.dump());
    } else if (keyword == "maximum") {
      complain_unless(!value.is_number() || value <= rule, at, "is above " + rule.dump());
    } else if (keyword == "minItems" || keyword == "maxItems") {
      const bool holds = keyword == "minItems" ? value.size() >= rule.get<std::size_t>()
                                               : value.size() <= rule.get<std::size_t>();
      complain_unless(
          !value.is_array() || holds, at,
          "has " + std::to_string(value.size()) + " items, " + keyword + " " + rule.dump());
    } else if (keyword == "required") {
      for (const auto& name : rule) {
        complain_unless(!value.is_object() || value.contains(name.get<std::string>()), at,
                        "misses " + name.dump());
      }
    } else if (keyword == "properties") {
      for (const auto& [name, inner] : rule.items()) {
        if (value.is_object() && value.contains(name)) {
          check(inner, value[name], below(at, name));
        }
      }
    } else if (keyword == "additionalProperties") {
      check_others(rule, schema, value, at);
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        check(rule, value[i], at + "/" + std::to_string(i));
      }
    } else if (keyword == "allOf") {
      for (const auto& part : rule) {
        check(part, value, at);
      }
    } else if (keyword == "anyOf" || keyword == "oneOf") {
      const auto met = std::count_if(rule.begin(), rule.end(), [&](const json& part) {
        Checker inner(root_);
        inner.check(part, value, at);
        return inner.found_.empty();
      });
      complain_unless(met > 0, at, "matches no alternative");
      complain_unless(met <= 1 || keyword == "anyOf", at, "matches several alternatives");
    } else {
      complain(at, "the schema uses '" + keyword + "', which this checker does not know");
    }
  }

  void complain_unless(bool holds, const std::string& at, const std::string& what) {
    if (!holds) {
      complain(at, what);
    }
  }

  static bool is_a(const std::string& type, const json& value) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "null" && value.is_null()) ||
           (type == "boolean" && value.is_boolean()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer());
  }

  void check_type(const json& rule, const json& value, const std::string& at) {
    const json types = rule.is_array() ? rule : json::array({rule});
    complain_unless(std::any_of(types.begin(), types.end(),
                                [&](const json& type) { return is_a(type, value); }),
                    at, std::string("is ") + value.type_name() + ", expected " + rule.dump());
  }

  void check_others(const json& rule, const json& schema, const json& value,
                    const std::string& at) {
    for (const auto& [name, inner] : value.items()) {
      if (!value.is_object() ||
          (schema.contains("properties") && schema["properties"].contains(name))) {
        continue;
      }
      if (rule.is_boolean()) {
        complain_unless(rule.get<bool>(), at, "has an unknown key '" + name + "'");
      } else {
        check(rule, inner, below(at, name));
      }
    }
  }

  const json& root_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const json& schema, const json& document) {
  Checker checker(schema);
  checker.check(schema, document, "");
  return checker.take();
}

json read_schema(const std::string& name) {
  std::ifstream file(std::string(FORETRACE_SOURCE_DIR "/configs/schemas/") + name);
  return json::parse(file);
}

}  // namespace foretrace::test
