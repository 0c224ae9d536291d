#include "apps/explorer/page.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/encode.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_assets.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"
#include "sim/core/text.h"
#include "sim/engine/pull/pull.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;

std::string_view unit_of(const PageInput& input) {
  return input.replay.run.answer.is_span ? "run" : "step";
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

/// What a step of another number of samples says besides its time.
std::string samples_text(double samples) {
  return samples == 1 ? std::string()
                      : fmt::format(", for {} the samples", report::factor_text(samples));
}

std::string sentence_html(const PageInput& input) {
  const std::int64_t before = input.replay.run.answer.step_ns;
  const Variant* const variant = shown_variant(input);
  if (variant == nullptr) {
    return fmt::format("This {} takes <em>{}</em>.", unit_of(input),
                       html_text(report::time_text(before)));
  }
  const std::int64_t after = variant->prediction.run.answer.step_ns;
  return fmt::format(
      "With <em>{}</em> this {} would take <span class=\"to\">{}</span><span class=\"from\"> "
      "instead of {}{}.</span>",
      html_text(variant->title), unit_of(input), report::time_text(after, before),
      report::time_text(before), samples_text(variant->prediction.samples.value_or(1)));
}

std::string figures_html(const PageInput& input) {
  const Variant* const variant = shown_variant(input);
  if (variant == nullptr) return {};
  const driver::Prediction& prediction = variant->prediction;
  const std::int64_t before = std::max<std::int64_t>(1, input.replay.run.answer.step_ns);
  const double samples = prediction.samples.value_or(1);
  return fmt::format(
      "<span><b>{}</b>{}</span> <span>between <b>{}</b> and <b>{}</b></span>",
      report::signed_percent_text(change_of(prediction.run.answer.step_ns, samples, before)),
      samples == 1 ? "" : " per sample", report::time_text(prediction.low_ns, before),
      report::time_text(prediction.high_ns, before));
}

std::string chips_html(const PageInput& input) {
  std::vector<std::string> chips;
  const auto& devices = input.recording.graph().context().devices;
  if (!devices.empty() && !devices.front().name.empty()) chips.push_back(devices.front().name);
  if (input.recording.job) {
    chips.push_back(report::plural(input.recording.job->ranks.size(), "rank"));
  }
  chips.push_back(report::count_text(input.recording.graph().size()) + " tasks");
  const std::size_t steps = input.replay.run.steps.host_ns.size();
  chips.push_back(steps == 0 ? "no steps: the whole recording" : report::plural(steps, "step"));
  chips.push_back(fmt::format("replay {} off", report::signed_percent_text(input.replay.error)));
  std::string html;
  for (const std::string& chip : chips) html += "<li>" + html_text(chip, 60) + "</li>";
  return html;
}

std::string doubts_html(const PageInput& input) {
  std::string html;
  for (const driver::Doubt& doubt : input.replay.doubts) {
    html += "<p class=\"doubt\" role=\"note\">Doubtful: " + html_text(doubt.text, 2000) + "</p>\n";
  }
  return html;
}

/// One row of the ranking, which is the switch, too.
struct RankingRow {
  std::string_view name;
  std::string title;
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double samples = 1;  ///< of a step / of a recorded one
  bool is_noise = false;
  bool is_carried = false;
};

std::string ranking_row_html(const RankingRow& row, std::int64_t before) {
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
      "<li><label><input type=\"checkbox\" value=\"{}\" data-carried=\"{}\" disabled>"
      "<span class=\"name\">{}</span><span class=\"gain{}\">{}</span>"
      "<svg viewBox=\"0 0 300 8\" aria-hidden=\"true\"><rect class=\"rail\" y=\"1\" "
      "width=\"{:.1f}\" "
      "height=\"6\" rx=\"2\"/><rect class=\"fill{}\" y=\"1\" width=\"{:.1f}\" height=\"6\" "
      "rx=\"2\"/><path class=\"whisker\" d=\"M{:.1f} 0v8M{:.1f} 0v8M{:.1f} 4H{:.1f}\"/></svg>"
      "<span class=\"between\">{}, between {} and {}</span></label></li>\n",
      html_text(row.name), row.is_carried ? "yes" : "no", html_text(row.title), kind,
      (none ? std::string("none") : report::signed_percent_text(change)) +
          (row.samples == 1 ? "" : " per sample"),
      width(before), kind, width(row.step_ns), width(row.low_ns), width(row.high_ns),
      width(row.low_ns), width(row.high_ns), report::time_text(row.step_ns, before),
      report::time_text(row.low_ns, before), report::time_text(row.high_ns, before));
}

std::string ranking_html(const PageInput& input, const std::set<std::string_view>& carried) {
  const std::int64_t before = std::max<std::int64_t>(1, input.replay.run.answer.step_ns);
  std::string html;
  std::set<std::string_view> ranked;
  if (input.ranking != nullptr) {
    for (const driver::Ranked& row : input.ranking->rows) ranked.insert(row.optimization->name);
  }
  for (const Variant& variant : input.variants) {
    if (ranked.contains(variant.name)) continue;
    const driver::Prediction& prediction = variant.prediction;
    html += ranking_row_html(
        {variant.name, variant.title, prediction.run.answer.step_ns, prediction.low_ns,
         prediction.high_ns, prediction.samples.value_or(1), false, carried.contains(variant.name)},
        before);
  }
  if (input.ranking == nullptr) return html;
  for (const driver::Ranked& row : input.ranking->rows) {
    html += ranking_row_html(
        {row.optimization->name, report::in_words(row.optimization->name), row.step_ns, row.low_ns,
         row.high_ns, row.samples, row.is_noise, carried.contains(row.optimization->name)},
        before);
  }
  return html;
}

