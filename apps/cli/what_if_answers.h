// What `whatif` answers beyond one prediction: rankings, pairs, the best set, what fits, the
// largest batch.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/arguments/arguments.h"
#include "apps/cli/output/console.h"
#include "apps/questions/search/ranking.h"
#include "apps/session/session.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// Questions of which at most one is asked, and how.
struct Questions {
  bool rank_all = false;
  bool examples = false;
  bool pairs = false;
  bool max_batch = false;
  bool search = false;
  std::string fit;
  std::string by = "time";
  std::size_t top = 8;
  std::size_t members = 6;           ///< of a set that --search finds
  std::size_t trials = 1000;         ///< sets that it simulates
  std::vector<std::string> without;  ///< names that are no member

  [[nodiscard]] bool any() const {
    return rank_all || pairs || max_batch || search || !fit.empty();
  }
  /// Those that try what-ifs from a list of their own, alone.
  [[nodiscard]] bool ranks() const { return rank_all || pairs; }
};
/// --rank-all, --examples, --by, --pairs, --top, --fit, --max-batch, --search, --members, --trials,
/// --without.
void add_questions(Arguments& arguments, Questions& questions);
/// Refuses questions that exclude each other. `has_stack`: --apply or --accelerator is given.
[[nodiscard]] Status check_questions(const Questions& questions, bool has_stack);

/// Answers the question on stdout. `texts` are the what-ifs of `stack` as written.
[[nodiscard]] Exit answer_question(const Questions& questions, const CommonOptions& common,
                                   const Session& session, std::span<const WhatIf> stack,
                                   std::span<const std::string> texts);

}  // namespace foretrace::app
