#!/usr/bin/env python3
"""What a training step holds: memory.py --out DIR --model llama-1b --batch 2 --variants full,lora_8 [--traced full] [--snapshots full]
Transformers under bf16 autocast with AdamW on fp32 weights, one change each. Per variant, into DIR/memory.json: weights,
gradients and states by their tensors; what is allocated after forward, backward and update; the peaks, allocated and
reserved, of the first steps and of later ones; the step without a profiler. A snapshot holds one step, with stacks of Python."""
import argparse, functools, gc, gzip, json, os, shutil, statistics, time, traceback
import torch, torch.nn as nn, torch.nn.functional as F
import torch.utils.checkpoint as recompute
from traced import KINDS, waits_too, write_trace

MODELS = {  # layers, width, heads, heads of keys, inner, vocabulary, positions; Llama: gated, root mean square, rotary
    "gpt2-medium": (24, 1024, 16, 16, 4096, 50304, 1024), "gpt2-large": (36, 1280, 20, 20, 5120, 50304, 1024),
    "llama-1b": (16, 2048, 32, 8, 8192, 128256, 2048),
}
VARIANTS = {
    "full": "AdamW (foreach) on fp32 weights, bf16 autocast", "fused": "fused AdamW", "loop": "AdamW as a loop over tensors",
    "sgd": "SGD without momentum", "bf16_states": "weights, gradients and states in bf16, no autocast",
    "lora_8": "frozen weights with adapters of rank 8 in every block", "lora_64": "the same, rank 64",
    "lora_8_bf16": "as lora_8, frozen weights in bf16", "frozen_embeddings": "embeddings, and the head tied to them, without gradients",
    "optimizer_offload": "master weights and AdamW's states in host memory, updated there",
    "activation_offload": "saved tensors in pinned host memory", "chunked_loss": "head and loss in 8 pieces, computed again in backward",
    "checkpoint": "every block again in backward", "checkpoint_half": "every second block again in backward",
    "checkpoint_selective": "every block again, but for products and attention", "batch_half": "half the batch",
    "batch_x2": "twice the batch", "seq_half": "half the positions", "zero_in_place": "gradients zeroed in place",
}


class Adapted(nn.Module):
    """LoRA: a frozen layer and two small ones beside it."""
    def __init__(self, layer, rank):
        super().__init__()
        self.layer, self.down = layer.requires_grad_(False), nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.layer(x) + self.up(self.down(x)) * 2.0


