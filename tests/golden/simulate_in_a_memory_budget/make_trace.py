#!/usr/bin/env python3
"""Writes trace.json beside this file: two steps of four layers whose maps of 4 MiB live until their backward.

All of it is made up. Run it here after a change; the file is kept, so that tests need no Python.
"""
import json
import pathlib

PID, FORWARD, BACKWARD, MAP = 300, 300, 301, 4 << 20
events, live, addresses = [], 16 << 20, 0


def complete(cat, name, pid, tid, ts, dur, **arguments):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
                   "args": arguments})


def memory(thread, ts, size, address):
    global live
    live += size
    events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": PID, "tid": thread,
                   "ts": ts, "args": {"Total Reserved": 64 << 20, "Total Allocated": live, "Bytes": size,
                                      "Addr": address, "Device Id": 0, "Device Type": 1}})


def call(number, thread, ts, name, device_ts, dur, correlation, **arguments):
    """An operator of 20 us that launches one kernel."""
    complete("cpu_op", name, PID, thread, ts, 20, **{"External id": correlation, **arguments})
    complete("cuda_runtime", "cudaLaunchKernel", PID, thread, ts + 10, 5,
             **{"External id": correlation, "correlation": correlation})
    complete("kernel", "gemm_%s_%d" % ("bw" if thread == BACKWARD else "fw", number), 0, 7, device_ts, dur,
             **{"device": 0, "stream": 7, "context": 1, "correlation": correlation, "External id": correlation})


correlation = 1
for step in range(2):
    start = 1000 + 3000 * step
    held = []
    for layer in range(4):
        ts = start + 50 + 30 * layer
        addresses += 1
        held.append(addresses << 24)
        memory(FORWARD, ts + 5, MAP, held[-1])
        shapes = {"Input Dims": [[1024, 1024], [1024, 1024]], "Input type": ["float", "float"],
                  "Sequence number": 10 * step + layer}
        call(layer, FORWARD, ts, "aten::mm", start + 100 + 200 * layer, 190, correlation, **shapes)
        correlation += 1
    for i, layer in enumerate(reversed(range(4))):
        ts = start + 200 + 40 * i
        complete("cpu_op", "autograd::engine::evaluate_function: MmBackward0", PID, BACKWARD, ts - 5, 35,
                 **{"Sequence number": 10 * step + layer, "Fwd thread id": 1, "External id": 9000 + correlation})
        call(layer, BACKWARD, ts, "aten::mm", start + 900 + 400 * i, 390, correlation,
             **{"Input Dims": [[1024, 1024], [1024, 1024]], "Input type": ["float", "float"]})
        memory(BACKWARD, ts + 25, -MAP, held[layer])
        correlation += 1
    complete("cuda_runtime", "cudaDeviceSynchronize", PID, FORWARD, start + 400, 2100,
             **{"correlation": correlation, "External id": 0})
    correlation += 1
    complete("user_annotation", "ProfilerStep#%d" % (step + 1), PID, FORWARD, start, 2990)

document = {"schemaVersion": 1, "displayTimeUnit": "ms",
            "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42481549312,
                                  "numSms": 108}],
            "traceEvents": events}
text = json.dumps(document, separators=(",", ":")).replace('{"ph"', '\n{"ph"')
(pathlib.Path(__file__).parent / "trace.json").write_text(text + "\n")
