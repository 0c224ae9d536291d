#include "apps/explorer/page_pieces.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/facts.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "sim/core/text.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;

std::string_view unit_of(const PageInput& input) {
  return input.session.run().answer.is_span ? "run" : "step";
}

const Variant* shown_variant(const PageInput& input) {
  const auto found =
      std::find_if(input.variants.begin(), input.variants.end(),
                   [&](const Variant& variant) { return variant.name == input.shown; });
  return found == input.variants.end() ? nullptr : &*found;
}

/// Of the time per sample.
double change_of(std::int64_t after, double samples, std::int64_t before) {
  return static_cast<double>(after) / samples /
             static_cast<double>(std::max<std::int64_t>(1, before)) -
         1;
}

/// As pages write it: one minus sign everywhere.
std::string gain_text(double change) {
  std::string text = report::signed_percent_text(change);
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

/// What a step of another number of samples says besides its time.
std::string samples_text(double samples) {
  return samples == 1
             ? std::string()
             : fmt::format(", for {} the samples", figure_html("/predicted/throughput/samples",
                                                               report::factor_text(samples)));
}

std::string sentence_html(const PageInput& input) {
  const std::int64_t before = input.session.step_ns();
  const Variant* const variant = shown_variant(input);
  if (variant == nullptr) {
    return fmt::format("This {} takes {}.", unit_of(input),
                       figure_html("/baseline/step_ns", report::time_text(before), "em"));
  }
  const std::int64_t after = variant->answer->step_ns();
  return fmt::format(
      "With <em>{}</em> this {} would take <span class=\"to\">{}</span><span class=\"from\"> "
      "instead of {}{}.</span>",
      html_text(variant->title), unit_of(input),
      figure_html("/predicted/step_ns", report::time_text(after, before)),
      figure_html("/baseline/step_ns", report::time_text(before)),
      samples_text(variant->answer->samples()));
}

std::string figures_html(const PageInput& input) {
  const Variant* const variant = shown_variant(input);
  if (variant == nullptr) return provenance_html(input.document, "baseline");
  const Answer& answer = *variant->answer;
  const std::int64_t before = std::max<std::int64_t>(1, input.session.step_ns());
  const double samples = answer.samples();
  return fmt::format(
      "<span>{}{}</span> <span>between {} and {}</span>{}",
      figure_html(samples == 1 ? "/predicted/step_ns to /baseline/step_ns"
                               : "/predicted/step_ns per /predicted/throughput/samples to "
                                 "/baseline/step_ns",
                  gain_text(change_of(answer.step_ns(), samples, before)), "b"),
      samples == 1 ? "" : " per sample",
      figure_html("/predicted/low_ns", report::time_text(answer.low_ns(), before), "b"),
      figure_html("/predicted/high_ns", report::time_text(answer.high_ns(), before), "b"),
      provenance_html(variant->document, "predicted"));
}

std::string chips_html(const PageInput& input) {
  std::string html;
  const auto chip = [&html](std::string_view at, const std::string& text) {
    html += at.empty() ? fmt::format("<li><bdi>{}</bdi></li>", html_text(text, 60))
                       : figure_html(at, text, "li");
  };
  const auto& devices = input.session.graph().context().devices;
  if (!devices.empty() && !devices.front().name.empty()) chip("", devices.front().name);
  if (input.session.recording().job) {
    chip("number of /ranks", report::plural(input.session.recording().job->ranks.size(), "rank"));
  }
  chip("/tasks", report::count_text(input.session.graph().size()) + " tasks");
  const std::size_t steps = input.session.run().steps.host_ns.size();
  chip("number of /baseline/steps_ns",
       steps == 0 ? "no steps: the whole recording" : report::plural(steps, "step"));
  if (const Replay& replay = input.session.replay(); replay.has_measured()) {
    chip("/baseline/error",
         fmt::format("replay {} off",
                     report::with_signs(report::signed_percent_text(replay.error))));
  }
  return html;
}

/// One argument as a shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// What may take the doubts away: a command to copy. Empty: none is known.
std::string remedy_html(const PageInput& input) {
  const Recording& recording = input.session.recording();
  if (recording.without_one_off || recording.one_off.empty()) return {};
  std::string command = "foretrace report";
  for (const std::string& trace : input.traces) command += " " + quoted(trace);
  return fmt::format(
      "<p class=\"doubt\" role=\"note\">This recording has long pauses that do not repeat. Cut "
      "them out: <code>{} --without-one-off -o run.html</code></p>\n",
      html_text(command, 2000));
}

std::string doubts_html(const PageInput& input) {
  std::string html;
  for (const Doubt& doubt : input.session.replay().doubts) {
    html += "<p class=\"doubt\" role=\"note\">Low confidence: " + html_text(doubt.text, 2000) +
            "</p>\n";
  }
  return html.empty() ? html : html + remedy_html(input);
}

/// One row of the ranking, which is the switch, too.
struct RankingRow {
  std::string at;  ///< in the document of the answer that it is of
  std::string_view command;
  std::string_view name;
  std::string title;
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double samples = 1;  ///< of a step / of a recorded one
  bool is_noise = false;
  bool is_carried = false;
};

bool gains(const RankingRow& row, std::int64_t before) {
  constexpr double least = 0.0005;
  return !row.is_noise && change_of(row.step_ns, row.samples, before) <= -least;
}

/// One of a file's what-ifs is shown, or none: radio buttons. With an engine they are switches.
std::string as_recorded_row_html(const PageInput& input) {
  return fmt::format(
      "<li data-of=\"answer\"><label><input type=\"radio\" name=\"what-if\" value=\"\" "
      "data-carried=\"yes\" disabled{}><span class=\"name\">as recorded</span>{}</label></li>\n",
      shown_variant(input) == nullptr ? " checked" : "",
      figure_html("/baseline/step_ns", report::time_text(input.session.step_ns())));
}

std::string ranking_row_html(const RankingRow& row, std::int64_t before, bool is_shown) {
  const double change = change_of(row.step_ns, row.samples, before);
  constexpr double least = 0.0005;
  const bool none = row.is_noise || std::abs(change) < least;
  const char* const kind = none ? " none" : change > 0 ? " worse" : "";
  const auto width = [&](std::int64_t ns) {
    constexpr double whole = 300;
    return std::clamp(whole * static_cast<double>(ns) / (1.3 * static_cast<double>(before)), 0.0,
                      whole);
  };
  return fmt::format(
      "<li data-of=\"{}\"><label><input type=\"radio\" name=\"what-if\" value=\"{}\" "
      "data-carried=\"{}\" disabled{}>"
      "<span class=\"name\">{}</span><span class=\"gain{}\">{}{}</span>"
      "<svg viewBox=\"0 0 300 8\" aria-hidden=\"true\"><rect class=\"rail\" y=\"1\" "
      "width=\"{:.1f}\" "
      "height=\"6\" rx=\"2\"/><rect class=\"fill{}\" y=\"1\" width=\"{:.1f}\" height=\"6\" "
      "rx=\"2\"/><path class=\"whisker\" d=\"M{:.1f} 0v8M{:.1f} 0v8M{:.1f} 4H{:.1f}\"/></svg>"
      "<span class=\"between\">{}, between {} and {}</span></label></li>\n",
      row.command, html_text(row.name), row.is_carried ? "yes" : "no", is_shown ? " checked" : "",
      html_text(row.title), kind,
      none ? "none"
           : figure_html(
                 row.samples == 1
                     ? fmt::format("{}/step_ns to /baseline/step_ns", row.at)
                     : fmt::format("{0}/step_ns per {0}{1} to /baseline/step_ns", row.at,
                                   row.command == "ranking" ? "/samples" : "/throughput/samples"),
                 gain_text(change)),
      row.samples == 1 ? "" : " per sample", width(before), kind, width(row.step_ns),
      width(row.low_ns), width(row.high_ns), width(row.low_ns), width(row.high_ns),
      figure_html(row.at + "/step_ns", report::time_text(row.step_ns, before)),
      figure_html(row.at + "/low_ns", report::time_text(row.low_ns, before)),
      figure_html(row.at + "/high_ns", report::time_text(row.high_ns, before)));
}

std::vector<RankingRow> ranking_rows(const PageInput& input,
                                     const std::set<std::string_view>& carried) {
  std::vector<RankingRow> rows;
  std::set<std::string_view> ranked;
  if (input.ranking) {
    for (const Ranked& row : input.ranking->rows) ranked.insert(row.info->name);
  }
  for (const Variant& variant : input.variants) {
    if (ranked.contains(variant.name)) continue;
    const Answer& answer = *variant.answer;
    rows.push_back({"/predicted", "applied", variant.name, variant.title, answer.step_ns(),
                    answer.low_ns(), answer.high_ns(), answer.samples(), false,
                    carried.contains(variant.name)});
  }
  if (!input.ranking) return rows;
  for (const Ranked& row : input.ranking->rows) {
    const auto number = static_cast<std::size_t>(&row - input.ranking->rows.data());
    rows.push_back({fmt::format("/ranking/rows/{}", number), "ranking", row.info->name,
                    report::in_words(row.info->name), row.step_ns, row.low_ns, row.high_ns,
                    row.samples, row.is_noise, carried.contains(row.info->name)});
  }
  return rows;
}

/// Those that gain, and folded those that do not.
std::string ranking_html(const PageInput& input, const std::set<std::string_view>& carried) {
  const std::int64_t before = std::max<std::int64_t>(1, input.session.step_ns());
  std::string shown;
  std::string folded;
  std::size_t count = 0;
  for (const RankingRow& row : ranking_rows(input, carried)) {
    const bool is_shown = row.name == input.shown;
    const bool is_open = is_shown || gains(row, before);
    (is_open ? shown : folded) += ranking_row_html(row, before, is_shown);
    count += is_open ? 0 : 1;
  }
  if (shown.empty() && folded.empty()) return "<ul>\n</ul>\n";
  std::string html = "<ul>\n" + as_recorded_row_html(input) + shown + "</ul>\n";
  if (count == 0) return html;
  return html +
         fmt::format("<details><summary>{} {} no time here</summary><ul>\n{}</ul></details>\n",
                     count, count == 1 ? "gains" : "gain", folded);
}

std::string left_out_html(const PageInput& input) {
  if (!input.ranking || input.ranking->left_out.empty()) return {};
  std::string failed;
  std::string others;
  std::size_t failures = 0;
  for (const Unranked& row : input.ranking->left_out) {
    const bool has_failed = row.cause == Unranked::Cause::error;
    failures += has_failed ? 1 : 0;
    (has_failed ? failed : others) += fmt::format(
        "<li><b>{}</b>: {}</li>\n", html_text(report::in_words(row.name)), html_text(row.reason));
  }
  const auto fold = [](std::size_t count, std::string_view what, const std::string& rows) {
    return rows.empty() ? rows
                        : fmt::format("<details><summary>{} {}</summary><ul>\n{}</ul></details>\n",
                                      count, what, rows);
  };
  return fold(failures, "failed: what each needs", failed) +
         fold(input.ranking->left_out.size() - failures, "not tried or without effect", others);
}

}  // namespace

