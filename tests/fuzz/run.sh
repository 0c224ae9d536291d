#!/usr/bin/env bash
# Runs fuzz targets on their corpora: run.sh BUILD_FOLDER [target...], with FUZZ_SECONDS or FUZZ_RUNS for each.
# New inputs stay in BUILD_FOLDER/corpus, findings in BUILD_FOLDER/findings; a finding becomes a fixture.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?usage: run.sh BUILD_FOLDER [target...]}
shift
[ $# -gt 0 ] || set -- $(cd "$build/bin" && ls)
[ $# -gt 0 ] || { echo "fuzz: no targets in $build/bin" >&2; exit 1; }

export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:quarantine_size_mb=32 UBSAN_OPTIONS=print_stacktrace=1
plain_asan_options=$ASAN_OPTIONS
failed=""
for target in "$@"; do
  name=${target%_fuzz}
  if [ ! -x "$build/bin/$target" ]; then
    echo "SKIPPED: $build/bin/$target was not built"
    continue
  fi
  corpus=$build/corpus/$name
  if [ -n "${FUZZ_RUNS:-}" ]; then  # a smoke run starts from the seeds every time
    corpus=$build/smoke/$name
    rm -rf "$corpus"
  fi
  mkdir -p "$corpus" "$build/findings/$name"
  seeds=()
  for folder in "$here/corpus/$name" "$here/../fixtures/$name"; do
    [ ! -d "$folder" ] || seeds+=("$folder")
  done
  [ "$name" != graph ] || seeds+=("$here"/../fixtures/*_json)
  # Low, since inputs are small: what takes seconds or hundreds of megabytes here takes hours at full size.
  options=(-timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/findings/$name/")
  if [ -n "${FUZZ_RUNS:-}" ]; then
    options+=(-runs="$FUZZ_RUNS" -seed=1 -max_total_time="${FUZZ_SECONDS:-60}")
  else
    options+=(-max_total_time="${FUZZ_SECONDS:-60}")
  fi
  # An xz or lzma header may ask for a dictionary of 4 GiB, of which only what is used becomes memory.
  ASAN_OPTIONS=$plain_asan_options
  case "$name" in archive | job) ASAN_OPTIONS+=:max_allocation_size_mb=512 ;; esac
  echo "fuzz: $name, ${FUZZ_RUNS:+$FUZZ_RUNS runs or }${FUZZ_SECONDS:-60} s"
  if ! "$build/bin/$target" "${options[@]}" "$corpus" "${seeds[@]}" >"$build/findings/$name.log" 2>&1; then
    tail -n 60 "$build/findings/$name.log"
    failed="$failed $name"
  else
    grep -E '^(Done|stat::)|DONE' "$build/findings/$name.log" | tail -n 3 || true
  fi
done
[ -z "$failed" ] || { echo "fuzz: findings in$failed; inputs in $build/findings" >&2; exit 1; }
echo "fuzz: no findings in $# targets"
