#!/usr/bin/env python3
"""Prefill and decode of a Llama-like decoder (grouped queries, bf16, static cache): decode.py --out DIR --variants LIST
For each variant the time of one prefill and of one decoded token (medians, without a profiler) and, for those in --traced,
a Kineto trace of one prefill and eight decoded tokens. Writes DIR/decode.json."""
import argparse, json, os, statistics, time, traceback
import torch, torch.nn as nn, torch.nn.functional as F
from traced import KINDS, waits_too, write_trace

LAYERS, WIDTH, HEADS, KV_HEADS, INNER, VOCAB = 16, 2048, 32, 8, 8192, 128256
VARIANTS = {  # batch, prompt, what is on
    "baseline": (8, 512, ()), "cuda_graph": (8, 512, ("graph",)), "compile": (8, 512, ("compile",)),
    "batch_1": (1, 512, ()), "batch_16": (16, 512, ()), "batch_64": (64, 512, ()),
    "graph_batch_16": (16, 512, ("graph",)), "graph_batch_64": (64, 512, ("graph",)), "prompt_1024": (8, 1024, ()),
    "prompt_2048": (8, 2048, ()), "fp32": (8, 512, ("fp32",)), "layers_8": (8, 512, ("half",)),
    "graph_batch_1": (1, 512, ("graph",)),
}


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return F.rms_norm(x, (WIDTH,), self.w)


class Block(nn.Module):
    def __init__(self, batch, length):
        super().__init__()
        d = WIDTH // HEADS
        self.q, self.k, self.v = nn.Linear(WIDTH, WIDTH, bias=False), *(nn.Linear(WIDTH, KV_HEADS * d, bias=False) for _ in "kv")
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up, self.down = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(WIDTH, INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        self.n1, self.n2 = Norm(), Norm()
        self.register_buffer("keys", torch.zeros(batch, KV_HEADS, length, d))
        self.register_buffer("values", torch.zeros(batch, KV_HEADS, length, d))

    def forward(self, x, at, rope, mask):
        b, n, _ = x.shape
        y = self.n1(x)
        q, k, v = (p(y).view(b, n, -1, WIDTH // HEADS).transpose(1, 2) for p in (self.q, self.k, self.v))
        q, k = q * rope[0] + q.roll(32, -1) * rope[1], k * rope[0] + k.roll(32, -1) * rope[1]
        self.keys.index_copy_(2, at, k), self.values.index_copy_(2, at, v)
        if mask is None:
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            a = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask, enable_gqa=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, n, WIDTH))
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, layers, batch, length):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.blocks = nn.ModuleList(Block(batch, length) for _ in range(layers))
        self.norm, self.head = Norm(), nn.Linear(WIDTH, VOCAB, bias=False)
        self.register_buffer("cos", torch.randn(length, WIDTH // HEADS)), self.register_buffer("sin", torch.randn(length, WIDTH // HEADS))
        self.register_buffer("place", torch.arange(length))

    def forward(self, ids, at, prefill: bool):
        x = self.embed(ids)
        rope = self.cos[at], self.sin[at]
        mask = None if prefill else (self.place[None, :] <= at[:, None])[None, None]
        for block in self.blocks:
            x = block(x, at, rope, mask)
        return self.head(self.norm(x[:, -1:])).argmax(-1)


def measure(variant, out, traced):
    batch, prompt, on = VARIANTS[variant]
    length = prompt + 128
    with torch.device("cuda"):
        model = Decoder(LAYERS // 2 if "half" in on else LAYERS, batch, length)
        model = model.to(torch.float32 if "fp32" in on else torch.bfloat16).eval()
        ids, first = torch.randint(VOCAB, (batch, prompt)), torch.arange(prompt)
        token, at = torch.zeros(batch, 1, dtype=torch.long), torch.tensor([prompt])
    call = torch.compile(model) if "compile" in on else model

    def decode():
        token.copy_(call(token, at, False))
        at.add_(1)

    def prefill():
        token.copy_(model(ids, first, True))
        at.fill_(prompt)

    prefill()
    step = decode
    if "graph" in on:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                decode()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
        step = graph.replay
    sync = torch.cuda.synchronize

    def timed(work, runs):
        times = []
        for _ in range(runs):
            sync(); t = time.perf_counter(); work(); sync()
            times.append((time.perf_counter() - t) * 1e3)
        return statistics.median(times)

    for _ in range(10):
        step()
    prefill()
    row = dict(variant=variant, batch=batch, prompt=prompt, gpu=torch.cuda.get_device_name(), token_ms=timed(step, 40))
    row["prefill_ms"] = timed(prefill, 10)
    sync(); t = time.perf_counter()
    for _ in range(40):
        step()
    sync()
    row["token_ms_back_to_back"] = (time.perf_counter() - t) * 1e3 / 40
    row["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
    if variant in traced:
        prefill()
        with torch.profiler.profile(activities=KINDS, schedule=torch.profiler.schedule(wait=1, warmup=2, active=8), record_shapes=True,
                                    profile_memory=True, **waits_too()) as prof:
            profiled = []
            for _ in range(11):
                sync(); t = time.perf_counter(); step(); sync()
                profiled.append((time.perf_counter() - t) * 1e3)
                prof.step()
        row["token_ms_profiled"] = statistics.median(profiled[3:])
        write_trace(prof, os.path.join(out, f"decode.{variant}.pt.trace.json"))
    return row


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", default="out"); ap.add_argument("--variants", default=",".join(VARIANTS)); ap.add_argument("--traced", default="baseline")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    rows = []
    for variant in a.variants.split(","):
        torch.manual_seed(0)
        torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()
        try:
            with torch.no_grad():
                row = measure(variant, a.out, a.traced.split(","))
        except Exception as e:
            traceback.print_exc()
            row = dict(variant=variant, error=f"{type(e).__name__}: {e}"[:300])
        rows.append(row)
        json.dump(rows, open(os.path.join(a.out, "decode.json"), "w"), indent=1)
        print(row, flush=True)


if __name__ == "__main__":
    main()
