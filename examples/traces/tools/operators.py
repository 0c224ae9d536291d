"""Durations of operators' kernels on this device, over shapes and precisions, from the profiler: ops.py OUT.csv SECONDS GROUPS...
rows: label, repetition, kernel number, kernel name, duration ns, grid, block. Labels: operator|precision|sizes|fw or bw"""
import bisect, csv, gzip, json, os, random, sys, tempfile, time
import torch, torch.nn.functional as F
out, limit, groups = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
dev = "cuda"; random.seed(7); torch.manual_seed(0); torch.backends.cudnn.benchmark = True
began = time.time()
P = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
def precision(p):
    torch.backends.cuda.matmul.allow_tf32 = p == "tf32"; torch.backends.cudnn.allow_tf32 = p == "tf32"
def rnd(*s, p="fp32", grad=False): return torch.randn(*s, device=dev, dtype=P[p]).requires_grad_(grad)
def gemm():
    sizes = [64, 128, 192, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 2304, 3072, 4096, 5120, 6144, 8192, 11008, 16384, 50304]
    todo = [(m, n, k) for m in (128, 512, 1024, 2048, 4096, 8192, 16384) for (n, k) in ((768, 768), (2304, 768), (3072, 768), (768, 3072), (1024, 1024), (4096, 1024), (1024, 4096), (4096, 4096), (11008, 4096), (4096, 11008))]
    todo += [tuple(random.choice(sizes) for _ in range(3)) for _ in range(130)]; todo += [(n, n, n) for n in (256, 512, 1024, 2048, 4096, 8192)] + [(1, n, k) for n, k in ((4096, 4096), (11008, 4096), (768, 768))] + [(8, 4096, 4096), (16, 4096, 4096), (32, 4096, 4096), (1000, 2048, 1000), (511, 1023, 777), (4097, 4095, 4093)]
    random.shuffle(todo)
    for m, n, k in todo:
        if m * n * k > 2.2e12 or m * n > 8e8: continue
        for p in ("bf16", "fp32", "tf32", "fp16"):
            if p == "fp32" and m * n * k > 6e11: continue
            for layout in (("tn",) if random.random() < .6 else ("nn", "nt")):
                def make(m=m, n=n, k=k, p=p, layout=layout):
                    precision(p)
                    a = rnd(m, k, p=p) if layout[0] != "x" else None
                    b = rnd(n, k, p=p).t() if layout == "tn" else rnd(k, n, p=p)
                    if layout == "nt": a = rnd(k, m, p=p).t()
                    return [("fw", lambda: torch.mm(a, b))]
                yield f"mm|{p}|m={m},n={n},k={k},layout={layout}", make
def linear():
    for m, n, k in ((4096, 768, 768), (8192, 2304, 768), (8192, 3072, 768), (8192, 768, 3072), (2048, 4096, 1024), (16384, 1024, 1024)):
        for p in ("bf16", "fp32"):
            def make(m=m, n=n, k=k, p=p):
                precision(p); a, w, b = rnd(m, k, p=p, grad=True), rnd(n, k, p=p, grad=True), rnd(n, p=p, grad=True); g = rnd(m, n, p=p); y = F.linear(a, w, b)
                return [("fw", lambda: F.linear(a, w, b)), ("bw", lambda: torch.autograd.grad(y, (a, w, b), g, retain_graph=True))]
            yield f"linear|{p}|m={m},n={n},k={k}", make
def bmm():
    todo = [(b, s, s2, d) for b in (16, 96, 128, 384) for (s, s2, d) in ((512, 512, 64), (512, 64, 512), (1024, 1024, 64), (1024, 64, 1024), (128, 128, 64), (2048, 2048, 128), (2048, 128, 2048), (256, 256, 128), (50, 50, 1024), (27, 27, 64))]
    random.shuffle(todo)
    for b, m, n, k in todo:
        if b * m * n > 1.7e9: continue
        for p in ("bf16", "fp32", "tf32"):
            def make(b=b, m=m, n=n, k=k, p=p):
                precision(p); x, y = rnd(b, m, k, p=p), rnd(b, k, n, p=p); return [("fw", lambda: torch.bmm(x, y))]
            yield f"bmm|{p}|batch={b},m={m},n={n},k={k}", make
