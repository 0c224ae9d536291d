// Help pages and messages about the command line itself.
#include "apps/cli/arguments/help.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/arguments/command.h"
#include "apps/report/text.h"
#include "sim/core/params.h"

namespace foretrace::app {
namespace {

// Names of options up to this width have their text beside them, wider ones below.
constexpr std::size_t name_width = 26;

std::string full_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::string described(std::string_view name, std::string_view text,
                      const report::TextStyle& style) {
  std::string head = fmt::format("  {:<{}}", name, name_width);
  if (name.size() + 1 > name_width) {
    return fmt::format("  {}\n", name) +
           report::paragraph(std::string(name_width + 2, ' '), text, style.width);
  }
  return report::paragraph(head, text, style.width);
}

std::string lower_first(std::string text) {
  if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

/// The subcommand that was chosen, or the program.
const CLI::App& chosen(const CLI::App& root) {
  const auto parsed = root.get_subcommands();
  return parsed.empty() ? root : *parsed.front();
}

/// "simulate: ", or nothing for the program itself.
std::string prefix_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? std::string() : command.get_name() + ": ";
}

std::string nearest_option(const CLI::App& app, std::string_view wrong) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options({})) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(wrong.substr(0, wrong.find('=')), views);
}

std::string nearest_command(const CLI::App& root, std::string_view wrong) {
  std::vector<std::string> names;
  for (const CLI::App* const command : root.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(wrong, views);
}

/// Commands by what they are for.
std::string commands_text(const CLI::App& app, const report::TextStyle& style) {
  std::string text;
  for (const GroupInfo& group : groups) {
    auto commands = app.get_subcommands(
        [&](const CLI::App* command) { return command->get_group() == group.title; });
    std::stable_partition(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == group.first;
    });
    if (!commands.empty()) text += fmt::format("\n{}:\n", style.strong(group.title));
    for (const CLI::App* const command : commands) {
      text += described(command->get_name(), command->get_description(), style);
    }
  }
  return text;
}

}  // namespace

std::string option_name(const CLI::Option& option) {
  std::string name = option.get_name(option.get_positional(), true);
  if (const std::size_t comma = name.find(','); comma != std::string::npos) {
    name.insert(comma + 1, " ");
  }
  if (!option.get_positional() && !option.get_type_name().empty() &&
      option.get_items_expected_max() > 0) {
    name += " " + option.get_type_name();
  }
  return name;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app, bool positional) {
  return app.get_options([positional](const CLI::Option* option) {
    return option->get_positional() == positional && !option->get_group().empty();
  });
}

