#!/usr/bin/env python3
"""Two programs on one device, each alone and both at once: share.py FILE. Kinds: gpt (device-bound), small (host-bound),
cnn. Each process counts the steps it makes in the seconds in which both run; no process waits without a limit."""
import itertools, json, subprocess, sys, time

PROGRAM = """
import sys, time, torch, torch.nn as nn, torchvision
kind, seconds = sys.argv[1], float(sys.argv[2])
torch.manual_seed(0)
if kind == "cnn":
    net, x = torchvision.models.resnet50().cuda(), torch.randn(32, 3, 224, 224, device="cuda")
else:
    w, n, b, s = (1024, 8, 16, 512) if kind == "gpt" else (256, 6, 2, 64)
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(w, 8, 4 * w, batch_first=True), n, enable_nested_tensor=False).cuda()
    x = torch.randn(b, s, w, device="cuda")
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
def step():
    with torch.autocast("cuda", torch.bfloat16): loss = net(x).float().square().mean()
    opt.zero_grad(); loss.backward(); opt.step(); torch.cuda.synchronize()
for _ in range(10): step()
print("ready", flush=True); sys.stdin.readline()
n, t = 0, time.perf_counter()
while time.perf_counter() - t < seconds: step(); n += 1
print((time.perf_counter() - t) * 1e3 / n, flush=True)
"""


def start(kind, seconds):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, kind, str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run(kinds, seconds):
    programs = [start(kind, seconds) for kind in kinds]
    try:
        for p in programs:
            assert p.stdout.readline().strip() == "ready"
        for p in programs:
            p.stdin.write("go\n"); p.stdin.flush()
        return [float(p.communicate(timeout=seconds + 40)[0]) for p in programs]
    finally:
        for p in programs:
            p.kill()


kinds, rows = ["gpt", "cnn", "small"], []
alone = {kind: run([kind], 2)[0] for kind in kinds}
for a, b in itertools.combinations_with_replacement(kinds, 2):
    both = run([a, b], 3)
    rows.append(dict(a=a, b=b, alone_ms=[alone[a], alone[b]], both_ms=both))
    print(rows[-1], flush=True)
    json.dump(rows, open(sys.argv[1], "w"), indent=1)
