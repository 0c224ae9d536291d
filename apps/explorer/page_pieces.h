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
[[nodiscard]] std::string cards_html(std::span<const Card> cards);

}  // namespace foretrace::explorer
