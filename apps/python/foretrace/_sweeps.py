"""Design spaces."""

import csv
import dataclasses
import io
import json
import os
import typing

from . import _foretrace
from ._common import _arrays, _configs, _frame, _Shown


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
