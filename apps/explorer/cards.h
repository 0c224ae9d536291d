// What the page says beside its timeline: why a what-if changes the time, what bounds the run, how
// far its graph can be trusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/driver/requests/how_to.h"
#include "apps/explorer/page.h"

namespace foretrace::explorer {

/// A prediction with its words. `apply`: as the command line takes it.
[[nodiscard]] Variant variant_of(std::string name, std::vector<std::string> apply,
                                 driver::Prediction prediction, const driver::HowTos& how_tos);

/// The reasons, adding up to the difference.
[[nodiscard]] Result<Card> why_card(const PageInput& input, const Variant& variant);
/// What the prediction rests on: provenance, range, room on the device, memory.
[[nodiscard]] Result<Card> rests_on_card(const PageInput& input, const Variant& variant,
                                         const driver::RunOptions& options);
/// Of the recorded run.
[[nodiscard]] Result<std::vector<Card>> recorded_cards(const PageInput& input,
                                                       const driver::RunOptions& options);

}  // namespace foretrace::explorer
