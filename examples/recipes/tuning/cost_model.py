"""A small learned cost model: python3 cost_model.py TRACE TRACE...

For each kind of kernel the logarithm of its time is a linear function of logarithms of what is recorded of it, fitted to
kernels of other recordings (ridge regression, in plain Python). Leave-one-out: each recording is told by a model that has
seen all the others, and the error on its kernels is what the model may be trusted with.
"""
import collections
import math
import pathlib
import sys

import foretrace

START_BYTES = 5e6  # what the memory of an H100 moves while an empty kernel starts and ends: 3.35 TB/s for 1.5 us


def features(kernel, tile=None):
    """A family and what the time of its kernels may depend on. `tile`: m, n of a block instead of those that ran.

    None for products whose shape or tile is not recorded, and for kinds whose time is a matter of more than their size:
    the algorithm of a convolution, the indices of a gather."""
    if kernel.product and kernel.tile:
        batch, m, n, k = kernel.product
        ran = batch * math.ceil(m / kernel.tile[0]) * math.ceil(n / kernel.tile[1])
        splits = max(1, round(math.prod(kernel.grid) / ran))  # blocks that share a tile, along k
        tile_m, tile_n = tile or kernel.tile
        tiles = batch * math.ceil(m / tile_m) * math.ceil(n / tile_n)
        return ("product", kernel.precision), [
            1, math.log(tiles * tile_m * tile_n * k),  # arithmetic, that on padding included
            math.log(splits), math.log(k),
            math.log(tile_m * tile_n / (tile_m + tile_n))]  # arithmetic per number that a block loads
    if kernel.bytes and kernel.kind in ("elementwise", "reduction", "softmax"):
        return (kernel.kind, kernel.precision), [1, math.log(START_BYTES + kernel.bytes),
                                                 math.log(max(1, math.prod(kernel.grid)))]
    return None


def solved(matrix, right):
    """Gaussian elimination with the largest pivots."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, len(rows)):
            factor = rows[r][i] / rows[i][i]
            for c in range(i, len(rows) + 1):
                rows[r][c] -= factor * rows[i][c]
    values = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        values[i] = (rows[i][-1] - sum(rows[i][c] * values[c] for c in range(i + 1, len(rows)))) / rows[i][i]
    return values


class CostModel:
    """A cost function as Recording.price takes it: a kernel's time in ns, or None where nothing like it was seen."""

    def __init__(self, kernels, ridge=0.05):
        seen = collections.defaultdict(list)
        for kernel in kernels:
            known = features(kernel)
            if known and kernel.ns > 0:
                seen[known[0]].append((known[1], math.log(kernel.ns)))
        self.weights = {}
        for family, samples in seen.items():
            size = len(samples[0][0])
            if len(samples) < 2 * size:  # too few to learn from
                continue
            # The ridge pulls towards the mean of the samples, so that sizes count from there.
            means = [sum(x[i] for x, _ in samples) / len(samples) for i in range(size)]
            means[0] = 0
            centred = [([value - mean for value, mean in zip(x, means)], y) for x, y in samples]
            gram = [[sum(x[i] * x[j] for x, _ in centred) + (ridge * len(samples) if i == j and i > 0 else 0)
                     for j in range(size)] for i in range(size)]
            right = [sum(x[i] * y for x, y in centred) for i in range(size)]
            self.weights[family] = means, solved(gram, right)

    def __call__(self, kernel, tile=None):
        known = features(kernel, tile)
        if known is None or known[0] not in self.weights:
            return None
        means, weights = self.weights[known[0]]
        return math.exp(sum(w * (x - mean) for w, x, mean in zip(weights, known[1], means)))


def held_out(recordings):
    """(name, model of all the others, its error on this one) of each recording."""
    for name, recording in recordings.items():
        model = CostModel(kernel for other, one in recordings.items() if other != name for kernel in one.kernels())
        yield name, model, foretrace.assess(model, recording.kernels())


def read(paths):
    return {pathlib.Path(path).name.split(".")[0]: foretrace.read(path) for path in paths}


def main(paths):
    recordings = read(paths)
    print("held out       kinds  error  by time  ranks  of device  of path  recorded      told")
    for name, model, error in held_out(recordings):
        told = recordings[name].price(model, error=error.weighted_error)
        step, side = told.baseline.step_ns / 1e6, told.predicted
        print(f"{name:<14} {error.kernels:5}  {100 * error.error:3.0f} %  {100 * error.weighted_error:5.0f} %  "
              f"{error.rank_correlation:5.2f}  {100 * told.device_share:7.0f} %  {100 * told.path_share:5.0f} %  "
              f"{step:5.1f} ms  {side.step_ns / 1e6:5.1f} ms ({side.low_ns / 1e6:.1f} .. {side.high_ns / 1e6:.1f})")


if __name__ == "__main__":
    main(sys.argv[1:])