std::string figure_html(std::string_view at, std::string_view text, std::string_view tag) {
  return fmt::format("<{0} data-at=\"{1}\">{2}</{0}>", tag, at, html_text(text));
}

std::string provenance_html(const std::string& document, std::string_view run) {
  if (document.empty()) return {};
  const json answer = answer_facts(document);
  const std::string at = fmt::format("/{}/provenance", run);
  const json::json_pointer shares(at);
  if (!answer.contains(shares)) return {};
  std::vector<std::pair<double, std::string>> by_share;
  for (const auto& [name, share] : answer[shares].items()) {
    by_share.emplace_back(share.get<double>(), name);
  }
  std::ranges::sort(by_share, std::greater());
  std::string html;
  for (const auto& [share, name] : by_share) {
    html += fmt::format("{}{} {}", html.empty() ? "" : ", ", name,
                        figure_html(at + "/" + name, report::percent_text(share), "b"));
  }
  return html.empty() ? html : fmt::format(" <span>based on {}</span>", html);
}

std::string cards_html(std::span<const Card> cards) {
  std::string html;
  for (const Card& card : cards) {
    const std::string title = fmt::format("<h2>{}</h2>", html_text(card.title));
    html += fmt::format("<section class=\"card\" data-of=\"{}\">", card.command);
    html += card.is_folded ? fmt::format("<details><summary>{}</summary>\n{}</details></section>\n",
                                         title, card.html)
                           : fmt::format("{}\n{}</section>\n", title, card.html);
  }
  return html;
}

Pieces pieces_of(const PageInput& input, const std::set<std::string_view>& carried) {
  const Variant* const shown = shown_variant(input);
  const std::string file = html_text(file_name_of(input.session.recording().path), 120);
  return {{"KIND", "run"},
          {"LIST_TITLE", "What if"},
          {"LIST_HINT", "each alone, simulated, with its range"},
          {"TITLE", file + " - Foretrace"},
          {"FILE", file},
          {"CHIPS", chips_html(input)},
          {"DOUBTS", doubts_html(input)},
          {"SENTENCE", sentence_html(input)},
          {"FIGURES", figures_html(input)},
          {"RANKING", ranking_html(input, carried)},
          {"LEFT_OUT", left_out_html(input)},
          {"CARDS", shown == nullptr ? std::string() : cards_html(shown->cards)},
          {"STATIC", cards_html(input.cards)}};
}

}  // namespace foretrace::explorer
