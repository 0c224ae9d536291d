#include "apps/explorer/document.h"

#include <utility>

#include <fmt/format.h>

#include "apps/explorer/encode.h"
#include "apps/explorer/page_assets.h"
#include "apps/report/writers.h"

namespace foretrace::explorer {
namespace {

using report::html_text;

/// Blocks of data, which no browser runs.
std::string blocks_html(const BlockMap& blocks) {
  std::string html;
  for (const auto& [id, text] : blocks) {
    html += fmt::format("<script type=\"text/plain\" id=\"block-{}\">{}</script>\n", html_text(id),
                        text);
  }
  return html;
}

/// Fills @NAMES@ of the template; what is filled in is not looked at again. Places without a piece
/// stay empty.
std::string filled(const Pieces& pieces) {
  std::string html;
  std::string_view rest = page_template();
  while (!rest.empty()) {
    const std::size_t at = rest.find('@');
    html += rest.substr(0, at);
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + 1);
    const std::size_t end = rest.find('@');
    const auto piece = pieces.find(rest.substr(0, end));
    if (piece != pieces.end()) html += piece->second;
    rest.remove_prefix(end + 1);
  }
  return html;
}

/// `wasm-unsafe-eval` lets the script start its engine, and lets no text become script.
std::string policy_of(std::string_view script, std::string_view connect) {
  return fmt::format(
      "default-src 'none'; script-src {} 'wasm-unsafe-eval'; style-src {};{} base-uri 'none'; "
      "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      csp_hash(script), csp_hash(page_style()), connect);
}

/// The program's own pieces.
void add_sources(std::string_view version, std::string_view script, std::string_view source,
                 Pieces& pieces) {
  pieces["STYLE"] = page_style();
  pieces["SCRIPT"] = script;
  pieces["SOURCE"] = source;
  pieces["VERSION"] = html_text(version);
}

}  // namespace

Result<std::string> block_of(std::string_view bytes) {
  FORETRACE_TRY(const std::string packed, deflated(bytes));
  return base64(packed);
}

std::string one_file(Pieces pieces, const BlockMap& blocks, std::string_view version) {
  const std::string_view script = pieces["KIND"] == "sweep" ? sweep_script() : page_script();
  pieces["POLICY"] = policy_of(script, {});
  add_sources(version, script, "file", pieces);
  pieces["FOOTER"] = "Everything is in this file: it asks no server for anything.";
  pieces["BLOCKS"] = blocks_html(blocks);
  return filled(pieces);
}

Shell make_shell(std::string_view version) {
  Pieces pieces = {{"TITLE", "Foretrace"},
                   {"KIND", "run"},
                   {"SENTENCE", "Reading the run..."},
                   {"LIST_TITLE", "What if"},
                   {"LIST_HINT", "each alone, simulated, with its range"},
                   {"FOOTER", "Served by foretrace on this machine: nothing leaves it."}};
  // frame-ancestors counts in a header only, and there it goes
  const std::string policy = policy_of(page_script(), " connect-src 'self';");
  pieces["POLICY"] = policy;
  add_sources(version, page_script(), "server", pieces);
  return {filled(pieces), policy + "; frame-ancestors 'none'"};
}

}  // namespace foretrace::explorer
