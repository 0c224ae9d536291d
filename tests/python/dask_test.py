"""Tests of sweeps on Dask workers: python3 tests/python/dask_test.py, with the package on PYTHONPATH.

Scheduler and workers are processes of their own that talk over the loopback interface. Without the module
'distributed' (Debian: python3-distributed) everything is skipped. FORETRACE_KILLS=50 kills so many workers.
"""
import contextlib
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

import foretrace
from foretrace import dask_sweep

try:
    import distributed
except ImportError:
    distributed = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = str(ROOT / "examples" / "traces" / "demo_generated_cnn.json.gz")
GPT3 = str(ROOT / "examples" / "recipes" / "sweeps" / "gpt3_512.json")
PROGRAM = os.environ.get("FORETRACE_PROGRAM")
WAIT_SECONDS = 60
KILLS = int(os.environ.get("FORETRACE_KILLS", "3"))


def what_ifs(points):
    return {"schema": "foretrace.sweep/1", "trace": DEMO, "apply": [None, "scale:factor=1"],
            "axes": [{"name": "precision", "pointer": "/apply/0", "values": [None, "mixed_precision"]},
                     {"name": "factor", "pointer": "/apply/1",
                      "values": [f"scale:factor={0.5 + i / points}" for i in range(points // 2)]}]}


def bytes_of(folder):
    return foretrace._foretrace.sweep_points(str(folder), "", 0, False)


def rows_of(folder):
    """How many are committed; 0 where there is no store yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder}/sweep.db?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM points").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


class Cluster:
    """A scheduler and workers, as processes."""

    def __init__(self, folder, workers):
        self._file = os.path.join(folder, "scheduler.json")
        self._processes = []
        self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", self._file, "--no-dashboard",
                    "--no-show")
        self.workers = []
        for _ in range(workers):
            self.add_worker()
        self._wait(lambda: os.path.exists(self._file), "scheduler file")
        self.address = self._address()

    def add_worker(self):
        self.workers.append(self._start("worker", "--scheduler-file", self._file, "--nthreads", "1", "--no-nanny",
                                        "--no-dashboard"))

    def kill_first_worker(self):
        process = self.workers.pop(0)
        process.kill()
        process.wait()

    def _start(self, what, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._processes.append(process)
        return process

    def _address(self):
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return json.loads(pathlib.Path(self._file).read_text())["address"]
            except (ValueError, KeyError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    @staticmethod
    def _wait(is_there, what):
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_there():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {what} after {WAIT_SECONDS} s")
            time.sleep(0.05)

    def client(self, workers):
        client = distributed.Client(self.address, set_as_default=False, timeout=WAIT_SECONDS)
        client.wait_for_workers(workers, timeout=WAIT_SECONDS)
        return client

    def stop(self):
        for process in self._processes:
            if process.poll() is None:
                process.kill()
        for process in self._processes:
            process.wait()


@unittest.skipUnless(distributed, "no module 'distributed'")
class DaskSweeps(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.cluster = Cluster(holder.name, workers=2)
        self.addCleanup(self.cluster.stop)

    def test_workers_give_the_bytes_of_a_local_run(self):
        sweep = what_ifs(40)
        foretrace.sweep(sweep, self.folder / "local")
        with self.cluster.client(2) as client:
            done = foretrace.sweep(sweep, self.folder / "dask", client=client)
            again = foretrace.sweep(sweep, self.folder / "dask", client=client)
        self.assertEqual((done.rows, done.document["computed"]), (40, 40))
        self.assertEqual(again.document["computed"], 0)
        self.assertEqual(bytes_of(self.folder / "dask"), bytes_of(self.folder / "local"))

    def test_a_worker_that_is_killed_costs_nothing_but_time(self):
        # Ranges take most of the time: without them it is over before anybody can be killed.
        text = pathlib.Path(GPT3).read_text(encoding="utf-8")
        ranged = self.folder / "ranged.json"
        ranged.write_text(text.replace('"objectives"', '"metrics": ["low_ns"], "objectives"'), encoding="utf-8")
        foretrace.sweep(ranged, self.folder / "local")
        stored = []

        def kill_one():
            deadline = time.monotonic() + WAIT_SECONDS
            while time.monotonic() < deadline and not (stored and stored[-1] > 0):
                time.sleep(0.002)
                stored.append(rows_of(self.folder / "dask"))
            self.cluster.kill_first_worker()

        with self.cluster.client(2) as client:
            killer = threading.Thread(target=kill_one)
            killer.start()
            done = foretrace.sweep(ranged, self.folder / "dask", client=client)
            killer.join()
            self.assertEqual(len(client.nthreads()), 1)
        self.assertTrue(0 < stored[-1] < 26_112, stored[-1])  # in the middle
        self.assertEqual(done.rows, 26_112)
        self.assertEqual(bytes_of(self.folder / "dask"), bytes_of(self.folder / "local"))

    def test_workers_may_be_killed_at_any_moment(self):
        # Small pieces: many are finished and not yet taken in when a worker goes.
        sweep = {**what_ifs(400), "metrics": ["low_ns"]}
        begin = time.monotonic()
        foretrace.sweep(sweep, self.folder / "local", threads=2)
        seconds = time.monotonic() - begin
        expected = bytes_of(self.folder / "local")
        moments = random.Random(30)
        with unittest.mock.patch.object(dask_sweep, "PIECE_SECONDS", 0.02):
            for kill in range(KILLS):
                folder = self.folder / f"dask_{kill}"
                with self.cluster.client(2) as client:
                    killer = threading.Timer(moments.uniform(0.1, 1) * seconds, self.cluster.kill_first_worker)
                    killer.start()
                    done = foretrace.sweep(sweep, folder, client=client)
                    killer.join()
                self.assertEqual((done.rows, done.failed), (400, 0), kill)
                self.assertEqual(bytes_of(folder), expected, kill)
                self.cluster.add_worker()

    def test_a_search_asks_for_the_points_that_it_asks_for_locally(self):
        for kind in ("nsga2", "annealing"):
            sweep = {**what_ifs(60), "method": {"kind": kind, "points": 25, "seed": 3}}
            foretrace.sweep(sweep, self.folder / f"{kind}_local")
            with self.cluster.client(2) as client:
                foretrace.sweep(sweep, self.folder / f"{kind}_dask", client=client)
            self.assertEqual(bytes_of(self.folder / f"{kind}_dask"), bytes_of(self.folder / f"{kind}_local"))

    def test_points_that_fail_have_their_reasons(self):
        sweep = {"schema": "foretrace.sweep/1", "trace": DEMO, "apply": [None],
                 "axes": [{"name": "what", "pointer": "/apply/0", "values": [None, "flash_attention"]}]}
        foretrace.sweep(sweep, self.folder / "local")
        with self.cluster.client(2) as client:
            self.assertEqual(foretrace.sweep(sweep, self.folder / "dask", client=client).failed, 1)
        self.assertEqual(bytes_of(self.folder / "dask"), bytes_of(self.folder / "local"))

    def test_doubts_of_a_recording_are_told(self):
        cut = self.folder / "cut.json.gz"
        cut.write_bytes(pathlib.Path(DEMO).read_bytes()[:20_000])
        sweep = {"schema": "foretrace.sweep/1", "trace": str(cut), "axes": [{"pointer": "/apply", "values": [None]}]}
        local = foretrace.sweep(sweep, self.folder / "local")
        with self.cluster.client(2) as client:
            remote = foretrace.sweep(sweep, self.folder / "dask", client=client)
        self.assertTrue(local.doubts)
        self.assertEqual(remote.doubts, local.doubts)
        if PROGRAM:
            file = self.folder / "cut.json"
            file.write_text(json.dumps(sweep), encoding="utf-8")
            done = subprocess.run([PROGRAM, "sweep", file, "-o", self.folder / "remote", "--dask", self.cluster.address],
                                  check=True, capture_output=True, text=True)
            self.assertIn(local.doubts[0], done.stderr)

    @unittest.skipUnless(PROGRAM, "FORETRACE_PROGRAM does not name the program")
    def test_the_program_takes_an_address(self):
        local, remote = self.folder / "local", self.folder / "remote"
        subprocess.run([PROGRAM, "sweep", GPT3, "-o", local, "--quiet"], check=True, capture_output=True)
        done = subprocess.run([PROGRAM, "sweep", GPT3, "-o", remote, "--dask", self.cluster.address, "--json"],
                              check=True, capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout)["computed"], 26_112)
        self.assertEqual(bytes_of(remote), bytes_of(local))


class Pieces(unittest.TestCase):
    def test_an_answer_counts_whatever_becomes_of_its_worker(self):
        feed = unittest.mock.Mock()
        pieces = dask_sweep._Pieces.__new__(dask_sweep._Pieces)
        pieces._feed, pieces.out, pieces.worked_seconds = feed, 4, 0.0
        rows = [(7, [1.0], "")]
        # What Dask hands over: the state of the piece now, and the answer from before its worker was lost.
        pieces._done = iter([(types.SimpleNamespace(status=status), dask_sweep._Answer(rows, 0.5))
                             for status in ("finished", "lost", "pending")]
                            + [(types.SimpleNamespace(status="error"), (ValueError, ValueError("no"), None))])
        for _ in range(3):
            pieces.take_in()
        self.assertEqual(feed.add.call_args_list, [unittest.mock.call(rows)] * 3)
        self.assertEqual((pieces.out, pieces.worked_seconds), (1, 1.5))
        with self.assertRaisesRegex(foretrace.Error, "a piece of work failed: ValueError: no"):
            pieces.take_in()


@unittest.skipUnless(distributed and PROGRAM, "no module 'distributed', or FORETRACE_PROGRAM names no program")
class Mistakes(unittest.TestCase):
    def test_a_scheduler_that_is_not_there_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for address in ("tcp://127.0.0.1:9", "nonsense://1"):
                done = subprocess.run([PROGRAM, "sweep", GPT3, "-o", folder, "--dask", address],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(address, done.stderr)


if __name__ == "__main__":
    unittest.main()
