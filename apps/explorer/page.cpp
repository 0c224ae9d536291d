#include "apps/explorer/page.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/encode.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_assets.h"
#include "apps/explorer/page_pieces.h"
#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"
#include "sim/engine/pull/pull.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;

/// The graphs of the page and what is known of them.
class Blocks {
 public:
  explicit Blocks(const PageInput& input) : input_(input) {}

  Status collect() {
    const TaskGraph& base = input_.recording.graph();
    if (!fits_doubles(base)) {
      return Error{ErrorCode::unsupported,
                   "report: the recording spans more than a page can count in ns exactly"};
    }
    const PackedGraph packed = pack_graph(base);
    facts_ = {{"schema", "foretrace.page/1"},
              {"traces", input_.traces},
              {"shown", input_.shown},
              {"devices", base.context().devices.size()},
              {"step_number", input_.step_number ? json(*input_.step_number) : json(nullptr)},
              {"labels", label_facts(base, strings_)},
              {"base", base_facts(base, packed, strings_)},
              {"variants", json::array()}};
    if (Status added = add("graph", packed.bytes); !added.ok()) return added;
    for (const Variant& variant : input_.variants) {
      if (Status added = add(variant, base); !added.ok()) return added;
    }
    facts_["strings"] = strings_.list();
    return add("facts",
               with_hidden_escaped(facts_.dump(-1, ' ', false, json::error_handler_t::replace)));
  }

  [[nodiscard]] const std::set<std::string_view>& carried() const { return carried_; }
  [[nodiscard]] std::vector<std::string> left_out() const { return left_out_; }
  [[nodiscard]] std::map<std::string, std::string> take() { return std::move(blocks_); }

 private:
  Status add(std::string_view id, std::string_view bytes) {
    const Result<std::string> packed = deflated(bytes);
    if (!packed.ok()) return packed.error();
    const std::string& block = blocks_.emplace(id, base64(*packed)).first->second;
    size_ += block.size();
    return ok_status();
  }

  Status add(const Variant& variant, const TaskGraph& base) {
    const driver::Prediction& prediction = variant.prediction;
    if (!fits_doubles(prediction.graph) || !is_pulled(prediction.graph, prediction.run.timeline)) {
      left_out_.push_back(variant.name + ": its order is decided while it runs");
      return ok_status();
    }
    const PackedGraph packed = pack_variant(prediction.graph, base, prediction.origin);
    const Result<std::string> bytes = deflated(packed.bytes);
    if (!bytes.ok()) return bytes.error();
    std::string block = base64(*bytes);
    if (size_ + block.size() > input_.most_bytes) {
      left_out_.push_back(variant.name + ": the page would grow beyond --max-size");
      return ok_status();
    }
    size_ += block.size();
    blocks_.emplace("variant-" + variant.name, std::move(block));
    facts_["variants"].push_back(variant_facts(variant, base, packed, strings_));
    carried_.insert(variant.name);
    return ok_status();
  }

  const PageInput& input_;
  Strings strings_;
  json facts_;
  std::map<std::string, std::string> blocks_;
  std::size_t size_ = 0;
  std::set<std::string_view> carried_;
  std::vector<std::string> left_out_;
};

/// Blocks of data, which no browser runs.
std::string blocks_html(const std::map<std::string, std::string>& blocks) {
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

std::string policy_of(std::string_view connect) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {};{} base-uri 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      csp_hash(page_script()), csp_hash(page_style()), connect);
}

/// The program's own pieces.
void add_sources(std::string_view version, std::string policy, std::string_view source,
                 Pieces& pieces) {
  pieces["POLICY"] = std::move(policy);
  pieces["STYLE"] = page_style();
  pieces["SCRIPT"] = page_script();
  pieces["SOURCE"] = source;
  pieces["VERSION"] = html_text(version);
}

}  // namespace

bool is_pulled(const TaskGraph& graph, const Timeline& timeline) {
  return simulate(graph).points == timeline.points;
}

Result<PageParts> page_parts(const PageInput& input) {
  Blocks blocks(input);
  if (const Status collected = blocks.collect(); !collected.ok()) return collected.error();
  PageParts parts;
  parts.pieces = pieces_of(input, blocks.carried());
  parts.carried = blocks.carried().size();
  parts.left_out = blocks.left_out();
  parts.blocks = blocks.take();
  return parts;
}

Result<Page> make_page(const PageInput& input) {
  Result<PageParts> parts = page_parts(input);
  if (!parts.ok()) return parts.error();
  Pieces& pieces = parts->pieces;
  add_sources(input.version, policy_of({}), "file", pieces);
  pieces["FOOTER"] = "Everything is in this file: it asks no server for anything.";
  pieces["BLOCKS"] = blocks_html(parts->blocks);
  return Page{filled(pieces), parts->carried, std::move(parts->left_out)};
}

Shell make_shell(std::string_view version) {
  Pieces pieces = {{"TITLE", "Foretrace"},
                   {"SENTENCE", "Reading the run..."},
                   {"FOOTER", "Served by foretrace on this machine: nothing leaves it."}};
  // frame-ancestors counts in a header only, and there it goes
  const std::string policy = policy_of(" connect-src 'self';");
  add_sources(version, policy, "server", pieces);
  return {filled(pieces), policy + "; frame-ancestors 'none'"};
}

}  // namespace foretrace::explorer
