#include "apps/cli/arguments/arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/cli/arguments/help.h"
#include "sim/core/params.h"

namespace foretrace::app {

Option Option::type_name(const std::string& word) const {
  option_->type_name(word);
  return *this;
}

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::in_range(std::size_t least, std::size_t most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::one_of(std::span<const std::string_view> words) const {
  const std::vector<std::string> known(words.begin(), words.end());
  option_->check([known](const std::string& given) -> std::string {
    if (std::find(known.begin(), known.end(), given) != known.end()) {
      return {};
    }
    const std::vector<std::string_view> views(known.begin(), known.end());
    return fmt::format("got '{}', expected {}{}", given, fmt::join(known, " or "),
                       did_you_mean(given, views));
  });
  return *this;
}

namespace {

/// A script whose variable is not set must not believe that it was heard.
std::string some_value(const std::string& given) {
  return given.empty() ? "got nothing, expected a value" : "";
}

}  // namespace

Option Arguments::add_option(const std::string& names, std::string& value, const std::string& doc) {
  return Option(*command_->add_option(names, value, doc)->check(some_value));
}

Option Arguments::add_option(const std::string& names, std::vector<std::string>& values,
                             const std::string& doc) {
  CLI::Option* const option = command_->add_option(names, values, doc)->check(some_value);
  // "--policy fifo run.json" names one policy and one run.
  if (names.starts_with('-')) option->allow_extra_args(false);
  return Option(*option);
}

Option Arguments::add_option(const std::string& names, std::size_t& value, const std::string& doc) {
  return Option(*command_->add_option(names, value, doc));
}

Option Arguments::add_flag(const std::string& names, bool& value, const std::string& doc) {
  return Option(*command_->add_flag(names, value, doc));
}

void Arguments::add_examples(std::initializer_list<Example> examples) {
  app::add_examples(*command_, examples);
}

const CLI::App& Arguments::program() const {
  const CLI::App* top = command_;
  while (top->get_parent() != nullptr) {
    top = top->get_parent();
  }
  return *top;
}

}  // namespace foretrace::app
