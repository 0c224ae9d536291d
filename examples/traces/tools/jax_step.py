#!/usr/bin/env python3
"""A transformer's training step in JAX: jax_step.py DIR [--bf16] [--remat] [--batch N] [--no-trace]; prints one line of JSON."""
import argparse, json, statistics, time
import jax, jax.numpy as jnp
ap = argparse.ArgumentParser(); ap.add_argument("out"); ap.add_argument("--bf16", action="store_true"); ap.add_argument("--remat", action="store_true")
ap.add_argument("--batch", type=int, default=8); ap.add_argument("--no-trace", action="store_true")
a = ap.parse_args()
L, W, H, V, S = 12, 768, 12, 50304, 1024
kind = jnp.bfloat16 if a.bf16 else jnp.float32
key = jax.random.PRNGKey(0)
def matrix(i, *shape): return jax.random.normal(jax.random.fold_in(key, i), shape) * 0.02
params = dict(embed=matrix(0, V, W), place=matrix(1, S, W), blocks=[dict(qkv=matrix(4 * i + 2, W, 3 * W), out=matrix(4 * i + 3, W, W), up=matrix(4 * i + 4, W, 4 * W), down=matrix(4 * i + 5, 4 * W, W)) for i in range(L)])
def norm(x): return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
def block(p, x):
    b, s, _ = x.shape
    q, k, v = jnp.moveaxis((norm(x) @ p["qkv"].astype(kind)).reshape(b, s, 3, H, W // H), 2, 0)
    score = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    score = jnp.where(jnp.tril(jnp.ones((s, s), bool)), score, -1e9)
    y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(score.astype(jnp.float32)).astype(kind), v).reshape(b, s, W)
    x = x + y @ p["out"].astype(kind)
    return x + jax.nn.gelu(norm(x) @ p["up"].astype(kind)) @ p["down"].astype(kind)
run = jax.checkpoint(block) if a.remat else block
def loss(p, ids, target):
    x = (p["embed"][ids] + p["place"]).astype(kind)
    for b in p["blocks"]: x = run(b, x)
    logits = (norm(x) @ p["embed"].T.astype(kind)).astype(jnp.float32)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), target[..., None], -1).mean()
@jax.jit
def step(p, m, v, ids, target):
    value, g = jax.value_and_grad(loss)(p, ids, target)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g); v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
    return jax.tree.map(lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), p, m, v), m, v, value
zero = jax.tree.map(jnp.zeros_like, params); state = (params, zero, jax.tree.map(jnp.zeros_like, params))
ids, target = jax.random.randint(key, (a.batch, S), 0, V), jax.random.randint(key, (a.batch, S), 0, V)
def once():
    global state
    *s, value = step(*state, ids, target); state = tuple(s); jax.block_until_ready(value)
for _ in range(5): once()
times = []
for _ in range(15):
    t = time.perf_counter(); once(); times.append((time.perf_counter() - t) * 1e3)
row = dict(program="jax_gpt2", bf16=a.bf16, remat=a.remat, batch=a.batch, gpu=jax.devices()[0].device_kind, jax=jax.__version__, step_ms=statistics.median(times))
if not a.no_trace:
    with jax.profiler.trace(a.out, create_perfetto_trace=False):
        for i in range(3):
            with jax.profiler.StepTraceAnnotation("train", step_num=i): once()
print(json.dumps(row), flush=True)
