"""Predicts what an optimization, another accelerator or a cluster would do to a deep learning run.

    import foretrace
    foretrace.simulate("trace.json.gz").step_ns
    foretrace.whatif("trace.json.gz", ["mixed_precision"]).predicted.step_ns

Every answer is a data class with the figures that are asked for most, and `document`: all of it, as
`foretrace ... --json` prints it. What goes wrong is a `foretrace.Error` with the program's own line.
"""

import csv
import dataclasses
import functools
import html
import io
import json
import os
import pathlib
import typing

from . import _foretrace
from ._foretrace import Corun, Error, RestartCost, Sharing, StepPrediction

__version__ = _foretrace.__version__
__all__ = ["Breakdown", "Corun", "Error", "Inspection", "MappingResult", "PlanResult", "Predictions", "Predictor", "Recording", "RestartCost",
           "ScheduleResult", "SearchResult", "ServingResult", "Sharing", "SimulateResult", "Step", "StepPrediction",
           "StreamsResult", "SubstitutionEnv", "SweepResult", "WhatIfResult", "inspect", "plan", "read", "schedule", "search", "simulate", "sweep", "whatif"]


def _configs() -> str:
    """The folder of configs: FORETRACE_CONFIGS, that of the installation, or that of the source tree."""
    if os.environ.get("FORETRACE_CONFIGS"):
        return os.environ["FORETRACE_CONFIGS"]
    for parent in pathlib.Path(__file__).resolve().parents:
        installed = parent / "share" / "foretrace" / "configs"
        if installed.is_dir():
            return str(installed)
    return _foretrace.source_configs


def _paths(path) -> typing.List[str]:
    return [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(one) for one in path]


def _milliseconds(ns) -> str:
    return "-" if ns is None else f"{ns / 1e6:.2f} ms"


def _frame(rows):
    """A pandas data frame; an ImportError where pandas is not installed."""
    import pandas
    return pandas.DataFrame(rows)


def _arrays(rows):
    """A numpy array per column; an ImportError where numpy is not installed."""
    import numpy
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: numpy.array([_number(row.get(name)) for row in rows]) for name in names}


def _number(value):
    return float("nan") if value is None else value


class _Shown:
    """What Jupyter shows of an answer: a table of the figures it names."""

    def _figures(self) -> typing.Dict[str, str]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                       for name, value in self._figures().items())
        return f"<table>{rows}</table>"


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
    speedup: float
    applied: typing.List[str]
    document: dict = dataclasses.field(repr=False)

    def _figures(self):
        return {"what-if": ", ".join(self.applied), "step now": _milliseconds(self.baseline.step_ns),
                "predicted": _milliseconds(self.predicted.step_ns),
                "between": f"{_milliseconds(self.predicted.low_ns)} and {_milliseconds(self.predicted.high_ns)}",
                "speedup": f"{self.speedup:.2f}x"}


@dataclasses.dataclass(frozen=True)
class Inspection(_Shown):
    traces: typing.List[dict]
    document: dict = dataclasses.field(repr=False)

    def _figures(self):
        return {one.get("path", f"trace {i}"): f"{one.get('events', '-')} events" for i, one in enumerate(self.traces)}


@dataclasses.dataclass(frozen=True)
class ScheduleResult(_Shown):
    runs: typing.List[dict]
    document: dict = dataclasses.field(repr=False)

    def frame(self):
        """One row per policy and placement: their single figures."""
        return _frame([{"policy": run["policy"]["name"], "placement": run["placement"]["name"],
                        **{key: value for key, value in run.items() if isinstance(value, (int, float))}}
                       for run in self.runs])

    def _figures(self):
        return {"policies": ", ".join(run["policy"]["name"] for run in self.runs)}


