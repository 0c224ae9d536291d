"""Tests of the Python package: python3 tests/python/foretrace_test.py, with the package on PYTHONPATH."""
import ast
import concurrent.futures
import dataclasses
import inspect
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import foretrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = str(ROOT / "examples" / "traces" / "demo_generated_cnn.json.gz")
SCENARIO = str(ROOT / "configs" / "scenarios" / "gpt3_175b_selene.json")
SCHEDULE = str(ROOT / "examples" / "recipes" / "schedule" / "heterogeneous.json")
PROGRAM = os.environ.get("FORETRACE_PROGRAM")


class Answers(unittest.TestCase):
    def test_simulate_replays_a_trace(self):
        result = foretrace.simulate(DEMO)
        self.assertGreater(result.step_ns, 0)
        self.assertLess(abs(result.error), 0.01)
        self.assertEqual(result.measured_step_ns, result.document["measured"]["step_ns"])
        self.assertIn("<table>", result._repr_html_())

    def test_the_breakdown_sums_to_the_step(self):
        parts = foretrace.simulate(DEMO).breakdown
        self.assertGreater(parts.compute, 0)
        self.assertGreater(parts.host_bound, 0)

    def test_simulate_takes_scenarios(self):
        result = foretrace.simulate(SCENARIO)
        self.assertIsNone(result.measured_step_ns)
        self.assertGreater(result.step_ns, 10**9)

    def test_a_scenario_may_be_a_dictionary_and_its_model_too(self):
        scenario = json.loads("\n".join(line for line in pathlib.Path(SCENARIO).read_text(encoding="utf-8").splitlines()
                                        if not line.strip().startswith("//")))
        self.assertEqual(foretrace.simulate(scenario).step_ns, foretrace.simulate(SCENARIO).step_ns)
        model = json.loads((ROOT / "configs/models/gpt3_175b.json").read_text(encoding="utf-8"))
        scenario["workload"]["model"] = model
        self.assertEqual(foretrace.simulate(scenario).step_ns, foretrace.simulate(SCENARIO).step_ns)
        scenario["workload"]["model"] = {**model, "layers": 48}
        self.assertLess(foretrace.simulate(scenario).step_ns, foretrace.simulate(SCENARIO).step_ns)
        scenario["workload"]["model"] = {**model, "family": "nets"}
        with self.assertRaisesRegex(foretrace.Error, "/workload/model/family: got 'nets'"):
            foretrace.simulate(scenario)

    def test_a_scenario_has_what_ifs_of_its_own(self):
        folder = ROOT / "examples" / "recipes" / "one_job"
        asked = foretrace.whatif(folder / "gpt2_h100.json", ["mixed_precision", "flash_attention"])
        self.assertLess(asked.predicted.step_ns, asked.baseline.step_ns)
        scenario = json.loads("\n".join(line for line in (folder / "gpt2_h100.json").read_text(encoding="utf-8").splitlines()
                                        if not line.strip().startswith("//")))
        self.assertEqual(foretrace.simulate(scenario).step_ns,
                         foretrace.simulate(str(folder / "gpt2_h100.json")).step_ns)
        scenario["what_ifs"] = ["mixed_precision", "flash_attention"]
        self.assertEqual(foretrace.simulate(scenario).step_ns, asked.predicted.step_ns)

    def test_whatif_predicts(self):
        result = foretrace.whatif(DEMO, ["mixed_precision"])
        self.assertLess(result.predicted.step_ns, result.baseline.step_ns)
        self.assertLessEqual(result.predicted.low_ns, result.predicted.step_ns)
        self.assertGreaterEqual(result.predicted.high_ns, result.predicted.step_ns)
        self.assertEqual(result.applied, ["mixed_precision"])
        self.assertGreater(result.speedup, 1)
        self.assertAlmostEqual(result.speedup * result.time_ratio, 1)

    def test_edits_are_what_ifs(self):
        recording = foretrace.read(DEMO)
        half = foretrace.edit("kind=kernel&name~gemm", scale=0.5)
        self.assertEqual(recording.whatif(half).predicted.step_ns,
                         recording.whatif("scale:select='kind=kernel&name~gemm',factor=0.5").predicted.step_ns)
        twice = recording.whatif([{"name": "twice", "edits": [half, half]}, "fused_optimizer"])
        self.assertEqual(twice.applied, ["edit", "edit", "fused_optimizer"])
        self.assertLess(twice.predicted.step_ns, recording.whatif(half).predicted.step_ns)
        with self.assertRaisesRegex(foretrace.Error, "what-if: /edits/0/scal: unknown key .did you mean 'scale'"):
            recording.whatif({"edits": [{"select": "kind=kernel", "scal": 0.5}]})

    def test_speedup_is_work_per_time(self):
        recording = foretrace.read(DEMO)
        result = recording.whatif("batch_size:factor=2")
        self.assertAlmostEqual(result.speedup * result.time_ratio, 2)
        self.assertAlmostEqual(result.time_ratio, result.predicted.step_ns / result.baseline.step_ns)
        found = recording.search(members=2)
        self.assertAlmostEqual(found.speedup * found.time_ratio, 1)
        job = foretrace.Predictor(DEMO)
        there = job.predict(accelerator="v100_sxm2_16gb", accelerators=4)
        self.assertAlmostEqual(there.speedup(job.step_ns) * there.time_ratio(job.step_ns), there.samples)

    def test_a_recording_is_read_once_and_asked_often(self):
        recording = foretrace.read(DEMO)
        self.assertGreater(recording.tasks, 1000)
        self.assertEqual(recording.simulate().step_ns, foretrace.simulate(DEMO).step_ns)
        self.assertEqual(recording.whatif("mixed_precision").predicted.step_ns,
                         foretrace.whatif(recording, ["mixed_precision"]).predicted.step_ns)

    def test_search_finds_what_whatif_predicts(self):
        recording = foretrace.read(DEMO)
        found = recording.search(members=3)
        self.assertEqual(len(found.members), 3)
        self.assertEqual(recording.whatif(found.best).predicted.step_ns, found.step_ns)
        self.assertLessEqual(found.low_ns, found.step_ns)
        without = foretrace.search(recording, without="mixed_precision", members=3)
        self.assertNotIn("mixed_precision", without.best)
        self.assertGreater(without.step_ns, found.step_ns)
        with self.assertRaisesRegex(foretrace.Error, "expected time or memory"):
            recording.search(by="luck")

    def test_plan_finds_plans(self):
        result = foretrace.plan("llama3_8b", "dgx_a100", gpus=16, batch=64, top=3)
        self.assertEqual(len(result.plans), 3)
        self.assertEqual(result.best["step_ns"], min(one["step_ns"] for one in result.plans))
        self.assertEqual(foretrace.plan("gpt3_175b", "dgx_a100", gpus=8, batch=64).plans, [])
        with self.assertRaisesRegex(foretrace.Error, "at most the"):
            foretrace.plan("llama3_8b", "dgx_a100", gpus=10**9)

    def test_recordings_and_predictors_travel_to_other_processes(self):
        recording = pickle.loads(pickle.dumps(foretrace.read(DEMO)))
        self.assertEqual(recording.simulate().step_ns, foretrace.simulate(DEMO).step_ns)
        job = foretrace.Predictor(DEMO)
        self.assertEqual(pickle.loads(pickle.dumps(job)).predict(compute=0.5).step_ns, job.predict(compute=0.5).step_ns)

    def test_inspect_tells_what_is_in_a_trace(self):
        self.assertEqual(len(foretrace.inspect(DEMO).traces), 1)

    def test_simulate_takes_requests_to_a_model_and_streams(self):
        served = foretrace.simulate(ROOT / "examples" / "recipes" / "served_models" / "llama3_8b.json")
        self.assertEqual(len(served.requests), 600)
        self.assertGreater(served.first_token_ns, served.token_ns)
        self.assertIn("first token", served._repr_html_())
        streams = foretrace.simulate(ROOT / "examples" / "recipes" / "served_models" / "xrbench.json")
        self.assertEqual(len(streams.scenarios), 7)

    def test_simulate_maps_tasks_and_tables(self):
        tasks = foretrace.simulate(ROOT / "examples" / "recipes" / "mapping" / "heft.json")
        self.assertEqual((tasks.step_ns, len(tasks.placed)), (79000, 10))
        tables = foretrace.simulate(ROOT / "examples" / "recipes" / "mapping" / "tables.json")
        self.assertEqual(len(tables.placed), 20)
        self.assertIn("step", tables._repr_html_())

    def test_simulate_takes_fleets(self):
        fleets = ROOT / "examples" / "recipes" / "fleets"
        self.assertEqual([row["name"] for row in foretrace.simulate(fleets / "storage.json").rows][0], "none")
        self.assertEqual(len(foretrace.simulate(fleets / "phones.json").rows), 4)
        self.assertEqual(len(foretrace.simulate(fleets / "control_loop.json").control), 3)
        self.assertIn("missed", foretrace.simulate(fleets / "control_loop.json")._repr_html_())

    def test_schedule_still_runs_what_simulate_takes_and_says_so(self):
        path = ROOT / "examples" / "recipes" / "fleets" / "storage.json"
        with self.assertWarnsRegex(FutureWarning, "foretrace.simulate takes it"):
            self.assertEqual(foretrace.schedule(path).document, foretrace.simulate(path).document)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            foretrace.schedule(SCHEDULE)
        with self.assertRaisesRegex(foretrace.Error, "apply to a recording; .*storage.json contains input"):
            foretrace.simulate(path, step=2)

    def test_schedule_runs_every_policy(self):
        self.assertGreater(len(foretrace.schedule(SCHEDULE).runs), 3)

    @unittest.skipUnless(PROGRAM, "FORETRACE_PROGRAM does not name the program")
    def test_documents_are_those_of_the_program(self):
        printed = subprocess.run([PROGRAM, "whatif", DEMO, "--apply", "mixed_precision", "--json"], check=True,
                                 capture_output=True, text=True).stdout
        ours = foretrace.whatif(DEMO, ["mixed_precision"]).document
        self.assertEqual(ours["predicted"], json.loads(printed)["predicted"])


