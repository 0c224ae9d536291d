"""Recorded runs and scenarios: what is in them, how long they take, and what what-ifs would do."""

import dataclasses
import functools
import json
import os
import typing

from . import _foretrace
from ._clusters import _answer
from ._common import _configs, _frame, _milliseconds, _paths, _Shown, _stack
from ._prices import Kernel, Price, _label_of, _priced, _table_of


@dataclasses.dataclass(frozen=True)
class Breakdown:
    """Where a step goes, in ns; exclusive, so that the parts sum to the step."""
    host_bound: int = 0
    compute: int = 0
    memory_copy: int = 0
    communication_exposed: int = 0
    communication_waiting: int = 0
    idle: int = 0

    @classmethod
    def _of(cls, parts):
        names = {field.name for field in dataclasses.fields(cls)}
        given = {key[:-3] if key.endswith("_ns") else key: value for key, value in (parts or {}).items()}
        return cls(**{key: value for key, value in given.items() if key in names})


@dataclasses.dataclass(frozen=True)
class Step:
    """One side of a what-if. The range is that of a prediction, and None for what is only replayed."""
    step_ns: int
    low_ns: typing.Optional[int]
    high_ns: typing.Optional[int]
    breakdown: Breakdown
    document: dict = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, document):
        return cls(document["step_ns"], document.get("low_ns"), document.get("high_ns"),
                   Breakdown._of(document.get("breakdown")), document)


@dataclasses.dataclass(frozen=True)
class SimulateResult(_Shown):
    """A replay, or the simulation of a scenario (then nothing was measured)."""
    step_ns: int
    measured_step_ns: typing.Optional[int]
    error: typing.Optional[float]  # simulated / measured - 1
    breakdown: Breakdown
    document: dict = dataclasses.field(repr=False)

    def _figures(self):
        figures = {"step": _milliseconds(self.step_ns), "measured": _milliseconds(self.measured_step_ns)}
        if self.error is not None:
            figures["error"] = f"{100 * self.error:.2f} %"
        return figures


@dataclasses.dataclass(frozen=True)
class WhatIfResult(_Shown):
    baseline: Step
    predicted: Step
    speedup: float  # of the work per time: samples per second, predicted / now
    time_ratio: float  # of a step, predicted / now
    applied: typing.List[str]
    document: dict = dataclasses.field(repr=False)

    def _figures(self):
        return {"what-if": ", ".join(self.applied), "step now": _milliseconds(self.baseline.step_ns),
                "predicted": _milliseconds(self.predicted.step_ns),
                "between": f"{_milliseconds(self.predicted.low_ns)} and {_milliseconds(self.predicted.high_ns)}",
                "speedup": f"{self.speedup:.2f}x"}