@dataclasses.dataclass(frozen=True)
class ServingResult(_Shown):
    """Requests to a served model. Times are means."""
    first_token_ns: int
    token_ns: int
    output_tokens_per_s: float
    requests: typing.List[dict] = dataclasses.field(repr=False)
    document: dict = dataclasses.field(repr=False)

    def frame(self):
        """One row per request."""
        return _frame(self.requests)

    def _figures(self):
        return {"first token": f"{self.first_token_ns / 1e6:.1f} ms", "token": f"{self.token_ns / 1e6:.1f} ms",
                "tokens/s": f"{self.output_tokens_per_s:.0f}"}


@dataclasses.dataclass(frozen=True)
class StreamsResult(_Shown):
    """Scores of frames on engines, loads of a benchmark's queries, variants of a control loop, and buffers of a
    weight-shared network; those that were not asked for are empty."""
    scenarios: typing.List[dict]
    loads: typing.List[dict]
    document: dict = dataclasses.field(repr=False)
    control: typing.List[dict] = dataclasses.field(default_factory=list)
    buffers: typing.List[dict] = dataclasses.field(default_factory=list)

    def _figures(self):
        scores = {one["scenario"]: f"{one['score']:.1f}" for one in self.scenarios}
        loads = {one["kind"]: f"{one['samples_per_s']:.1f} samples/s" for one in self.loads}
        loops = {one["variant"]: f"{100 * one['missed']:.1f} % missed" for one in self.control}
        buffers = {f"{one['buffer_bytes']} B": f"{one['service_ns'] / 1e6:.2f} ms" for one in self.buffers}
        return scores | loads | loops | buffers


@dataclasses.dataclass(frozen=True)
class FleetResult(_Shown):
    """Caches of a training job's input, or policies of federated rounds: one row each."""
    rows: typing.List[dict]
    document: dict = dataclasses.field(repr=False)

    def frame(self):
        """One row per cache or policy."""
        return _frame([{key: value for key, value in row.items() if key != "epochs"} for row in self.rows])

    def _figures(self):
        return {row["name"]: f"{row.get('time_ns', row.get('end_ns')) / 1e9:.1f} s" for row in self.rows}


@dataclasses.dataclass(frozen=True)
class MappingResult(_Shown):
    """Tasks, or tables in parts, on devices."""
    step_ns: int  # of all tasks, or of a batch
    placed: typing.List[dict] = dataclasses.field(repr=False)
    document: dict = dataclasses.field(repr=False)

    def frame(self):
        """One row per task or part of a table."""
        return _frame(self.placed)

    def _figures(self):
        return {"step": f"{self.step_ns / 1e6:.3f} ms", "placed": f"{len(self.placed)}"}


@dataclasses.dataclass(frozen=True)
class SearchResult(_Shown):
    """The what-ifs that together give most. `best` is empty where nothing helps."""
    best: typing.List[str]  # as whatif() takes them
    step_ns: int
    low_ns: typing.Optional[int]
    high_ns: typing.Optional[int]
    speedup: float
    members: typing.List[dict]  # what each adds to those before it, gives alone, and costs where it is left out
    front: typing.List[dict]  # sets that no other one is better than in time and in memory
    document: dict = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, document):
        found = document["search"]
        now, best = found["now"], found["best"] or found["now"]
        members = [{"what_if": one["what_if"], **_set_figures(one["so_far"], ""), **_set_figures(one["alone"], "alone_"),
                    **_set_figures(one["without"], "without_")} for one in found["members"]]
        front = [{"what_ifs": one["what_ifs"], **_set_figures(one, "")} for one in found["front"]]
        return cls(best["what_ifs"], best["step_ns"], found["low_ns"], found["high_ns"],
                   best["speedup"] if found["best"] else now["speedup"], members, front, document)

    def frame(self):
        """One row per what-if of the best set."""
        return _frame(self.members)

    def _figures(self):
        return {"best set": ", ".join(self.best) or "nothing helps", "step": _milliseconds(self.step_ns),
                "speedup": f"{self.speedup:.2f}x"}


def _set_figures(one, prefix):
    return {prefix + key: one[key] if one else None for key in ("step_ns", "speedup", "live_bytes")}


