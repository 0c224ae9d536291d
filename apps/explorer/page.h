// A page that carries graphs: one self-contained HTML file that simulates them where it is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/driver/analysis.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/load.h"
#include "apps/driver/predict.h"
#include "apps/driver/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// A what-if, or several together, that the page can switch to.
struct Variant {
  std::string name;                  ///< unique in the page
  std::string title{};               ///< in words
  std::vector<std::string> apply{};  ///< as --apply takes them
  std::string summary{};
  std::string paper{};
  std::vector<std::string> how{};  ///< how to get it, in lines
  driver::Prediction prediction{};
};

/// Text that stands in the page, with scripts or without.
struct Card {
  std::string title;
  std::string html;  ///< written by report::html_of
};

struct PageInput {
  const driver::Recording& recording;
  const driver::Replay& replay;
  std::vector<std::string> traces;  ///< as they were given
  const driver::Ranking* ranking = nullptr;
  std::vector<Variant> variants;  ///< the most useful first
  std::string shown;              ///< of the variants; empty: as recorded
  std::vector<Card> cards;
  std::optional<std::int64_t> step_number;  ///< none: the median step
  std::string version;
  std::size_t most_bytes = 8'000'000;  ///< later variants keep their figures only beyond it
};

struct Page {
  std::string html;
  std::size_t carried = 0;              ///< variants that can be simulated in the page
  std::vector<std::string> left_out{};  ///< the others, with the reason
};

/// Errors: a graph whose times a page cannot hold exactly.
[[nodiscard]] Result<Page> make_page(const PageInput& input);

}  // namespace foretrace::explorer
