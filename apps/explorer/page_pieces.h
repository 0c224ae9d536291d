// What stands in the page as HTML, so that it can be read without scripts.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "apps/explorer/page.h"

namespace foretrace::explorer {

/// Every place of page.html but its policy, sources and blocks. `carried`: what-ifs whose graph is
/// in the page.
[[nodiscard]] Pieces pieces_of(const PageInput& input, const std::set<std::string_view>& carried);
/// A figure with its place in the document of the answer, so that a test can compare the two. `at`:
/// a JSON pointer, or what follows from several, see Value::source.
[[nodiscard]] std::string figure_html(std::string_view at, std::string_view text,
                                      std::string_view tag = "span");
/// What a run of a document rests on, "predicted" or "baseline": "rests on assumed 87.6 %, measured
/// 12.4 %".
[[nodiscard]] std::string provenance_html(const std::string& document, std::string_view run);
[[nodiscard]] std::string cards_html(std::span<const Card> cards);

}  // namespace foretrace::explorer
