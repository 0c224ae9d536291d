#include "apps/explorer/scenario_page.h"

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/document.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page_pieces.h"
#include "apps/plans/plan_search.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "models/jobs/program/stages.h"
#include "sim/core/hidden_text.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;
using report::html_text;
using report::time_text;

/// Memory of the fullest stage.
std::string fullest_html(const ScenarioInput& input, std::string_view tag = "span") {
  const ScenarioAnswer& answer = input.answer;
  const auto stage = static_cast<std::uint32_t>(answer.fullest_stage);
  return figure_html(fmt::format("/predicted/memory/{}~10/allocated_peak_bytes",
                                 first_rank(input.scenario.job, stage)),
                     report::bytes_text(to_whole(answer.fullest().total())), tag);
}

std::string sentence_html(const ScenarioInput& input) {
  const ScenarioAnswer& answer = input.answer;
  const std::string model = html_text(input.scenario.model->product, 80);
  if (!answer.fits) {
    return fmt::format(
        "<em><bdi>{}</bdi></em> does not fit: <span class=\"to\">stage {} needs {}</span><span "
        "class=\"from\">, a "
        "device has {}.</span>",
        model, answer.fullest_stage, fullest_html(input),
        figure_html("/scenario/device_memory_bytes",
                    report::bytes_text(input.scenario.cluster->accelerator.memory_bytes)));
  }
  return fmt::format(
      "A step of <em><bdi>{}</bdi></em> takes <span class=\"to\">{}</span><span class=\"from\"> on "
      "{} \u00d7 <bdi>{}</bdi>.</span>",
      model, figure_html("/predicted/step_ns", time_text(answer.step_ns)),
      figure_html("/scenario/ranks", std::to_string(input.scenario.job.ranks())),
      html_text(input.scenario.cluster->accelerator.product, 60));
}

std::string figures_html(const ScenarioInput& input) {
  const ScenarioAnswer& answer = input.answer;
  const std::string_view counted = input.scenario.job.has_samples() ? "samples" : "tokens";
  std::string html = fmt::format(
      "<span>between {} and {}</span> <span>{} {}/s</span>",
      figure_html("/predicted/low_ns", time_text(answer.range.low_ns, answer.step_ns), "b"),
      figure_html("/predicted/high_ns", time_text(answer.range.high_ns, answer.step_ns), "b"),
      figure_html(fmt::format("/scenario/{}_per_s", counted),
                  report::rate_text(answer.figures.tokens_per_s), "b"),
      counted);
  if (answer.figures.flops_utilization) {
    html += fmt::format(" <span>MFU {}</span>",
                        figure_html("/scenario/model_flops_utilization",
                                    report::percent_text(*answer.figures.flops_utilization), "b"));
  }
  return html +
         fmt::format(" <span>memory of the fullest stage {}</span>", fullest_html(input, "b")) +
         provenance_html(input.document, "predicted");
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
                {"answer", answer_facts(input.document)},
                {"base", base_facts(graph, packed, strings)}};
  name_stages(facts["base"]["lanes"]);
  facts["strings"] = strings.list();
  BlockMap blocks;
  for (const auto& [id, bytes] :
       {std::pair{"graph", packed.bytes},
        {"facts",
         with_hidden_escaped(facts.dump(-1, ' ', false, json::error_handler_t::replace))}}) {
    FORETRACE_TRY(std::string block, block_of(bytes));
    blocks.emplace(id, std::move(block));
  }
  const Scenario& scenario = input.scenario;
  Pieces pieces = {
      {"KIND", "scenario"},
      {"TITLE", html_text(file, 120) + " - Foretrace"},
      {"FILE", html_text(file, 120)},
      {"CHIPS", "<li>" + html_text(plan_text(scenario.job), 200) + "</li>"},
      {"SENTENCE", sentence_html(input)},
      {"FIGURES", figures_html(input)},
      {"LIST_TITLE", "And if"},
      {"LIST_HINT", "simulated in this page"},
      {"STATIC", cards_html(std::array{Card{"The whole answer", input.details, "simulate"}})}};
  return Page{one_file(std::move(pieces), blocks, input.version)};
}

}  // namespace foretrace::explorer
