// What the page says beside its timeline: why a what-if changes the time, what bounds the run, how
// far its graph can be trusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/explorer/page.h"
#include "models/whatifs/how_to.h"

namespace foretrace::explorer {

/// A prediction with its words. `apply`: as the command line takes it.
[[nodiscard]] Variant variant_of(std::string name, std::vector<std::string> apply,
                                 Prediction prediction, const HowTos& how_tos);

/// Of a recording: what is asked of its variants starts from the same.
class Answers {
 public:
  /// The input lives longer.
  [[nodiscard]] static Result<Answers> of(const PageInput& input, const RunOptions& options);

  /// The document and the cards of a variant: why the time changes, reasons adding up to the
  /// difference; what the prediction rests on.
  [[nodiscard]] Status answer(Variant& variant) const;
  /// The same of the recorded run: what bounds it, how far its graph can be trusted.
  [[nodiscard]] Status answer(PageInput& recorded) const;

 private:
  Answers(const PageInput& input, const RunOptions& options, Analysis baseline)
      : input_(&input), options_(options), baseline_(std::move(baseline)) {}

  const PageInput* input_;
  RunOptions options_;
  Analysis baseline_;
};

/// Of the recorded run, of every variant that the page may carry, and of the shown one.
[[nodiscard]] Status answer_all(PageInput& input, const RunOptions& options);

}  // namespace foretrace::explorer