@dataclasses.dataclass(frozen=True)
class PlanResult(_Shown):
    """Parallel plans of a model on a cluster, the fastest first; empty where nothing fits."""
    plans: typing.List[dict]
    document: dict = dataclasses.field(repr=False)

    @property
    def best(self) -> typing.Optional[dict]:
        return self.plans[0] if self.plans else None

    def frame(self):
        """One row per plan."""
        return _frame(self.plans)

    def _figures(self):
        return {one["plan"]: _milliseconds(one["step_ns"]) for one in self.plans} or {"plans": "nothing fits"}


class Predictions(list):
    """StepPredictions of many placements, in their order; `placements` are those."""

    def __init__(self, placements, answers):
        super().__init__(answers)
        self.placements = placements

    def rows(self) -> typing.List[dict]:
        """One dictionary per placement: what was asked for, and the answer."""
        return [{**placement, "step_ns": one.step_ns, "low_ns": one.low_ns, "high_ns": one.high_ns,
                 "memory_bytes": one.memory_bytes, "fits": one.fits, "samples": one.samples}
                for placement, one in zip(self.placements, self)]

    def arrays(self):
        """A numpy array per column of rows()."""
        return _arrays(self.rows())

    def frame(self):
        """The same as a pandas data frame."""
        return _frame(self.rows())