@dataclasses.dataclass(frozen=True)
class PriceResult(WhatIfResult):
    """A what-if whose kernel times are those of a function, and how much of it rests on that function."""
    prices: typing.List[Price]
    kept: int  # kinds of kernels that keep their recorded time
    device_share: float  # of the recorded time of all kernels, in those that have a price
    path_share: float  # of the predicted critical path, in the same

    def table(self) -> dict:
        """The prices as a document that the what-if kernel_table takes."""
        return _table_of(self.prices)

    def write_table(self, path) -> None:
        """Writes table() to a file: `foretrace whatif TRACE --apply kernel_table:table=FILE.json`."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            json.dump(self.table(), file, indent=1)
            file.write("\n")

    def frame(self):
        """One row per kernel that has a price."""
        return _frame([{"kernel": one.kernel.name, "operator": one.kernel.operator, "count": one.kernel.count,
                        "recorded_ns": one.kernel.ns, "ns": one.ns, "error": one.error} for one in self.prices])

    def _figures(self):
        return {**super()._figures(), "rests on the function": f"{100 * self.path_share:.1f} % of the critical path"}


@dataclasses.dataclass(frozen=True)
class Inspection(_Shown):
    traces: typing.List[dict]
    document: dict = dataclasses.field(repr=False)

    def _figures(self):
        return {one.get("path", f"trace {i}"): f"{one.get('events', '-')} events" for i, one in enumerate(self.traces)}


@dataclasses.dataclass(frozen=True)
class SearchResult(_Shown):
    """The what-ifs that together give most. `best` is empty where nothing helps."""
    best: typing.List[str]  # as whatif() takes them
    step_ns: int
    low_ns: typing.Optional[int]
    high_ns: typing.Optional[int]
    speedup: float  # of the work per time, over the run without the set
    time_ratio: float  # of a step, over the run without the set
    members: typing.List[dict]  # what each adds to those before it, gives alone, and costs where it is left out
    front: typing.List[dict]  # sets that no other one is better than in time and in memory
    document: dict = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, document):
        found = document["search"]
        best = found["best"] or found["now"]
        members = [{"what_if": one["what_if"], **_set_figures(one["so_far"], ""), **_set_figures(one["alone"], "alone_"),
                    **_set_figures(one["without"], "without_")} for one in found["members"]]
        front = [{"what_ifs": one["what_ifs"], **_set_figures(one, "")} for one in found["front"]]
        return cls(best["what_ifs"], best["step_ns"], found["low_ns"], found["high_ns"],
                   best["speedup"], best["time_ratio"], members, front, document)

    def frame(self):
        """One row per what-if of the best set."""
        return _frame(self.members)

    def _figures(self):
        return {"best set": ", ".join(self.best) or "nothing helps", "step": _milliseconds(self.step_ns),
                "speedup": f"{self.speedup:.2f}x"}


def _set_figures(one, prefix):
    return {prefix + key: one[key] if one else None for key in ("step_ns", "speedup", "time_ratio", "live_bytes")}


class Recording:
    """A trace, or the traces of a job's ranks: read once, asked often."""

    def __init__(self, path, *, strict: bool = False, unprofiled_step: str = ""):
        self._source = (tuple(os.path.abspath(one) for one in _paths(path)), strict, unprofiled_step)
        self._run = _foretrace.RecordedRun(_paths(path), _configs(), strict, unprofiled_step)
        self._kinds = {}  # by selection

    def __reduce__(self):
        # Another process reads the files, once: joblib and Dask may send a recording with every task.
        return _recording_of, self._source

    @property
    def tasks(self) -> int:
        return self._run.tasks

    def simulate(self, *, step="median", engine: str = "pull") -> SimulateResult:
        return _simulated(json.loads(self._run.simulate(str(step), engine)))

    def whatif(self, what_ifs=(), *, accelerator: str = "", step="median", engine: str = "pull") -> WhatIfResult:
        return WhatIfResult(*_sides(json.loads(self._run.whatif(_stack(what_ifs), accelerator, str(step), engine))))

    def kernels(self, where: str = "kind=kernel"):
        """The kernels that a selection means, each kind once, in the order in which they first run."""
        if where not in self._kinds:
            self._kinds[where] = [Kernel._of(one) for one in self._run.kernels(where)]
        return list(self._kinds[where])

    def price(self, function, *, error, where: str = "kind=kernel", what_ifs=(), accelerator: str = "", step="median",
              engine: str = "pull"):
        """What the step would be if kernels took the times that a function tells: see foretrace.PriceResult.

        `function` gets each kind of kernel (foretrace.Kernel) that the selection `where` means once, and returns its
        time in ns, or (ns, its own relative error), or None to keep the recorded time. `error` is the relative error of
        what it tells, which goes into the range: foretrace.assess measures it. What-ifs are applied after it, so that
        they scale the times told; those that change the work of a step (another batch or length) are refused. With
        `accelerator` the function tells times of that accelerator, and kernels that it keeps move there."""
        kernels = self.kernels(where)
        prices = _priced(kernels, function, error)
        label = _label_of(function)
        text, path_share = self._run.price(_foretrace.Prices(json.dumps(_table_of(prices)), where, label),
                                           _stack(what_ifs), accelerator, str(step), engine)
        document = json.loads(text)
        of_all = sum(one.ns * one.count for one in self.kernels())
        device_share = sum(one.kernel.ns * one.kernel.count for one in prices) / max(of_all, 1)
        kept = len(kernels) - len(prices)
        document["prices"] = {"function": label, "kernels": len(prices), "kept": kept, "device_share": device_share,
                              "path_share": path_share}
        return PriceResult(*_sides(document), prices, kept, device_share, path_share)

    def search(self, what_ifs=(), *, accelerator: str = "", by: str = "time", fit: str = "", members: int = 6,
               trials: int = 1000, without=(), step="median", engine: str = "pull") -> SearchResult:
        """The what-ifs that together give most on top of `what_ifs`, and what each adds."""
        return SearchResult._of(json.loads(self._run.search(_stack(what_ifs), accelerator, by, fit, members, trials,
                                                            _stack(without), str(step), engine)))