class Block(nn.Module):
    def __init__(self, width, heads, kv_heads, inner, llama):
        super().__init__()
        self.heads, self.kv_heads, self.llama, d = heads, kv_heads, llama, width // heads
        self.n1, self.n2 = (nn.RMSNorm(width), nn.RMSNorm(width)) if llama else (nn.LayerNorm(width), nn.LayerNorm(width))
        self.qkv = nn.Linear(width, width + 2 * kv_heads * d, bias=not llama)
        self.proj, self.up, self.down = nn.Linear(width, width, bias=not llama), nn.Linear(width, inner, bias=not llama), nn.Linear(inner, width, bias=not llama)
        if llama:
            self.gate = nn.Linear(width, inner, bias=False)

    def forward(self, x, rope):
        b, s, w = x.shape
        d = w // self.heads
        q, k, v = self.qkv(self.n1(x)).split([w, self.kv_heads * d, self.kv_heads * d], -1)
        q, k, v = (t.view(b, s, -1, d).transpose(1, 2) for t in (q, k, v))
        if self.llama:
            q, k = ((t * rope[0] + t.roll(d // 2, -1) * rope[1]).to(v.dtype) for t in (q, k))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv_heads)
        x = x + self.proj(a.transpose(1, 2).reshape(b, s, w))
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y) if self.llama else F.gelu(self.up(y)))


def products_stay():
    """What selective checkpointing keeps: products and attention."""
    ops, policy = torch.ops.aten, recompute.CheckpointPolicy
    kept = {ops.mm.default, ops.addmm.default, ops.bmm.default, ops._scaled_dot_product_flash_attention.default,
            ops._scaled_dot_product_cudnn_attention.default, ops._scaled_dot_product_efficient_attention.default}
    choose = lambda _, op, *args, **kw: policy.MUST_SAVE if op in kept else policy.PREFER_RECOMPUTE
    return recompute.create_selective_checkpoint_contexts(choose)


class Net(nn.Module):
    def __init__(self, name, seq, variant):
        super().__init__()
        layers, width, heads, kv_heads, inner, vocab, _ = MODELS[name]
        self.llama, self.variant = name.startswith("llama"), variant
        self.tok = nn.Embedding(vocab, width)
        nn.init.normal_(self.tok.weight, std=0.02)
        self.pos = None if self.llama else nn.Embedding(seq, width)
        self.blocks = nn.ModuleList(Block(width, heads, kv_heads, inner, self.llama) for _ in range(layers))
        self.norm = nn.RMSNorm(width) if self.llama else nn.LayerNorm(width)
        self.register_buffer("cos", torch.randn(seq, width // heads)), self.register_buffer("sin", torch.randn(seq, width // heads))

    def head_and_loss(self, x, target):
        return F.cross_entropy(F.linear(x, self.tok.weight).float(), target, reduction="sum")

    def forward(self, ids, target):
        x = self.tok(ids)
        if self.pos is not None:
            x = x + self.pos(torch.arange(ids.size(1), device=ids.device))
        for i, block in enumerate(self.blocks):
            again = self.variant == "checkpoint" or self.variant == "checkpoint_half" and i % 2 == 0
            if again or self.variant == "checkpoint_selective":
                kept = {} if again else dict(context_fn=products_stay)
                x = recompute.checkpoint(block, x, (self.cos, self.sin), use_reentrant=False, **kept)
            else:
                x = block(x, (self.cos, self.sin))
        x, target = self.norm(x).flatten(0, 1), target.flatten()
        if self.variant == "chunked_loss":
            parts = (recompute.checkpoint(self.head_and_loss, a, b, use_reentrant=False) for a, b in zip(x.chunk(8), target.chunk(8)))
            return sum(parts) / target.numel()
        return self.head_and_loss(x, target) / target.numel()


class HostAdamW:
    """AdamW whose master weights and states are in host memory."""
    def __init__(self, params):
        self.params = params
        self.masters = [nn.Parameter(p.detach().float().cpu()) for p in params]
        for m in self.masters:
            m.grad = torch.empty(m.shape, pin_memory=True)
        self.inner = torch.optim.AdamW(self.masters, lr=1e-4, fused=True)
        self.state = {}

    def zero_grad(self, set_to_none=True):
        for p in self.params:
            p.grad = None

    def step(self):
        for p, m in zip(self.params, self.masters):
            m.grad.copy_(p.grad, non_blocking=True)
        torch.cuda.synchronize()
        self.inner.step()
        with torch.no_grad():
            for p, m in zip(self.params, self.masters):
                p.copy_(m)


def make(name, batch, variant):
    seq = MODELS[name][6]
    batch = {"batch_half": batch // 2, "batch_x2": batch * 2}.get(variant, batch)
    seq = seq // 2 if variant == "seq_half" else seq
    with torch.device("cuda"):
        model = Net(name, seq, variant)
        if variant == "frozen_embeddings":
            for part in (model.tok, model.pos):
                part is None or part.requires_grad_(False)
        if variant.startswith("lora"):
            model.requires_grad_(False)
            if variant.endswith("bf16"):
                model.to(torch.bfloat16)
            for block in model.blocks:
                for key, layer in list(block.named_children()):
                    if isinstance(layer, nn.Linear):
                        setattr(block, key, Adapted(layer, int(variant.split("_")[1])))
        if variant == "bf16_states":
            model.to(torch.bfloat16)
        ids, target = torch.randint(MODELS[name][5], (2, batch, seq))
    params = [p for p in model.parameters() if p.requires_grad]
    if variant == "optimizer_offload":
        return model, HostAdamW(params), params, ids, target
    if variant == "sgd":
        return model, torch.optim.SGD(params, lr=1e-4, foreach=True), params, ids, target
    kind = {"fused": dict(fused=True), "loop": dict(foreach=False)}.get(variant, dict(foreach=True))
    return model, torch.optim.AdamW(params, lr=1e-4, **kind), params, ids, target


def size(tensors):
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if t is not None and t.is_cuda}.values())


def measure(name, batch, variant, out, traced, snapshot):
    cuda = torch.cuda
    model, opt, params, ids, target = make(name, batch, variant)
    at = {}

    def step(note=lambda key: None):
        opt.zero_grad(set_to_none=variant != "zero_in_place")
        with torch.profiler.record_function("forward"), torch.autocast("cuda", torch.bfloat16, enabled=variant != "bf16_states"):
            if variant == "activation_offload":
                with torch.autograd.graph.save_on_cpu(pin_memory=True):
                    loss = model(ids, target)
            else:
                loss = model(ids, target)
        note("forward")
        with torch.profiler.record_function("backward"):
            loss.backward()
        note("backward")
        with torch.profiler.record_function("optimizer"):
            opt.step()
        note("update")

    step(); step(); cuda.synchronize()
    row = dict(model=name, variant=variant, batch=ids.shape[0], positions=ids.shape[1], gpu=cuda.get_device_name(), torch=torch.__version__,
               parameters=sum(p.numel() for p in model.parameters()), trained=sum(p.numel() for p in params),
               weights_bytes=size(model.parameters()), buffers_bytes=size(model.buffers()), gradients_bytes=size(p.grad for p in params),
               states_bytes=size(t for s in opt.state.values() for t in s.values() if torch.is_tensor(t)),
               first_peak_allocated_bytes=cuda.max_memory_allocated(), first_peak_reserved_bytes=cuda.max_memory_reserved())

    def note(key):
        at[f"{key}_peak_bytes"], at[f"{key}_allocated_bytes"] = cuda.max_memory_allocated(), cuda.memory_allocated()
        cuda.reset_peak_memory_stats()

    cuda.reset_peak_memory_stats(); step(note); row.update(at)
    cuda.reset_peak_memory_stats()
    times = []
    for _ in range(6):
        cuda.synchronize(); t = time.perf_counter(); step(); cuda.synchronize(); times.append((time.perf_counter() - t) * 1e3)
    row.update(step_ms=statistics.median(times), step_ms_min=min(times), step_ms_max=max(times), retries=cuda.memory_stats()["num_alloc_retries"],
               peak_allocated_bytes=cuda.max_memory_allocated(), peak_reserved_bytes=cuda.max_memory_reserved())
    if snapshot:
        cuda.memory._record_memory_history(max_entries=200_000, stacks="python")
        step(); cuda.synchronize()
        path = os.path.join(out, f"{name}.{variant}.snapshot.pickle")
        cuda.memory._dump_snapshot(path)
        cuda.memory._record_memory_history(enabled=None)
        with open(path, "rb") as f, gzip.open(path + ".gz", "wb", 6) as g:
            shutil.copyfileobj(f, g)
        os.remove(path)
    if traced:
        profiled = []
        with torch.profiler.profile(activities=KINDS, schedule=torch.profiler.schedule(wait=1, warmup=1, active=3), record_shapes=True,
                                    profile_memory=True, with_modules=True, **waits_too()) as prof:
            for _ in range(5):
                cuda.synchronize(); t = time.perf_counter(); step(); cuda.synchronize(); profiled.append((time.perf_counter() - t) * 1e3)
                prof.step()
        row["step_ms_profiled"] = statistics.median(profiled[2:])
        write_trace(prof, os.path.join(out, f"{name}.{variant}.pt.trace.json"))
    return row


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default="out"); ap.add_argument("--model", choices=MODELS, default="gpt2-medium"); ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--variants", default="full"); ap.add_argument("--traced", default=""); ap.add_argument("--snapshots", default="")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    path = os.path.join(a.out, "memory.json")
    rows = json.load(open(path)) if os.path.exists(path) else []
    for variant in a.variants.split(","):
        torch.manual_seed(0)
        gc.collect(); torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()
        try:
            row = measure(a.model, a.batch, variant, a.out, variant in a.traced.split(","), variant in a.snapshots.split(","))
        except Exception as e:  # one variant's failure must not lose the others
            traceback.print_exc()
            row = dict(model=a.model, variant=variant, batch=a.batch, error=f"{type(e).__name__}: {e}"[:300])
        rows.append(row)
        json.dump(rows, open(path, "w"), indent=1)
        print(a.model, variant, row.get("step_ms"), row.get("peak_allocated_bytes"), row.get("error"), flush=True)


if __name__ == "__main__":
    main()