class Prices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_of_demo = foretrace.read(DEMO)

    def test_kernels_are_kinds_and_cover_the_run(self):
        kernels = self.run_of_demo.kernels()
        self.assertEqual(len(set(kernels)), len(kernels))
        self.assertGreater(sum(one.count for one in kernels), 10 * len(kernels))
        self.assertEqual(self.run_of_demo.kernels(), kernels)
        product = next(one for one in kernels if one.product)
        self.assertEqual(product.flops, 2 * product.product[0] * product.product[1] * product.product[2] * product.product[3])
        self.assertTrue(all(isinstance(size, int) for shape in product.shapes for size in shape))
        backward = self.run_of_demo.kernels("phase=backward")
        self.assertLess(len(backward), len(kernels))

    def test_a_function_is_asked_once_for_each_kind(self):
        asked = []

        def half(kernel):
            asked.append(kernel)
            return kernel.ns / 2 if kernel.kind == "convolution" else None
        told = self.run_of_demo.price(half, error=0.25)
        self.assertEqual(asked, self.run_of_demo.kernels())
        self.assertEqual(told.kept, len([one for one in asked if one.kind != "convolution"]))
        self.assertLess(told.predicted.step_ns, told.baseline.step_ns)
        self.assertEqual(told.document["applied"][0]["parameters"]["table"], "prices of half")
        # What rests on the function is what the answer says that rests on a table.
        self.assertAlmostEqual(told.path_share, told.predicted.document["provenance"]["table"])
        self.assertEqual(told.document["prices"]["path_share"], told.path_share)
        of_all = sum(one.ns * one.count for one in asked)
        self.assertAlmostEqual(told.device_share, sum(one.ns * one.count for one in asked if one.kind == "convolution") / of_all)
        self.assertIn("rests on the function", told._repr_html_())
        surer = self.run_of_demo.price(half, error=0.05)
        self.assertEqual(surer.predicted.step_ns, told.predicted.step_ns)
        self.assertLess(surer.predicted.high_ns, told.predicted.high_ns)
        self.assertGreater(surer.predicted.low_ns, told.predicted.low_ns)

    def test_the_ends_are_all_prices_at_their_ends(self):
        of_range = lambda told: told.predicted.document["range"]
        told = self.run_of_demo.price(lambda kernel: kernel.ns, error=0.5)
        slower = self.run_of_demo.price(lambda kernel: kernel.ns * 1.5, error=0)
        faster = self.run_of_demo.price(lambda kernel: (kernel.ns / 1.5, 0), error=9)
        self.assertAlmostEqual(of_range(told)["declared_high_ns"] / slower.predicted.step_ns, 1, places=4)
        self.assertAlmostEqual(of_range(told)["declared_low_ns"] / faster.predicted.step_ns, 1, places=4)
        self.assertEqual(of_range(slower)["declared_high_ns"], slower.predicted.step_ns)

    def test_a_selection_and_what_ifs_go_with_it(self):
        told = self.run_of_demo.price(lambda kernel: kernel.ns / 2, error=0.1, where="phase=backward",
                                      what_ifs="scale:factor=0.8")
        self.assertEqual(told.applied, ["kernel_table", "scale"])
        self.assertGreater(told.path_share, 0)  # although another what-if scaled the prices
        self.assertEqual({one.kernel for one in told.prices}, set(self.run_of_demo.kernels("phase=backward")))
        self.assertNotIn("table", told.predicted.document["provenance"])
        alone = self.run_of_demo.whatif("scale:factor=0.8")
        self.assertLess(told.predicted.step_ns, alone.predicted.step_ns)

    def test_what_changes_the_work_is_refused_beside_prices(self):
        with self.assertRaisesRegex(foretrace.Error, "what-if 'batch_size' changes the work of kernels"):
            self.run_of_demo.price(lambda kernel: kernel.ns, error=0, what_ifs="batch_size:factor=2")

    @unittest.skipUnless(PROGRAM, "FORETRACE_PROGRAM does not name the program")
    def test_a_table_of_prices_gives_the_program_the_same_answer(self):
        told = self.run_of_demo.price(lambda kernel: round(kernel.ns * 0.7, 3), error=0.16)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "prices.json")
            told.write_table(path)
            printed = subprocess.run([PROGRAM, "whatif", DEMO, "--apply", f"kernel_table:table='{path}'", "--json"],
                                     check=True, capture_output=True, text=True).stdout
        self.assertEqual(json.loads(printed)["predicted"], told.document["predicted"])

    def test_mistakes_of_a_function_name_the_kernel(self):
        first = self.run_of_demo.kernels()[0]

        def raises(kernel):
            raise ValueError("no features")
        for function, words in ((raises, "the function raised ValueError: no features"), (lambda _: float("nan"), "got nan"),
                                (lambda _: float("inf"), "got inf"), (lambda _: -1, "got -1"), (lambda _: 0, "got 0"),
                                (lambda _: "1", "got '1'"), (lambda _: True, "got True"), (lambda _: (1, 2, 3), "got .1, 2, 3"),
                                (lambda _: (1, -2), "error: got -2"), (lambda _: [1], "got .1.")):
            with self.assertRaisesRegex(foretrace.Error, re.escape(first.name) + ".*" + words) as caught:
                self.run_of_demo.price(function, error=0.1)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaises(foretrace.Error) as caught:
            self.run_of_demo.price(raises, error=0.1)
        self.assertIsInstance(caught.exception.__cause__, ValueError)

    def test_mistakes_of_the_question_say_what_was_expected(self):
        def ask(function=lambda kernel: kernel.ns, error=0.1, **options):
            return self.run_of_demo.price(function, error=error, **options)
        for given, words in (({"error": -1}, "expected a relative error"), ({"error": None}, "expected a relative error"),
                             ({"error": float("nan")}, "expected a relative error"), ({"function": 7}, "expected a function"),
                             ({"function": lambda _: None}, "keeps all [0-9]+ kinds"), ({"where": "name=gone"}, "no kernel matches"),
                             ({"where": "nam=x"}, "did you mean 'name'"), ({"what_ifs": "kernel_fusin"}, "kernel_fusion"),
                             ({"accelerator": "h100_sxn"}, "h100_sxm")):
            with self.assertRaisesRegex(foretrace.Error, words):
                ask(**given)
        with self.assertRaises(TypeError):
            self.run_of_demo.price(lambda kernel: kernel.ns)  # how far it may be off has to be said

    def test_threads_price_at_once(self):
        factors = [0.3 + 0.1 * i for i in range(8)]
        ask = lambda factor: self.run_of_demo.price(lambda kernel: kernel.ns * factor, error=0.1).predicted.step_ns
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(ask, factors)), [ask(factor) for factor in factors])

    def test_assess_is_the_mean_error_and_the_ranks(self):
        kernels = self.run_of_demo.kernels()
        exact = foretrace.assess(lambda kernel: kernel.ns * 1.2, kernels)
        self.assertAlmostEqual(exact.error, 0.2)
        self.assertAlmostEqual(exact.weighted_error, 0.2)
        self.assertAlmostEqual(exact.rank_correlation, 1)
        self.assertAlmostEqual(foretrace.assess(lambda kernel: 1e12 / kernel.ns, kernels).rank_correlation, -1)
        self.assertIsNone(foretrace.assess(lambda kernel: 1000, kernels).rank_correlation)
        times = sorted({one.ns: one for one in kernels}.values(), key=lambda one: one.ns)[:4]
        told = dict(zip(times, (2, 1, 3, 4)))  # 1 - 6 x (1 + 1) / (4 x 15)
        self.assertAlmostEqual(foretrace.assess(told.get, kernels).rank_correlation, 0.8)
        self.assertEqual(foretrace.assess(told.get, kernels).kernels, 4)


