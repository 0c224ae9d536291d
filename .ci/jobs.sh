#!/usr/bin/env bash
# Prints how many compilers may run at once: one per core, and 1.5 GiB of memory for each.
set -euo pipefail
cores=$(nproc)
kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || echo 0)
if [ -r /sys/fs/cgroup/memory.max ] && limit=$(cat /sys/fs/cgroup/memory.max) && [ "$limit" != max ]; then
  used=$(cat /sys/fs/cgroup/memory.current 2>/dev/null || echo 0)
  cache=$(awk '/^inactive_file/ {print $2}' /sys/fs/cgroup/memory.stat 2>/dev/null || echo 0)
  free=$(((limit - used + cache) / 1024))
  [ "$free" -ge "$kib" ] || kib=$free
fi
jobs=$((kib / 1572864))
[ "$jobs" -le "$cores" ] || jobs=$cores
[ "$jobs" -ge 1 ] || jobs=1
echo "$jobs"
