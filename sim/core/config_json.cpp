// Config files from disk to values: a SAX parser that builds without recursion.
#include "sim/core/config_json.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "sim/core/config.h"

namespace foretrace {
namespace {

using nlohmann::json;

constexpr std::size_t deepest = 64;
constexpr std::size_t most_config_keys = 1000;  // of one object: they are looked for one by one
constexpr std::size_t largest_file = std::size_t{16} << 20;

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return line;
}

// The library says "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error
// while parsing ... - unexpected ..."; the part in brackets means nothing to people.
std::string parse_error_text(std::string_view what) {
  if (const auto bracket = what.find("] ");
      what.starts_with("[") && bracket != std::string_view::npos) {
    what.remove_prefix(bracket + 2);
  }
  constexpr std::size_t longest = 300;  // it quotes the last token, which can be a file of its own
  if (what.size() > longest) return one_line(what.substr(0, longest)) + "...";
  return one_line(what);
}

// Builds ConfigValues without recursion, so that depth is a rule and not the size of the stack.
class TreeBuilder {
 public:
  bool null() { return add(ConfigValue::Kind::null, "null"); }
  bool boolean(bool value) { return add(ConfigValue::Kind::boolean, value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) {
    return add(ConfigValue::Kind::number, std::to_string(value));
  }
  bool number_unsigned(json::number_unsigned_t value) {
    return add(ConfigValue::Kind::number, std::to_string(value));
  }
  bool number_float(json::number_float_t /*value*/, const json::string_t& text) {
    return add(ConfigValue::Kind::number, text);
  }
  bool string(json::string_t& value) { return add(ConfigValue::Kind::text, std::move(value)); }
  static bool binary(json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(ConfigValue::Kind::object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(ConfigValue::Kind::list); }
  bool end_array() { return close(); }
  bool key(json::string_t& name) {
    ConfigValue& object = stack_.back();
    if (object.find(name) != nullptr) {
      error = fmt::format("key {} twice in one object, expected it once", in_quotes(name));
      return false;
    }
    if (object.keys.size() >= most_keys) {
      error = fmt::format("more than {} keys in one object", most_keys);
      return false;
    }
    object.keys.push_back(std::move(name));
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const json::exception& problem) {
    error = parse_error_text(problem.what());
    return false;
  }

  ConfigValue root;
  std::string error;
  std::size_t most_keys = most_config_keys;

 private:
  bool add(ConfigValue::Kind kind, std::string text) {
    ConfigValue value;
    value.kind = kind;
    value.text = std::move(text);
    return place(std::move(value));
  }
  bool place(ConfigValue value) {
    if (stack_.empty()) {
      root = std::move(value);
    } else {
      stack_.back().items.push_back(std::move(value));
    }
    return true;
  }
  bool open(ConfigValue::Kind kind) {
    if (stack_.size() == deepest) {
      error = fmt::format("more than {} levels of nesting", deepest);
      return false;
    }
    stack_.emplace_back();
    stack_.back().kind = kind;
    return true;
  }
  bool close() {
    ConfigValue done = std::move(stack_.back());
    stack_.pop_back();
    return place(std::move(done));
  }

  std::vector<ConfigValue> stack_;
};

Result<std::string> read_whole_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return Error{ErrorCode::io, path + ": no such file"};
  if (S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::io, path + ": is a directory, expected a JSON file"};
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return Error{ErrorCode::io, path + ": cannot be opened, expected a readable file"};
  std::string text;
  std::vector<char> block(std::size_t{64} << 10);
  for (;;) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file.get());
    text.append(block.data(), count);
    if (text.size() > largest_file) {
      return Error{ErrorCode::bad_config, path + ": is larger than 16 MiB, expected a config file"};
    }
    if (count < block.size()) break;
  }
  if (std::ferror(file.get()) != 0) return Error{ErrorCode::io, path + ": cannot be read"};
  return text;
}

Status check_schema(const ConfigValue& root, const std::string& path, std::string_view schema) {
  const ConfigValue* found = root.find("schema");
  if (found == nullptr) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /schema: missing key, expected \"{}\"", path, schema)};
  }
  if (found->kind == ConfigValue::Kind::text && found->text == schema) return ok_status();
  const std::string_view family = schema.substr(0, schema.find('/') + 1);
  const bool other_version =
      found->kind == ConfigValue::Kind::text && found->text.starts_with(family);
  return Error{ErrorCode::bad_config,
               fmt::format("{}: /schema: {}, expected \"{}\"{}", path, found->described(), schema,
                           other_version ? " (this program reads no other version)" : "")};
}

}  // namespace

Result<ConfigValue> parse_config(std::string_view text) {
  return parse_config_of(most_config_keys, text);
}

Result<ConfigValue> parse_config_of(std::size_t most_keys, std::string_view text) {
  TreeBuilder builder;
  builder.most_keys = most_keys;
  bool done = false;
  try {
    done = json::sax_parse(text, &builder, json::input_format_t::json, true, true);
  } catch (const json::exception& problem) {
    builder.error = parse_error_text(problem.what());
  }
  if (done) return std::move(builder.root);
  return Error{ErrorCode::bad_config, builder.error};
}

Result<ConfigValue> parse_config_document(std::string_view text, const std::string& where,
                                          std::string_view schema) {
  FORETRACE_TRY(auto root, parse_config(text).with_context(where));
  if (root.kind != ConfigValue::Kind::object) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {}, expected an object with \"schema\": \"{}\"", where,
                             root.described(), schema)};
  }
  FORETRACE_TRY(check_schema(root, where, schema));
  return root;
}

Result<std::string> read_config_text(const std::string& path) { return read_whole_file(path); }

Result<ConfigValue> read_config(const std::string& path, std::string_view schema) {
  FORETRACE_TRY(auto text, read_whole_file(path));
  return parse_config_document(text, path, schema);
}

}  // namespace foretrace