class Mistakes(unittest.TestCase):
    def test_errors_have_the_line_of_the_program(self):
        with self.assertRaisesRegex(foretrace.Error, "did you mean 'mixed_precision'"):
            foretrace.whatif(DEMO, ["mixed_precison"])
        with self.assertRaisesRegex(foretrace.Error, "cannot open"):
            foretrace.simulate("no_such_trace.json")
        with self.assertRaisesRegex(foretrace.Error, "expected pull or event"):
            foretrace.simulate(DEMO, engine="push")


class Sweeps(unittest.TestCase):
    SWEEP = {"schema": "foretrace.sweep/1", "trace": DEMO, "apply": [None, None],
             "axes": [{"name": "precision", "pointer": "/apply/0", "values": [None, "mixed_precision"]},
                      {"name": "fusion", "pointer": "/apply/1", "values": [None, "kernel_fusion"]}]}

    def test_a_sweep_of_a_dictionary_gives_points(self):
        with tempfile.TemporaryDirectory() as folder:
            result = foretrace.sweep(self.SWEEP, folder)
            self.assertEqual((result.rows, result.failed), (4, 0))
            points = result.points()
            self.assertEqual([one["id"] for one in points], [0, 1, 2, 3])
            self.assertEqual(min(one["step_ns"] for one in points), result.best["step_ns"])
            self.assertEqual(len(result.points(where="precision == 'mixed_precision'")), 2)
            again = foretrace.sweep(self.SWEEP, folder)
            self.assertEqual(again.document["computed"], 0)

    def test_points_are_a_data_frame_where_pandas_is(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        with tempfile.TemporaryDirectory() as folder:
            frame = foretrace.sweep(self.SWEEP, folder).frame()
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(len(frame), 4)

    def test_points_are_arrays_where_numpy_is(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy")
        with tempfile.TemporaryDirectory() as folder:
            arrays = foretrace.sweep(self.SWEEP, folder).arrays()
            self.assertEqual(arrays["step_ns"].dtype.kind, "i")
            self.assertEqual(int(numpy.argmin(arrays["step_ns"])), 3)

    def test_a_search_looks_at_a_part_of_the_space(self):
        sweep = {**self.SWEEP, "method": {"kind": "nsga2", "points": 3, "population": 2, "seed": 1}}
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(foretrace.sweep(sweep, folder).rows, 3)


class Predictors(unittest.TestCase):
    def test_predict(self):
        job = foretrace.Predictor(DEMO)
        self.assertEqual(job.predict().step_ns, foretrace.simulate(DEMO).step_ns)
        self.assertLess(job.predict(compute=0.5).step_ns, job.step_ns)
        self.assertEqual(len(job.throughputs(["a100_sxm_80gb", "v100_sxm2_16gb"], [1, 2])), 2)
        self.assertLessEqual(foretrace.Predictor.corun(job, job).first_share, 1)
        with self.assertRaisesRegex(foretrace.Error, "did you mean 'h100_sxm'"):
            job.predict(accelerator="h100_sxn")

    def test_many_placements_are_as_many_questions(self):
        job = foretrace.Predictor(DEMO)
        asked = [{"compute": 0.5 + 0.1 * i, "host": 1.1} for i in range(8)] + [{"accelerator": "h100_sxm"}]
        answers = job.predict_many(asked)
        self.assertEqual([one.step_ns for one in answers], [job.predict(**one).step_ns for one in asked])
        self.assertEqual(answers.rows()[1]["compute"], 0.6)
        with self.assertRaisesRegex(foretrace.Error, "placement 1: "):
            job.predict_many([{}, {"compute": -1}])
        with self.assertRaisesRegex(foretrace.Error, "placement 0: got 'computer'"):
            job.predict_many([{"computer": 1}])
        try:
            import numpy
        except ImportError:
            return
        self.assertEqual(answers.arrays()["step_ns"].shape, (9,))
        self.assertTrue(numpy.isnan(answers.arrays()["host"][8]))

    def test_threads_share_a_predictor(self):
        job = foretrace.Predictor(DEMO)
        factors = [0.3 + 0.05 * i for i in range(40)]
        alone = [job.predict(compute=factor).step_ns for factor in factors]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda factor: job.predict(compute=factor).step_ns, factors))
        self.assertEqual(alone, together)

    def test_other_threads_run_during_a_question(self):
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.0005)
        ticker = threading.Thread(target=tick)
        ticker.start()
        begin = time.perf_counter()
        foretrace.read(DEMO).whatif(["mixed_precision", "kernel_fusion"])
        took = time.perf_counter() - begin
        stop.set()
        ticker.join()
        during = [one for one in ticks if begin < one < begin + took]
        self.assertGreater(len(during), 1)


