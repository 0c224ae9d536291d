// What the page says beside its timeline: why a what-if changes the time, what bounds the run, how
// far its graph can be trusted.
#pragma once

#include <string>
#include <vector>

#include "apps/explorer/page.h"
#include "models/whatifs/how_to.h"

namespace foretrace::explorer {

/// What-ifs with their words. `apply`: as the command line takes them.
[[nodiscard]] Variant variant_of(std::string name, std::vector<std::string> apply,
                                 const std::vector<Applied>& stack, const HowTos& how_tos);
/// The same with their answer.
[[nodiscard]] Variant variant_of(std::string name, std::vector<std::string> apply, Answer answer,
                                 const HowTos& how_tos);

/// The document and the cards of a variant that has an answer: why the time changes, reasons adding
/// up to the difference; what the prediction rests on.
[[nodiscard]] Status tell(Variant& variant);

/// Of the recorded run, of every variant that the page may carry, and of the shown one.
[[nodiscard]] Status tell_all(PageInput& input);

}  // namespace foretrace::explorer
