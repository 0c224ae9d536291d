#include "apps/explorer/page.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/document.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_assets.h"
#include "apps/explorer/page_pieces.h"
#include "sim/core/hidden_text.h"
#include "sim/core/parallel.h"
#include "sim/engine/pull/pull.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;

constexpr std::string_view has_no_room = "the page would grow beyond --max-size";

Result<HeldGraph> held(PackedGraph packed) {
  FORETRACE_TRY(std::string block, block_of(packed.bytes));
  packed.bytes.clear();
  return HeldGraph{std::move(packed), std::move(block)};
}

Result<HeldGraph> held_variant(const Variant& variant, const TaskGraph& base) {
  const ChangedRun& prediction = variant.answer->prediction();
  return held(pack_variant(prediction.graph, base, prediction.origin));
}

/// Why a page cannot simulate it; empty: it can.
std::string_view cannot_be_held(const ChangedRun& prediction) {
  const bool can = fits_doubles(prediction.graph) && is_pulled(prediction);
  return can ? "" : "its order is decided while it runs";
}

Status check_base(const TaskGraph& base) {
  if (fits_doubles(base)) return ok_status();
  return Error{ErrorCode::unsupported,
               "report: the recording spans more than a page can count in ns exactly"};
}

/// Of every page, whatever it shows.
std::size_t bytes_of_sources() {
  constexpr std::size_t policy_and_footer = 400;
  return page_template().size() + page_style().size() + page_script().size() + policy_and_footer;
}

std::size_t bytes_of_pieces(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const auto& [place, html] : pieces) bytes += html.size();
  return bytes;
}

std::string dumped_json(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The graphs of the page and what is known of them. A variant is carried with all that the page
/// says of it, or left out.
class Blocks {
 public:
  explicit Blocks(const PageInput& input) : input_(input) {}

  Status collect() {
    const TaskGraph& base = input_.session.graph();
    FORETRACE_TRY(check_base(base));
    FORETRACE_TRY(const HeldGraph graph,
                  input_.held ? Result<HeldGraph>(*input_.held) : held(pack_graph(base)));
    facts_ = {{"schema", "foretrace.page/1"},
              {"traces", input_.traces},
              {"shown", input_.shown},
              {"devices", base.context().devices.size()},
              {"step_number", input_.step_number ? json(*input_.step_number) : json(nullptr)},
              {"answer", answer_facts(input_.document)},
              {"base", base_facts(base, graph.packed, strings_)},
              {"variants", json::array()}};
    blocks_.emplace("graph", graph.block);
    FORETRACE_TRY(count_what_all_have(graph.block.size()));
    for (const Variant& variant : input_.variants) {
      FORETRACE_TRY(add(variant, base));
    }
    facts_["strings"] = strings_.list();
    FORETRACE_TRY(add("cards", dumped_json(cards_)));
    return add("facts", with_hidden_escaped(dumped_json(facts_)));
  }

  [[nodiscard]] const std::set<std::string_view>& carried() const { return carried_; }
  [[nodiscard]] std::vector<std::string> left_out() const { return left_out_; }
  [[nodiscard]] BlockMap take() { return std::move(blocks_); }

 private:
  Status add(std::string_view id, std::string_view bytes) {
    FORETRACE_TRY(std::string block, block_of(bytes));
    blocks_.emplace(id, std::move(block));
    return ok_status();
  }

  /// What the value adds to a block, alone: together values are deflated a little better.
  static Status count(const json& value, std::size_t& bytes) {
    FORETRACE_TRY(const std::string block, block_of(with_hidden_escaped(dumped_json(value))));
    bytes += block.size();
    return ok_status();
  }

  Status count_what_all_have(std::size_t graph_bytes) {
    std::set<std::string_view> all;
    for (const Variant& variant : input_.variants) all.insert(variant.name);
    graphs_ = bytes_of_sources() + bytes_of_pieces(pieces_of(input_, all)) + graph_bytes +
              3 * bytes_of_tag;
    return count_together();
  }

  /// What is in the page by now.
  Status count_together() {
    size_ = graphs_;
    for (const json& block : {facts_, strings_.list(), cards_}) {
      FORETRACE_TRY(count(block, size_));
    }
    return ok_status();
  }

  Status add(const Variant& variant, const TaskGraph& base) {
    const std::string_view why = variant.held || !variant.left_out.empty()
                                     ? variant.left_out
                                     : cannot_be_held(variant.answer->prediction());
    if (!why.empty()) {
      leave_out(variant, why);
      return ok_status();
    }
    FORETRACE_TRY(HeldGraph graph,
                  variant.held ? Result<HeldGraph>(*variant.held) : held_variant(variant, base));
    const std::size_t known = strings_.size();
    json facts = variant_facts(variant, variant.answer->prediction(), base, graph.packed, strings_);
    json cards = cards_html(variant.cards);
    FORETRACE_TRY(count(strings_.list(known), size_));
    std::size_t bytes = graph.block.size() + bytes_of_tag + variant.name.size();
    for (const json* const part : {&facts, &cards}) {
      FORETRACE_TRY(count(*part, bytes));
    }
    facts_["variants"].push_back(std::move(facts));
    cards_[variant.name] = std::move(cards);
    graphs_ += graph.block.size() + bytes_of_tag + variant.name.size();
    size_ += bytes;
    if (size_ > input_.most_bytes) {
      FORETRACE_TRY(count_together());
    }
    if (size_ > input_.most_bytes) {
      facts_["variants"].erase(facts_["variants"].size() - 1);
      cards_.erase(variant.name);
      graphs_ -= graph.block.size() + bytes_of_tag + variant.name.size();
      leave_out(variant, has_no_room);
      return count_together();
    }
    blocks_.emplace("variant-" + variant.name, std::move(graph.block));
    carried_.insert(variant.name);
    return ok_status();
  }

  void leave_out(const Variant& variant, std::string_view why) {
    left_out_.push_back(fmt::format("{}: {}", variant.name, why));
  }

  static constexpr std::size_t bytes_of_tag = 96;  // around a block

  const PageInput& input_;
  Strings strings_;
  json facts_;
  json cards_ = json::object();  // of each variant, as HTML
  BlockMap blocks_;
  std::size_t graphs_ = 0;  // bytes of all but facts and cards
  std::size_t size_ = 0;    // of the page, so far
  std::set<std::string_view> carried_;
  std::vector<std::string> left_out_;
};

}  // namespace

