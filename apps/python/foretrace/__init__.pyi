import enum
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

Path = Union[str, "os.PathLike[str]"]
WhatIf = Union[str, Dict[str, Any]]
__version__: str

class Error(RuntimeError): ...

@dataclass(frozen=True)
class Breakdown:
    host_bound: int
    compute: int
    memory_copy: int
    communication_exposed: int
    communication_waiting: int
    idle: int

@dataclass(frozen=True)
class Step:
    step_ns: int
    low_ns: Optional[int]
    high_ns: Optional[int]
    breakdown: Breakdown
    document: Dict[str, Any]

@dataclass(frozen=True)
class SimulateResult:
    step_ns: int
    measured_step_ns: Optional[int]
    error: Optional[float]
    breakdown: Breakdown
    document: Dict[str, Any]

@dataclass(frozen=True)
class WhatIfResult:
    baseline: Step
    predicted: Step
    speedup: float
    time_ratio: float
    applied: List[str]
    document: Dict[str, Any]

@dataclass(frozen=True)
class Kernel:
    name: str
    operator: str
    shapes: Tuple[Any, ...]
    types: Tuple[Any, ...]
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    kind: str
    precision: str
    flops: Optional[float]
    bytes: Optional[float]
    product: Optional[Tuple[float, float, float, float]]
    tile: Optional[Tuple[float, float]]
    ns: float
    count: int
    _row: Dict[str, Any]

@dataclass(frozen=True)
class Price:
    kernel: Kernel
    ns: float
    error: float

@dataclass(frozen=True)
class PriceResult(WhatIfResult):
    prices: List[Price]
    kept: int
    device_share: float
    path_share: float
    def table(self) -> Dict[str, Any]: ...
    def write_table(self, path: Path) -> None: ...
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class CostError:
    error: float
    weighted_error: float
    rank_correlation: Optional[float]
    kernels: int

CostFunction = Callable[[Kernel], Union[float, Tuple[float, float], None]]

@dataclass(frozen=True)
class Inspection:
    traces: List[Dict[str, Any]]
    document: Dict[str, Any]

@dataclass(frozen=True)
class ScheduleResult:
    runs: List[Dict[str, Any]]
    document: Dict[str, Any]
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class ServingResult:
    first_token_ns: int
    token_ns: int
    output_tokens_per_s: float
    requests: List[Dict[str, Any]]
    document: Dict[str, Any]
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class StreamsResult:
    scenarios: List[Dict[str, Any]]
    loads: List[Dict[str, Any]]
    document: Dict[str, Any]
    control: List[Dict[str, Any]]
    buffers: List[Dict[str, Any]]

@dataclass(frozen=True)
class FleetResult:
    rows: List[Dict[str, Any]]
    document: Dict[str, Any]
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class MappingResult:
    step_ns: int
    placed: List[Dict[str, Any]]
    document: Dict[str, Any]
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class SearchResult:
    best: List[str]
    step_ns: int
    low_ns: Optional[int]
    high_ns: Optional[int]
    speedup: float
    time_ratio: float
    members: List[Dict[str, Any]]
    front: List[Dict[str, Any]]
    document: Dict[str, Any]
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class PlanResult:
    plans: List[Dict[str, Any]]
    document: Dict[str, Any]
    @property
    def best(self) -> Optional[Dict[str, Any]]: ...
    def frame(self) -> Any: ...

class Predictions(List["StepPrediction"]):
    placements: List[Dict[str, Any]]
    def rows(self) -> List[Dict[str, Any]]: ...
    def arrays(self) -> Any: ...
    def frame(self) -> Any: ...

@dataclass(frozen=True)
class SweepResult:
    folder: str
    rows: int
    feasible: int
    failed: int
    best: Optional[Dict[str, Any]]
    document: Dict[str, Any]
    @property
    def doubts(self) -> List[str]: ...
    def points(self, where: str = ..., top: int = ..., pareto: bool = ...) -> List[Dict[str, Any]]: ...
    def frame(self, where: str = ..., top: int = ..., pareto: bool = ...) -> Any: ...
    def arrays(self, where: str = ..., top: int = ..., pareto: bool = ...) -> Any: ...

class Recording:
    def __init__(self, path: Union[Path, Sequence[Path]], *, strict: bool = ...,
                 unprofiled_step: str = ...) -> None: ...
    @property
    def tasks(self) -> int: ...
    def simulate(self, *, step: Union[str, int] = ..., engine: str = ...) -> SimulateResult: ...
    def whatif(self, what_ifs: Union[WhatIf, Sequence[WhatIf]] = ..., *, accelerator: str = ...,
               step: Union[str, int] = ..., engine: str = ...) -> WhatIfResult: ...
    def kernels(self, where: str = ...) -> List[Kernel]: ...
    def price(self, function: CostFunction, *, error: float, where: str = ...,
              what_ifs: Union[WhatIf, Sequence[WhatIf]] = ..., accelerator: str = ..., step: Union[str, int] = ...,
              engine: str = ...) -> PriceResult: ...
    def search(self, what_ifs: Union[WhatIf, Sequence[WhatIf]] = ..., *, accelerator: str = ..., by: str = ...,
               fit: str = ..., members: int = ..., trials: int = ..., without: Union[str, Sequence[str]] = ...,
               step: Union[str, int] = ..., engine: str = ...) -> SearchResult: ...

