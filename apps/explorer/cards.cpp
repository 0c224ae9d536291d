#include "apps/explorer/cards.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/questions/compare/compare.h"
#include "apps/report/pages/compare.h"
#include "apps/report/pages/critical_path.h"
#include "apps/report/pages/result.h"
#include "apps/report/text.h"
#include "apps/report/writers.h"
#include "sim/core/parallel.h"

namespace foretrace::explorer {
namespace {

/// Takes out facts that another card of the same page states as well.
void leave_out(report::Page& page, const report::Page& stated) {
  const auto is_stated = [&](const report::Fact& fact) {
    return std::ranges::any_of(stated.sections, [&](const report::Section& section) {
      return std::ranges::any_of(section.facts, [&](const report::Fact& other) {
        return fact.label == other.label && shown_text(fact.value) == shown_text(other.value);
      });
    });
  };
  for (report::Section& section : page.sections) {
    std::erase_if(section.facts,
                  [&](const report::Fact& fact) { return !fact.label.empty() && is_stated(fact); });
  }
}

/// Of the recorded run: what bounds it, how far its graph can be trusted.
void tell_recorded(PageInput& input) {
  constexpr std::size_t groups = 10;  // as critical-path shows without --top
  const PathReport path = input.session.path(groups);
  const report::Page page = report::result_page({.session = input.session});
  input.document = report::json_of(page);
  report::Page bounds = report::critical_path_page({input.session, path});
  leave_out(bounds, page);
  input.cards = {
      {"What bounds it now", report::html_of(bounds), "critical-path"},
      {"The recording, and how well its graph replays it", report::html_of(page), "simulate"}};
}

}  // namespace

Variant variant_of(std::string name, std::vector<std::string> apply,
                   const std::vector<Applied>& stack, const HowTos& how_tos) {
  Variant variant{.name = std::move(name), .apply = std::move(apply)};
  for (const Applied& applied : stack) {
    const WhatIfInfo& info = *applied.info;
    variant.title += (variant.title.empty() ? "" : " + ") + report::in_words(info.name);
    variant.summary += (variant.summary.empty() ? "" : "; ") + std::string(info.summary);
    variant.paper += (variant.paper.empty() ? "" : "; ") + std::string(info.paper);
    std::ranges::move(lines_of(how_tos, info.name), std::back_inserter(variant.how));
  }
  return variant;
}

Variant variant_of(std::string name, std::vector<std::string> apply, Answer answer,
                   const HowTos& how_tos) {
  Variant variant =
      variant_of(std::move(name), std::move(apply), answer.prediction().applied, how_tos);
  variant.answer = std::move(answer);
  return variant;
}

Status tell(Variant& variant) {
  const Answer& answer = *variant.answer;
  const report::Page page =
      report::result_page({.session = answer.session(), .predicted = &answer});
  const ComparedRun before = simulated_run(answer.session());
  ComparedRun after = compared_run(answer);
  after.name = variant.title;
  FORETRACE_TRY(const Comparison comparison, compare_runs(before, after));
  variant.document = report::json_of(page);
  variant.cards = {{"Why " + variant.title + " changes the time",
                    report::html_of(report::compare_page({before, after, comparison})), "why"},
                   {"What this prediction is based on", report::html_of(page), "whatif"}};
  return ok_status();
}

Status tell_all(PageInput& input) {
  tell_recorded(input);
  FORETRACE_TRY(choose_variants(input));
  std::vector<Status> done(input.variants.size(), ok_status());
  for_each_index(input.variants.size(), [&](std::size_t i) {
    Variant& variant = input.variants[i];
    if (!variant.left_out.empty() && variant.name != input.shown) return;
    done[i] = tell(variant);
  });
  for (Status& status : done) {
    FORETRACE_TRY(status);
  }
  return ok_status();
}

}  // namespace foretrace::explorer
