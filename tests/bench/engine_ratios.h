// The groups of rows of ratios.json.
#pragma once

#include "tests/bench/measure.h"

namespace foretrace::bench {

void engine_ratios(Ratios& out);
void what_if_ratios(Ratios& out);
void ingest_ratios(Ratios& out);
void ftr_ratios(Ratios& out);
void memory_ratios(Ratios& out);
void plan_ratios(Ratios& out);
void sweep_ratios(Ratios& out);

}  // namespace foretrace::bench
