#!/usr/bin/env python3
"""A served model by hand: serving_loop.py --out DIR [--forms eager,graph,compile] [--batches 1,4,16,64] [--traced eager_4]
The decoder of decode.py in one loop, as an engine has it: one step on the device, the tokens of all sequences to the host, then for
each sequence what an engine does (append, text so far, stop words, table of blocks), then the next step. Per form and batch, medians
without a profiler, in ms: one step alone; its launching only, on an idle device; a turn of the loop with and without the work per
sequence; a prefill, and its launching. DIR/serving.json."""
import argparse, gc, json, os, statistics, time, traceback
import torch
from decode import LAYERS, VOCAB, Decoder
from traced import KINDS, waits_too, write_trace

PROMPT, BLOCK = 512, 16


class Sequence:
    def __init__(self):
        self.tokens, self.text, self.blocks = [], "", []

    def take(self, token, words):
        """True while it goes on."""
        self.tokens.append(token)
        self.text += words[token % 997]
        if len(self.tokens) % BLOCK == 1:
            self.blocks.append(len(self.blocks))
        return not self.text.endswith(("<stop>", "</s>", "\n\n\n")) and len(self.tokens) < 4096


def median_of(runs, work):
    """Medians of the time until `work` returns, and until the device is done with it."""
    back, done = [], []
    for _ in range(runs):
        torch.cuda.synchronize(); t = time.perf_counter(); work(); back.append(time.perf_counter() - t)
        torch.cuda.synchronize(); done.append(time.perf_counter() - t)
    return statistics.median(back) * 1e3, statistics.median(done) * 1e3


def measure(form, batch, out, traced):
    with torch.device("cuda"):
        model = Decoder(LAYERS, batch, PROMPT + 512).to(torch.bfloat16).eval()
        ids, first = torch.randint(VOCAB, (batch, PROMPT)), torch.arange(PROMPT)
        token, at = torch.zeros(batch, 1, dtype=torch.long), torch.tensor([PROMPT])
    call = torch.compile(model, dynamic=False) if form == "compile" else model

    def decode():
        token.copy_(call(token, at, False))
        at.add_(1)

    def prefill():
        token.copy_(model(ids, first, True))
        at.fill_(PROMPT)

    prefill()
    step = decode
    if form == "graph":
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                decode()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
        step = graph.replay
    for _ in range(10):
        step()
    prefill()
    words = [f" word{i}" for i in range(997)]
    row = dict(form=form, batch=batch, gpu=torch.cuda.get_device_name(), torch=torch.__version__)
    row["launch_ms"], row["step_ms"] = median_of(40, step)
    row["prefill_launch_ms"], row["prefill_ms"] = median_of(8, prefill)

    def turns(with_sequences, count):
        running, times = [Sequence() for _ in range(batch)], []
        prefill(); torch.cuda.synchronize()
        for _ in range(count):
            t = time.perf_counter()
            step()
            tokens = token.flatten().tolist()
            if with_sequences:
                running = [s if s.take(x, words) else Sequence() for s, x in zip(running, tokens)]
            times.append((time.perf_counter() - t) * 1e3)
        return statistics.median(times[5:])

    for _ in range(2):
        row["turn_plain_ms"], row["turn_ms"] = turns(False, 60), turns(True, 60)
    row["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
    if traced:
        prefill()
        for name, work, active in (("decode", step, 6), ("prefill", prefill, 3)):
            profiled = []
            with torch.profiler.profile(activities=KINDS, schedule=torch.profiler.schedule(wait=1, warmup=1, active=active), record_shapes=True, profile_memory=True,
                                        with_modules=True, **waits_too()) as prof:
                for _ in range(active + 2):
                    torch.cuda.synchronize(); t = time.perf_counter(); work(); torch.cuda.synchronize(); profiled.append((time.perf_counter() - t) * 1e3)
                    prof.step()
            row[f"{name}_ms_profiled"] = statistics.median(profiled[2:])
            write_trace(prof, os.path.join(out, f"{name}.{form}_{batch}.pt.trace.json"))
    return row


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default="out"); ap.add_argument("--forms", default="eager,graph"); ap.add_argument("--batches", default="1,4,16,64"); ap.add_argument("--traced", default="")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    path = os.path.join(a.out, "serving.json")
    rows = json.load(open(path)) if os.path.exists(path) else []
    for form in a.forms.split(","):
        for batch in map(int, a.batches.split(",")):
            torch.manual_seed(0)
            gc.collect(); torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()
            try:
                with torch.no_grad():
                    row = measure(form, batch, a.out, f"{form}_{batch}" in a.traced.split(","))
            except Exception as e:
                traceback.print_exc()
                row = dict(form=form, batch=batch, error=f"{type(e).__name__}: {e}"[:300])
            rows.append(row)
            json.dump(rows, open(path, "w"), indent=1)
            print(form, batch, row.get("step_ms"), row.get("error"), flush=True)
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
