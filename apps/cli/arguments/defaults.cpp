#include "apps/cli/arguments/defaults.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "foretrace.config/1";

std::string variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes to the environment
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

class DefaultsFile {
 public:
  explicit DefaultsFile(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] Error wrong(std::string_view pointer, std::string_view what) const {
    return {ErrorCode::bad_config, fmt::format("{}: {}: {}", path_, pointer, what)};
  }

  /// Null if there is no file.
  [[nodiscard]] Result<Json> read() const {
    std::error_code missing;
    if (!std::filesystem::exists(path_, missing)) return Json(nullptr);
    FORETRACE_TRY(const std::string text, read_config_text(path_));
    // Bounds the nesting, which the other parser does not.
    if (const auto bounded = parse_config(text); !bounded.ok()) {
      return Error{ErrorCode::bad_config,
                   fmt::format("{}: not JSON: {}", path_, bounded.error().message)};
    }
    try {
      Json document = Json::parse(text, nullptr, true, true);
      if (!document.is_object()) return wrong("/", "expected an object");
      return document;
    } catch (const Json::exception& error) {
      std::string what = error.what();
      what.erase(0, what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2);
      return Error{ErrorCode::bad_config, fmt::format("{}: not JSON: {}", path_, what)};
    }
  }

  [[nodiscard]] Status check_keys(const Json& document) const {
    constexpr std::string_view known[] = {"schema", "defaults", "commands"};
    for (const auto& [key, value] : document.items()) {
      if (std::find(std::begin(known), std::end(known), key) == std::end(known)) {
        return wrong("/" + key, fmt::format("unknown key, expected schema, defaults or commands{}",
                                            did_you_mean(key, known)));
      }
      if (key == "schema" && value != schema) {
        return wrong("/schema", fmt::format("got {}, expected \"{}\"", value.dump(), schema));
      }
      if (key != "schema" && !value.is_object()) {
        return wrong("/" + key, fmt::format("got {}, expected an object", value.type_name()));
      }
    }
    return ok_status();
  }

  /// Every option must be one of these commands'.
  [[nodiscard]] Status check_options(const Json& options, const std::string& pointer,
                                     const std::vector<const CLI::App*>& commands) const {
    std::vector<std::string> names;
    for (const CLI::App* const command : commands) {
      for (const CLI::Option* const option : command->get_options({})) {
        const auto& long_names = option->get_lnames();
        if (option->get_positional()) continue;
        names.insert(names.end(), long_names.begin(), long_names.end());
      }
    }
    for (const auto& [key, value] : options.items()) {
      if (std::find(names.begin(), names.end(), key) == names.end()) {
        const std::vector<std::string_view> views(names.begin(), names.end());
        return wrong(fmt::format("{}/{}", pointer, key),
                     fmt::format("unknown option{}", did_you_mean(key, views)));
      }
    }
    return ok_status();
  }

 private:
  std::string path_;
};

/// What the command line would say: nothing for a flag that is off.
Result<std::vector<std::string>> texts_of(const Json& value) {
  std::vector<std::string> texts;
  const Json list = value.is_array() ? value : Json::array({value});
  for (const Json& one : list) {
    if (one.is_string()) {
      texts.push_back(one.get<std::string>());
    } else if (one.is_boolean() || one.is_number()) {
      texts.push_back(one.dump());
    } else {
      return Error{ErrorCode::bad_config, fmt::format("got {}, expected text, a number, true or "
                                                      "false, or a list of them",
                                                      one.type_name())};
    }
  }
  return texts;
}

constexpr std::array<std::string_view, 4> output_formats = {"json", "markdown", "csv", "table"};

bool is_given(const CLI::App& command, std::string_view format) {
  const CLI::Option* const option = command.get_option_no_throw(fmt::format("--{}", format));
  return option != nullptr && option->count() > 0;
}

bool is_format(std::string_view option) {
  return std::find(output_formats.begin(), output_formats.end(), option) != output_formats.end();
}

bool has_format(const CLI::App& command) {
  return std::any_of(output_formats.begin(), output_formats.end(),
                     [&](std::string_view format) { return is_given(command, format); });
}

/// Options that were given stay as they are, and so does the format of output.
Status give(CLI::App& command, const Json& options, const DefaultsFile& file,
            const std::string& pointer) {
  const bool is_formatted = has_format(command);
  for (const auto& [key, value] : options.items()) {
    if (is_formatted && is_format(key)) continue;
    CLI::Option* const option = command.get_option_no_throw("--" + key);
    if (option == nullptr || option->count() > 0) continue;
    const Result<std::vector<std::string>> texts = texts_of(value);
    if (!texts.ok()) return file.wrong(fmt::format("{}/{}", pointer, key), texts.error().message);
    if (option->get_items_expected_max() == 0 && *texts == std::vector<std::string>{"false"}) {
      continue;
    }
    try {
      for (const std::string& text : *texts) option->add_result(text);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      return file.wrong(fmt::format("{}/{}", pointer, key), error.what());
    }
  }
  return ok_status();
}

}  // namespace

Status check_formats(const CLI::App& command) {
  std::string_view found;
  for (const std::string_view format : output_formats) {
    if (!is_given(command, format)) continue;
    const bool is_same = found == "csv" && format == "table";
    if (!found.empty() && !is_same) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}: got --{} and --{}, expected one format of output",
                               command.get_name(), found, format)};
    }
    found = format;
  }
  return ok_status();
}

std::string defaults_path() {
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) return {};
    folder = home + "/.config";
  }
  return folder + "/foretrace/config.json";
}

bool take_no_config(std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto found = std::find(arguments.begin(), end, "--no-config");
  if (found == end) return false;
  arguments.erase(found);
  return true;
}

Status apply_defaults(const CLI::App& root, CLI::App& command, const std::string& path) {
  if (path.empty()) return ok_status();
  const DefaultsFile file(path);
  FORETRACE_TRY(const Json document, file.read());
  if (document.is_null()) return ok_status();
  FORETRACE_TRY(file.check_keys(document));
  const auto commands = root.get_subcommands({});
  const Json none = Json::object();
  const Json& own = document.contains("commands") ? document["commands"] : none;
  const Json& shared = document.contains("defaults") ? document["defaults"] : none;
  std::vector<std::string_view> names;
  names.reserve(commands.size());
  for (const CLI::App* const known : commands) names.push_back(known->get_name());
  for (const auto& [name, options] : own.items()) {
    const std::string pointer = "/commands/" + name;
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      return file.wrong(pointer, "unknown command" + did_you_mean(name, names));
    }
    if (!options.is_object()) {
      return file.wrong(pointer, fmt::format("got {}, expected an object", options.type_name()));
    }
    const auto* const its = commands[static_cast<std::size_t>(known - names.begin())];
    FORETRACE_TRY(file.check_options(options, pointer, {its}));
    if (name != command.get_name()) continue;
    FORETRACE_TRY(give(command, options, file, pointer));
  }
  FORETRACE_TRY(file.check_options(shared, "/defaults", {commands.begin(), commands.end()}));
  return give(command, shared, file, "/defaults");
}

}  // namespace foretrace::app