def read(path: Union[Path, Sequence[Path]], *, strict: bool = ...,
         unprofiled_step: str = ...) -> Recording: ...
def edit(select: str, **primitive: Any) -> Dict[str, Any]: ...
def inspect(path: Union[Path, Sequence[Path]]) -> Inspection: ...
@overload
def simulate(path: Union[Sequence[Path], Recording, Dict[str, Any]], *, step: Union[str, int] = ...,
             engine: str = ...) -> SimulateResult: ...
@overload  # of what the file holds: SimulateResult, ServingResult, StreamsResult, MappingResult or FleetResult
def simulate(path: Path, *, step: Union[str, int] = ..., engine: str = ...) -> Any: ...
def whatif(path: Union[Path, Sequence[Path], Recording], what_ifs: Union[WhatIf, Sequence[WhatIf]] = ..., *,
           accelerator: str = ..., step: Union[str, int] = ..., engine: str = ...) -> WhatIfResult: ...
def search(path: Union[Path, Sequence[Path], Recording], what_ifs: Union[WhatIf, Sequence[WhatIf]] = ...,
           **options: Any) -> SearchResult: ...
def assess(function: CostFunction, kernels: Iterable[Kernel]) -> CostError: ...
def plan(model: Path, cluster: Path, *, gpus: int = ..., batch: float = ..., sequence: int = ...,
         framework: str = ..., precision: str = ..., top: int = ...) -> PlanResult: ...
def schedule(path: Path) -> Union[ScheduleResult, ServingResult, StreamsResult, MappingResult, FleetResult]: ...
def sweep(sweep: Union[Path, Dict[str, Any]], folder: Path, *, threads: int = ..., top: int = ...,
          fresh: bool = ..., client: Any = ...) -> SweepResult: ...

class Sharing(enum.Enum):
    time_slices = ...
    mps = ...
    mig = ...

class RestartCost:
    @property
    def state_bytes(self) -> int: ...
    @property
    def save_ns(self) -> int: ...
    @property
    def load_ns(self) -> int: ...

class StepPrediction:
    @property
    def step_ns(self) -> int: ...
    @property
    def low_ns(self) -> int: ...
    @property
    def high_ns(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def fits(self) -> bool: ...
    @property
    def samples(self) -> float: ...
    def speedup(self, own_step_ns: int) -> float: ...
    def time_ratio(self, own_step_ns: int) -> float: ...

class Corun:
    @property
    def first(self) -> StepPrediction: ...
    @property
    def second(self) -> StepPrediction: ...
    @property
    def first_share(self) -> float: ...
    @property
    def second_share(self) -> float: ...
    @property
    def fits(self) -> bool: ...
    @property
    def knows_memory(self) -> bool: ...

class SubstitutionEnv:
    actions: List[str]
    def __init__(self, trace: Path, rules: Union[str, Sequence[str]] = ..., *, goal: str = ...) -> None: ...
    def reset(self, *, seed: Optional[int] = ..., options: Any = ...) -> Tuple[Dict[str, int], Dict[str, Any]]: ...
    def step(self, action: int) -> Tuple[Dict[str, int], float, bool, bool, Dict[str, Any]]: ...
    def action_masks(self) -> List[bool]: ...
    def search(self, *, relaxation: float = ..., most_states: int = ...) -> Dict[str, Any]: ...

class Predictor:
    def __init__(self, path: Union[Path, Sequence[Path]], *, step: Union[str, int] = ...) -> None: ...
    def predict(self, *, accelerator: str = ..., accelerators: int = ..., cluster: str = ..., compute: float = ...,
                copies: float = ..., communication: float = ..., host: float = ...) -> StepPrediction: ...
    def predict_many(self, placements: Iterable[Mapping[str, Any]]) -> Predictions: ...
    def throughputs(self, accelerators: Sequence[str], counts: Sequence[int]) -> List[List[float]]: ...
    @staticmethod
    def corun(first: "Predictor", second: "Predictor", sharing: Sharing = ...) -> Corun: ...
    def restart_cost(self, *, write_bytes_per_s: float, read_bytes_per_s: float, start_ns: int = ...) -> RestartCost: ...
    @property
    def tasks(self) -> int: ...
    @property
    def step_ns(self) -> int: ...
