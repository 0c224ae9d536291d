"""Cost functions of one's own: kernels as they see them, what they would make of a step, and how far they are off."""

import dataclasses
import json
import math
import numbers
import typing

from ._foretrace import Error

_SCHEMA = "foretrace.kernel_table/1"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """Kernels of a recording that are alike in all that is recorded of one; what is not recorded is None or empty."""
    name: str
    operator: str
    shapes: tuple  # sizes of each input of the operator
    types: tuple
    grid: typing.Tuple[int, int, int]  # blocks; 0: not recorded
    block: typing.Tuple[int, int, int]  # threads per block; 0: not recorded
    kind: str  # gemm, convolution, attention, normalization, softmax, elementwise, reduction, gather, copy, optimizer, other
    precision: str
    flops: typing.Optional[float]
    bytes: typing.Optional[float]  # read and written
    product: typing.Optional[typing.Tuple[float, float, float, float]]  # batch, m, n, k
    tile: typing.Optional[typing.Tuple[float, float]]  # m, n of what a block works on, where the name says it
    ns: float  # mean of the recorded durations
    count: int
    _row: dict = dataclasses.field(repr=False, compare=False)

    @classmethod
    def _of(cls, members):
        shapes, types = members.pop("shapes_text"), members.pop("types_text")
        row = {"kernel": members["name"], "operator": members["operator"], "shapes": shapes, "types": types,
               "grid": list(members["grid"]), "block": list(members["block"])}
        members["ns"] = members.pop("total_ns") / members["count"]
        members["grid"], members["block"] = tuple(members["grid"]), tuple(members["block"])
        return cls(shapes=_tuples(shapes), types=_tuples(types), _row=row, **members)


def _tuples(text):
    """The lists of a JSON text as tuples, which can stand in keys; nothing of any other text."""
    def fixed(value):
        return tuple(fixed(one) for one in value) if isinstance(value, list) else value
    try:
        value = json.loads(text)
    except ValueError:
        return ()
    return fixed(value) if isinstance(value, list) else ()


@dataclasses.dataclass(frozen=True)
class Price:
    """What a function says of a kernel."""
    kernel: Kernel
    ns: float
    error: float


def _table_of(prices):
    return {"schema": _SCHEMA, "rows": [{**one.kernel._row, "time": f"{one.ns:.3f} ns", "error": one.error}
                                        for one in prices]}


def _label_of(function) -> str:
    return "prices of " + getattr(function, "__name__", type(function).__name__)


def _is_number(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _checked_error(error, where) -> float:
    if not _is_number(error) or not 0 <= error <= 100:
        raise Error(f"{where}: error: got {error!r}, expected a relative error from 0 to 100, such as 0.16")
    return float(error)


def _asked(function, kernel, error) -> typing.Optional[Price]:
    """The function's answer for one kernel, or None where it keeps the recorded time."""
    where = f"price of kernel {kernel.name!r} ({kernel.operator or 'no operator'})"
    try:
        answer = function(kernel)
    except Exception as mistake:
        raise Error(f"{where}: the function raised {type(mistake).__name__}: {mistake}") from mistake
    if answer is None:
        return None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, error = answer[0], _checked_error(answer[1], where)
    if not _is_number(answer) or not 1 <= answer < 1e15:
        raise Error(f"{where}: got {answer!r}, expected a time of at least 1 ns in ns, (ns, error), or None to keep the recorded one")
    return Price(kernel, float(answer), error)


def _priced(kernels, function, error) -> typing.List[Price]:
    if not callable(function):
        raise Error(f"price: got {function!r}, expected a function from a Kernel to ns")
    error = _checked_error(error, "price")
    asked = [_asked(function, kernel, error) for kernel in kernels]
    prices = [one for one in asked if one is not None]
    if not prices:
        raise Error(f"price: the function keeps all {len(asked)} kinds of kernels, expected a time for one at least")
    return prices


@dataclasses.dataclass(frozen=True)
class CostError:
    """How far a cost function is off, on kernels that it should not have seen before."""
    error: float  # mean of |told / recorded - 1| over kinds of kernels (MAPE)
    weighted_error: float  # the same by recorded time: long and frequent kernels count more
    rank_correlation: typing.Optional[float]  # Spearman's; None of fewer than two kinds, or where all are told alike
    kernels: int  # that the function told a time of


def assess(function, kernels) -> CostError:
    """Compares what a cost function tells with what was recorded, kind by kind."""
    kernels = list(kernels)
    pairs = [(one.ns, one.kernel) for one in _priced(kernels, function, 0)]
    off = [abs(told / kernel.ns - 1) if kernel.ns > 0 else 0.0 for told, kernel in pairs]
    weights = [kernel.ns * kernel.count for _, kernel in pairs]
    weighted = math.fsum(a * b for a, b in zip(off, weights)) / max(math.fsum(weights), 1e-300)
    return CostError(math.fsum(off) / len(off), weighted,
                     _rank_correlation([told for told, _ in pairs], [kernel.ns for _, kernel in pairs]), len(pairs))


def _ranks(values):
    """Ranks from 0; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, begin = [0.0] * len(values), 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for place in order[begin:end]:
            ranks[place] = (begin + end - 1) / 2
        begin = end
    return ranks


def _rank_correlation(a, b):
    a, b, middle = _ranks(a), _ranks(b), (len(a) - 1) / 2
    spread = math.fsum((x - middle) ** 2 for x in a) * math.fsum((y - middle) ** 2 for y in b)
    if spread == 0:
        return None
    return math.fsum((x - middle) * (y - middle) for x, y in zip(a, b)) / math.sqrt(spread)