bool is_pulled(const TaskGraph& graph, const Timeline& timeline) {
  return simulate(graph).points == timeline.points;
}

bool is_pulled(const ChangedRun& changed) {
  return changed.run.is_pulled || is_pulled(changed.graph, changed.run.timeline);
}

Status choose_variants(PageInput& input) {
  const TaskGraph& base = input.session.graph();
  FORETRACE_TRY(check_base(base));
  std::vector<Status> done(input.variants.size() + 1, ok_status());
  const auto keep = [](Result<HeldGraph> graph, std::optional<HeldGraph>& place) -> Status {
    FORETRACE_TRY(graph);
    place = *std::move(graph);
    return ok_status();
  };
  for_each_index(done.size(), [&](std::size_t i) {
    if (i == 0) {
      done[i] = keep(held(pack_graph(base)), input.held);
      return;
    }
    Variant& variant = input.variants[i - 1];
    variant.left_out = cannot_be_held(variant.answer->prediction());
    if (variant.left_out.empty()) done[i] = keep(held_variant(variant, base), variant.held);
  });
  for (Status& status : done) {
    FORETRACE_TRY(status);
  }
  std::size_t size = bytes_of_sources() + input.held->block.size();
  for (Variant& variant : input.variants) {
    if (!variant.held) continue;
    const std::size_t more = variant.held->block.size();
    if (size + more > input.most_bytes) {
      variant.left_out = has_no_room;
      variant.held.reset();
    } else {
      size += more;
    }
  }
  return ok_status();
}

Result<PageParts> page_parts(const PageInput& input) {
  Blocks blocks(input);
  FORETRACE_TRY(blocks.collect());
  PageParts parts;
  parts.pieces = pieces_of(input, blocks.carried());
  parts.carried = blocks.carried().size();
  parts.left_out = blocks.left_out();
  parts.blocks = blocks.take();
  return parts;
}

Result<Page> make_page(const PageInput& input) {
  FORETRACE_TRY(PageParts parts, page_parts(input));
  return Page{one_file(std::move(parts.pieces), parts.blocks, input.version), parts.carried,
              std::move(parts.left_out)};
}

}  // namespace foretrace::explorer
