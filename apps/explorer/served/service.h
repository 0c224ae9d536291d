// What `serve` answers a page of one run: the run, and what-ifs that the engine applies to it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/explorer/page.h"
#include "apps/explorer/served/questions.h"
#include "apps/session/what_if_stack.h"
#include "apps/web/http.h"
#include "models/whatifs/how_to.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// The newest question of the pages that asked last; those before it are given up.
class Newest {
 public:
  void announce(const Question& question);
  [[nodiscard]] bool is_superseded(const Question& question) const;

 private:
  struct Page {
    std::uint64_t id = 0;
    std::uint64_t turn = 0;  ///< when it asked last
  };
  mutable std::mutex mutex_;
  std::uint64_t turns_ = 0;
  std::map<std::string, Page> pages_;
};

/// Thread-safe; questions are worked on one at a time.
class Service {
 public:
  /// What is known of how to get what-ifs lives longer than the service.
  Service(PageInput input, const HowTos& how_tos) : input_(std::move(input)), how_tos_(how_tos) {}
  /// Prepares what every page opens with; `runs` names all that can be chosen. Errors: see
  /// page_parts().
  [[nodiscard]] Status prepare(std::span<const std::string> runs);
  /// Names all that can be chosen from now on.
  void name_runs(std::span<const std::string> runs);

  /// "open", "point" or "rest", and what is asked.
  [[nodiscard]] serve::Response answer(std::string_view call, const std::string& body);

 private:
  using Stack = std::vector<WhatIf>;
  [[nodiscard]] serve::Response point(const Question& question, const Stack& stack);
  [[nodiscard]] serve::Response rest(const Question& question, const Stack& stack);
  /// Nothing: a newer question came before the stack was whole.
  [[nodiscard]] Result<std::optional<WhatIfStack>> applied(const Question& question,
                                                           const Stack& stack);

  /// A what-if and the graph after it and all before it.
  struct Layer {
    std::string text;
    WhatIfStack stack;
  };
  const PageInput input_;
  const HowTos& how_tos_;
  std::string opening_{};  // but for the names of runs
  std::mutex naming_;
  std::string runs_{};
  Newest newest_;
  std::mutex engine_;          // guards what follows, and the engine's time
  std::vector<Layer> layers_;  // of the last stack: a slider moves one what-if of several
};

}  // namespace foretrace::explorer
