#!/usr/bin/env python3
"""Several ranks on one device, all of them recorded: ranks.py --out DIR --jobs single,ddp,fsdp,tensor,gpipe [--backend nccl]
Each job starts its processes. For NCCL each says that it is on a host of its own (NCCL_HOSTID), so that two may share a
device: transfers go over sockets and kernels take turns. Rates are odd, structure is real. Per job DIR/JOB.rankN.pt.trace.json.gz
and a row in DIR/ranks.json: the step without a profiler on every rank."""
import argparse, json, os, signal, statistics, subprocess, sys, time, traceback

LAYERS, WIDTH, HEADS, VOCAB, SEQ, BATCH, MICRO = 8, 768, 12, 16384, 512, 8, 4
JOBS = {  # ranks, what it is
    "check": (2, "two collectives, nothing else"), "single": (1, "one rank without a group"), "ddp": (2, "DDP, buckets of 25 MB"), "ddp_small": (2, "DDP, buckets of 4 MB"),
    "ddp_late": (2, "DDP, rank 1 sleeps 15 ms in every forward pass"), "ddp_4": (4, "DDP on four ranks"), "ddp_accumulate": (2, "DDP, two micro-batches, the first without exchange"),
    "fsdp": (2, "FSDP2, each block, as it is"), "fsdp_prefetch": (2, "FSDP2, the next block is gathered early in forward too"),
    "fsdp_none": (2, "FSDP2, nothing is gathered early in backward"), "fsdp_kept": (2, "FSDP2, parameters stay after forward"),
    "tensor": (2, "tensor parallel by hand, as Megatron has it"), "gpipe": (2, "two stages, 4 micro-batches, GPipe"),
    "1f1b": (2, "two stages, 4 micro-batches, 1F1B"), "1f1b_4": (4, "four stages, 8 micro-batches, 1F1B"), "gpipe_4": (4, "four stages, 8 micro-batches, GPipe"),
}


def net(first, last, tensor=1, group=None):
    """Blocks first .. last of a GPT; products divided over `tensor` ranks."""
    import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist

    class Enter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x.view_as(x)
        @staticmethod
        def backward(ctx, g): g = g.contiguous(); dist.all_reduce(g, group=group); return g

    class Leave(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): x = x.contiguous(); dist.all_reduce(x, group=group); return x
        @staticmethod
        def backward(ctx, g): return g

    enter, leave = (Enter.apply, Leave.apply) if tensor > 1 else (lambda x: x, lambda x: x)

    class Block(nn.Module):
        def __init__(s):
            super().__init__()
            part, inner = WIDTH // tensor, 4 * WIDTH // tensor
            s.n1, s.n2, s.qkv, s.proj = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * part), nn.Linear(part, WIDTH, bias=tensor == 1)
            s.up, s.down = nn.Linear(WIDTH, inner), nn.Linear(inner, WIDTH, bias=tensor == 1)

        def forward(s, x):
            b, n, w = x.shape
            q, k, v = s.qkv(enter(s.n1(x))).view(b, n, 3, HEADS // tensor, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + leave(s.proj(a.transpose(1, 2).reshape(b, n, -1)))
            return x + leave(s.down(F.gelu(s.up(enter(s.n2(x))))))

    class Net(nn.Module):
        def __init__(s):
            super().__init__()
            s.tok, s.pos = (nn.Embedding(VOCAB, WIDTH), nn.Embedding(SEQ, WIDTH)) if first == 0 else (None, None)
            s.blocks = nn.ModuleList(Block() for _ in range(first, last))
            s.norm, s.head = (nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)) if last == LAYERS else (None, None)

        def forward(s, x):
            with torch.autocast("cuda", torch.bfloat16):
                if s.tok is not None:
                    x = s.tok(x) + s.pos(torch.arange(x.size(1), device=x.device))
                for block in s.blocks:
                    x = block(x)
                return x.float() if s.head is None else s.head(s.norm(x))
    return Net()


def step_of(job, rank, ranks):
    import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
    dev = torch.device("cuda", 0)
    ids, target = torch.randint(VOCAB, (2, BATCH, SEQ), device=dev)
    loss_of = lambda out, y: F.cross_entropy(out.flatten(0, 1).float(), y.flatten())
    stages = job.startswith(("gpipe", "1f1b"))
    cut = [round(LAYERS * i / ranks) for i in range(ranks + 1)] if stages else [0, LAYERS]
    model = net(cut[rank if stages else 0], cut[rank + 1 if stages else 1], ranks if job == "tensor" else 1).to(dev)
    wrapped = model
    if job.startswith("ddp"):
        wrapped = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=4 if job == "ddp_small" else 25)
    if job.startswith("fsdp"):
        from torch.distributed.fsdp import fully_shard
        for block in model.blocks:
            fully_shard(block, reshard_after_forward=job != "fsdp_kept")
        fully_shard(model, reshard_after_forward=job != "fsdp_kept")
        for block, following in zip(model.blocks, list(model.blocks)[1:]):
            if job == "fsdp_prefetch":
                block.set_modules_to_forward_prefetch([following])
        if job == "fsdp_none":
            for block in model.blocks:
                block.set_modules_to_backward_prefetch([block])  # itself: it is there already
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    if stages:
        from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
        kind, parts = (ScheduleGPipe if job.startswith("gpipe") else Schedule1F1B), MICRO * ranks // 2
        schedule = kind(PipelineStage(model, rank, ranks, dev), n_microbatches=parts, loss_fn=loss_of)

        def run():
            schedule.step(*([ids] if rank == 0 else []), **(dict(target=target) if rank == ranks - 1 else {}))
    else:
        def run():
            parts = 2 if job == "ddp_accumulate" else 1
            for i, (x, y) in enumerate(zip(ids.chunk(parts), target.chunk(parts))):
                if job == "ddp_accumulate":
                    wrapped.require_backward_grad_sync = i + 1 == parts  # as no_sync() does
                with torch.profiler.record_function("forward"):
                    if job == "ddp_late" and rank == 1:
                        time.sleep(0.015)
                    loss = loss_of(wrapped(x), y)
                with torch.profiler.record_function("backward"):
                    loss.backward()

    def step():
        opt.zero_grad()
        run()
        with torch.profiler.record_function("optimizer"):
            opt.step()
    return step


