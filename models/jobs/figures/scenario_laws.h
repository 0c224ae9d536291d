// Laws that the answer to every scenario keeps.
#pragma once

#include "models/jobs/figures/scenario_answer.h"

namespace foretrace {

/// Throws BrokenLaw unless no part of the step or of memory is less than nothing, parts are no more
/// than the step, it holds the longest work of any lane, its range holds it, and a GPU is at most at
/// its peak.
void expect_laws(const Job& job, const ScenarioAnswer& answer, const ModelAmounts& amounts);

/// What an estimate alone shows: its parts, and the peak. A handful of comparisons.
void expect_laws(const Job& job, const Estimate& answer, const ModelAmounts& amounts);

}  // namespace foretrace
