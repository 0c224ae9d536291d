"""What-ifs of a recording on many processes, or many machines.

    python3 many_processes.py TRACE                    processes of this machine
    python3 many_processes.py TRACE --joblib           the same by joblib
    python3 many_processes.py TRACE --dask tcp://...   the workers of a Dask scheduler

The recording travels as the names of its files: every worker reads them once, so they have to be where it can.
"""
import argparse
import concurrent.futures
import multiprocessing

import foretrace

ACCELERATORS = ["", "v100_sxm2_16gb", "h100_sxm"]
WHAT_IFS = [[], ["mixed_precision"], ["mixed_precision", "kernel_fusion"], ["batch_size:factor=2"]]


def ask(recording, accelerator, what_ifs):
    """Runs on a worker. A combination that finds nothing to change is a row with its reason."""
    row = {"accelerator": accelerator or "as recorded", "what_ifs": " + ".join(what_ifs) or "none"}
    try:
        if not accelerator and not what_ifs:
            return {**row, "step_ns": recording.simulate().step_ns}
        answer = recording.whatif(what_ifs, accelerator=accelerator)
        return {**row, "step_ns": answer.predicted.step_ns, "speedup": answer.speedup}
    except foretrace.Error as error:
        return {**row, "reason": str(error)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("trace")
    arguments.add_argument("--joblib", action="store_true")
    arguments.add_argument("--dask", metavar="ADDRESS")
    given = arguments.parse_args()

    recording = foretrace.read(given.trace)
    tasks = [(recording, accelerator, what_ifs) for accelerator in ACCELERATORS for what_ifs in WHAT_IFS]
    if given.joblib:
        import joblib
        rows = joblib.Parallel(n_jobs=-1)(joblib.delayed(ask)(*task) for task in tasks)
    elif given.dask:
        import dask.distributed
        with dask.distributed.Client(given.dask) as client:
            rows = list(client.get_executor().map(ask, *zip(*tasks)))
    else:
        # Workers that start afresh: threads of the parent do not survive a fork.
        with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            rows = list(pool.map(ask, *zip(*tasks)))
    for row in sorted(rows, key=lambda one: one.get("step_ns", 0)):
        step = f"{row['step_ns'] / 1e6:9.2f} ms" if "step_ns" in row else row["reason"]
        print(f"{row['accelerator']:16} {row['what_ifs']:32} {step}")


if __name__ == "__main__":
    main()
