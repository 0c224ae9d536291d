#!/usr/bin/env python3
"""A step that the host limits, while other processes keep the host busy: host_load.py FILE. Per number of busy processes and what the
profiler records, the median step in ms in turns, and how long the step's calls alone take."""
import json, os, statistics, subprocess, sys, time
import torch
from record import make_step
from traced import KINDS

LOADS, SETTINGS = (0, 8, 16, 32), {"off": None, "plain": {}, "shapes+memory": dict(record_shapes=True, profile_memory=True)}


def measure(step, setting, runs=12):
    sync, back, done = torch.cuda.synchronize, [], []

    def turns():
        for _ in range(runs):
            sync(); t = time.perf_counter(); step(); back.append((time.perf_counter() - t) * 1e3)
            sync(); done.append((time.perf_counter() - t) * 1e3)
    if setting is None:
        turns()
    else:
        with torch.profiler.profile(activities=KINDS, **setting):
            turns()
    return statistics.median(back[2:]), statistics.median(done[2:])


rows = []
for name, variant, batch in (("gpt2", "amp+sdpa+foreach_adam", 1), ("gpt2", "amp+sdpa+fused_adam+cuda_graph", 1), ("resnet50", "amp+fused_adam", 8)):
    torch.manual_seed(0)
    step, _, _ = make_step(name, variant, batch, torch.device("cuda"))
    for _ in range(5):
        step()
    for load in LOADS:
        busy = [subprocess.Popen([sys.executable, "-c", "while True: sum(i * i for i in range(10000))"]) for _ in range(load)]
        try:
            time.sleep(0.5)
            taken = {key: [] for key in SETTINGS}
            for _ in range(2):
                for key, setting in SETTINGS.items():
                    taken[key].append(measure(step, setting))
        finally:
            for p in busy:
                p.kill()
        for key, times in taken.items():
            rows.append(dict(model=name, variant=variant, batch=batch, busy=load, cores=os.cpu_count(), setting=key, calls_ms=[t[0] for t in times], step_ms=[t[1] for t in times],
                             gpu=torch.cuda.get_device_name()))
        json.dump(rows, open(sys.argv[1], "w"), indent=1)
        print(name, load, "done", flush=True)
    del step
