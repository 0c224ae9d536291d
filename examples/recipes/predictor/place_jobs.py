"""Which of two waiting jobs should get which of two free devices? The same as main.cpp, in Python."""
import itertools
import sys

import foretrace

free = ["a100_sxm_80gb", "t4"]
jobs = [foretrace.Predictor(trace) for trace in sys.argv[1:3]]
rates = [[row[0] for row in job.throughputs(free, [1])] for job in jobs]  # per job and device
for number, rate in enumerate(rates):
    print(f"job {number}: " + ", ".join(f"{one:.2f} on {device}" for one, device in zip(rate, free)))

best = max(itertools.permutations(range(len(free))), key=lambda order: sum(rates[job][at] for job, at in enumerate(order)))
print(", ".join(f"job {job} gets the {free[at]}" for job, at in enumerate(best)))

# Two jobs on one device: how fast is each beside the other?
both = foretrace.Predictor.corun(*jobs, foretrace.Sharing.time_slices)
print(f"together on one device: {both.first_share:.2f} and {both.second_share:.2f} of their own speed")