std::string left_out_html(const PageInput& input) {
  if (input.ranking == nullptr || input.ranking->left_out.empty()) return {};
  std::string html = fmt::format("<details><summary>{} not tried or without effect</summary><ul>\n",
                                 input.ranking->left_out.size());
  for (const driver::Unranked& row : input.ranking->left_out) {
    html += fmt::format("<li><b>{}</b>: {}</li>\n", html_text(report::in_words(row.name)),
                        html_text(row.reason));
  }
  return html + "</ul></details>\n";
}

std::string cards_html(const PageInput& input) {
  std::string html;
  for (const Card& card : input.cards) {
    html += fmt::format("<section class=\"card\"><h2>{}</h2>\n{}</section>\n",
                        html_text(card.title), card.html);
  }
  return html;
}

/// A block of data, which no browser runs.
Result<std::string> block_html(std::string_view id, std::string_view bytes) {
  const Result<std::string> packed = deflated(bytes);
  if (!packed.ok()) return packed.error();
  return fmt::format("<script type=\"text/plain\" id=\"block-{}\">{}</script>\n", html_text(id),
                     base64(*packed));
}

/// Whether one pass in order gives the times that the engine gave: policies need a queue.
bool is_pulled(const TaskGraph& graph, const Timeline& timeline) {
  return simulate(graph).points == timeline.points;
}

/// The graphs of the page and what is known of them.
class Blocks {
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
              {"labels", label_facts(base, strings_)},
              {"base", base_facts(base, packed, strings_)},
              {"variants", json::array()}};
    if (Status added = add("graph", packed.bytes); !added.ok()) return added;
    for (const Variant& variant : input_.variants) {
      if (Status added = add(variant, base); !added.ok()) return added;
    }
    facts_["strings"] = strings_.list();
    return add("facts",
               with_hidden_escaped(facts_.dump(-1, ' ', false, json::error_handler_t::replace)));
  }

  [[nodiscard]] const std::string& html() const { return html_; }
  [[nodiscard]] const std::set<std::string_view>& carried() const { return carried_; }
  [[nodiscard]] std::vector<std::string> left_out() const { return left_out_; }

 private:
  Status add(std::string_view id, std::string_view bytes) {
    const Result<std::string> block = block_html(id, bytes);
    if (!block.ok()) return block.error();
    html_ += *block;
    return ok_status();
  }

  Status add(const Variant& variant, const TaskGraph& base) {
    const driver::Prediction& prediction = variant.prediction;
    if (!fits_doubles(prediction.graph) || !is_pulled(prediction.graph, prediction.run.timeline)) {
      left_out_.push_back(variant.name + ": its order is decided while it runs");
      return ok_status();
    }
    const PackedGraph packed = pack_variant(prediction.graph, base, prediction.origin);
    const Result<std::string> block = block_html("variant-" + variant.name, packed.bytes);
    if (!block.ok()) return block.error();
    if (html_.size() + block->size() > input_.most_bytes) {
      left_out_.push_back(variant.name + ": the page would grow beyond --max-size");
      return ok_status();
    }
    html_ += *block;
    facts_["variants"].push_back(variant_facts(variant, base, packed, strings_));
    carried_.insert(variant.name);
    return ok_status();
  }

  const PageInput& input_;
  Strings strings_;
  json facts_;
  std::string html_;
  std::set<std::string_view> carried_;
  std::vector<std::string> left_out_;
};

/// Fills @NAMES@ of the template; what is filled in is not looked at again.
std::string filled(const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string html;
  std::string_view rest = page_template();
  while (!rest.empty()) {
    const std::size_t at = rest.find('@');
    html += rest.substr(0, at);
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + 1);
    const std::size_t end = rest.find('@');
    const std::string_view name = rest.substr(0, end);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& each) { return each.first == name; });
    FORETRACE_CHECK(value != values.end());
    html += value->second;
    rest.remove_prefix(end + 1);
  }
  return html;
}

}  // namespace

Result<Page> make_page(const PageInput& input) {
  Blocks blocks(input);
  if (const Status collected = blocks.collect(); !collected.ok()) return collected.error();
  const std::string style(page_style());
  const std::string script(page_script());
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      csp_hash(script), csp_hash(style));
  const std::string file = html_text(file_name_of(input.recording.path), 120);
  Page page;
  page.html = filled({{"POLICY", policy},
                      {"TITLE", file + " - Foretrace"},
                      {"STYLE", style},
                      {"FILE", file},
                      {"CHIPS", chips_html(input)},
                      {"DOUBTS", doubts_html(input)},
                      {"SENTENCE", sentence_html(input)},
                      {"FIGURES", figures_html(input)},
                      {"RANKING", ranking_html(input, blocks.carried())},
                      {"LEFT_OUT", left_out_html(input)},
                      {"STATIC", cards_html(input)},
                      {"VERSION", html_text(input.version)},
                      {"BLOCKS", blocks.html()},
                      {"SCRIPT", script}});
  page.carried = blocks.carried().size();
  page.left_out = blocks.left_out();
  return page;
}

}  // namespace foretrace::explorer
