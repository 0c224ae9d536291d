#!/usr/bin/env python3
"""PyTorch's allocator under requests of changing sizes: allocator.py --out DIR. The same training steps on sequences of changing length (a
seed chooses them), once per setting and in a process of its own; a snapshot of each with its history. Then a memory limit between what is
allocated and what is reserved: who runs out of it, with the snapshot of that moment. Last a pattern made to break up its segments.
DIR/allocator.json."""
import argparse, gzip, json, os, random, subprocess, sys, time

SETTINGS = {
    "default": "", "expandable": "expandable_segments:True", "split_64": "max_split_size_mb:64", "power_4": "roundup_power2_divisions:4",
    "collect_60": "garbage_collection_threshold:0.6",
}


def train(note):
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    choose = random.Random(7)
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    net = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda()
    head, embed = nn.Linear(1024, 16384).cuda(), nn.Embedding(16384, 1024).cuda()
    opt = torch.optim.AdamW([*net.parameters(), *head.parameters(), *embed.parameters()], lr=1e-4, fused=True)
    for step in range(24):
        length, batch = choose.randrange(64, 1024), choose.choice([2, 4, 6, 8])
        ids = torch.randint(16384, (batch, length), device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(head(net(embed(ids))).float().flatten(0, 1), ids.flatten())
        loss.backward()
        opt.step()
        opt.zero_grad()
        note(step, batch, length)
    torch.cuda.synchronize()


def break_up(note):
    """Cuts segments of 1 GiB into seven tensors, keeps every second, and asks for 1 GiB again; each turn needs tensors larger than the
    holes of the one before."""
    import torch
    kept, mib = [], 1 << 20
    for turn in range(64):
        whole = torch.empty(1024 * mib, dtype=torch.uint8, device="cuda")
        del whole
        parts = [torch.empty((96 + 4 * turn) * mib, dtype=torch.uint8, device="cuda") for _ in range(7)]
        kept += parts[::2]
        del parts
        note(turn, len(kept), 0)


def work(setting, out, limit, program):
    import torch
    memory = torch.cuda.memory
    if limit:
        torch.cuda.set_per_process_memory_fraction(limit / torch.cuda.get_device_properties(0).total_memory)
    torch.zeros(1, device="cuda")
    memory._record_memory_history(max_entries=400_000, stacks="python")
    row, steps = dict(setting=setting, limit_bytes=limit, program=program, gpu=torch.cuda.get_device_name(), torch=torch.__version__), []

    def note(step, batch, length):
        steps.append([batch, length, torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()])

    began = time.perf_counter()
    try:
        (train if program == "train" else break_up)(note)
    except torch.OutOfMemoryError as e:
        row["out_of_memory"] = str(e)[:600]
    memory._dump_snapshot(os.path.join(out, f"{program}.{setting}{'.limit' if limit else ''}.snapshot.pickle"))
    stats = torch.cuda.memory_stats()
    row.update(seconds=time.perf_counter() - began, steps=steps, peak_allocated_bytes=torch.cuda.max_memory_allocated(), peak_reserved_bytes=torch.cuda.max_memory_reserved(),
               peak_requested_bytes=stats["requested_bytes.all.peak"], retries=stats["num_alloc_retries"], segments=stats["segment.all.peak"])
    print(json.dumps(row), flush=True)


def run(setting, out, limit, program):
    env = dict(os.environ, PYTORCH_ALLOC_CONF=SETTINGS[setting], PYTORCH_CUDA_ALLOC_CONF=SETTINGS[setting])
    if not SETTINGS[setting]:
        env.pop("PYTORCH_ALLOC_CONF"), env.pop("PYTORCH_CUDA_ALLOC_CONF")
    done = subprocess.run([sys.executable, __file__, "--work", setting, "--out", out, "--limit", str(limit), "--program", program], env=env, capture_output=True, text=True,
                          timeout=120)
    if done.returncode:
        return dict(setting=setting, limit_bytes=limit, program=program, error=done.stderr[-600:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default="out"); ap.add_argument("--work"); ap.add_argument("--limit", type=int, default=0); ap.add_argument("--program", default="train")
    ap.add_argument("--settings", default=",".join(SETTINGS)); ap.add_argument("--no-limits", action="store_true")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    if a.work:
        return work(a.work, a.out, a.limit, a.program)
    rows = []

    def add(*of):
        rows.append(run(of[0], a.out, *of[1:]))
        json.dump(rows, open(os.path.join(a.out, "allocator.json"), "w"), indent=1)
        print(*of, rows[-1].get("error"), flush=True)
        return rows[-1]

    free = {setting: add(setting, 0, "train") for setting in a.settings.split(",")}
    if not a.no_limits:
        base = free.get("default") or add("default", 0, "train")
        between = int(base["peak_allocated_bytes"] + 0.25 * (base["peak_reserved_bytes"] - base["peak_allocated_bytes"]))
        for setting in ("default", "expandable"):
            add(setting, between, "train"), add(setting, 12 << 30, "break_up")
    for name in os.listdir(a.out):
        if name.endswith(".pickle"):
            with open(os.path.join(a.out, name), "rb") as f, gzip.open(os.path.join(a.out, name + ".gz"), "wb", 6) as g:
                g.write(f.read())
            os.remove(os.path.join(a.out, name))


if __name__ == "__main__":
    main()
