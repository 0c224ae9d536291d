#!/usr/bin/env python3
"""One matrix product in many tiles (Triton): tiles.py FILE writes m,n,k,tile_m,tile_n,tile_k,warps,stages,us per row (bf16)."""
import itertools, sys
import torch, triton, triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    width = GROUP * columns
    first = pid // width * GROUP
    size = min(rows - first, GROUP)
    row, column = first + (pid % width) % size, (pid % width) // size
    y, x, z = row * M + tl.arange(0, M), column * N + tl.arange(0, N), tl.arange(0, K)
    pa, pb = a + (y % m)[:, None] * k + z[None, :], b + z[:, None] * n + (x % n)[None, :]
    sum = tl.zeros((M, N), tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        sum = tl.dot(tl.load(pa, mask=z[None, :] < k - step * K, other=0.0), tl.load(pb, mask=z[:, None] < k - step * K, other=0.0), sum)
        pa += K
        pb += K * n
    tl.store(c + y[:, None] * n + x[None, :], sum.to(tl.bfloat16), mask=(y[:, None] < m) & (x[None, :] < n))


with open(sys.argv[1], "w") as out:
    print("gpu,m,n,k,tile_m,tile_n,tile_k,warps,stages,us", file=out)
    for m, n, k in [(4096, 4096, 4096), (8192, 1024, 1024), (512, 4096, 1024), (2048, 768, 3072), (128, 8192, 4096), (1024, 1024, 8192), (3000, 3000, 500)]:
        a, b = torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        for (tm, tn), tk, stages in itertools.product([(32, 32), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256)], (32, 64), (2, 4)):
            warps = 8 if tm * tn > 128 * 128 else 4
            grid = (triton.cdiv(m, tm) * triton.cdiv(n, tn),)
            try:
                us = 1e3 * triton.testing.do_bench(lambda: product[grid](a, b, c, m, n, k, tm, tn, tk, 8, num_warps=warps, num_stages=stages), warmup=4, rep=20)
            except Exception as e:
                print(tm, tn, tk, stages, type(e).__name__, file=sys.stderr)
                continue
            print(torch.cuda.get_device_name(), m, n, k, tm, tn, tk, warps, stages, f"{us:.2f}", sep=",", file=out, flush=True)
        us = 1e3 * triton.testing.do_bench(lambda: torch.matmul(a, b), warmup=4, rep=20)
        print(torch.cuda.get_device_name(), m, n, k, "vendor", "", "", "", "", f"{us:.2f}", sep=",", file=out, flush=True)
