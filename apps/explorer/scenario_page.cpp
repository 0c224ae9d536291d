#include "apps/explorer/scenario_page.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/driver/plan/plan_search.h"
#include "apps/explorer/document.h"
#include "apps/explorer/facts.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;
using report::time_text;

std::string sentence_html(const ScenarioInput& input) {
  const driver::ScenarioAnswer& answer = input.answer;
  const std::string model = html_text(input.scenario.model->product, 80);
  if (!answer.fits) {
    return fmt::format(
        "<em>{}</em> does not fit: <span class=\"to\">stage {} needs {}</span><span "
        "class=\"from\">, a "
        "device has {}.</span>",
        model, answer.fullest_stage, report::bytes_text(to_whole(answer.fullest().total())),
        report::bytes_text(input.scenario.cluster->accelerator.memory_bytes));
  }
  return fmt::format(
      "A step of <em>{}</em> takes <span class=\"to\">{}</span><span class=\"from\"> on "
      "{} \u00d7 {}.</span>",
      model, time_text(answer.step_ns), input.scenario.job.ranks(),
      html_text(input.scenario.cluster->accelerator.product, 60));
}

std::string figures_html(const driver::ScenarioAnswer& answer, std::string_view counted) {
  const driver::JobFigures& figures = answer.figures;
  std::string html =
      fmt::format("<span>between <b>{}</b> and <b>{}</b></span> <span><b>{}</b> {}/s</span>",
                  time_text(answer.range.low_ns, answer.step_ns),
                  time_text(answer.range.high_ns, answer.step_ns),
                  report::rate_text(figures.tokens_per_s), counted);
  if (figures.flops_utilization) {
    html += fmt::format(" <span>MFU <b>{}</b></span>",
                        report::percent_text(*figures.flops_utilization));
  }
  return html + fmt::format(" <span>memory of the fullest stage <b>{}</b></span>",
                            report::bytes_text(to_whole(answer.fullest().total())));
}

/// Lanes are named by their stages: that is what a rank is here.
void name_stages(json& lanes) {
  for (json& lane : lanes) {
    const std::string what = lane["name"].get<std::string>();
    lane["name"] = fmt::format("stage {}{}", lane["rank"].get<int>(),
                               what == "computation" || what.empty() ? "" : ", " + what);
  }
}

}  // namespace

Result<Page> make_scenario_page(const ScenarioInput& input) {
  const TaskGraph& graph = input.answer.graph;
  if (!fits_doubles(graph) || !is_pulled(graph, input.answer.timeline)) {
    return Error{ErrorCode::unsupported,
                 "report: the order of this step is decided while it runs, which no page follows"};
  }
  Strings strings;
  const PackedGraph packed = pack_graph(graph);
  const std::string file(file_name_of(input.scenario.path));
  json facts = {{"schema", "foretrace.page/1"},
                {"traces", {file}},
                {"shown", ""},
                {"step_number", nullptr},
                {"variants", json::array()},
                {"unit", "step"},
                {"before", "as planned"},
                {"idle", "pipeline bubble"},
                {"stages", true},
                {"command", "simulate"},
                {"base", base_facts(graph, packed, strings)}};
  name_stages(facts["base"]["lanes"]);
  facts["strings"] = strings.list();
  BlockMap blocks;
  for (const auto& [id, bytes] :
       {std::pair{"graph", packed.bytes},
        {"facts",
         with_hidden_escaped(facts.dump(-1, ' ', false, json::error_handler_t::replace))}}) {
    Result<std::string> block = block_of(bytes);
    if (!block.ok()) return block.error();
    blocks.emplace(id, *std::move(block));
  }
  const driver::Scenario& scenario = input.scenario;
  Pieces pieces = {
      {"KIND", "scenario"},
      {"TITLE", html_text(file, 120) + " - Foretrace"},
      {"FILE", html_text(file, 120)},
      {"CHIPS", "<li>" + html_text(driver::plan_text(scenario.job), 200) + "</li>"},
      {"SENTENCE", sentence_html(input)},
      {"FIGURES",
       figures_html(input.answer, input.scenario.job.has_samples() ? "samples" : "tokens")},
      {"LIST_TITLE", "And if"},
      {"LIST_HINT", "simulated in this page"},
      {"STATIC",
       "<section class=\"card\"><h2>The whole answer</h2>\n" + input.details + "</section>\n"}};
  return Page{one_file(std::move(pieces), blocks, input.version)};
}

}  // namespace foretrace::explorer
