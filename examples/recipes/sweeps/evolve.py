"""Evolutionary search for a network that a microcontroller can run: python3 evolve.py [MILLISECONDS]

Candidates are keyword spotters as MicroNets has them (Banbury et al., MLSys 2021): a convolution and depthwise-separable
blocks, each of its own width. The simulator is the oracle for latency and memory. Quality needs training, which is yours:
the number of weights stands in for it here. The search is regularized evolution (Real et al., AAAI 2019): of a few
candidates the best has a child with one mutation, and the oldest dies.
"""
import collections
import random
import sys

import foretrace

WIDTHS = range(28, 281, 28)
LIMIT_MS = float(sys.argv[1]) if len(sys.argv) > 1 else 300.0


def model(widths):
    """10 x 4 convolution to 49 x 10 positions, blocks at 25 x 5, the mean of all positions, 12 words."""
    def block(i, inputs, outputs):
        reads = (490 if i == 0 else 125) * inputs
        return {"name": f"block {i + 1}", "operators": [
            {"product": "depthwise 3x3", "rows": 125 * inputs, "inputs": 9, "outputs": 1, "reads": reads, "weights": 9 * inputs},
            {"product": "pointwise", "rows": 125, "inputs": inputs, "outputs": outputs}]}
    first = {"name": "first", "operators": [{"product": "conv 10x4", "rows": 490, "inputs": 40, "outputs": widths[0], "reads": 490}]}
    head = {"name": "head", "operators": [{"map": "average pool", "numbers": 125 * widths[-1], "forward": 1},
                                          {"product": "dense", "rows": 1, "inputs": widths[-1], "outputs": 12}]}
    blocks = [block(i, *pair) for i, pair in enumerate(zip(widths, widths[1:]))]
    return {"family": "layers", "widest": 490 * widths[0], "blocks": [first, *blocks, head]}


def measured(widths):
    """What the search goes by, feasible ones first; and the oracle's answer."""
    answer = foretrace.simulate({
        "schema": "foretrace.scenario/1", "workload": {"model": model(widths), "sequence": 1, "pass": "prefill"},
        "accelerator": "stm32f446re", "framework": "int8_inference", "precision": "int8", "batch": {"global": 1}})
    weights = 40 * widths[0] + sum(9 * a + a * b for a, b in zip(widths, widths[1:])) + 12 * widths[-1]
    is_fine = answer.document["scenario"]["fits"] and answer.step_ns <= LIMIT_MS * 1e6
    return (is_fine, weights if is_fine else -answer.step_ns), answer


def mutated(widths, chance):
    child, at = list(widths), chance.randrange(len(widths))
    what = chance.randrange(4)
    if what == 0 and len(child) < 9:
        child.insert(at, child[at])
    elif what == 1 and len(child) > 3:
        del child[at]
    else:
        child[at] = WIDTHS[chance.randrange(len(WIDTHS))]
    return tuple(child)


def main(rounds=300, population=24, tournament=6):
    chance, known = random.Random(1), {}
    living = collections.deque(tuple(WIDTHS[chance.randrange(len(WIDTHS))] for _ in range(4)) for _ in range(population))
    for _ in range(rounds):
        for widths in living:
            known.setdefault(widths, measured(widths) if widths not in known else None)
        parent = max((living[chance.randrange(population)] for _ in range(tournament)), key=lambda one: known[one][0])
        living.append(mutated(parent, chance))
        living.popleft()
    best = max(known, key=lambda one: known[one][0])
    (is_fine, weights), answer = known[best]
    print(f"{len(known)} candidates; widths {' '.join(map(str, best))}: {answer.step_ns / 1e6:.1f} ms, "
          f"{weights if is_fine else 'too slow or too large'} weights")


if __name__ == "__main__":
    main()
