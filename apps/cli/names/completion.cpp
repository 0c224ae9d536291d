// Completion scripts: tables as shell functions, a common part, a front per shell; fish has a form
// of its own.
#include "apps/cli/names/completion.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/names/components.h"
#include "models/whatifs/what_if.h"

namespace foretrace::app {
namespace {

// Prints the words that may stand at this place, separated by spaces; nothing means files.
constexpr std::string_view common_part = R"sh(
# arguments: command, the word before, the word to complete
_foretrace_candidates() {
  case $2 in
    -a|--apply) _foretrace_what_if "$3"; return ;;
    --accelerator) _foretrace_names accelerators; return ;;
    --step) echo median all; return ;;
    --engine) echo pull event; return ;;
    --by) echo time memory; return ;;
    --when-full) echo fail block; _foretrace_names policies; return ;;
    --log-level) echo debug info warning error off; return ;;
    --to) _foretrace_names writers; return ;;
    --timeline) return ;;
  esac
  case $3 in
    -*) _foretrace_options "$1"; return ;;
  esac
  case $1 in
    '') _foretrace_commands ;;
    list) _foretrace_names kinds ;;
    explain) _foretrace_names optimizations; _foretrace_names policies; _foretrace_names accelerators; _foretrace_names readers; _foretrace_names writers ;;
    completion) echo bash zsh fish ;;
    help) _foretrace_commands ;;
  esac
}

# NAME, or NAME:key=value,key=...
_foretrace_what_if() {
  case $1 in
    *=*[!,]) case ${1##*,} in *=*) return ;; esac ;;
  esac
  case $1 in
    *,*) for parameter in $(_foretrace_parameters "${1%%:*}"); do echo "${1%,*},$parameter"; done ;;
    *:*) for parameter in $(_foretrace_parameters "${1%%:*}"); do echo "${1%%:*}:$parameter"; done ;;
    *) _foretrace_names optimizations ;;
  esac
}
)sh";

