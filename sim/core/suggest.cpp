// Names and texts in error messages: what a misspelt name may have meant, and safe quoting.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr std::size_t longest_name = 64;  // longer ones are no misspelling of a name of ours
constexpr std::size_t longest_quote = 80;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, longest_quote)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += "'";
  if (text.size() > longest_quote) out += fmt::format("... ({} bytes)", text.size());
  return out;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> valid) {
  if (wrong.empty() || wrong.size() > longest_name) return {};
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view name : valid) {
    if (name.size() > longest_name) continue;
    const std::size_t distance = edit_distance(wrong, name);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(wrong.size(), name.size()) / 3);
    const bool is_start = wrong.size() >= 3 && name.starts_with(wrong);
    // A name that was begun is meant before one that looks like it; nearly complete, it alone is.
    const std::size_t rank = !is_start ? 1 + distance : distance == 1 ? 0 : 1;
    if (distance <= allowed || is_start) near.emplace_back(rank, name);
  }
  if (near.empty()) return {};
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto far = std::find_if(near.begin(), near.end(), [&](const auto& candidate) {
    return candidate.first > near.front().first;
  });
  const std::size_t shown = std::min<std::size_t>(static_cast<std::size_t>(far - near.begin()), 3);
  std::string out = " (did you mean ";
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == shown ? " or " : ", ";
    out += fmt::format("'{}'", near[i].second);
  }
  return out + "?)";
}

}  // namespace foretrace