std::string usage_of(const CLI::App& app) {
  std::string line = full_name(app);
  if (!app.get_subcommands({}).empty()) {
    line += " <command>";
  }
  line += " [options]";
  for (const CLI::Option* const option : shown_options(app, true)) {
    const std::string_view dots = option->get_items_expected_max() > 1 ? "..." : "";
    const std::string name = option->get_name(true) + std::string(dots);
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line;
}

std::string help_page(const CLI::App& app, const report::TextStyle& style) {
  std::string page = "usage: " + usage_of(app) + "\n\n" +
                     report::paragraph("", app.get_description(), style.width);
  page += commands_text(app, style);
  for (const bool positional : {true, false}) {
    const auto options = shown_options(app, positional);
    if (!options.empty()) {
      page += "\n" + style.strong(positional ? "arguments:" : "options:") + "\n";
    }
    for (const CLI::Option* const option : options) {
      page += described(option_name(*option), option->get_description(), style);
    }
  }
  return app.get_footer().empty() ? page : page + "\n" + app.get_footer();
}

Result<std::string> help_page_of(const CLI::App& root, std::string_view command,
                                 const report::TextStyle& style) {
  for (const CLI::App* const known : root.get_subcommands({})) {
    if (known->get_name() == command) return help_page(*known, style);
  }
  return Error{ErrorCode::bad_usage,
               fmt::format("help: unknown command '{}'{}; see foretrace --help", command,
                           nearest_command(root, command))};
}

std::string option_page(const CLI::App& root, std::string_view name,
                        const report::TextStyle& style) {
  // The same text stands once, in front of all commands that have it.
  std::vector<std::pair<std::string, std::string>> texts;
  for (const CLI::App* const command : root.get_subcommands({})) {
    const CLI::Option* const option = command->get_option_no_throw("--" + std::string(name));
    if (option == nullptr || option->get_group().empty()) continue;
    const std::string text = option_name(*option) + ": " + option->get_description();
    const auto same = std::find_if(texts.begin(), texts.end(),
                                   [&text](const auto& known) { return known.first == text; });
    if (same == texts.end()) {
      texts.emplace_back(text, command->get_name());
    } else {
      same->second += ", " + command->get_name();
    }
  }
  std::string page;
  for (const auto& [text, commands] : texts) {
    page += (page.empty() ? "" : "\n") + report::paragraph("", text, style.width) +
            report::paragraph("  ", "option of foretrace " + commands, style.width);
  }
  return page;
}

void use_help_page(CLI::App& app) {
  app.formatter(std::make_shared<CLI::FormatterLambda>(
      [](const CLI::App* shown, const std::string&, CLI::AppFormatMode) {
        return help_page(*shown, {});
      }));
}

void add_examples(CLI::App& app, std::span<const Example> examples) {
  std::string text = examples.size() == 1 ? "example:\n" : "examples:\n";
  for (const Example& example : examples) {
    text += fmt::format("  $ {}\n", example.command) + report::paragraph("      ", example.shows);
  }
  app.footer(text);
}

Error usage_error(const CLI::App& root, const CLI::ParseError& error) {
  // What is missing may be what follows an option that there is not.
  if (error.get_name() == "RequiredError") {
    if (const Status status = check_leftovers(root); !status.ok()) return status.error();
  }
  std::string message = lower_first(error.what());
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (error.get_name() == "ArgumentMismatch") {
    const bool is_twice = message.find(": At Most ") != std::string::npos;
    message = message.substr(0, message.find(": ")) +
              (is_twice ? ": given twice, expected once" : ": a value is missing");
  }
  const CLI::App& command = chosen(root);
  return {ErrorCode::bad_usage,
          fmt::format("{}{}; see {} --help", prefix_of(command), message, full_name(command))};
}

Status check_leftovers(const CLI::App& root) {
  const CLI::App& command = chosen(root);
  std::vector<std::string> leftovers = command.remaining();
  // The mark behind which nothing is an option is left over too, but means what it says.
  if (const auto mark = std::find(leftovers.begin(), leftovers.end(), "--");
      mark != leftovers.end()) {
    leftovers.erase(mark);
  }
  if (leftovers.empty()) return ok_status();
  const std::string& wrong = leftovers.front();
  if (wrong.size() > 1 && wrong[0] == '-') {
    const std::string option = wrong.substr(0, wrong.find('='));
    const std::string bare = option.substr(std::min(option.size(), option.find_first_not_of('-')));
    if (command.get_name() == "explain" && !option_page(root, bare, {}).empty()) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}got '{}', expected it without its dashes: foretrace explain {}",
                               prefix_of(command), option, bare)};
    }
    return Error{ErrorCode::bad_usage, fmt::format("{}unknown option '{}'{}", prefix_of(command),
                                                   option, nearest_option(command, wrong))};
  }
  if (&command == &root) {
    return Error{ErrorCode::bad_usage, fmt::format("unknown command '{}'{}; see {} --help", wrong,
                                                   nearest_command(root, wrong), root.get_name())};
  }
  return Error{ErrorCode::bad_usage,
               fmt::format("{}unexpected argument '{}'", prefix_of(command), wrong)};
}

}  // namespace foretrace::app