def attention():
    todo = [(b, h, s, d, c) for (b, h) in ((1, 32), (4, 16), (8, 12), (16, 16), (32, 12)) for s in (128, 512, 1024, 2048, 4096, 8192) for d in (64, 128) for c in (0, 1)]
    random.shuffle(todo)
    for b, h, s, d, c in todo:
        if b * h * s * d > 3e8 or b * h * s * s > 1.3e10: continue
        for p in ("bf16", "fp32"):
            if p == "fp32" and b * h * s * s > 1e9: continue
            def make(b=b, h=h, s=s, d=d, c=c, p=p):
                precision(p); q, k, v = (rnd(b, h, s, d, p=p, grad=True) for _ in range(3)); y = F.scaled_dot_product_attention(q, k, v, is_causal=bool(c)); g = torch.randn_like(y)
                return [("fw", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=bool(c))), ("bw", lambda: torch.autograd.grad(y, (q, k, v), g, retain_graph=True))]
            yield f"sdpa|{p}|batch={b},heads={h},seq={s},dim={d},causal={c}", make
def conv():
    net = [(3, 64, 7, 2, 224, 1), (64, 64, 1, 1, 56, 1), (64, 64, 3, 1, 56, 1), (64, 256, 1, 1, 56, 1), (256, 64, 1, 1, 56, 1), (256, 128, 1, 1, 56, 1), (128, 128, 3, 2, 56, 1), (128, 512, 1, 1, 28, 1), (256, 512, 1, 2, 56, 1), (128, 128, 3, 1, 28, 1), (512, 256, 1, 1, 28, 1), (256, 256, 3, 1, 14, 1), (256, 1024, 1, 1, 14, 1), (1024, 512, 1, 1, 14, 1), (512, 512, 3, 1, 7, 1), (512, 2048, 1, 1, 7, 1), (64, 128, 3, 1, 112, 1), (128, 256, 3, 1, 56, 1), (512, 512, 3, 1, 28, 1), (32, 32, 3, 1, 112, 32), (144, 144, 3, 2, 56, 144), (3, 768, 16, 16, 224, 1)]
    todo = [(n, *c) for n in (8, 32, 64, 128) for c in net]; random.shuffle(todo)
    for n, ci, co, k, st, hw, gr in todo:
        for p in ("fp32", "bf16", "tf32"):
            for fmt in ("nchw", "nhwc"):
                if random.random() < .45: continue
                def make(n=n, ci=ci, co=co, k=k, st=st, hw=hw, gr=gr, p=p, fmt=fmt):
                    precision(p); f = torch.channels_last if fmt == "nhwc" else torch.contiguous_format
                    x = torch.randn(n, ci, hw, hw, device=dev, dtype=P[p]).to(memory_format=f).requires_grad_(ci != 3); w = torch.randn(co, ci // gr, k, k, device=dev, dtype=P[p]).to(memory_format=f).requires_grad_()
                    go = lambda: F.conv2d(x, w, None, st, k // 2 if k != 16 else 0, 1, gr); y = go(); g = torch.randn_like(y); ins = (x, w) if ci != 3 else (w,)
                    return [("fw", go), ("bw", lambda: torch.autograd.grad(y, ins, g, retain_graph=True))]
                yield f"conv2d|{p}|batch={n},in={ci},out={co},kernel={k},stride={st},size={hw},groups={gr},format={fmt}", make
def pointwise():
    for p in ("fp32", "bf16"):
        for n in (1 << e for e in range(10, 30, 1)):
            one = {"add": lambda x, y: x + y, "mul": lambda x, y: x * y, "gelu": lambda x, y: F.gelu(x), "relu": lambda x, y: F.relu(x), "copy": lambda x, y: x.clone(), "cast": lambda x, y: x.to(torch.float32 if x.dtype != torch.float32 else torch.bfloat16), "dropout": lambda x, y: F.dropout(x, .1), "sum": lambda x, y: x.sum(), "fill": lambda x, y: x.zero_(), "tanh": lambda x, y: torch.tanh(x), "addcmul_": lambda x, y: x.addcmul_(x, y, value=1e-6), "lerp_": lambda x, y: x.lerp_(y, .1)}
            for name, fn in one.items():
                if n > (1 << 24) and name in ("relu", "tanh", "lerp_", "addcmul_"): continue
                def make(n=n, p=p, fn=fn):
                    x, y = rnd(n, p=p), rnd(n, p=p); return [("fw", lambda: fn(x, y))]
                yield f"{name}|{p}|numbers={n}", make
def norms():
    todo = [(r, c) for r in (512, 4096, 8192, 16384, 65536) for c in (128, 512, 768, 1024, 2048, 4096, 8192)]
    random.shuffle(todo)
    for r, c in todo:
        if r * c > 3e8: continue
        for p in ("fp32", "bf16"):
            for name in ("layer_norm", "softmax", "log_softmax", "sum_rows"):
                def make(r=r, c=c, p=p, name=name):
                    x = rnd(r, c, p=p, grad=True); w, b = rnd(c, p=p, grad=True), rnd(c, p=p, grad=True)
                    go = {"layer_norm": lambda: F.layer_norm(x, (c,), w, b), "softmax": lambda: x.softmax(-1), "log_softmax": lambda: F.log_softmax(x, -1), "sum_rows": lambda: x.sum(0)}[name]; y = go(); g = torch.randn_like(y)
                    res = [("fw", go)]
                    if name != "sum_rows": res.append(("bw", lambda: torch.autograd.grad(y, (x, w, b) if name == "layer_norm" else (x,), g, retain_graph=True)))
                    return res
                yield f"{name}|{p}|rows={r},columns={c}", make
    for n, c, hw in ((8, 64, 112), (32, 64, 112), (64, 64, 112), (32, 256, 56), (64, 256, 56), (64, 512, 28), (32, 1024, 14), (64, 2048, 7)):
        for p in ("fp32", "bf16"):
            for fmt in ("nchw", "nhwc"):
                def make(n=n, c=c, hw=hw, p=p, fmt=fmt):
                    x = torch.randn(n, c, hw, hw, device=dev, dtype=P[p]).to(memory_format=torch.channels_last if fmt == "nhwc" else torch.contiguous_format).requires_grad_(); w, b, m, v = torch.ones(c, device=dev, requires_grad=True), torch.zeros(c, device=dev, requires_grad=True), torch.zeros(c, device=dev), torch.ones(c, device=dev)
                    go = lambda: F.batch_norm(x, m, v, w, b, True); y = go(); g = torch.randn_like(y); return [("fw", go), ("bw", lambda: torch.autograd.grad(y, (x, w, b), g, retain_graph=True))]
                yield f"batch_norm|{p}|batch={n},channels={c},size={hw},format={fmt}", make
def embedding():
    for rows in (1000, 30528, 50304, 1000000):
        for dim in (64, 768, 1024):
            for n in (512, 4096, 16384, 65536):
                def make(rows=rows, dim=dim, n=n):
                    w = rnd(rows, dim, grad=True); i = torch.randint(rows, (n,), device=dev); y = F.embedding(i, w); g = torch.randn_like(y)
                    return [("fw", lambda: F.embedding(i, w)), ("bw", lambda: torch.autograd.grad(y, (w,), g, retain_graph=True))]
                yield f"embedding|fp32|rows={rows},dim={dim},numbers={n}", make
    for batch in (512, 2048, 8192, 32768):
        for dim in (32, 64, 128):
            for per in (1, 8, 32):
                def make(batch=batch, dim=dim, per=per):
                    w = rnd(1000000, dim, grad=True); i = torch.randint(1000000, (batch, per), device=dev); y = F.embedding_bag(i, w, mode="sum"); g = torch.randn_like(y)
                    return [("fw", lambda: F.embedding_bag(i, w, mode="sum")), ("bw", lambda: torch.autograd.grad(y, (w,), g, retain_graph=True))]
                yield f"embedding_bag|fp32|rows=1000000,dim={dim},batch={batch},per_bag={per}", make
def optimizer():
    for total in (1 << 20, 1 << 23, 1 << 26):
        for pieces in (10, 150):
            for kind in ("fused", "foreach"):
                def make(total=total, pieces=pieces, kind=kind):
                    ps = [rnd(total // pieces, grad=True) for _ in range(pieces)]
                    for q in ps: q.grad = torch.randn_like(q)
                    o = torch.optim.Adam(ps, fused=kind == "fused", foreach=kind == "foreach"); return [("fw", lambda: o.step())]
                yield f"adam_{kind}|fp32|numbers={total},tensors={pieces}", make
ALL = dict(gemm=gemm, linear=linear, bmm=bmm, attention=attention, conv=conv, pointwise=pointwise, norms=norms, embedding=embedding, optimizer=optimizer)
writer_file = gzip.open(out, "wt", newline=""); writer = csv.writer(writer_file); writer.writerow(["label", "repetition", "ordinal", "kernel", "ns", "grid", "block"])
def measure(batch):
    live = []
    for label, make in batch:
        try:
            for part, fn in make():
                precision(label.split("|")[1])
                for _ in range(3): fn()
                live.append((f"{label}|{part}", label.split("|")[1], fn))
        except Exception as e: print("skipped", label, str(e)[:80].replace("\n", " "), flush=True)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as prof:
        for rep in range(5):
            for label, p, fn in live:
                precision(p)
                with torch.profiler.record_function(f"@{label}#{rep}"): fn()
        torch.cuda.synchronize()
    live.clear()
    path = tempfile.mktemp(dir="/dev/shm"); prof.export_chrome_trace(path); events = json.load(open(path))["traceEvents"]; os.unlink(path)
    spans = sorted((e["ts"], e["ts"] + e["dur"], e["name"]) for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("@"))
    starts = [s[0] for s in spans]; launch = {}
    for e in events:
        if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {}): launch.setdefault(e["args"]["correlation"], e["ts"])
    count = {}
    for e in sorted((e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")), key=lambda e: e["ts"]):
        t = launch.get(e["args"].get("correlation"))
        if t is None: continue
        i = bisect.bisect_right(starts, t) - 1
        if i < 0 or t > spans[i][1]: continue
        name = spans[i][2]; label, rep = name[1:].rsplit("#", 1); k = count.get(name, 0); count[name] = k + 1
        writer.writerow([label, rep, k, e["name"][:160], round(e["dur"] * 1000), "x".join(map(str, e["args"].get("grid", []))), "x".join(map(str, e["args"].get("block", [])))])
    writer_file.flush()
def run(group, share):
    end = time.time() + share; batch, done = [], 0
    for case in ALL[group]():
        batch.append(case)
        if len(batch) == 24:
            try: measure(batch)
            except Exception as e: print("batch failed", group, str(e)[:200], flush=True)
            done += len(batch); batch = []; torch.cuda.empty_cache()
            if time.time() > end: break
    else:
        if batch: measure(batch); done += len(batch)
    torch.cuda.empty_cache(); print(group, done, "cases", round(time.time() - began, 1), "s", flush=True)
for g, group in enumerate(groups):
    run(group, (limit - (time.time() - began)) / (len(groups) - g))
writer_file.close()
