#!/usr/bin/env python3
"""Writes the traces of a made-up data-parallel job: make_job.py FOLDER [--ranks N] [--events N] [--steps N] [--every N] [--stall-ms N]

Every rank launches the same operators; every 50th (--every) is an all-reduce that ends on all ranks when the last one arrives. Rank 2
stalls once per step. tests/fixtures/job holds the smallest (--ranks 4 --events 900 --steps 3 --every 5). For memory: --ranks 64
--events 1000000, then /usr/bin/time -v foretrace simulate FOLDER.
"""
import argparse
import gzip
import io
import random


def plan(ranks, steps, per_step, every, stall_us):
    """Start and duration of every launch and kernel, in us: what all ranks agree on is made here."""
    shared = random.Random(0)
    noise = [random.Random(rank + 1) for rank in range(ranks)]
    host = [100.0 + 7 * rank for rank in range(ranks)]
    device = [0.0] * ranks
    rows = [[] for _ in range(ranks)]
    marks = [[] for _ in range(ranks)]
    for _ in range(steps):
        for rank in range(ranks):
            marks[rank].append(host[rank])
        for i in range(per_step):
            is_collective = i % every == every - 1
            arrivals = []
            pause = 2000 * shared.random() if is_collective else 0  # without it all shifts of the collectives look alike
            for rank in range(ranks):
                host[rank] += pause + 12 + 6 * noise[rank].random()
                if rank == 2 and i == per_step // 2:
                    host[rank] += stall_us
                call = host[rank]
                host[rank] += 5
                start = max(host[rank] + 2, device[rank] + 1)
                duration = 8 + 6 * noise[rank].random()
                arrivals.append(start)
                device[rank] = start + duration
                rows[rank].append([call, start, duration, is_collective])
            if is_collective:
                end = max(arrivals) + 40 + 10 * noise[0].random()
                for rank in range(ranks):
                    rows[rank][-1][2] = end - arrivals[rank]
                    device[rank] = end
        for rank in range(ranks):
            wait = host[rank] + 2
            host[rank] = max(wait, device[rank]) + 5
            marks[rank] += [wait, host[rank], host[rank] + 2]
            host[rank] += 5
    return rows, marks


def events(rank, rows, marks):
    base = '"ph":"X","pid":1000,"tid":1000'
    for step in range(len(marks) // 4):
        begin, wait, done, end = marks[4 * step : 4 * step + 4]
        yield f'{{{base},"cat":"user_annotation","name":"ProfilerStep#{step}","ts":{begin:.3f},"dur":{end - begin:.3f}}}'
        # The step ends with a wait for the device.
        yield (f'{{{base},"cat":"cuda_runtime","name":"cudaDeviceSynchronize","ts":{wait:.3f},"dur":{done - wait:.3f},'
               f'"args":{{"correlation":{1000000000 + step}}}}}')
    for i, (call, start, duration, is_collective) in enumerate(rows):
        link = i + 1
        if is_collective:
            yield (f'{{{base},"cat":"cpu_op","name":"record_param_comms","ts":{call - 3:.3f},"dur":10,"args":{{"Collective name":"allreduce",'
                   f'"In msg nelems":1048576,"Out msg nelems":1048576,"Group size":{{size}},"dtype":"Float","Process Group Name":"0",'
                   f'"Process Group Ranks":"[]","Global rank start":0,"Global rank stride":1}}}}')
            yield f'{{{base},"cat":"user_annotation","name":"nccl:all_reduce","ts":{call - 2:.3f},"dur":8}}'
            name, stream = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 7
        else:
            yield f'{{{base},"cat":"cpu_op","name":"aten::linear","ts":{call - 4:.3f},"dur":11}}'
            yield f'{{{base},"cat":"cpu_op","name":"aten::addmm","ts":{call - 3:.3f},"dur":9.5}}'
            name, stream = f"sgemm_{i % 8}", 7
        yield f'{{{base},"cat":"cuda_runtime","name":"cudaLaunchKernel","ts":{call:.3f},"dur":5,"args":{{"correlation":{link}}}}}'
        yield (f'{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":{stream},"ts":{start:.3f},"dur":{duration:.3f},'
               f'"args":{{"device":0,"stream":{stream},"correlation":{link},"grid":[80,1,1],"block":[256,1,1]}}}}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--events", type=int, default=900)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--stall-ms", type=float, default=30)
    options = parser.parse_args()
    per_step = options.events // 4 // options.steps
    rows, marks = plan(options.ranks, options.steps, per_step, options.every, options.stall_ms * 1000)
    for rank in range(options.ranks):
        packed = gzip.GzipFile(f"{options.folder}/rank{rank}.json.gz", "wb", 6, mtime=0)
        with io.TextIOWrapper(packed) as file:
            file.write(f'{{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":{options.ranks}}},\n"traceEvents":[\n')
            for i, event in enumerate(events(rank, rows[rank], marks[rank])):
                file.write((",\n" if i else "") + event.replace("{size}", str(options.ranks)))
            file.write("\n]}\n")
        rows[rank] = []


if __name__ == "__main__":
    main()
