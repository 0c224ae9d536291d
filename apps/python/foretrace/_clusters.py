"""Plans of a model on a cluster, jobs on one, and files that `foretrace simulate` takes as they are."""

import dataclasses
import json
import os
import typing
import warnings

from . import _foretrace
from ._common import _configs, _frame, _milliseconds, _Shown


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


def plan(model: str, cluster: str, *, gpus: int = 0, batch: float = 0, sequence: int = 0,
         framework: str = "", precision: str = "bf16", top: int = 5) -> PlanResult:
    """The best parallel plans of a model on a cluster: `foretrace plan`. Without a framework: the usual one there."""
    document = json.loads(_foretrace.plan(os.fspath(model), os.fspath(cluster), framework, precision, sequence, gpus,
                                          batch, top, _configs()))
    return PlanResult(document["plans"], document)


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


def _answer(path):
    """What the program answers to a file of jobs, requests, streams, mappings, caches or federated rounds."""
    document = json.loads(_foretrace.answer_file(path, _configs()))
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


def schedule(path) -> typing.Union[ScheduleResult, ServingResult, StreamsResult, MappingResult, FleetResult]:
    """Simulates jobs on a cluster under scheduling policies."""
    path = os.fspath(path)
    if kind := _foretrace.simulated_kind(path):
        warnings.warn(f"{path} holds {kind}: foretrace.simulate takes it, schedule is about jobs", FutureWarning,
                      stacklevel=2)
    return _answer(path)
