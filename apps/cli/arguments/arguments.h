// What a command takes from the command line. CLI11 parses it; its header alone takes seconds to
// compile, so commands describe their options with these two classes.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace foretrace::app {

/// An option or a positional argument, to say more about it:
/// `add_option(...).type_name("FILE").required()`.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}
  // NOLINTBEGIN(modernize-use-nodiscard): calls are chained, and the last result is dropped
  /// The word for the value on the help page.
  Option type_name(const std::string& word) const;
  Option required() const;
  /// Makes sense only together with another one.
  Option needs(const Option& other) const;
  /// A whole number between these, both included.
  Option in_range(std::size_t least, std::size_t most) const;
  /// Refuses other words; the message names the nearest one.
  Option one_of(std::span<const std::string_view> words) const;
  // NOLINTEND(modernize-use-nodiscard)

 private:
  CLI::Option* option_;
};

/// One example of a help page: the command and what it shows.
struct Example {
  std::string_view command;
  std::string_view shows;
};

/// The options and positional arguments of one command. Values are written when the line is parsed,
/// so they must live until then. Names are "--top", "-o,--output", or "TRACE" for a positional
/// argument. An option takes one value each time it is given, and none that is empty.
class Arguments {
 public:
  explicit Arguments(CLI::App& command) : command_(&command) {}
  Option add_option(const std::string& names, std::string& value, const std::string& doc);
  Option add_option(const std::string& names, std::vector<std::string>& values,
                    const std::string& doc);
  Option add_option(const std::string& names, std::size_t& value, const std::string& doc);
  Option add_flag(const std::string& names, bool& value, const std::string& doc);
  void add_examples(std::initializer_list<Example> examples);
  /// The program that the command belongs to, with all its commands.
  [[nodiscard]] const CLI::App& program() const;

 private:
  CLI::App* command_;
};

}  // namespace foretrace::app
