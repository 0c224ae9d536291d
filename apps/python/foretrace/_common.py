"""What all of the package shares: paths, configs, and what is shown of an answer."""

import html
import json
import os
import pathlib
import typing

from . import _foretrace


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


def _stack(what_ifs) -> typing.List[str]:
    """What-ifs as a list of texts, where one alone may stand without it; a dict is one as a JSON file holds it."""
    alone = [what_ifs] if isinstance(what_ifs, (str, dict)) else what_ifs
    return [json.dumps(one) if isinstance(one, dict) else one for one in alone]


def edit(select: str, **primitive) -> dict:
    """A what-if that changes tasks as one primitive says: `edit("name~softmax", scale=0.5)`, or with `insert="quantize",
    duration="5 us"`. `foretrace explain edit` has all primitives and what they need to know."""
    return {"select": select, **primitive}


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
