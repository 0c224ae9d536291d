"""Tunes the tiles of matrix products, fusion and layout together, with the simulator as the judge:
python3 tune.py TARGET OTHER_TRACE... [--budget SIMULATIONS]

A learned cost model (cost_model.py) that has not seen the target tells what each product would take with another tile. It
is asked for ratios: the recorded time x told with this tile / told with its own. A tile is tried only where it promises
more than the error that the model has on kernels that it has not seen. What-ifs stand beside the tiles: which of them pays
depends on the others, and on what the critical path runs through. So every candidate is simulated, best promise first.
"""
import argparse

import foretrace
from cost_model import CostModel, read

PEAK_FLOPS = 66.9e12  # fp32 of an H100 SXM (data sheet): nothing is told to be faster
WHAT_IFS = ("kernel_fusion", "channels_last", "fused_optimizer", "cuda_graph")
TILES = [(m, n) for m in (32, 64, 128, 256) for n in (32, 64, 128, 256) if m * n <= 32768]


class Candidate:
    """A tile for some products, and what-ifs; `price` is its cost function."""

    def __init__(self, model, tiles=None, what_ifs=()):
        self.model, self.tiles, self.what_ifs = model, tiles or {}, tuple(what_ifs)

    def price(self, kernel):
        return retiled_ns(self.model, kernel, self.tiles[kernel]) if kernel in self.tiles else None

    def simulated(self, recording, error):
        if self.tiles:
            return recording.price(self.price, error=error, what_ifs=self.what_ifs)
        return recording.whatif(self.what_ifs)


def retiled_ns(model, kernel, tile):
    return max(kernel.ns * model(kernel, tile) / model(kernel), kernel.flops / PEAK_FLOPS * 1e9)


def moves(model, kernels, error):
    """(ns that it promises in all, kernel, its other tile), most first."""
    found = []
    for kernel in kernels:
        if not kernel.product or model(kernel) is None:
            continue
        tile = min(TILES, key=lambda one: (model(kernel, one), one))
        gain = 1 - retiled_ns(model, kernel, tile) / kernel.ns
        if gain > error:
            found.append((gain * kernel.ns * kernel.count, kernel, tile))
    return sorted(found, key=lambda one: (-one[0], one[1].name, one[1].product))


def tuned(recording, model, error, budget):
    """Keeps a move where the simulated step gets shorter: (best candidate, its answer, what was tried)."""
    best, answer, history = Candidate(model), None, []
    now = recording.simulate()
    step, steps = now.step_ns, len(now.document["measured"]["steps_ns"]) or 1
    queue = [(None, None, name) for name in WHAT_IFS] + moves(model, recording.kernels(), error)
    for promise, kernel, change in queue[:budget]:
        if kernel is None:
            trial = Candidate(model, best.tiles, best.what_ifs + (change,))
        else:
            trial = Candidate(model, {**best.tiles, kernel: change}, best.what_ifs)
        try:
            result = trial.simulated(recording, error)
        except foretrace.Error:  # nothing here that the what-if could change
            history.append((promise, kernel, change, None))
            continue
        gain = step - result.predicted.step_ns
        history.append((promise and promise / steps, kernel, change, gain))
        if gain > 0:
            best, answer, step = trial, result, result.predicted.step_ns
    return best, answer, history


def text_of(kernel, change):
    if kernel is None:
        return change
    _, m, n, k = kernel.product
    return f"{kernel.operator} {m:.0f} x {n:.0f} x {k:.0f} in tiles of {change[0]} x {change[1]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("others", nargs="+")
    parser.add_argument("--budget", type=int, default=30, help="simulations")
    parser.add_argument("--write", help="the times of the best tiles, as a table for the what-if kernel_table")
    given = parser.parse_args()
    recording = foretrace.read(given.target)
    model = CostModel(kernel for one in read(given.others).values() for kernel in one.kernels())
    error = foretrace.assess(model, [kernel for kernel in recording.kernels() if kernel.product])
    print(f"{error.kernels} products, told by a model of {len(given.others)} other recordings: error "
          f"{100 * error.error:.0f} % ({100 * error.weighted_error:.0f} % by time), ranks {error.rank_correlation:.2f}")
    best, answer, history = tuned(recording, model, error.weighted_error, given.budget)
    print(f"{'per step':<56}  promised  simulated")
    for promise, kernel, change, gain in history:
        print(f"  {text_of(kernel, change):<54}  " + (f"{promise / 1e6:5.2f} ms" if promise else "       -") + "  " +
              ("declined" if gain is None else f"{gain / 1e6:6.2f} ms"))
    if answer is None:
        print(f"{len(history)} simulations: nothing makes the step shorter")
        return
    share = answer.path_share if best.tiles else 0
    print(f"{len(history)} simulations: {answer.baseline.step_ns / 1e6:.2f} ms -> {answer.predicted.step_ns / 1e6:.2f} ms "
          f"({answer.predicted.low_ns / 1e6:.2f} .. {answer.predicted.high_ns / 1e6:.2f}) with "
          f"{', '.join(best.what_ifs) or 'no what-if'} and {len(best.tiles)} other tiles; "
          f"{100 * share:.1f} % of the path rests on the model")
    if given.write and best.tiles:
        answer.write_table(given.write)


if __name__ == "__main__":
    main()
