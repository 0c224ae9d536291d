#include "apps/explorer/page.h"

#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "apps/explorer/cards.h"
#include "apps/explorer/page_assets.h"
#include "apps/questions/search/ranking.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/apps/support/program.h"

namespace foretrace::explorer {
namespace {

/// The page of a run with what-ifs that gain or not, answered as for a file of so many bytes.
PageInput answered(const test::Loaded& run, const Ranking& ranking, std::size_t bytes) {
  PageInput input{.session = run.session,
                  .traces = {"run"},
                  .ranking = ranking,
                  .variants = {},
                  .shown = {},
                  .cards = {},
                  .step_number = {},
                  .version = "1",
                  .most_bytes = bytes};
  for (const Ranked& row : ranking.rows) {
    const std::string name(row.info->name);
    auto answer = run.session.ask(test::stack_of({name}));
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    input.variants.push_back(variant_of(name, {name}, *std::move(answer), {}));
  }
  const Status answers = tell_all(input);
  REQUIRE_MESSAGE(answers.ok(), answers.error().message);
  return input;
}

std::size_t answers_in(const PageInput& input) {
  return static_cast<std::size_t>(std::ranges::count_if(
      input.variants, [](const Variant& each) { return !each.document.empty(); }));
}

TEST_CASE("page: what every page consists of stays small") {
  constexpr std::size_t most = 200'000;
  CHECK(page_script().size() + page_style().size() <= most);
  CHECK(sweep_script().size() < page_script().size() / 3);
}

TEST_CASE("page: no what-if makes it larger than it may be, cards and all") {
  const test::Loaded run = test::loaded(test::demo_memory_trace);
  const auto ranking = rank_all(run.session);
  REQUIRE(ranking.ok());
  const auto page_of = [&](std::size_t bytes, PageInput& input) {
    input.most_bytes = bytes;
    auto page = make_page(input);
    REQUIRE_MESSAGE(page.ok(), page.error().message);
    return *std::move(page);
  };
  PageInput all = answered(run, *ranking, 1'000'000'000);
  const std::size_t least = page_of(0, all).html.size();  // without any what-if
  const Page whole = page_of(1'000'000'000, all);
  REQUIRE(whole.carried >= 8);
  REQUIRE(answers_in(all) == whole.carried);
  const std::size_t growth = whole.html.size() - least;
  std::size_t carried = 0;
  for (std::size_t part = 1; part <= 12; ++part) {
    const std::size_t most = least + growth * part / 8;
    CAPTURE(most);
    PageInput input = answered(run, *ranking, most);
    const Page page = page_of(most, input);
    CHECK(page.html.size() <= most);
    CHECK(page.carried + page.left_out.size() == input.variants.size());
    // Graphs alone say what certainly has no room: nobody answered it.
    CHECK(answers_in(input) >= page.carried);
    carried = page.carried;
  }
  CHECK(carried == whole.carried);
  CHECK(answers_in(answered(run, *ranking, 0)) == 0);
}

}  // namespace
}  // namespace foretrace::explorer