def _sides(document):
    """The members of a WhatIfResult."""
    return (Step._of(document["baseline"]), Step._of(document["predicted"]), document["speedup"],
            document["time_ratio"], [one["name"] for one in document.get("applied", [])], document)


@functools.lru_cache(maxsize=8)
def _recording_of(paths, strict, unprofiled_step):
    return Recording(paths, strict=strict, unprofiled_step=unprofiled_step)


def _simulated(document) -> SimulateResult:
    # A scenario is what it predicts: also where what-ifs of its own stand beside the job without them.
    side = document.get("predicted") or document["baseline"]
    return SimulateResult(side["step_ns"], (document.get("measured") or {}).get("step_ns"), side.get("error"),
                          Breakdown._of(side.get("breakdown")), document)


def read(path, *, strict: bool = False, unprofiled_step: str = "") -> Recording:
    """Reads a trace, a folder of ranks, or a list of traces.

    `unprofiled_step`: what a step takes without the profiler ("6.09 ms"); takes the profiler's own work out of the
    host's times.
    """
    return Recording(path, strict=strict, unprofiled_step=unprofiled_step)


def inspect(path) -> Inspection:
    """What is in traces: steps, streams, where the time goes, what was damaged."""
    document = json.loads(_foretrace.inspect(_paths(path), _configs()))
    return Inspection(document["traces"], document)


def simulate(path, *, step="median", engine: str = "pull"):
    """Replays a trace, or simulates a scenario: a file, or a dictionary with what would stand in one. Or a file of
    requests to a served model, streams, tasks or tables to map, a cache, or federated rounds."""
    if isinstance(path, Recording):
        return path.simulate(step=step, engine=engine)
    if isinstance(path, dict):
        return _simulated(json.loads(_foretrace.simulate_scenario_text(json.dumps(path), _configs())))
    paths = _paths(path)
    if len(paths) == 1 and _foretrace.is_scenario(paths[0]):
        return _simulated(json.loads(_foretrace.simulate_scenario(paths[0], _configs())))
    if len(paths) == 1 and (kind := _foretrace.simulated_kind(paths[0])):
        if (str(step), engine) != ("median", "pull"):
            raise _foretrace.Error(f"simulate: step and engine apply to a recording; {paths[0]} contains {kind}")
        return _answer(paths[0])
    return Recording(paths).simulate(step=step, engine=engine)


def whatif(path, what_ifs=(), *, accelerator: str = "", step="median", engine: str = "pull") -> WhatIfResult:
    """What what-ifs ('NAME[:key=value,...]') would do to a recorded run."""
    recording = path if isinstance(path, Recording) else Recording(path)
    return recording.whatif(what_ifs, accelerator=accelerator, step=step, engine=engine)


def search(path, what_ifs=(), **options) -> SearchResult:
    """The what-ifs that together give most to a recorded run: see Recording.search."""
    recording = path if isinstance(path, Recording) else Recording(path)
    return recording.search(what_ifs, **options)