def work(job, out, backend):
    import torch, torch.distributed as dist
    from traced import KINDS, waits_too, write_trace
    rank, ranks = int(os.environ["RANK"]), JOBS[job][0]
    torch.cuda.set_device(0)
    torch.manual_seed(0)
    if ranks > 1:
        import datetime
        dist.init_process_group(backend, timeout=datetime.timedelta(seconds=60))
    if job == "check":
        x = torch.ones(1 << 20, device="cuda")
        dist.all_reduce(x); y = torch.empty(2 << 20, device="cuda"); dist.all_gather_into_tensor(y, x)
        torch.cuda.synchronize()
        assert x[0].item() == 2 and y[-1].item() == 2
        dist.destroy_process_group()
        return
    step, sync = step_of(job, rank, ranks), torch.cuda.synchronize
    meet = dist.barrier if ranks > 1 else (lambda: None)
    for _ in range(4):
        step()
    sync(); torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(8):
        meet(); sync(); t = time.perf_counter(); step(); sync(); times.append((time.perf_counter() - t) * 1e3)
    meet(); sync(); t = time.perf_counter()
    for _ in range(8):
        step()
    sync()
    row = dict(job=job, rank=rank, ranks=ranks, backend=backend, step_ms=statistics.median(times), step_ms_back_to_back=(time.perf_counter() - t) * 1e3 / 8,
               peak_allocated_bytes=torch.cuda.max_memory_allocated(), gpu=torch.cuda.get_device_name(), torch=torch.__version__,
               nccl=".".join(map(str, torch.cuda.nccl.version())))
    meet()
    with torch.profiler.profile(activities=KINDS, schedule=torch.profiler.schedule(wait=1, warmup=1, active=3), record_shapes=True, profile_memory=True,
                                with_modules=True, **waits_too()) as prof:
        for _ in range(5):
            step(); prof.step()
        sync()
    write_trace(prof, os.path.join(out, f"{job}.rank{rank}.pt.trace.json"))
    json.dump(row, open(os.path.join(out, f"{job}.rank{rank}.json"), "w"))
    meet()
    if ranks > 1:
        dist.destroy_process_group()


def start(job, out, backend, port, limit):
    """All ranks of a job; whoever is left after `limit` seconds is ended."""
    ranks, running = JOBS[job][0], []
    for rank in range(ranks):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NCCL_HOSTID=f"host{rank}",
                   NCCL_SOCKET_IFNAME="lo", GLOO_SOCKET_IFNAME="lo", NCCL_IB_DISABLE="1", NCCL_P2P_DISABLE="1", NCCL_SHM_DISABLE="1", NCCL_NVLS_ENABLE="0",
                   NCCL_CUMEM_ENABLE="0", OMP_NUM_THREADS="2")
        running.append(subprocess.Popen([sys.executable, __file__, "--work", job, "--out", out, "--backend", backend], env=env,
                                        stdout=open(os.path.join(out, f"{job}.rank{rank}.log"), "w"), stderr=subprocess.STDOUT, start_new_session=True))
    until = time.time() + limit
    try:
        return max(abs(p.wait(max(1, until - time.time()))) for p in running)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        for p in running:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default="out"); ap.add_argument("--jobs", default="single,ddp"); ap.add_argument("--backend", default="nccl"); ap.add_argument("--work")
    ap.add_argument("--limit", type=float, default=75, help="seconds for a job")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    if a.work:
        return work(a.work, a.out, a.backend)
    rows = []
    for i, job in enumerate(a.jobs.split(",")):
        began = time.time()
        code = start(job, a.out, a.backend, 29500 + i + (100 if a.backend == "gloo" else 0), a.limit)
        for rank in range(JOBS[job][0]):
            path = os.path.join(a.out, f"{job}.rank{rank}.json")
            if os.path.exists(path):
                rows.append(json.load(open(path))); os.remove(path)
        print(job, "code", code, round(time.time() - began), "s", flush=True)
        if code:
            print(open(os.path.join(a.out, f"{job}.rank0.log")).read()[-1500:], flush=True)
        json.dump(rows, open(os.path.join(a.out, "ranks.json"), "w"), indent=1)
        if job == "check" and code:
            sys.exit(1)


if __name__ == "__main__":
    main()
