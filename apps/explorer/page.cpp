#include "apps/explorer/page.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "apps/explorer/document.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_pieces.h"
#include "sim/core/hidden_text.h"
#include "sim/engine/pull/pull.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;

/// The graphs of the page and what is known of them.
class Blocks {
  static constexpr auto replace = json::error_handler_t::replace;

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
              {"answer", answer_facts(input_.document)},
              {"base", base_facts(base, packed, strings_)},
              {"variants", json::array()}};
    if (Status added = add("graph", packed.bytes); !added.ok()) return added;
    for (const Variant& variant : input_.variants) {
      if (Status added = add(variant, base); !added.ok()) return added;
    }
    facts_["strings"] = strings_.list();
    if (Status added = add("cards", cards_.dump(-1, ' ', false, replace)); !added.ok()) {
      return added;
    }
    return add("facts", with_hidden_escaped(facts_.dump(-1, ' ', false, replace)));
  }

  [[nodiscard]] const std::set<std::string_view>& carried() const { return carried_; }
  [[nodiscard]] std::vector<std::string> left_out() const { return left_out_; }
  [[nodiscard]] BlockMap take() { return std::move(blocks_); }

 private:
  Status add(std::string_view id, std::string_view bytes) {
    Result<std::string> block = block_of(bytes);
    if (!block.ok()) return block.error();
    size_ += block->size();
    blocks_.emplace(id, *std::move(block));
    return ok_status();
  }

  Status add(const Variant& variant, const TaskGraph& base) {
    const driver::Prediction& prediction = variant.prediction;
    if (!fits_doubles(prediction.graph) || !is_pulled(prediction)) {
      left_out_.push_back(variant.name + ": its order is decided while it runs");
      return ok_status();
    }
    const PackedGraph packed = pack_variant(prediction.graph, base, prediction.origin);
    Result<std::string> block = block_of(packed.bytes);
    if (!block.ok()) return block.error();
    if (size_ + block->size() > input_.most_bytes) {
      left_out_.push_back(variant.name + ": the page would grow beyond --max-size");
      return ok_status();
    }
    size_ += block->size();
    blocks_.emplace("variant-" + variant.name, *std::move(block));
    facts_["variants"].push_back(variant_facts(variant, base, packed, strings_));
    cards_[variant.name] = cards_html(variant.cards);
    carried_.insert(variant.name);
    return ok_status();
  }

  const PageInput& input_;
  Strings strings_;
  json facts_;
  json cards_ = json::object();  // of each variant, as HTML
  BlockMap blocks_;
  std::size_t size_ = 0;
  std::set<std::string_view> carried_;
  std::vector<std::string> left_out_;
};

}  // namespace

bool is_pulled(const TaskGraph& graph, const Timeline& timeline) {
  return simulate(graph).points == timeline.points;
}

bool is_pulled(const driver::Prediction& prediction) {
  return prediction.run.is_pulled || is_pulled(prediction.graph, prediction.run.timeline);
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
  return Page{one_file(std::move(parts->pieces), parts->blocks, input.version), parts->carried,
              std::move(parts->left_out)};
}

}  // namespace foretrace::explorer
