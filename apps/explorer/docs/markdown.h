// The Markdown of our own pages as HTML: headings, paragraphs, lists, tables, code, links, pictures.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace foretrace::explorer {

/// Where a relative address of a page leads; empty: nowhere, and its words stand without a link.
using LinkTarget = std::function<std::string(std::string_view address)>;

/// The body of a page. Any text is safe: what is not understood stands as it is written, and links
/// lead to relative addresses, https and nowhere else. Without `target` addresses stay as they are.
[[nodiscard]] std::string html_of_markdown(std::string_view text, const LinkTarget& target = {});
/// The first heading; empty: there is none.
[[nodiscard]] std::string title_of_markdown(std::string_view text);

}  // namespace foretrace::explorer
