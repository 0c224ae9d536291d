// What `serve` answers a page: itself, the recorded run, and what-ifs that the engine applies.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/driver/requests/how_to.h"
#include "apps/driver/what_if_stack.h"
#include "apps/explorer/page.h"
#include "apps/explorer/questions.h"
#include "apps/serve/guard.h"
#include "apps/serve/http.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// The newest question of every page; those before it are given up.
class Newest {
 public:
  void announce(const Question& question);
  [[nodiscard]] bool is_superseded(const Question& question) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> ids_;
};

/// Thread-safe; questions are worked on one at a time.
class Service {
 public:
  /// Both live longer than the service.
  Service(const PageInput& input, const driver::HowTos& how_tos, driver::RunOptions options)
      : input_(input), how_tos_(how_tos), options_(std::move(options)) {}
  /// Prepares what every page opens with. Errors: see page_parts().
  [[nodiscard]] Status prepare();

  [[nodiscard]] serve::Response answer(const serve::Request& request, const serve::Guard& guard);

 private:
  using Stack = std::vector<driver::WhatIf>;
  [[nodiscard]] serve::Response ask(const serve::Request& request);
  [[nodiscard]] serve::Response point(const Question& question, const Stack& stack);
  [[nodiscard]] serve::Response rest(const Question& question, const Stack& stack);
  [[nodiscard]] Result<driver::WhatIfStack> applied(const Question& question, const Stack& stack);

  /// A what-if and the graph after it and all before it.
  struct Layer {
    std::string text;
    driver::WhatIfStack stack;
  };
  const PageInput& input_;
  const driver::HowTos& how_tos_;
  driver::RunOptions options_;
  Shell shell_{};
  std::string opening_{};
  Newest newest_;
  std::mutex engine_;          // guards what follows, and the engine's time
  std::vector<Layer> layers_;  // of the last stack: a slider moves one what-if of several
};

}  // namespace foretrace::explorer