class Substitution(unittest.TestCase):
    def test_rewards_add_up_to_the_time_saved(self):
        env = foretrace.SubstitutionEnv(DEMO, ["kernel_fusion"])
        first, info = env.reset(seed=1)
        self.assertEqual(len(info["mask"]), len(env.actions))
        total = 0
        for _ in range(2):
            last, reward, done, truncated, info = env.step(info["mask"].index(True))
            total += reward
            self.assertFalse(done or truncated)
        saved = (first["makespan_ns"] - last["makespan_ns"]) / first["makespan_ns"]
        self.assertAlmostEqual(total, saved)
        self.assertLess(last["sum_ns"], first["sum_ns"])
        self.assertTrue(env.step(len(env.actions) - 1)[2])
        with self.assertRaisesRegex(foretrace.Error, "has ended"):
            env.step(0)
        self.assertEqual(env.reset()[0], first)

    def test_mistakes_name_what_was_expected(self):
        with self.assertRaisesRegex(foretrace.Error, "kernel_fusion"):
            foretrace.SubstitutionEnv(DEMO, ["kernel_fusin"])
        with self.assertRaisesRegex(foretrace.Error, "makespan or sum"):
            foretrace.SubstitutionEnv(DEMO, goal="time")

    def test_one_rule_needs_no_list(self):
        self.assertEqual(foretrace.SubstitutionEnv(DEMO, "kernel_fusion").actions,
                         foretrace.SubstitutionEnv(DEMO, ["kernel_fusion"]).actions)


