"""How much kernels slow each other on two streams: corun.py OUT.csv ; rows: a, b, alone_a_us, alone_b_us, with_a_us, with_b_us (per pass)"""
import csv, itertools, sys, time
import torch, torch.nn.functional as F
dev = "cuda"; torch.manual_seed(0); torch.backends.cuda.matmul.allow_tf32 = False; torch.backends.cudnn.benchmark = True
h = torch.bfloat16; r = lambda *s, d=torch.float32: torch.randn(*s, device=dev, dtype=d)
pin = torch.empty(64 << 20, dtype=torch.uint8).pin_memory(); big = torch.empty(64 << 20, dtype=torch.uint8, device=dev)
A, B = r(4096, 4096, d=h), r(4096, 4096, d=h); S1, S2 = r(512, 512, d=h), r(512, 512, d=h); M1, M2 = r(2048, 2048), r(2048, 2048)
V1, V2 = r(1 << 26), r(1 << 26); W1 = r(1 << 18); X = r(8192, 1024); Q = [r(8, 12, 1024, 64, d=h) for _ in range(3)]
C, K = r(32, 256, 56, 56, d=h).to(memory_format=torch.channels_last), r(256, 256, 3, 3, d=h).to(memory_format=torch.channels_last)
E, I = r(1000000, 64), torch.randint(1000000, (8192, 8), device=dev)
G1, G2, Go = r(16, 4096, d=h), r(4096, 4096, d=h), None
kinds = {"gemm_bf16_4096": lambda: torch.mm(A, B), "gemm_bf16_512": lambda: torch.mm(S1, S2), "gemm_fp32_2048": lambda: torch.mm(M1, M2), "gemm_bf16_16x4096x4096": lambda: torch.mm(G1, G2),
  "add_64m_fp32": lambda: torch.add(V1, V2, out=V1), "add_256k_fp32": lambda: W1.add_(1e-6), "copy_64m_fp32": lambda: V2.copy_(V1), "softmax_8192x1024": lambda: X.softmax(-1), "layer_norm_8192x1024": lambda: F.layer_norm(X, (1024,)),
  "attention_bf16": lambda: F.scaled_dot_product_attention(*Q, is_causal=True), "conv_bf16_256": lambda: F.conv2d(C, K, padding=1), "embedding_bag": lambda: F.embedding_bag(I, E, mode="sum"), "sum_64m": lambda: V1.sum(),
  "copy_h2d_64mib": lambda: big.copy_(pin, non_blocking=True), "copy_d2h_64mib": lambda: pin.copy_(big, non_blocking=True)}
s = {0: torch.cuda.Stream(), 1: torch.cuda.Stream()}
def graph(fn, stream, n):
    with torch.cuda.stream(stream):
        for _ in range(3): fn()
    stream.synchronize(); g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=stream):
        for _ in range(n): fn()
    return g
def timed(g, stream, times=3):
    best = 1e30
    for _ in range(times):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(stream): a.record(); g.replay(); b.record()
        b.synchronize(); best = min(best, a.elapsed_time(b) * 1e3)
    return best
graphs, passes, alone = {}, {}, {}
for name, fn in list(kinds.items()):
  try:
    probe = graph(fn, s[0], 10); per = timed(probe, s[0]) / 10; n = max(4, min(2000, int(6000 / per))); passes[name] = n
    graphs[name] = (graph(fn, s[0], n), graph(fn, s[1], n)); alone[name] = timed(graphs[name][0], s[0], 5) / n
    print(name, n, round(alone[name], 2), flush=True)
  except Exception as e:
    print("left out", name, str(e)[:100].replace(chr(10), " "), flush=True); kinds.pop(name); graphs.pop(name, None)
w = csv.writer(open(sys.argv[1], "w")); w.writerow(["a", "b", "alone_a_us", "alone_b_us", "with_a_us", "with_b_us", "passes_a", "passes_b", "both_us"])
for a, b in itertools.combinations_with_replacement(kinds, 2):
    rows = []
    for _ in range(3):
        # a runs while b keeps running: b three times as long, and the other way round
        res = []
        for x, sx, y, sy in ((a, 0, b, 1), (b, 1, a, 0)):
            t0, t1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True); torch.cuda.synchronize()
            with torch.cuda.stream(s[sy]):
                for _ in range(3): graphs[y][sy].replay()
            time.sleep(0.001)
            with torch.cuda.stream(s[sx]): t0.record(); graphs[x][sx].replay(); t1.record()
            torch.cuda.synchronize(); res.append(t0.elapsed_time(t1) * 1e3 / passes[x])
        t0 = time.perf_counter(); t = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(s[0]): t[0].record(); s[1].wait_event(t[0]); graphs[a][0].replay()
        with torch.cuda.stream(s[1]): graphs[b][1].replay()
        s[0].wait_stream(s[1])
        with torch.cuda.stream(s[0]): t[1].record()
        torch.cuda.synchronize(); rows.append((*res, t[0].elapsed_time(t[1]) * 1e3))
    rows.sort(); m = rows[1]; w.writerow([a, b, *(round(v, 3) for v in (alone[a], alone[b], m[0], m[1])), passes[a], passes[b], round(m[2], 2)])
