// Completion scripts: tables as shell functions, a common part, a front per shell.
#include "apps/cli/completion.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/catalogue.h"
#include "models/whatifs/optimization.h"

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
    explain) _foretrace_names optimizations; _foretrace_names accelerators; _foretrace_names readers; _foretrace_names writers ;;
    completion) echo bash zsh ;;
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

std::string function(std::string_view name, const std::string& rows) {
  return fmt::format("{}() {{\n  case $1 in\n{}  esac\n}}\n", name, rows);
}

std::string row(std::string_view key, const std::vector<std::string>& words) {
  return fmt::format("    {}) echo \"{}\" ;;\n", key, fmt::join(words, " "));
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

std::string name_rows() {
  std::vector<std::string> kind_names;
  std::string rows;
  for (const Kind& kind : kinds()) {
    kind_names.emplace_back(kind.name);
    std::vector<std::string> names;
    if (const auto found = components(kind.name); found.ok()) {
      for (const Component& component : *found) {
        names.push_back(component.name);
      }
    }
    rows += row(kind.name, names);
  }
  return row("kinds", kind_names) + rows;
}

std::string parameter_rows() {
  std::string rows;
  for (const OptimizationInfo* const optimization : optimizations::all()) {
    std::vector<std::string> names;
    for (const ParamInfo& param : optimization->params) {
      names.push_back(std::string(param.name) + "=");
    }
    if (!names.empty()) {
      rows += row(optimization->name, names);
    }
  }
  return rows;
}

}  // namespace

std::string completion_script(const CLI::App& root, Shell shell) {
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
  script += function("_foretrace_names", name_rows());
  script += function("_foretrace_parameters", parameter_rows());
  script += common_part;
  return script += shell == Shell::bash ? bash_front : zsh_front;
}

}  // namespace foretrace::app
