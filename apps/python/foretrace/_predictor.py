"""Questions of a scheduler."""

import functools
import os
import typing

from . import _foretrace
from ._common import _arrays, _configs, _frame, _paths
from ._foretrace import Error


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