class Stubs(unittest.TestCase):
    """What editors and type checkers are told is what is there."""

    def setUp(self):
        stub = pathlib.Path(foretrace.__file__).with_name("__init__.pyi")
        self.told = {one.name: one for one in ast.parse(stub.read_text()).body
                     if isinstance(one, (ast.ClassDef, ast.FunctionDef))}

    def names_of(self, function):
        given = function.args
        every = given.posonlyargs + given.args + [given.vararg] + given.kwonlyargs + [given.kwarg]
        return [one.arg for one in every if one is not None]

    def test_every_public_name_is_told(self):
        self.assertEqual(sorted(self.told), sorted(foretrace.__all__))

    def test_functions_have_their_parameters(self):
        for name, told in self.told.items():
            if isinstance(told, ast.FunctionDef):
                there = inspect.signature(getattr(foretrace, name))
                self.assertEqual(self.names_of(told), list(there.parameters), name)

    def test_classes_have_their_members(self):
        for name, told in self.told.items():
            if not isinstance(told, ast.ClassDef):
                continue
            there = getattr(foretrace, name)
            if any("Enum" in ast.unparse(base) for base in told.bases):
                self.assertEqual({one.targets[0].id for one in told.body}, set(there.__members__), name)
                continue
            methods = {one.name: one for one in told.body if isinstance(one, ast.FunctionDef)}
            for method, signature in methods.items():
                self.assertTrue(hasattr(there, method), f"{name}.{method}")
                if inspect.isfunction(vars(there).get(method)):
                    parameters = list(inspect.signature(getattr(there, method)).parameters)
                    self.assertEqual(self.names_of(signature), parameters, f"{name}.{method}")
            own = {member for member, value in vars(there).items() if not member.startswith("_") and
                   (inspect.isfunction(value) or isinstance(value, property))}
            self.assertEqual(own - set(methods), set(), name)
            if dataclasses.is_dataclass(there):
                fields = [one.target.id for part in [*map(self.told.get, map(ast.unparse, told.bases)), told] if part
                          for one in part.body if isinstance(one, ast.AnnAssign)]
                self.assertEqual(fields, [one.name for one in dataclasses.fields(there)], name)


