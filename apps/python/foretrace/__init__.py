"""Predicts what an optimization, another accelerator or a cluster would do to a deep learning run.

    import foretrace
    foretrace.simulate("trace.json.gz").step_ns
    foretrace.whatif("trace.json.gz", ["mixed_precision"]).predicted.step_ns

Every answer is a data class with the figures that are asked for most, and `document`: all of it, as
`foretrace ... --json` prints it. What goes wrong is a `foretrace.Error` with the program's own line.
"""

from . import _foretrace
from ._clusters import (FleetResult, MappingResult, PlanResult, ScheduleResult, ServingResult, StreamsResult, plan,
                        schedule)
from ._common import edit
from ._foretrace import Corun, Error, RestartCost, Sharing, StepPrediction
from ._predictor import Predictions, Predictor
from ._prices import CostError, Kernel, Price, assess
from ._runs import (Breakdown, Inspection, PriceResult, Recording, SearchResult, SimulateResult, Step, WhatIfResult,
                    inspect, read, search, simulate, whatif)
from ._substitution import SubstitutionEnv
from ._sweeps import SweepResult, sweep

__version__ = _foretrace.__version__
__all__ = ["Breakdown", "Corun", "CostError", "Error", "FleetResult", "Inspection", "Kernel", "MappingResult",
           "PlanResult", "Predictions", "Predictor", "Price", "PriceResult", "Recording", "RestartCost",
           "ScheduleResult", "SearchResult", "ServingResult", "Sharing", "SimulateResult", "Step", "StepPrediction",
           "StreamsResult", "SubstitutionEnv", "SweepResult", "WhatIfResult", "assess", "edit", "inspect", "plan", "read",
           "schedule", "search", "simulate", "sweep", "whatif"]