@dataclasses.dataclass(frozen=True)
class SweepResult(_Shown):
    """What came of a sweep; its points stay in `folder`."""
    folder: str
    rows: int
    feasible: int
    failed: int
    best: typing.Optional[dict]
    document: dict = dataclasses.field(repr=False)

    @property
    def doubts(self) -> typing.List[str]:
        """Recordings on which no answer can be relied, and why."""
        return self.document.get("doubt", [])

    def points(self, where: str = "", top: int = 0, pareto: bool = False) -> typing.List[dict]:
        """Points as dictionaries: all in the order of their numbers, or the best first."""
        text = _foretrace.sweep_points(self.folder, where, top, pareto)
        return [{key: _value(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def frame(self, where: str = "", top: int = 0, pareto: bool = False):
        """The same as a pandas data frame."""
        return _frame(self.points(where, top, pareto))

    def arrays(self, where: str = "", top: int = 0, pareto: bool = False):
        """The same as a numpy array per column; what is not known is nan."""
        return _arrays(self.points(where, top, pareto))

    def _figures(self):
        figures = {"points": self.rows, "feasible": self.feasible, "failed": self.failed}
        if self.best:
            figures["best"] = ", ".join(f"{key} {value}" for key, value in self.best.items()
                                        if key not in ("feasible", "reason"))
        if self.doubts:
            figures["doubtful"] = "; ".join(self.doubts)
        return figures


def _value(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text else None


class Recording:
    """A trace, or the traces of a job's ranks: read once, asked often."""

    def __init__(self, path, *, strict: bool = False):
        self._source = (tuple(os.path.abspath(one) for one in _paths(path)), strict)
        self._run = _foretrace.RecordedRun(_paths(path), _configs(), strict)

    def __reduce__(self):
        # Another process reads the files, once: joblib and Dask may send a recording with every task.
        return _recording_of, self._source

    @property
    def tasks(self) -> int:
        return self._run.tasks

    def simulate(self, *, step="median", engine: str = "pull") -> SimulateResult:
        return _simulated(json.loads(self._run.simulate(str(step), engine)))

    def whatif(self, what_ifs=(), *, accelerator: str = "", step="median", engine: str = "pull") -> WhatIfResult:
        stack = [what_ifs] if isinstance(what_ifs, str) else list(what_ifs)
        document = json.loads(self._run.whatif(stack, accelerator, str(step), engine))
        return WhatIfResult(Step._of(document["baseline"]), Step._of(document["predicted"]), document["speedup"],
                            [one["name"] for one in document.get("applied", [])], document)


    def search(self, what_ifs=(), *, accelerator: str = "", by: str = "time", fit: str = "", members: int = 6,
               trials: int = 1000, without=(), step="median", engine: str = "pull") -> SearchResult:
        """The what-ifs that together give most on top of `what_ifs`, and what each adds."""
        stack, left_out = ([one] if isinstance(one, str) else list(one) for one in (what_ifs, without))
        return SearchResult._of(json.loads(self._run.search(stack, accelerator, by, fit, members, trials, left_out,
                                                            str(step), engine)))


@functools.lru_cache(maxsize=8)
def _recording_of(paths, strict):
    return Recording(paths, strict=strict)


def _simulated(document) -> SimulateResult:
    side = document.get("baseline") or document["predicted"]
    return SimulateResult(side["step_ns"], (document.get("measured") or {}).get("step_ns"), side.get("error"),
                          Breakdown._of(side.get("breakdown")), document)


def read(path, *, strict: bool = False) -> Recording:
    """Reads a trace, a folder of ranks, or a list of traces."""
    return Recording(path, strict=strict)


def inspect(path) -> Inspection:
    """What is in traces: steps, streams, where the time goes, what was damaged."""
    document = json.loads(_foretrace.inspect(_paths(path), _configs()))
    return Inspection(document["traces"], document)


def simulate(path, *, step="median", engine: str = "pull") -> SimulateResult:
    """Replays a trace, or simulates a scenario: a file, or a dictionary with what would stand in one."""
    if isinstance(path, Recording):
        return path.simulate(step=step, engine=engine)
    if isinstance(path, dict):
        return _simulated(json.loads(_foretrace.simulate_scenario_text(json.dumps(path), _configs())))
    paths = _paths(path)
    if len(paths) == 1 and _foretrace.is_scenario(paths[0]):
        return _simulated(json.loads(_foretrace.simulate_scenario(paths[0], _configs())))
    return Recording(paths).simulate(step=step, engine=engine)


def whatif(path, what_ifs=(), *, accelerator: str = "", step="median", engine: str = "pull") -> WhatIfResult:
    """What what-ifs ('NAME[:key=value,...]') would do to a recorded run."""
    recording = path if isinstance(path, Recording) else Recording(path)
    return recording.whatif(what_ifs, accelerator=accelerator, step=step, engine=engine)


def search(path, what_ifs=(), **options) -> SearchResult:
    """The what-ifs that together give most to a recorded run: see Recording.search."""
    recording = path if isinstance(path, Recording) else Recording(path)
    return recording.search(what_ifs, **options)


def plan(model: str, cluster: str, *, gpus: int = 0, batch: float = 0, sequence: int = 0,
         framework: str = "megatron_core", precision: str = "bf16", top: int = 5) -> PlanResult:
    """The best parallel plans of a model on a cluster: `foretrace plan`."""
    document = json.loads(_foretrace.plan(os.fspath(model), os.fspath(cluster), framework, precision, sequence, gpus,
                                          batch, top, _configs()))
    return PlanResult(document["plans"], document)


def schedule(path) -> typing.Union[ScheduleResult, ServingResult, StreamsResult, MappingResult, FleetResult]:
    """Simulates jobs on a cluster under scheduling policies; or requests to a served model; or streams of queries and
    frames; or maps tasks or tables onto devices; or input through a cache; or rounds of federated learning: what the
    file holds."""
    document = json.loads(_foretrace.schedule(os.fspath(path), _configs()))
    if document["schema"] == "foretrace.serving_result/1":
        figures = document["figures"]
        return ServingResult(figures["first_token"]["mean_ns"], figures["token"]["mean_ns"],
                             figures["output_tokens_per_s"], figures["requests"], document)
    if document["schema"] == "foretrace.streams_result/1":
        return StreamsResult(document["scenarios"], document["loads"], document, document.get("control", []),
                             document.get("buffers", []))
    if document["schema"] in ("foretrace.storage_result/1", "foretrace.federated_result/1"):
        return FleetResult(document["caches" if "caches" in document else "policies"], document)
    if document["schema"] == "foretrace.mapping_result/1":
        tasks = "tasks" in document
        return MappingResult(document["makespan_ns" if tasks else "batch_ns"], document["tasks" if tasks else "parts"],
                             document)
    return ScheduleResult(document["runs"], document)


def sweep(sweep, folder, *, threads: int = 0, top: int = 20, fresh: bool = False, client=None) -> SweepResult:
    """Computes a design space: a file, or a dictionary with what would stand in one. What `folder` holds already is
    not computed again. With the `client` of a Dask scheduler its workers compute the points."""
    is_file = isinstance(sweep, (str, os.PathLike))
    path, text = (os.fspath(sweep), "") if is_file else ("sweep", json.dumps(sweep))
    done = None
    if client is not None:
        from . import dask_sweep
        done = dask_sweep.run(client, path, text, folder, fresh=fresh)
    # What is there already is only read.
    document = json.loads(_foretrace.sweep(path, text, os.fspath(folder), threads, top, fresh and done is None,
                                           _configs()))
    document.update({key: done[key] for key in ("computed", "reused")} if done else {})
    points = document["points"]
    best = points[0] if points and points[0]["feasible"] else None
    return SweepResult(os.fspath(folder), document["rows"], document["feasible"], document["failed"], best, document)


class Predictor(_foretrace.Predictor):
    """A job that is loaded once and asked as a scheduler asks: predict(), throughputs(), corun()."""

    def __init__(self, path, *, step="median"):
        super().__init__(_paths(path), _configs(), str(step))
        self._source = (tuple(os.path.abspath(one) for one in _paths(path)), str(step))

    def __reduce__(self):
        return _predictor_of, self._source

    def predict_many(self, placements: typing.Iterable[typing.Mapping]) -> Predictions:
        """predict() of many placements, each the keywords of one, without Python in between."""
        asked = [dict(one) for one in placements]
        return Predictions(asked, self._predict_many([_placement(i, one) for i, one in enumerate(asked)]))


class SubstitutionEnv:
    """Graph substitution as a game, with the calls of gymnasium: the state is a recorded run, an action is a rule at a
    match, the reward is the time that it saves over the time of the recording. The last action ends an episode.

    `rules` are what-ifs; those with a parameter `select` match at every layer. `goal` is "makespan", the simulated
    step, or "sum", the device work of all tasks added up; observations have both."""

    def __init__(self, trace, rules=(), *, goal="makespan"):
        self._environment = _foretrace.SubstitutionEnvironment(os.fspath(trace), list(rules), goal, _configs())
        self.actions = self._environment.actions

    def _info(self):
        return {"mask": self._environment.mask(), "taken": self._environment.taken}

    def reset(self, *, seed=None, options=None):
        """Back to the recording: (observation, info). Nothing is random; `seed` is there for those who give one."""
        self._environment.reset()
        return self._environment.cost(), self._info()

    def step(self, action: int):
        """(observation, reward, terminated, truncated, info)."""
        reward, done = self._environment.step(int(action))
        return self._environment.cost(), reward, done, False, self._info()

    def action_masks(self) -> typing.List[bool]:
        """True for the actions that match here."""
        return self._environment.mask()

    def search(self, *, relaxation=1.05, most_states=1000) -> dict:
        """The best state that a best-first search finds from the recording, which follows states of up to `relaxation`
        times the best time."""
        return self._environment.search(float(relaxation), int(most_states))


def _placement(number, given):
    names = {"accelerator": "", "accelerators": 0, "cluster": "", "compute": 1.0, "copies": 1.0, "communication": 1.0,
             "host": 1.0}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise Error(f"placement {number}: got {unknown[0]!r}, expected one of {', '.join(names)}")
    return tuple(given.get(name, usual) for name, usual in names.items())


@functools.lru_cache(maxsize=8)
def _predictor_of(paths, step):
    return Predictor(paths, step=step)
