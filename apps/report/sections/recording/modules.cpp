// A step on several scales: its stages, the modules below them, repeated ones folded.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/inspect.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/core/text.h"
#include "sim/result/steps/step_summary.h"

namespace foretrace::report::sections {
namespace {

// What is smaller or deeper is left out of the page; documents have it all.
constexpr double least_share = 0.005;
constexpr std::size_t most_siblings = 8;
constexpr std::size_t deepest = 8;

class ModuleRows {
 public:
  ModuleRows(const StepSummary& summary, std::int64_t steps)
      : summary_(summary), steps_(std::max<std::int64_t>(1, steps)) {
    for (const SummaryNode& stage : summary.stages) host_ns_ += stage.host_ns;
  }

  [[nodiscard]] std::vector<Row> rows() const {
    std::vector<Row> rows;
    for (const SummaryNode& stage : summary_.stages) rows.push_back(row(stage, 0, Show::always));
    return rows;
  }

 private:
  [[nodiscard]] bool is_small(const SummaryNode& node) const {
    return share_of(node.device_ns, summary_.device_ns) < least_share &&
           share_of(node.host_ns, host_ns_) < least_share;
  }

  [[nodiscard]] std::vector<Value> cells(const SummaryNode& node) const {
    const auto steps = static_cast<std::uint64_t>(steps_);
    const std::string times = node.repeats > 1 ? fmt::format(" x{}", node.repeats) : "";
    return {Value::words(node.name).as(node.name + times),
            Value::count(node.repeats),
            Value::count(node.operations).as(count_text((node.operations + steps / 2) / steps)),
            Value::time(node.device_ns)
                .as(time_text(node.device_ns / steps_, summary_.device_ns / steps_)),
            Value::share(share_of(node.device_ns, summary_.device_ns)),
            Value::time(node.host_ns).as(time_text(node.host_ns / steps_, host_ns_ / steps_)),
            Value::share(share_of(node.host_ns, host_ns_))};
  }

  [[nodiscard]] Row row(const SummaryNode& node, std::size_t depth, Show show) const {
    Row row{.cells = cells(node), .show = show};
    SummaryNode rest;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const SummaryNode& child = node.children[i];
      const bool is_shown =
          show == Show::always && depth < deepest && i < most_siblings && !is_small(child);
      row.below.push_back(this->row(child, depth + 1, is_shown ? Show::always : Show::never));
      if (is_shown) continue;
      ++left_out;
      rest.operations += child.operations;
      rest.device_ns += child.device_ns;
      rest.host_ns += child.host_ns;
    }
    if (left_out > 0 && depth < deepest && !is_small(rest)) {
      rest.name = fmt::format("... {} more", left_out);
      row.below.push_back({.cells = cells(rest), .show = show, .is_for_pages = true});
    }
    return row;
  }

  const StepSummary& summary_;
  std::int64_t steps_;
  std::int64_t host_ns_ = 0;
};

std::string modules_headline(const Inspection& found) {
  if (!found.graph || found.graph->summary.device_ns == 0) {
    return inspect_headline(found);
  }
  const StepSummary& summary = found.graph->summary;
  const std::string modules =
      summary.in_module_ns == 0
          ? "no modules were recorded"
          : fmt::format(
                "modules recorded for {} of forward and backward",
                percent_text(share_of(summary.in_module_ns, summary.could_be_in_module_ns)));
  return fmt::format("{}: a stage for {} of device time, {}", shorten(file_name_of(found.path), 60),
                     percent_text(share_of(summary.in_stage_ns, summary.device_ns)), modules);
}

}  // namespace

Sections modules(const InspectAnswer& answer) {
  const Inspection& found = answer.found;
  Section section{.key = "modules", .path = "graph/summary"};
  if (answer.question.modules) section.headline = modules_headline(found);
  if (!found.graph) {
    section.path.clear();
    return {std::move(section)};
  }
  const StepSummary& summary = found.graph->summary;
  const auto steps = static_cast<std::int64_t>(found.graph->steps.host_ns.size());
  section.datum("in_stage_ns", Value::time(summary.in_stage_ns));
  section.datum("in_module_ns", Value::time(summary.in_module_ns));
  section.datum("could_be_in_module_ns", Value::time(summary.could_be_in_module_ns));
  section.tables.push_back({.key = "stages",
                            .title = "stage and modules",
                            .columns = {{"name"},
                                        {"repeats", "", Show::never},
                                        {"operations", "operations"},
                                        {"device_ns", "device"},
                                        {"", "share"},
                                        {"host_ns", "host"},
                                        {"", "share"}},
                            .rows = ModuleRows(summary, steps).rows(),
                            .below_key = "below"});
  if (summary.device_ns != 0) {
    section.note(steps > 1 ? fmt::format("mean of {} steps, including work between them", steps)
                           : std::string("sums over the whole recording"));
  }
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
