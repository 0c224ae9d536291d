// Laws that every answer keeps, whatever was asked: one that breaks any is an error of ours, and
// none of its figures are shown.
#pragma once

#include "apps/session/prediction.h"
#include "apps/session/recording/recording.h"
#include "sim/core/broken_law.h"

namespace foretrace {

/// Throws BrokenLaw unless nothing takes less than no time or no memory, no time that was changed
/// is said to be measured, the step holds the work of its device, and no predicted product beats the
/// peak of its device.
void expect_laws(const Recording& recording, const ChangedRun& changed);

/// The same, and the range holds its step.
void expect_laws_of_answer(const Recording& recording, const Prediction& prediction);

}  // namespace foretrace
