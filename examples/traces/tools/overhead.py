#!/usr/bin/env python3
"""What PyTorch's profiler adds to a step that the host limits: overhead.py FILE. Per program and setting the median step in
ms, in turns (so that a machine that changes its speed changes all), and the operators recorded per step."""
import json, statistics, sys, time
import torch
from record import make_step

SETTINGS = {
    "off": None, "plain": {}, "shapes": dict(record_shapes=True), "memory": dict(profile_memory=True),
    "shapes+memory": dict(record_shapes=True, profile_memory=True), "cpu_only": dict(cpu_only=True),
}


def measure(step, setting):
    sync, times, count = torch.cuda.synchronize, [], 0
    profiler = torch.profiler.profile
    if setting is None:
        for _ in range(12):
            sync(); t = time.perf_counter(); step(); sync(); times.append((time.perf_counter() - t) * 1e3)
        return statistics.median(times[2:]), 0
    setting = dict(setting)
    kinds = [torch.profiler.ProfilerActivity.CPU] + ([] if setting.pop("cpu_only", False) else [torch.profiler.ProfilerActivity.CUDA])
    with profiler(activities=kinds, **setting) as prof:
        for _ in range(8):
            sync(); t = time.perf_counter(); step(); sync(); times.append((time.perf_counter() - t) * 1e3)
    count = sum(e.device_type() == torch.autograd.DeviceType.CPU for e in prof.profiler.kineto_results.events())
    return statistics.median(times[2:]), count / 8


rows = []
for name, variant, batch in (("gpt2", "amp+sdpa+fused_adam", 1), ("resnet50", "amp+fused_adam", 8), ("dlrm", "baseline", 256), ("mobilenet_v2", "baseline", 8)):
    torch.manual_seed(0)
    step, _, _ = make_step(name, variant, batch, torch.device("cuda"))
    for _ in range(5):
        step()
    taken = {key: [] for key in SETTINGS}
    operators = {}
    for _ in range(3):
        for key, setting in SETTINGS.items():
            ms, operators[key] = measure(step, setting)
            taken[key].append(ms)
            print(name, key, round(ms, 2), operators[key], flush=True)
    for key in SETTINGS:
        rows.append(dict(model=name, variant=variant, batch=batch, setting=key, step_ms=taken[key], operators=operators[key], gpu=torch.cuda.get_device_name()))
        print(name, key, [round(x, 2) for x in taken[key]], operators[key], flush=True)
    json.dump(rows, open(sys.argv[1], "w"), indent=1)
