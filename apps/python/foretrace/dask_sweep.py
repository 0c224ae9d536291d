"""Sweeps on the workers of a Dask scheduler; the results stream into one store.

`foretrace.sweep(..., client=Client(address))` and `foretrace sweep ... --dask ADDRESS` come here. Workers need this
package in the same version, the same configs, and the files that the sweep names under the same paths. A worker that
is lost costs what it was computing: Dask gives those points to another one.
"""
import argparse
import functools
import json
import os
import sys
import time
import typing

import foretrace
from foretrace import _foretrace
from foretrace._common import _configs

# A piece of work takes about so long, so that asking for it costs little and a lost worker loses little.
PIECE_SECONDS = 1.0
LARGEST_PIECE = 1 << 14
# Pieces that each thread of a worker has, one of them waiting.
PIECES_PER_THREAD = 2


@functools.lru_cache(maxsize=4)
def _worker(text, folder, inputs, version):
    if foretrace.__version__ != version:
        raise foretrace.Error(f"dask: a worker has version {foretrace.__version__} of foretrace, expected {version}")
    worker = _foretrace.SweepWorker(text, folder, _configs())
    if worker.inputs != inputs:
        raise foretrace.Error("dask: a worker has other traces or configs than the sweep was started with")
    return worker


class _Answer(typing.NamedTuple):
    """What came of a piece of work, and how long that took. What goes wrong travels as text."""
    rows: list
    seconds: float = 0.0
    problem: str = ""


def _evaluate(setup, points):
    """Runs on a worker."""
    try:
        worker = _worker(*setup)
        begin = time.perf_counter()
        return _Answer(worker.evaluate(points), time.perf_counter() - begin)
    except foretrace.Error as error:
        return _Answer([], problem=str(error))


class _Pieces:
    """The pieces of work that are out: as many as keep the workers busy, as large as the last ones suggest."""

    def __init__(self, client, feed):
        import distributed
        self._client, self._feed = client, feed
        self._setup = (feed.text, os.path.abspath(feed.folder or "."), feed.inputs, foretrace.__version__)
        self._done = distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._size, self._threads, self._looked = 4, 1, float("-inf")
        self.out = 0
        self.worked_seconds = 0.0

    def hand_out(self):
        if time.monotonic() - self._looked > 1:  # workers come and go
            self._threads = max(1, sum(self._client.nthreads().values()))
            self._looked = time.monotonic()
        while self.out < PIECES_PER_THREAD * self._threads:
            points = self._feed.take(self._size)
            if not points:
                return
            self._done.add(self._client.submit(_evaluate, self._setup, points, pure=False))
            self.out += 1

    def take_in(self):
        """Waits for a piece and stores what came of it."""
        _, answer = next(self._done)
        self.out -= 1
        # The answer is looked at, not the state of its piece: a worker that is lost after it has answered puts the
        # piece back among those to be done.
        if not isinstance(answer, _Answer):
            kind, error = (type(answer), answer) if isinstance(answer, BaseException) else answer[:2]
            raise foretrace.Error(f"dask: a piece of work failed: {kind.__name__}: {error}")
        if answer.problem:
            raise foretrace.Error(answer.problem)
        self._feed.add(answer.rows)
        self.worked_seconds += answer.seconds
        size = len(answer.rows)
        fitting = size * PIECE_SECONDS / max(answer.seconds, 1e-6)
        self._size = int(max(1, min(fitting, 4 * size, LARGEST_PIECE)))


def run(client, path, text, folder, *, fresh=False, progress=None):
    """Computes what the store lacks, and returns what was done, with the seconds that workers took."""
    import distributed
    feed = _foretrace.SweepFeed(path, text, os.fspath(folder), fresh, _configs())
    try:
        pieces = _Pieces(client, feed)
        pieces.hand_out()
        while pieces.out > 0:
            pieces.take_in()
            pieces.hand_out()
            if progress:
                progress(feed.progress())
    except (OSError, distributed.CancelledError, distributed.TimeoutError) as error:
        feed.finish()
        raise foretrace.Error(f"dask: {error or type(error).__name__}") from error
    return {**feed.finish(), "worked_seconds": pieces.worked_seconds}


def main():
    """What the program runs for --dask: leaves what was done, or the error, in a file as JSON."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("sweep")
    arguments.add_argument("folder")
    arguments.add_argument("--address", required=True)
    arguments.add_argument("--answer", required=True)
    arguments.add_argument("--fresh", action="store_true")
    arguments.add_argument("--progress", action="store_true")
    given = arguments.parse_args()

    def show(now):
        done, points, per_second, left, _ = now
        sys.stderr.write(f"\r\033[K{done:,} of {points:,} points, {per_second:,.0f} per second, {left:.0f} s left")
        sys.stderr.flush()

    try:
        answer = _connected(given, show if given.progress else None)
    except foretrace.Error as error:
        answer = {"error": str(error)}
    except KeyboardInterrupt:
        sys.exit(130)
    if given.progress:
        sys.stderr.write("\r\033[K")
    with open(given.answer, "w", encoding="utf-8") as file:
        json.dump({"schema": "foretrace.sweep_run/1", **answer}, file)


def _connected(given, progress):
    try:
        import distributed
    except ImportError as error:
        raise foretrace.Error("dask: Python has no module 'distributed', expected Debian's python3-distributed or "
                              "`pip install distributed`") from error
    try:
        distributed.comm.get_address_host(given.address)  # a client of an unknown scheme is slow to give up
        client = distributed.Client(given.address, timeout=10, set_as_default=False)
    except (OSError, ValueError, distributed.TimeoutError) as error:
        raise foretrace.Error(f"dask: cannot reach the scheduler at '{given.address}': {error}") from error
    with client:
        done = run(client, given.sweep, "", given.folder, fresh=given.fresh, progress=progress)
    return {key: value for key, value in done.items() if key != "worked_seconds"}


if __name__ == "__main__":
    # As workers import it, not as the program that was started.
    from foretrace import dask_sweep
    dask_sweep.main()
