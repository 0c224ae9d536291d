#!/usr/bin/env python3
"""Small traces that are valid and hurt: each makes one thing many times. They are the seeds of the corpora.

    hostile_seeds.py FOLDER [N]     writes them with N things each (40); larger ones show how time and memory grow
"""
import gzip
import json
import os
import struct
import sys
import zlib


def kineto(events, **more):
    return json.dumps({"schemaVersion": 1, **more, "traceEvents": events}).encode()


def call(i, ts, name="cudaLaunchKernel", thread=1, dur=2, **args):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": thread, "ts": ts, "dur": dur,
            "args": {"correlation": i, **args}}


def kernel(i, ts, stream=7, device=0, dur=3):
    return {"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": stream, "ts": ts, "dur": dur,
            "args": {"device": device, "stream": stream, "correlation": i}}


def operator(name, ts, dur, thread=1, category="cpu_op"):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": ts, "dur": dur}


def threads(n):
    return kineto([e for i in range(n) for e in (call(i, 10 * i, thread=i), kernel(i, 10 * i + 4))])


def equal_correlations(n):
    return kineto([e for i in range(n) for e in (call(1, 10 * i), kernel(1, 10 * i + 4))])


def device_synchronizations(n):
    events = [e for i in range(n) for e in (call(i, 10 * i), kernel(i, 10 * i + 4, stream=i))]
    return kineto(events + [call(n + i, 10 * (n + i), "cudaDeviceSynchronize", dur=5) for i in range(n)])


def contradicted_synchronizations(n):
    """One kernel outlasts every synchronization, so that none waited for all streams."""
    first = [call(3 * n, 1), kernel(3 * n, 5, dur=100 * n)]
    events = [e for i in range(n) for e in (call(i + 1, 10 * i), kernel(i + 1, 10 * i + 4, stream=i + 8))]
    return kineto(first + events + [call(n + i + 1, 10 * (n + i), "cudaDeviceSynchronize", dur=5) for i in range(n)])


def default_stream(n):
    """Streams that waited for the default stream, and it for them, often enough to show it."""
    events, i = [], 0
    for start in range(0, 4 * (3 * n + 1000), 3 * n + 1000):
        i += 1
        events += [call(i, start), kernel(i, start + 5, stream=0, dur=3 * n + 200)]
        for stream in range(1, n + 1):
            i += 1
            events += [call(i, start + 3 * stream), kernel(i, start + 3 * n + 210, stream=stream, dur=1)]
    return kineto(events)


def silent_threads(n):
    return kineto([e for i in range(2 * n) for e in (call(i + 1, 30 * i, thread=i % n), kernel(i + 1, 30 * i + 4))])


def devices(n):
    return kineto([e for i in range(n) for e in (call(i, 10 * i), kernel(i, 10 * i + 4, device=i))],
                  deviceProperties=[{"id": i, "name": "d"} for i in range(n)])


def nested_modules(n):
    return kineto([operator(f"nn.Module: m_{i}", i, 4 * n - 2 * i, category="python_function") for i in range(n)]
                  + [call(1, n + 1), kernel(1, n + 4)])


def process_groups(n):
    return kineto([dict(kernel(i, 10 * i), name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                        args={"device": 0, "stream": 7, "correlation": i, "Collective name": "allreduce",
                              "Process Group Name": str(i), "In msg nelems": 1, "Out msg nelems": 1, "dtype": "Float",
                              "Group size": 2}) for i in range(n)],
                  distributedInfo={"backend": "nccl", "rank": 0, "world_size": 2,
                                   "pg_config": [{"pg_name": str(i), "ranks": [0, 1]} for i in range(n)]})


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def planes(n):
    return b"".join(field(1, field(2, b"/device:GPU:%d" % i)) for i in range(n))


def empty_planes(n):
    return field(1, b"") * n


def lines_and_metadata(n):
    lines = b"".join(field(3, field(11, b"Stream #%d" % i)) for i in range(n))
    stats = b"".join(field(5, varint(1 << 3) + varint(i) + field(2, varint(1 << 3) + varint(i) + field(2, b"s")))
                     for i in range(n))
    return field(1, field(2, b"/device:GPU:0") + lines + stats)


def text(value):
    return b"\x8c" + bytes([len(value)]) + value


def snapshot(inside):
    return b"\x80\x04}(" + text(b"segments") + b"](" + inside + b"eu."


def pickle_names_one_dictionary(n):
    keys = b"".join(text(b"k%d" % i) + b"K\x01" for i in range(n))
    return snapshot(b"}\x94(" + keys + b"u" + b"h\x00" * n)


def pickle_nested_lists(n):
    return snapshot(b"]" * n + b"a" * (n - 1))


def ftr_bomb(n):
    """Facts of n KiB, n times over, packed."""
    def chunk(ordinal, pairs):
        payload = varint(len(pairs)) + b"".join(varint(len(t)) + t for pair in pairs for t in pair)
        frame = b"FTRC" + struct.pack("<HHIII", 1, 0, len(payload), ordinal, zlib.crc32(payload))
        return frame + struct.pack("<I", zlib.crc32(frame)) + payload

    head = b"\x89FTR\r\n\x1a\n" + struct.pack("<I", 1)
    head += struct.pack("<I", zlib.crc32(head)) + chunk(0, [(b"content", b"records")])
    return gzip.compress(head + b"".join(chunk(i + 1, [(b"k", b"a" * 1024 * n)]) for i in range(n)), 9, mtime=0)


def zeros(n):
    return gzip.compress(b'{"traceEvents": [' + b" " * (1024 * 8 * n) + b"]}", 9, mtime=0)


SEEDS = {"graph": [threads, silent_threads, equal_correlations, device_synchronizations, contradicted_synchronizations,
                   default_stream, devices, nested_modules, process_groups],
         "reader": [threads, devices, nested_modules, process_groups, planes, empty_planes, lines_and_metadata,
                    pickle_names_one_dictionary, pickle_nested_lists, ftr_bomb, zeros]}


def main():
    folder = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    for target, makers in SEEDS.items():
        os.makedirs(os.path.join(folder, target), exist_ok=True)
        for make in makers:
            with open(os.path.join(folder, target, "hostile_" + make.__name__), "wb") as file:
                file.write(make(count))


if __name__ == "__main__":
    main()