constexpr std::string_view bash_front = R"sh(
_foretrace() {
  local line=${COMP_LINE:0:COMP_POINT} word command previous
  word=${line##*[[:space:]]}
  local -a before
  read -r -a before <<< "${line%"$word"}"
  command=${before[1]}
  previous=${before[${#before[@]} - 1]}
  [ "${#before[@]}" -gt 1 ] || command=
  local candidates
  candidates=$(_foretrace_candidates "$command" "$previous" "$word")
  if [ -z "$candidates" ]; then
    COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    compopt -o filenames 2>/dev/null
    return
  fi
  COMPREPLY=($(compgen -W "$candidates" -- "$word"))
  # bash completes only what follows the last : or = of the word.
  local done=${word%"${word##*[:=]}"}
  COMPREPLY=("${COMPREPLY[@]#"$done"}")
  [ "$previous" != --apply ] || compopt -o nospace 2>/dev/null
}
complete -F _foretrace foretrace
)sh";

constexpr std::string_view zsh_front = R"sh(
_foretrace() {
  local command= previous=$words[CURRENT-1]
  (( CURRENT <= 2 )) || command=$words[2]
  local -a candidates
  candidates=(${=$(_foretrace_candidates "$command" "$previous" "$PREFIX")})
  if (( $#candidates == 0 )); then
    _files
  elif [[ $previous == --apply ]]; then
    compadd -S '' -a candidates
  else
    compadd -a candidates
  fi
}
compdef _foretrace foretrace
)sh";

constexpr std::string_view fish_front = R"sh(
# NAME, or NAME:key=value,key=...
function __foretrace_what_if
  set -l word (commandline -ct)
  set -l name (string replace -r ':.*' '' -- $word)
  if not string match -q '*:*' -- $word
    __foretrace_names optimizations
    return
  end
  set -l before (string replace -r '[^:,]*$' '' -- $word)
  for parameter in (__foretrace_parameters $name)
    echo $before$parameter
  end
end
complete -c foretrace -n '__fish_seen_subcommand_from whatif' -s a -l apply -xa '(__foretrace_what_if)'
complete -c foretrace -n '__fish_seen_subcommand_from whatif calibrate' -l accelerator -xa '(__foretrace_names accelerators)'
complete -c foretrace -n '__fish_seen_subcommand_from whatif simulate critical-path' -l step -xa 'median all'
complete -c foretrace -n '__fish_seen_subcommand_from whatif simulate critical-path' -l engine -xa 'pull event'
complete -c foretrace -n '__fish_seen_subcommand_from whatif simulate' -l when-full -xa 'fail block (__foretrace_names policies)'
complete -c foretrace -n '__fish_seen_subcommand_from whatif' -l by -xa 'time memory'
complete -c foretrace -n '__fish_seen_subcommand_from convert' -l to -xa '(__foretrace_names writers)'
complete -c foretrace -l log-level -xa 'debug info warning error off'
complete -c foretrace -n '__fish_seen_subcommand_from list' -xa '(__foretrace_names kinds)'
complete -c foretrace -n '__fish_seen_subcommand_from explain' -xa '(__foretrace_names optimizations policies accelerators readers writers)'
complete -c foretrace -n '__fish_seen_subcommand_from completion' -xa 'bash zsh fish'
complete -c foretrace -n '__fish_seen_subcommand_from help' -xa '(__foretrace_commands)'
)sh";

std::string function(std::string_view name, const std::string& rows) {
  return fmt::format("{}() {{\n  case $1 in\n{}  esac\n}}\n", name, rows);
}

std::string row(std::string_view key, const std::vector<std::string>& words) {
  return fmt::format("    {}) echo \"{}\" ;;\n", key, fmt::join(words, " "));
}

/// A text in single quotes of fish.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return out + "'";
}

/// Prints the words of a table, one per line: "name:word word".
std::string fish_function(std::string_view name, const std::string& rows) {
  return fmt::format("function {}\n  for key in $argv\n    switch $key\n{}    end\n  end\nend\n",
                     name, rows);
}

std::string fish_row(std::string_view key, const std::vector<std::string>& words) {
  return fmt::format("      case {}\n        printf '%s\\n' {}\n", fish_quoted(key),
                     fmt::join(words, " "));
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options({})) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

/// Words by key.
using Words = std::vector<std::pair<std::string, std::vector<std::string>>>;

Words names_by_kind() {
  Words words = {{"kinds", {}}};
  for (const Kind& kind : kinds()) {
    words.front().second.emplace_back(kind.name);
    std::vector<std::string> names;
    if (const auto found = components(kind.name); found.ok()) {
      for (const Component& component : *found) names.push_back(component.name);
    }
    words.emplace_back(kind.name, std::move(names));
  }
  return words;
}

Words parameters_by_name() {
  Words words;
  for (const WhatIfInfo* const info : what_ifs::all()) {
    std::vector<std::string> names;
    for (const ParamInfo& param : info->params) {
      names.push_back(std::string(param.name) + "=");
    }
    if (!names.empty()) words.emplace_back(info->name, std::move(names));
  }
  return words;
}

template <typename ToRow>
std::string rows_of(const Words& words, const ToRow& to_row) {
  std::string rows;
  for (const auto& [key, list] : words) rows += to_row(key, list);
  return rows;
}

std::string fish_script(const CLI::App& root) {
  std::string script =
      "# fish completion; load it with: foretrace completion fish | source\n"
      "function __foretrace_commands\n";
  std::string options;
  for (const CLI::App* const command : root.get_subcommands({})) {
    const std::string& name = command->get_name();
    script += fmt::format("  echo {}\n", name);
    options += fmt::format("complete -c foretrace -n __fish_use_subcommand -xa {} -d {}\n", name,
                           fish_quoted(command->get_description()));
    for (const CLI::Option* const option : command->get_options({})) {
      for (const std::string& word : option->get_lnames()) {
        options +=
            fmt::format("complete -c foretrace -n '__fish_seen_subcommand_from {}' -l {} -d {}\n",
                        name, word, fish_quoted(option->get_description()));
      }
    }
  }
  for (const std::string& word : option_names(root)) {
    options +=
        fmt::format("complete -c foretrace -n __fish_use_subcommand -l {}\n", word.substr(2));
  }
  script += "end\n" + fish_function("__foretrace_names", rows_of(names_by_kind(), fish_row)) +
            fish_function("__foretrace_parameters", rows_of(parameters_by_name(), fish_row));
  return script + options + std::string(fish_front);
}

}  // namespace

std::string completion_script(const CLI::App& root, Shell shell) {
  if (shell == Shell::fish) return fish_script(root);
  std::vector<std::string> commands;
  std::string options = row("''", option_names(root));
  for (const CLI::App* const command : root.get_subcommands({})) {
    commands.push_back(command->get_name());
    options += row(command->get_name(), option_names(*command));
  }
  std::string script =
      shell == Shell::bash
          ? "# bash completion; load it with: source <(foretrace completion bash)\n"
          : "#compdef foretrace\n# load it with: source <(foretrace completion zsh)\n";
  script += fmt::format("_foretrace_commands() {{ echo \"{}\"; }}\n", fmt::join(commands, " "));
  script += function("_foretrace_options", options);
  script += function("_foretrace_names", rows_of(names_by_kind(), row));
  script += function("_foretrace_parameters", rows_of(parameters_by_name(), row));
  script += common_part;
  return script += shell == Shell::bash ? bash_front : zsh_front;
}

}  // namespace foretrace::app
