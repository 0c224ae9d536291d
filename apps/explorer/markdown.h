// The Markdown of our own pages as HTML: headings, paragraphs, lists, tables, code, links, pictures.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::explorer {

/// The body of a page. Any text is safe: what is not understood stands as it is written, and links
/// lead to relative addresses, https and nowhere else.
[[nodiscard]] std::string html_of_markdown(std::string_view text);
/// The first heading; empty: there is none.
[[nodiscard]] std::string title_of_markdown(std::string_view text);

}  // namespace foretrace::explorer
