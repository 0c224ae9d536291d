// The page of `inspect --modules`.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::StepSummary;
using driver::SummaryNode;

// What is smaller is in a line "... n more"; --json has it all.
constexpr double least_share = 0.005;
constexpr std::size_t longest_modules_list = 8;
constexpr std::size_t deepest = 8;

class Page {
 public:
  Page(const StepSummary& summary, std::int64_t steps)
      : summary_(summary), steps_(std::max<std::int64_t>(1, steps)) {
    for (const SummaryNode& stage : summary.stages) {
      host_ns_ += stage.host_ns;
    }
    table_.row({strong("stage and modules"), "device", "share", "host", "share", "operations"});
    for (const SummaryNode& stage : summary.stages) {
      add(stage, 0);
    }
  }
  [[nodiscard]] std::string text() const { return table_.text(0); }

 private:
  [[nodiscard]] bool is_small(const SummaryNode& node) const {
    return share_of(node.device_ns, summary_.device_ns) < least_share &&
           share_of(node.host_ns, host_ns_) < least_share;
  }

  void line(const std::string& name, const SummaryNode& node) {
    const auto per_step = static_cast<std::uint64_t>(steps_);
    table_.row({name, time_text(node.device_ns / steps_, summary_.device_ns / steps_),
                percent_text(share_of(node.device_ns, summary_.device_ns)),
                time_text(node.host_ns / steps_, host_ns_ / steps_),
                percent_text(share_of(node.host_ns, host_ns_)),
                count_text((node.operations + per_step / 2) / per_step)});
  }

  void add(const SummaryNode& node, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    const std::string times = node.repeats > 1 ? fmt::format(" x{}", node.repeats) : "";
    line(indent + shorten(node.name, 52 - 2 * depth - times.size()) + times, node);
    if (depth == deepest) {
      return;
    }
    SummaryNode rest;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const SummaryNode& child = node.children[i];
      if (i < longest_modules_list && !is_small(child)) {
        add(child, depth + 1);
        continue;
      }
      ++left_out;
      rest.operations += child.operations;
      rest.device_ns += child.device_ns;
      rest.host_ns += child.host_ns;
    }
    if (left_out > 0 && !is_small(rest)) {
      line(indent + fmt::format("  ... {} more", left_out), rest);
    }
  }

  const StepSummary& summary_;
  std::int64_t steps_;
  std::int64_t host_ns_ = 0;
  Table table_{{left, right, right, right, right, right}};
};

}  // namespace

std::string modules_headline(const driver::Inspection& found) {
  if (!found.graph || found.graph->summary.device_ns == 0) {
    return inspect_headline(found);
  }
  const StepSummary& summary = found.graph->summary;
  const std::string modules =
      summary.in_module_ns == 0
          ? "no modules were recorded"
          : fmt::format(
                "a module for {} of forward and backward",
                percent_text(share_of(summary.in_module_ns, summary.could_be_in_module_ns)));
  return fmt::format("{}: a stage for {} of device time, {}", file_name(found.path),
                     percent_text(share_of(summary.in_stage_ns, summary.device_ns)), modules);
}

std::string modules_page(const driver::Inspection& found) {
  std::string page = modules_headline(found) + "\n";
  if (!found.graph || found.graph->summary.device_ns == 0) {
    return page;
  }
  const auto steps = static_cast<std::int64_t>(found.graph->steps.host_ns.size());
  page += steps > 1 ? fmt::format("mean of {} steps, with what runs between them\n\n", steps)
                    : std::string("the whole recording\n\n");
  return page + Page(found.graph->summary, steps).text();
}

}  // namespace foretrace::app