class Examples(unittest.TestCase):
    def test_what_ifs_run_on_other_processes(self):
        printed = subprocess.run([sys.executable, str(ROOT / "examples/recipes/sweeps/many_processes.py"), DEMO], check=True,
                                 capture_output=True, text=True).stdout
        self.assertEqual(len(printed.splitlines()), 12)
        self.assertRegex(printed, r"h100_sxm +mixed_precision \+ kernel_fusion +\d+\.\d\d ms")

    def test_evolution_finds_a_network_within_its_limit(self):
        widest = 0
        for limit in (150, 400):
            printed = subprocess.run([sys.executable, str(ROOT / "examples/recipes/sweeps/evolve.py"), str(limit)], check=True,
                                     capture_output=True, text=True).stdout
            milliseconds, weights = re.search(r": ([\d.]+) ms, (\d+) weights", printed).groups()
            self.assertLessEqual(float(milliseconds), limit)
            self.assertGreater(int(weights), widest)  # more time, larger networks
            widest = int(weights)

    def test_a_learned_model_and_its_tuner_say_what_their_page_says(self):
        folder = ROOT / "examples/recipes/tuning"
        page = (folder / "README.md").read_text(encoding="utf-8")
        traces = {name: str(ROOT / f"examples/traces/h100/{name}.baseline.ftr.gz")
                  for name in ("gnmt", "gpt2", "resnet50", "vgg19")}
        with tempfile.TemporaryDirectory() as written:
            table = os.path.join(written, "tiles.json")
            for program, names, more in (("cost_model.py", list(traces), []),
                                         ("tune.py", ["gpt2", "gnmt", "resnet50", "vgg19"], ["--budget", "30", "--write", table])):
                printed = subprocess.run([sys.executable, str(folder / program), *(traces[name] for name in names), *more],
                                         check=True, capture_output=True, text=True).stdout
                self.assertGreater(len(printed.splitlines()), 4)
                self.assertIn(printed, page)
            self.assertEqual(json.loads(pathlib.Path(table).read_text(encoding="utf-8")),
                             json.loads((folder / "tiles.json").read_text(encoding="utf-8")))
        # The recorded step lies in the range of what a model that has not seen it tells.
        rows = re.findall(r"([0-9.]+) ms +[0-9.]+ ms \(([0-9.]+) \.\. ([0-9.]+)\)$", page, re.MULTILINE)
        self.assertEqual(len(rows), 4)
        for recorded, low, high in rows:
            self.assertTrue(float(low) <= float(recorded) <= float(high))

    def test_a_tuner_stops_with_its_budget(self):
        h100 = ROOT / "examples/traces/h100"
        printed = subprocess.run([sys.executable, str(ROOT / "examples/recipes/tuning/tune.py"), str(h100 / "gpt2.baseline.ftr.gz"),
                                  str(h100 / "gnmt.baseline.ftr.gz"), str(h100 / "vgg19.baseline.ftr.gz"), "--budget", "2"],
                                 check=True, capture_output=True, text=True).stdout
        self.assertIn("\n2 simulations: ", printed)

    def test_the_schedulers_example_runs(self):
        printed = subprocess.run([sys.executable, str(ROOT / "examples/recipes/predictor/place_jobs.py"), DEMO,
                                  str(ROOT / "examples/traces/demo_generated_cnn_memory.json.gz")],
                                 check=True, capture_output=True, text=True).stdout
        self.assertIn("job 0 gets the", printed)
        self.assertIn("together on one device", printed)


if __name__ == "__main__":
    unittest.main()
