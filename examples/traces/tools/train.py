"""A training step for tests of collectors: train.py MODEL STEPS [--kineto FILE] [--workers N] [--ddp] [--exit N]
prints one line of JSON: step times without and with synchronization, kernels launched are not counted here."""
import argparse, json, os, statistics, sys, time
import torch, torch.nn as nn, torch.nn.functional as F
ap = argparse.ArgumentParser()
ap.add_argument("model", choices=["gpt", "small", "resnet", "graph"]); ap.add_argument("steps", type=int)
ap.add_argument("--kineto"); ap.add_argument("--workers", type=int, default=0); ap.add_argument("--ddp", action="store_true")
ap.add_argument("--exit", type=int, default=0); ap.add_argument("--mark", action="store_true"); ap.add_argument("--profile-memory", action="store_true")
ap.add_argument("--shapes", action="store_true")
a = ap.parse_args()
torch.manual_seed(0); dev = torch.device("cuda", 0)
rank = int(os.environ.get("RANK", 0))
if a.ddp:
    torch.distributed.init_process_group("gloo")
class Block(nn.Module):
    def __init__(s, w, h):
        super().__init__(); s.h = h; s.l1, s.l2 = nn.LayerNorm(w), nn.LayerNorm(w); s.qkv, s.p, s.u, s.d = nn.Linear(w, 3*w), nn.Linear(w, w), nn.Linear(w, 4*w), nn.Linear(4*w, w)
    def forward(s, x):
        b, n, w = x.shape; q, k, v = s.qkv(s.l1(x)).view(b, n, 3, s.h, w//s.h).permute(2, 0, 3, 1, 4)
        x = x + s.p(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, w))
        return x + s.d(F.gelu(s.u(s.l2(x))))
class Gpt(nn.Module):
    def __init__(s, layers, w, h, vocab, seq):
        super().__init__(); s.t, s.q = nn.Embedding(vocab, w), nn.Embedding(seq, w); s.b = nn.ModuleList(Block(w, h) for _ in range(layers)); s.n, s.o = nn.LayerNorm(w), nn.Linear(w, vocab, bias=False)
    def forward(s, i):
        x = s.t(i) + s.q(torch.arange(i.size(1), device=i.device))
        for b in s.b: x = b(x)
        return s.o(s.n(x))
if a.model == "resnet":
    import torchvision
    model, batch = torchvision.models.resnet50().to(dev), 32
    data = torch.utils.data.TensorDataset(torch.randn(256, 3, 224, 224), torch.randint(1000, (256,)))
    loss_of = lambda o, y: F.cross_entropy(o, y)
else:
    layers, w, h, seq, batch = (12, 768, 12, 1024, 8) if a.model == "gpt" else (6, 256, 4, 64, 2)
    model = Gpt(layers, w, h, 16384, seq).to(dev)
    data = torch.utils.data.TensorDataset(torch.randint(16384, (64, seq)), torch.randint(16384, (64, seq)))
    loss_of = lambda o, y: F.cross_entropy(o.flatten(0, 1).float(), y.flatten())
opt = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True, capturable=a.model == "graph")
net = nn.parallel.DistributedDataParallel(model) if a.ddp else model
loader = torch.utils.data.DataLoader(data, batch, num_workers=a.workers, pin_memory=True, drop_last=True)
def forever():
    while True:
        for x, y in loader: yield x, y
it = forever()
if a.model == "graph":
    x, y = (t.to(dev) for t in next(it)); side = torch.cuda.Stream(); side.wait_stream(torch.cuda.current_stream())
    def body():
        opt.zero_grad(set_to_none=False); loss_of(net(x), y).backward(); opt.step()
    with torch.cuda.stream(side):
        for _ in range(4): body()
    torch.cuda.current_stream().wait_stream(side); g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): body()
    def step():
        cx, cy = next(it); x.copy_(cx, non_blocking=True); y.copy_(cy, non_blocking=True); g.replay()
else:
    def step():
        x, y = next(it); x, y = x.to(dev, non_blocking=True), y.to(dev, non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(net(x), y)
        opt.zero_grad(set_to_none=True); loss.backward(); opt.step()
count = 0
def marked():
    global count
    if a.mark:
        torch.cuda.nvtx.range_push(f"step {count}"); step(); torch.cuda.nvtx.range_pop()
    else: step()
    count += 1
for _ in range(10): marked()
torch.cuda.synchronize(); times = []
for _ in range(a.steps):
    t = time.perf_counter(); marked(); torch.cuda.synchronize(); times.append((time.perf_counter() - t) * 1e3)
torch.cuda.synchronize(); t = time.perf_counter()
for _ in range(a.steps): marked()
torch.cuda.synchronize(); back = (time.perf_counter() - t) * 1e3 / a.steps
row = dict(model=a.model, rank=rank, step_ms=statistics.median(times), step_ms_back_to_back=back, peak=torch.cuda.max_memory_allocated())
if a.kineto:
    acts = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]; extra = {}
    try: extra["experimental_config"] = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    except Exception: pass
    with torch.profiler.profile(activities=acts, record_shapes=a.shapes, profile_memory=a.profile_memory, **extra) as prof:
        prof_times = []
        for _ in range(5):
            t = time.perf_counter(); marked(); torch.cuda.synchronize(); prof_times.append((time.perf_counter() - t) * 1e3); prof.step()
    prof.export_chrome_trace(a.kineto if rank == 0 or not a.ddp else a.kineto.replace(".json", f".{rank}.json")); row["step_ms_kineto"] = statistics.median(prof_times)
else:
    for _ in range(5): marked()
    torch.cuda.synchronize()
print(json.dumps(row), flush=True)
if a.ddp: torch.distributed.destroy_process_group()
sys.exit(a.exit)
