#include "apps/explorer/comparison_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/document.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_pieces.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;
using report::time_text;

constexpr double whole = 300;  // of the picture of a row

std::string signed_time(std::int64_t ns, std::int64_t scale_ns) {
  return (ns < 0 ? "\u2212" : "+") + time_text(std::abs(ns), scale_ns);
}

std::string sentence_html(const ComparisonInput& input) {
  const Comparison& known = input.comparison;
  const std::string name = html_text(input.after.name, 120);
  if (!input.after.has_work()) {
    if (!known.peak) return fmt::format("<em>{}</em> has no step to compare.", name);
    return fmt::format(
        "The memory of <em>{}</em> peaks at <span class=\"to\">{}</span>"
        "<span class=\"from\"> instead of {}.</span>",
        name, figure_html("/memory/after_peak_bytes", report::bytes_text(known.peak->after_bytes)),
        figure_html("/memory/before_peak_bytes", report::bytes_text(known.peak->before_bytes)));
  }
  const std::int64_t scale = std::max(known.before_ns, known.after_ns);
  return fmt::format(
      "<em>{}</em> takes <span class=\"to\">{}</span><span class=\"from\"> {}instead of "
      "{}.</span>",
      name, figure_html("/after_ns", time_text(known.after_ns, scale)),
      input.after.run.answer.is_span ? "" : "per step ",
      figure_html("/before_ns", time_text(known.before_ns, scale)));
}

std::string figures_html(const ComparisonInput& input) {
  const Comparison& known = input.comparison;
  if (known.before_ns == 0) return {};
  const double change =
      static_cast<double>(known.after_ns) / static_cast<double>(known.before_ns) - 1;
  const bool is_noise = std::abs(change) < known.scatter;
  return fmt::format(
      "<span class=\"{}\">{}</span> <span>{}</span>{}", change <= 0 ? "good" : "bad",
      figure_html("/after_ns to /before_ns",
                  report::with_signs(report::signed_percent_text(change)), "b"),
      figure_html("/change_ns",
                  signed_time(known.change_ns(), std::max(known.before_ns, known.after_ns)), "b"),
      is_noise ? " <span>within the scatter of recorded steps</span>" : "");
}

/// A bar to the left of the middle for time that is saved, to the right for time that is added.
std::string reason_html(const Comparison& known, std::size_t number, std::int64_t most) {
  const Compared& reason = known.reasons[number];
  const std::int64_t scale = std::max(known.before_ns, known.after_ns);
  const std::string at = fmt::format("/reasons/{}", number);
  constexpr double middle = whole / 2;
  const double width = std::max(
      1.0, middle * static_cast<double>(std::abs(reason.change_ns())) / static_cast<double>(most));
  const bool saves = reason.change_ns() < 0;
  return fmt::format(
      "<li><div class=\"reason\"><span class=\"name\">{}</span><span class=\"gain{}\">{}</span>"
      "<svg viewBox=\"0 0 300 8\" aria-hidden=\"true\"><rect class=\"rail\" x=\"149.5\" "
      "width=\"1\" height=\"8\"/><rect class=\"fill{}\" x=\"{:.1f}\" y=\"1\" width=\"{:.1f}\" "
      "height=\"6\" rx=\"2\"/></svg><span class=\"between\">{}</span></div></li>\n",
      html_text(report::sections::reason_name(reason)), saves ? "" : " worse",
      figure_html(at + "/change_ns", signed_time(reason.change_ns(), scale)), saves ? "" : " worse",
      saves ? middle - width : middle, width,
      figure_html(at + "/what", report::with_signs(report::sections::what_changed(reason)), "bdi"));
}

std::string reasons_html(const Comparison& known) {
  if (known.reasons.empty()) return "<p class=\"hint\">Nothing that takes time differs.</p>";
  const std::int64_t scale = std::max(known.before_ns, known.after_ns);
  const auto size = [](const Compared& reason) { return std::abs(reason.change_ns()); };
  const std::int64_t most =
      std::max<std::int64_t>(1, size(*std::ranges::max_element(known.reasons, {}, size)));
  constexpr std::int64_t small_part = 200;  // of the longer step: what is less is summed up
  std::string html = "<ul>\n";
  std::int64_t rest = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < known.reasons.size(); ++i) {
    const Compared& reason = known.reasons[i];
    if (size(reason) * small_part < scale) {
      rest += reason.change_ns();
      count += reason.change_ns() == 0 ? 0 : 1;
      continue;
    }
    html += reason_html(known, i, most);
  }
  html += "</ul>\n";
  if (count > 0) {
    html += fmt::format("<p class=\"hint\">{} {}</p>\n", report::plural(count, "smaller change"),
                        figure_html("rest of /change_ns", signed_time(rest, scale), "b"));
  }
  return html + fmt::format("<p class=\"sum\"><span>together</span>{}</p>\n",
                            figure_html("/change_ns", signed_time(known.change_ns(), scale), "b"));
}

std::string doubts_html(const ComparisonInput& input) {
  std::string html;
  for (const Doubt& doubt : input.doubts) {
    html += "<p class=\"doubt\" role=\"note\">Low confidence: " + html_text(doubt.text, 2000) +
            "</p>\n";
  }
  return html;
}

Pieces pieces_of(const ComparisonInput& input) {
  const std::string before = html_text(input.before.name, 120);
  const std::string after = html_text(input.after.name, 120);
  return {{"KIND", input.after.has_work() ? "compare" : "text"},
          {"TITLE", before + " and " + after + " - Foretrace"},
          {"FILE", before + " \u2192 " + after},
          {"DOUBTS", doubts_html(input)},
          {"SENTENCE", sentence_html(input)},
          {"FIGURES", figures_html(input)},
          {"LIST_TITLE", "Why"},
          {"LIST_HINT", "largest change first; together they are the difference"},
          {"RANKING", input.after.has_work() ? reasons_html(input.comparison) : ""},
          {"STATIC", cards_html(std::array{Card{"Everything matched", input.details, "compare"}})}};
}

}  // namespace

Result<Page> make_comparison(const ComparisonInput& input) {
  BlockMap blocks;
  json facts = {{"schema", "foretrace.page/1"},
                {"step_number", nullptr},
                {"variants", json::array()},
                {"answer", answer_facts(input.document)}};
  if (input.after.has_work()) {
    Strings strings;
    for (const auto& [id, run] : {std::pair{"base", &input.before}, {"after", &input.after}}) {
      if (!fits_doubles(run->graph)) {
        return Error{ErrorCode::unsupported,
                     "compare: a recording spans more than a page can count in ns exactly"};
      }
      const PackedGraph packed = pack_graph(run->graph);
      FORETRACE_TRY(std::string block, block_of(packed.bytes));
      facts[id] = base_facts(run->graph, packed, strings);
      facts[id]["block"] = id;
      facts[id]["title"] = run->name;
      blocks.emplace(id, std::move(block));
    }
    facts["strings"] = strings.list();
  }
  FORETRACE_TRY(
      std::string block,
      block_of(with_hidden_escaped(facts.dump(-1, ' ', false, json::error_handler_t::replace))));
  blocks.emplace("facts", std::move(block));
  return Page{one_file(pieces_of(input), blocks, input.version)};
}

}  // namespace foretrace::explorer
