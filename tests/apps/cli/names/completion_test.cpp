// The completion scripts, sourced by the shells they are for.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

using Words = std::vector<std::string>;

/// Runs lines in a shell after the script was sourced; the lines of its output.
Words run_in(const std::string& shell, const std::string& lines) {
  const std::string script = scratch_file("script." + shell);
  const std::string text = run_program("completion " + shell).out;
  REQUIRE_FALSE(text.empty());
  // zsh has compdef only where its completion system was loaded, as every interactive shell does.
  const std::string before = shell == "zsh" ? "autoload -Uz compinit\ncompinit -D\n" : "";
  std::ofstream(script) << before << text << "\n" << lines << "\n";
  // run_program's own command is not needed here, its redirections are.
  const Ran ran = run_program("--version >/dev/null; " + shell + " '" + script + "'");
  CHECK(ran.err == "");
  Words words;
  std::istringstream stream(ran.out);
  for (std::string line; std::getline(stream, line);) {
    words.push_back(line);
  }
  return words;
}

/// What bash would offer behind this text.
Words bash(const std::string& line) {
  return run_in("bash", "COMP_LINE=\"" + line +
                            "\"\nCOMP_POINT=${#COMP_LINE}\nCOMP_WORDS=($COMP_LINE)\n"
                            "COMP_CWORD=${#COMP_WORDS[@]}\n_foretrace\n"
                            "printf '%s\\n' \"${COMPREPLY[@]}\"");
}

/// What zsh would offer behind these words, the last one being unfinished.
Words zsh(const std::string& words, const std::string& last) {
  // Outside of its completion system zsh has none of its functions: stand-ins print the offers.
  const std::string stubs =
      "compdef() { : }\ncompadd() { print -l -- ${(M)candidates:#$PREFIX*} }\n_files() { print "
      "FILES }\n";
  return run_in("zsh", stubs + "words=(" + words + " '" + last + "')\nCURRENT=$#words\nPREFIX='" +
                           last + "'\n_foretrace");
}

bool offers(const Words& words, const std::string& wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

bool has_zsh() {
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe)
  return std::system("command -v zsh >/dev/null 2>&1") == 0;
}

TEST_CASE("bash completes commands, options and components") {
  CHECK(bash("foretrace sim") == Words{"simulate"});
  CHECK(bash("foretrace simulate --tim") == Words{"--timeline"});
  CHECK(bash("foretrace --ver") == Words{"--version"});
  CHECK(bash("foretrace whatif t.json --accelerator h20") == Words{"h20", "h200_sxm"});
  CHECK(bash("foretrace explain mixed_p") == Words{"mixed_precision"});
  CHECK(bash("foretrace simulate t.json --engine e") == Words{"event"});
  CHECK(bash("foretrace completion z") == Words{"zsh"});
  CHECK(bash("foretrace help sim") == Words{"simulate"});
}

TEST_CASE("bash completes a what-if, then its parameters, behind its own word breaks") {
  CHECK(bash("foretrace whatif t.json --apply mixed_p") == Words{"mixed_precision"});
  // bash replaces only what follows the last colon or equal sign.
  CHECK(bash("foretrace whatif t.json --apply mixed_precision:dt") == Words{"dtype="});
  CHECK(offers(bash("foretrace whatif t.json --apply mixed_precision:dtype=bf16,"), "bf16,mode="));
  CHECK(bash("foretrace whatif t.json --apply scale:fac") == Words{"factor="});
}

TEST_CASE("zsh completes the same") {
  if (!has_zsh()) {
    MESSAGE("SKIPPED: no zsh");
    return;
  }
  CHECK(zsh("foretrace", "sim") == Words{"simulate"});
  CHECK(zsh("foretrace simulate", "--tim") == Words{"--timeline"});
  CHECK(zsh("foretrace whatif t.json --apply", "mixed_precision:dt") ==
        Words{"mixed_precision:dtype="});
  CHECK(zsh("foretrace simulate", "") == Words{"FILES"});
}

TEST_CASE("fish completes the same") {
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe)
  if (std::system("command -v fish >/dev/null 2>&1") != 0) {
    MESSAGE("SKIPPED: no fish");
    return;
  }
  const auto fish = [](const std::string& line) {
    return run_in("fish", "complete -C '" + line + "' | string replace -r '\\t.*' ''");
  };
  CHECK(fish("foretrace sim") == Words{"simulate"});
  CHECK(fish("foretrace simulate t.json --tim") == Words{"--timeline"});
  CHECK(fish("foretrace whatif t.json --accelerator h100_s") == Words{"h100_sxm", "h100_sxm_96gb"});
  CHECK(fish("foretrace whatif t.json --apply mixed_p") == Words{"mixed_precision"});
  CHECK(fish("foretrace whatif t.json --apply scale:fac") == Words{"scale:factor="});
  CHECK(fish("foretrace help sim") == Words{"simulate"});
  CHECK(offers(fish("foretrace simulate README"), "README.md"));
}

}  // namespace
}  // namespace foretrace::test
