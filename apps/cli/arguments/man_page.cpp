#include "apps/cli/arguments/man_page.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/cli/arguments/help.h"

namespace foretrace::app {
namespace {

/// Text that no line of roff can mistake for a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  if (!out.empty() && out[0] == '.') out.insert(0, "\\&");
  return out;
}

std::string section(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string described(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(text));
}

std::string options_text(const CLI::App& app, bool positional) {
  std::string text;
  for (const CLI::Option* const option : shown_options(app, positional)) {
    text += described(option_name(*option), option->get_description());
  }
  return text;
}

/// "$ command" in bold and what it shows below it, as in the footers of help pages.
std::string examples_text(std::string_view footer) {
  std::string text;
  while (!footer.empty()) {
    std::string_view line = footer.substr(0, footer.find('\n'));
    footer.remove_prefix(std::min(footer.size(), line.size() + 1));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("$ ")) {
      text += fmt::format(".TP\n.B {}\n", escaped(line.substr(2)));
    } else if (!line.empty() && !text.empty()) {
      text += escaped(line) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& root, std::string_view version) {
  std::string page =
      fmt::format(".TH FORETRACE 1 \"\" \"foretrace {}\" \"User Commands\"\n", version);
  page += section("NAME") +
          "foretrace \\- what a change or another accelerator would do to a run\n" +
          section("SYNOPSIS") + ".B foretrace\n.I command\n.RI [ options ]\n.I argument...\n" +
          section("DESCRIPTION") + escaped(root.get_description()) + "\n" + section("COMMANDS");
  for (const CLI::App* const command : root.get_subcommands({})) {
    page += fmt::format(".SS {}\n{}\n", escaped(usage_of(*command)),
                        escaped(command->get_description() + "."));
    page += options_text(*command, true) + options_text(*command, false);
    const std::string examples = examples_text(command->get_footer());
    if (!examples.empty()) page += ".PP\nExamples:\n" + examples;
  }
  page += section("OPTIONS") + options_text(root, false);
  page +=
      section("EXIT STATUS") + described("0", "done") +
      described(
          "1", "the answer is no: a what-if does not apply, a run does not fit, a gate is broken") +
      described("2", "bad input or usage, or the answer could not be written") +
      described("3", "an internal error") +
      "foretrace collect exits with the code of the program that it runs, and with 125 for its own "
      "failures.\n";
  page += section("ENVIRONMENT") + described("NO_COLOR", "if set, no bold and no colours") +
          described("COLUMNS", "the width of a page: by default the terminal's, or 100 elsewhere") +
          described("FORETRACE_CONFIGS", "the folder of accelerators, clusters, models and costs");
  page +=
      section("FILES") +
      described(
          "$XDG_CONFIG_HOME/foretrace/config.json (~/.config/foretrace/config.json)",
          "default options, for where the command line sets none: {\"defaults\": {\"details\": "
          "true}, \"commands\": {\"simulate\": {\"step\": \"all\"}}}; --no-config leaves it out");
  return page;
}

}  // namespace foretrace::app
