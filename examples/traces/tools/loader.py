#!/usr/bin/env python3
"""Input pipelines: loader.py --out DIR: ResNet-50 (bf16, channels last) fed by workers that decode, crop and normalize.
Per variant the median step without a profiler; Kineto traces of those in TRACED. Writes DIR/loader.json."""
import argparse, json, os, statistics, time
import numpy as np, torch, torch.nn.functional as F, torchvision
from traced import KINDS, waits_too, write_trace

VARIANTS = {  # workers, pinned and non-blocking, batch
    "workers_0": (0, False, 64), "workers_1": (1, False, 64), "workers_2": (2, False, 64), "workers_4": (4, False, 64),
    "workers_8": (8, False, 64), "workers_8_pinned": (8, True, 64), "workers_4_pinned": (4, True, 64), "synthetic": (-1, True, 64),
}
TRACED = ("workers_0", "workers_2", "workers_8", "workers_8_pinned")


class Pictures(torch.utils.data.Dataset):
    """Like decoded JPEGs: a random crop of a stored picture, mirrored, normalized; one thread, about 2 ms."""
    def __init__(self):
        self.store = np.random.default_rng(0).integers(0, 255, (64, 3, 320, 320), dtype=np.uint8)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        y, x = i * 7 % 96, i * 13 % 96
        picture = self.store[i % 64, :, y:y + 224, x:x + 224].astype(np.float32)
        for _ in range(2):
            picture = np.clip(picture * 1.01 - 0.5, 0, 255)
        return torch.from_numpy((picture[:, :, ::-1] / 255.0 - 0.45).copy()), i % 1000


def measure(variant, out):
    workers, pinned, batch = VARIANTS[variant]
    torch.set_num_threads(1)
    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    opt = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    if workers >= 0:
        loader = iter(torch.utils.data.DataLoader(Pictures(), batch, num_workers=workers, pin_memory=pinned))
    else:
        fixed = torch.randn(batch, 3, 224, 224, device="cuda"), torch.randint(1000, (batch,), device="cuda")
        loader = iter(lambda: fixed, None)

    def step():
        x, y = next(loader)
        x = x.to("cuda", non_blocking=pinned, memory_format=torch.channels_last)
        y = y.to("cuda", non_blocking=pinned)
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(x).float(), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        return loss.item()

    def timed(count):
        times = []
        for _ in range(count):
            t = time.perf_counter(); step(); times.append((time.perf_counter() - t) * 1e3)
        return times

    timed(10)
    times = timed(30)
    row = dict(variant=variant, workers=workers, pinned=pinned, batch=batch, gpu=torch.cuda.get_device_name(),
               step_ms=statistics.median(times), step_ms_mean=statistics.fmean(times), step_ms_min=min(times), step_ms_max=max(times))
    if variant in TRACED:
        with torch.profiler.profile(activities=KINDS,
                                    schedule=torch.profiler.schedule(wait=1, warmup=2, active=6), record_shapes=True, **waits_too()) as prof:
            profiled = []
            for _ in range(9):
                profiled += timed(1)
                prof.step()
        row["step_ms_profiled"] = statistics.median(profiled[3:])
        write_trace(prof, os.path.join(out, f"loader.{variant}.pt.trace.json"))
    return row


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", default="out"); ap.add_argument("--variants", default=",".join(VARIANTS))
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    rows = []
    for variant in a.variants.split(","):
        torch.manual_seed(0)
        rows.append(measure(variant, a.out))
        json.dump(rows, open(os.path.join(a.out, "loader.json"), "w"), indent=1)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
