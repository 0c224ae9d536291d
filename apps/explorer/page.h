// A page that carries graphs: one self-contained HTML file that simulates them where it is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/questions/search/ranking.h"
#include "apps/session/session.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"
#include "sim/result/export/graph_columns.h"

namespace foretrace::explorer {

/// Text that stands in the page, with scripts or without.
struct Card {
  std::string title;
  std::string html;            ///< written by report::html_of
  std::string_view command{};  ///< whose answer it is of: data-at is a place in its document
  bool is_folded = false;      ///< opens when it is asked for
};

/// A graph as pages hold it.
struct HeldGraph {
  PackedGraph packed;  ///< its columns; the bytes are in the block
  std::string block;
};

/// A what-if, or several together, that the page can switch to.
struct Variant {
  std::string name;                  ///< unique in the page
  std::string title{};               ///< in words
  std::vector<std::string> apply{};  ///< as --apply takes them
  std::string summary{};
  std::string paper{};
  std::vector<std::string> how{};  ///< how to get it, in lines
  std::optional<Answer> answer{};  ///< none: a server simulated it, no more
  std::string document{};          ///< what `whatif` answers, as JSON; empty: nobody asked it yet
  std::vector<Card> cards{};
  std::optional<HeldGraph> held{};  ///< none: not packed yet
  std::string left_out{};           ///< why the page cannot hold it, once that is known
};

struct PageInput {
  Session session;
  std::vector<std::string> traces;  ///< as they were given
  std::optional<Ranking> ranking;
  std::vector<Variant> variants;            ///< the most useful first
  std::string shown;                        ///< of the variants; empty: as recorded
  std::vector<Card> cards;                  ///< of the recorded run
  std::optional<std::int64_t> step_number;  ///< none: the median step
  std::string version;
  std::size_t most_bytes = 8'000'000;  ///< later variants keep their figures only beyond it
  std::string document{};              ///< what `simulate` answers, as JSON; empty: nobody asked it
  std::optional<HeldGraph> held{};     ///< the recorded graph; none: not packed yet
};

/// HTML by the name of its place in page.html.
using Pieces = std::map<std::string, std::string, std::less<>>;

/// Base64 of deflated bytes, by id.
using BlockMap = std::map<std::string, std::string>;

/// Whether one pass in order gives the times that the engine gave: policies need a queue.
[[nodiscard]] bool is_pulled(const TaskGraph& graph, const Timeline& timeline);
/// The same, of a run that knows which engine it was.
[[nodiscard]] bool is_pulled(const ChangedRun& changed);

/// Packs all graphs and leaves out variants that the page cannot hold, or has no room for: nobody
/// needs an answer of those. Errors: as page_parts().
[[nodiscard]] Status choose_variants(PageInput& input);

/// What differs from run to run: a page holds it, or asks a server for it.
struct PageParts {
  Pieces pieces;
  BlockMap blocks;
  std::size_t carried = 0;
  std::vector<std::string> left_out{};
};
/// Errors: a graph whose times a page cannot hold exactly.
[[nodiscard]] Result<PageParts> page_parts(const PageInput& input);

struct Page {
  std::string html;
  std::size_t carried = 0;              ///< variants that can be simulated in the page
  std::vector<std::string> left_out{};  ///< the others, with the reason
};

/// One file that holds all of it.
[[nodiscard]] Result<Page> make_page(const PageInput& input);

/// The same page without any data: it asks the server that it came from.
struct Shell {
  std::string html;
  std::string policy;  ///< its Content-Security-Policy
};
[[nodiscard]] Shell make_shell(std::string_view version);

}  // namespace foretrace::explorer
