"""Attention by backend, head size, length and type: backends.py OUT.csv SECONDS ; us of forward, us of forward and backward (fastest of 5 rounds, by events)"""
import csv, sys, time
import torch, torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
out = csv.writer(open(sys.argv[1], "w")); limit = time.time() + float(sys.argv[2]); out.writerow("backend,dtype,batch,heads,length,head_size,causal,forward_us,both_us,peak_bytes".split(","))
B = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}
def timed(fn):
    for _ in range(2): fn()
    torch.cuda.synchronize(); a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True); best = 1e30; n = 1
    a.record(); fn(); b.record(); b.synchronize(); n = max(1, min(20, int(2 / max(a.elapsed_time(b), 0.02))))
    for _ in range(5):
        a.record()
        for _ in range(n): fn()
        b.record(); b.synchronize(); best = min(best, a.elapsed_time(b) * 1e3 / n)
    return best
cases = [(d, h, l, c) for l in (512, 1024, 2048, 4096, 8192) for h in (64, 128, 32, 96, 256) for c in (True, False) for d in ("bfloat16", "float32")]
for d, h, l, c in cases:
    if time.time() > limit: break
    if d == "float32" and (l > 4096 or h in (96, 256)): continue
    heads = 2048 // h if h <= 128 else 8; batch = max(1, 16384 // l); t = getattr(torch, d)
    q, k, v = (torch.randn(batch, heads, l, h, device="cuda", dtype=t, requires_grad=True) for _ in range(3)); g = torch.randn_like(q)
    for name, backend in B.items():
        if name == "math" and batch * heads * l * l * (2 if d == "bfloat16" else 4) > 12e9: continue
        if time.time() > limit: break
        try:
            with sdpa_kernel(backend):
                def forward():
                    with torch.no_grad(): F.scaled_dot_product_attention(q, k, v, is_causal=c)
                def both():
                    q.grad = k.grad = v.grad = None; F.scaled_dot_product_attention(q, k, v, is_causal=c).backward(g)
                f = timed(forward); torch.cuda.reset_peak_memory_stats(); b = timed(both)
            out.writerow([name, d, batch, heads, l, h, int(c), round(f, 2), round(b, 2), torch.cuda.max_memory_allocated()])
        except Exception as e: out.writerow([name, d, batch, heads, l, h, int(c), "", "", str(e)[:60].replace("\n", " ")])
